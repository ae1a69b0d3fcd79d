/* jobs.h - a job in the broker, and the table of jobs
 *
 *     struct entry *e;
 *
 *     entries_each (ENTRIES_WAITING, b, e)
 *         if (entry_job (e)->urgency > 16)
 *             ...
 */
#pragma once

#include "broker/core/broker.h"

/* -- a job -- */

/* The first member of struct entry: listings read it for each job, so without a call. */
struct entry_head {
    struct job *job;
    uint64_t id;
};

/* The record: its state, owner, times; see job/job.h. */
static inline struct job *entry_job (const struct entry *e)
{
    return ((const struct entry_head *)e)->job;
}

static inline uint64_t entry_id (const struct entry *e)
{
    return ((const struct entry_head *)e)->id;
}

unsigned entry_queue (const struct entry *e); /* index in the configuration */
/* Only while the job is fresh or runs; else NULL, and the journal has it. */
struct jobspec *entry_jobspec (const struct entry *e);
/* The request to the matcher, while the job may be scheduled; else NULL. */
struct match_request *entry_request (const struct entry *e);
/* The allocation, while there is one; else NULL. */
struct rset *entry_alloc (const struct entry *e);
/* The executor's part, from the start until nothing is left of it; else NULL. */
struct exec_job *entry_exec_job (const struct entry *e);
/* The executor's latest note ("pulling image"), or NULL. */
const char *entry_note (const struct entry *e);
/* The jobspec's limits, in seconds; 0: the jobspec has none. */
double entry_max_wait (const struct entry *e);
double entry_time_min (const struct entry *e);
/* The size of the jobspec in the journal, in bytes; 0: the record uses the jobspec of
 * another job. */
size_t entry_spec_bytes (const struct entry *e);
/* The first transaction is not on disk yet. */
bool entry_is_submitting (const struct entry *e);
/* Look-ups are under way before the executor starts the job. */
bool entry_is_starting (const struct entry *e);
/* The waiters have been answered. */
bool entry_is_result_told (const struct entry *e);
/* The job is in the list of jobs before RUN. */
bool entry_is_waiting (const struct entry *e);

/* The former value is the caller's. */
void entry_set_jobspec (struct entry *e, struct jobspec *js);
void entry_set_request (struct entry *e, struct match_request *req);
void entry_set_alloc (struct entry *e, struct rset *r);
/* Ends the allocation; the executor may use it until nothing is left of the job. */
void entry_end_alloc (struct entry *e);
void entry_set_note (struct entry *e, const char *text);
void entry_drop_spec (struct entry *e);

/* -- a job that is being made -- */

struct entry *entry_create (uint64_t id); /* not put into the table; NULL: no memory */
/* An entry outside the table, made by replaying rec's events; NULL: no memory. */
struct entry *entry_replay (const struct journal_record *rec);
/* An entry without a record, for a submit that is not numbered; NULL: no memory. */
struct entry *entry_new (void);
/* Gives it the next id, and its array the ids of its tasks. -ENOMEM. */
int entry_number (struct broker *b, struct entry *e);
void entry_destroy (struct entry *e);
void entry_set_queue (struct entry *e, unsigned queue);
void entry_set_spec_bytes (struct entry *e, size_t bytes);
void entry_set_submitting (struct entry *e, bool is);
/* A task takes the array's queue, request and limits. */
void entry_copy (struct entry *task, const struct entry *array);

/* -- the table -- */

enum entries {
    ENTRIES_ALL,     /* in the order in which they came */
    ENTRIES_ACTIVE,  /* jobs in RUN or CLEANUP */
    ENTRIES_WAITING, /* jobs before RUN, in the order in which they began to wait */
    ENTRIES_ARRAYS,  /* all arrays in memory, ended ones too */
    ENTRIES_DONE,    /* finished jobs, oldest first */
    ENTRIES_LISTS    /* the number of lists */
};

struct entry *entries_first (const struct broker *b, enum entries list);
struct entry *entries_next (const struct entry *e, enum entries list);
/* The body may remove e. */
#define entries_each(list, b, e)                                                         \
    for (struct entry *next_ = ((e) = entries_first (b, list), NULL);                    \
         (e) && (next_ = entries_next (e, list), true); (e) = next_)

/* All jobs as an array, in the order in which they came; NULL where a job has gone. For
 * loops that fetch memory ahead of the job they look at. Valid until a job comes or goes. */
struct entry *const *entries_array (const struct broker *b, size_t *ret_n);

struct entries_count {
    size_t all, pending, running, finished;
    size_t whole; /* of running: arrays, whose tasks are jobs themselves */
};
struct entries_count entries_count (const struct broker *b);
uint64_t entries_next_id (const struct broker *b); /* of the next job */
/* The number of entries removed so far: while it is the same, pointers to entries stay
 * valid. */
uint64_t entries_removed (const struct broker *b);

struct entry *entry_find (struct broker *b, uint64_t id);
void entry_insert (struct broker *b, struct entry *e);
void entry_remove (struct broker *b, struct entry *e);        /* also destroys e */
int entry_cmp (const struct entry *a, const struct entry *b); /* by id */
/* Sets the queue's index from its name. A name that the configuration does not have any
 * more becomes the default queue. */
void entry_find_queue (struct broker *b, struct entry *e);
void entry_count (struct broker *b, struct entry *e); /* call once, at insertion */
/* Updates the counters after the job's state changed from `before`. */
void entry_moved (struct broker *b, struct entry *e, enum job_state before);
/* Appends e to the finished jobs, and removes the oldest beyond config.keep_finished. */
void entry_retire (struct broker *b, struct entry *e);
/* The array that has kept this job id for one of its tasks; or NULL. O(arrays). */
struct entry *entry_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task);
