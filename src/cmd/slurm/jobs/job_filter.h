/* job_filter.h - squeue's filters that the broker's listing does not have
 *
 *     struct job_filter f = { .accounts = "physics" };
 *     job_filter_set_jobs (&f, "12,13_4", &err);
 *     ... needs |= job_filter_needs (&f);
 *     if (job_filter_match (&f, &row)) ...
 *     job_filter_release (&f);
 *
 * Lists are separated by commas and compared without case, as Slurm does.
 */
#pragma once

#include "cmd/slurm/jobs/job_rows.h"
#include "common/error.h"

#define JOB_FILTER_STATES_MAX 64

struct job_filter {
    const char *accounts, *qos, *names, *reservations, *licenses; /* lists or NULL */
    const char *states[JOB_FILTER_STATES_MAX];                    /* long names */
    size_t nstates;                                               /* 0: any state */
    bool active;      /* only jobs that wait or run */
    bool states_done; /* the broker has compared states */
    bool not_me;
    double running_over, running_under; /* seconds; 0: any */
    struct hostlist *nodes;             /* or NULL */
    struct job_wanted {
        uint64_t id;
        int64_t task; /* < 0: the job, or all tasks of the array */
        double last;  /* the job of the array's last task; 0: none */
        int64_t component; /* of a heterogeneous job; < 0: all */
    } * jobs;         /* or NULL: any */
    size_t njobs;
    struct strbuf tasks; /* of the array that matched last */
};

void job_filter_init (struct job_filter *f);
void job_filter_release (struct job_filter *f);
/* A list of jobs, of tasks "12_3" and components "12+1"; "" is an empty list. -EINVAL: err has the wrong
 * id; -ENOMEM. */
int job_filter_set_jobs (struct job_filter *f, const char *list, struct error *err);
/* A list of states; "all": any. -EINVAL: err has the unknown state. */
int job_filter_set_states (struct job_filter *f, const char *list, struct error *err);
uint64_t job_filter_needs (const struct job_filter *f);
/* Finds the last task of each wanted array; for job_filter_match(). */
void job_filter_find_last (struct job_filter *f, const struct job_rows *rows);
/* Whether the row is shown; sets row->tasks if only some tasks of an array are, and
 * row->number for the last task of a wanted array. */
bool job_filter_match (struct job_filter *f, struct job_row *row);
