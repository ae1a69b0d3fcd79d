/* jobs.c - see jobs.h */
#include "tools/match/jobs.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->file = NULL)
#include <uthash.h>

struct entry {
    struct job_info info; /* must be first */
    char *file;           /* NULL after a failed insertion */
    UT_hash_handle hh;
};

struct jobs {
    struct entry *all;
    struct job_times times;
};

struct jobs *jobs_create (void)
{
    return calloc (1, sizeof (struct jobs));
}

static void forget (struct jobs *jobs, struct entry *e)
{
    HASH_DEL (jobs->all, e);
    selection_destroy (e->info.given);
    free (e->file);
    free (e);
}

void jobs_destroy (struct jobs *jobs)
{
    struct entry *e, *next;

    if (!jobs)
        return;
    HASH_ITER (hh, jobs->all, e, next)
        forget (jobs, e);
    free (jobs);
}

static struct entry *lookup (struct jobs *jobs, uint64_t id)
{
    struct entry *e = NULL;

    HASH_FIND (hh, jobs->all, &id, sizeof (id), e);
    return e;
}

static int by_id (const struct entry *a, const struct entry *b)
{
    return (a->info.id > b->info.id) - (a->info.id < b->info.id);
}

struct job_info *jobs_add (struct jobs *jobs, uint64_t id, const char *file,
                           struct selection **given)
{
    struct entry *old = lookup (jobs, id), *e = calloc (1, sizeof (*e));
    char *copy = strdup (file);

    if (!e || !copy) {
        free (e);
        free (copy);
        return NULL;
    }
    if (old)
        forget (jobs, old);
    e->info.id = id;
    e->info.file = e->file = copy;
    HASH_ADD (hh, jobs->all, info.id, sizeof (e->info.id), e);
    if (!e->file) {
        free (copy);
        free (e);
        return NULL;
    }
    e->info.given = *given;
    *given = NULL;
    return &e->info;
}

struct job_info *jobs_find (struct jobs *jobs, uint64_t id)
{
    struct entry *e = lookup (jobs, id);

    return e ? &e->info : NULL;
}

struct job_info *jobs_first (struct jobs *jobs)
{
    HASH_SORT (jobs->all, by_id);
    return jobs->all ? &jobs->all->info : NULL;
}

struct job_info *jobs_next (struct job_info *job)
{
    struct entry *next = ((struct entry *)(void *)job)->hh.next;

    return next ? &next->info : NULL;
}

size_t jobs_count (const struct jobs *jobs)
{
    return HASH_COUNT (jobs->all);
}

void job_info_cancel (struct job_info *job)
{
    job->state = JOB_CANCELED;
    selection_destroy (job->given);
    job->given = NULL;
}

const char *job_info_state_name (enum job_info_state state)
{
    static const char *const names[] = { "ALLOCATED", "RESERVED", "CANCELED" };

    return names[state];
}

void jobs_note_time (struct jobs *jobs, double seconds)
{
    struct job_times *t = &jobs->times;

    t->least = t->n == 0 || seconds < t->least ? seconds : t->least;
    t->most = seconds > t->most ? seconds : t->most;
    t->sum += seconds;
    t->n++;
}

const struct job_times *jobs_times (const struct jobs *jobs)
{
    return &jobs->times;
}
