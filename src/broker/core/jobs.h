/* jobs.h - the table of jobs
 */
#ifndef FLUXQ_BROKER_CORE_JOBS_H
#define FLUXQ_BROKER_CORE_JOBS_H

#include "broker/core/broker.h"

struct entry *entry_find (struct broker *b, uint64_t id);
struct entry *entry_create (uint64_t id); /* not put into the table; NULL: no memory */
/* An entry outside the table, made by replaying rec's events; NULL: no memory. */
struct entry *entry_replay (const struct journal_record *rec);
/* An entry without a record, for a submit that is not numbered; NULL: no memory. */
struct entry *entry_new (void);
void entry_destroy (struct entry *e);
/* Frees the executor's part of a job; NULL: does nothing. */
void exec_job_free (struct exec_job *x);
void entry_insert (struct broker *b, struct entry *e);
void entry_remove (struct broker *b, struct entry *e);        /* also destroys e */
int entry_cmp (const struct entry *a, const struct entry *b); /* by id */
/* Sets e->queue from the queue's name. A name that the configuration does not have any
 * more becomes the default queue. */
void entry_find_queue (struct broker *b, struct entry *e);
void entry_count (struct broker *b, struct entry *e); /* call once, at insertion */
/* Updates the counters after the job's state changed from `before`. */
void entry_moved (struct broker *b, struct entry *e, enum job_state before);
/* Appends e to the finished jobs, and removes the oldest beyond config.keep_finished. */
void entry_retire (struct broker *b, struct entry *e);
/* The array that has kept this job id for one of its tasks; or NULL. O(arrays). */
struct entry *entry_array_of (const struct broker *b, uint64_t id, uint32_t *ret_task);
void entry_set_note (struct entry *e, const char *text);
void entry_drop_spec (struct entry *e);

#endif
