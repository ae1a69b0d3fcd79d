/* jobs.h - the state of each job that was matched, for list, info and stat
 *
 *     struct job_info *job = jobs_add (jobs, 7, path, &selection);  // NULL: no memory
 *     job->state = JOB_RESERVED; job->at = 3600;
 *     for (job = jobs_first (jobs); job; job = jobs_next (job)) ...
 */
#pragma once

#include "match/graph/selection.h"

enum job_info_state { JOB_ALLOCATED, JOB_RESERVED, JOB_CANCELED };

struct job_info {
    uint64_t id;
    enum job_info_state state;
    int64_t at;     /* start, seconds */
    double elapsed; /* seconds that the match took */
    char *file;     /* of the jobspec, or the argument of update */
    /* the selection from the match or from update; NULL once canceled */
    struct selection *given;
};

struct jobs;

struct jobs *jobs_create (void);
void jobs_destroy (struct jobs *jobs);
/* Adds a job, in place of one with that id; takes over *given. */
struct job_info *jobs_add (struct jobs *jobs, uint64_t id, const char *file,
                           struct selection **given);
struct job_info *jobs_find (struct jobs *jobs, uint64_t id);
/* In the order of their ids. */
struct job_info *jobs_first (struct jobs *jobs);
struct job_info *jobs_next (struct job_info *job);
size_t jobs_count (const struct jobs *jobs);
void job_info_cancel (struct job_info *job);
const char *job_info_state_name (enum job_info_state state);

/* Times of matches, including those without a result. */
struct job_times {
    uint64_t n;
    double least, most, sum; /* seconds */
};
void jobs_note_time (struct jobs *jobs, double seconds);
const struct job_times *jobs_times (const struct jobs *jobs);
