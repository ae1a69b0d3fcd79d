/* array.h - a job array as one record until its tasks start
 *
 *     struct job_array *a = job_array_create ("1-100%10", &err);
 *     uint32_t task = idset_first (a->waiting);
 *     job_array_task_id (a, 12, task);           // the number of the job that it becomes
 *
 * An array is a job (job.h) that never gets resources itself: each of its tasks becomes a
 * job of its own when it starts, with the number that array and task have in common since
 * the submission. Until then the array stands in the queue for all that wait; then it is
 * in RUN for as long as any of them has not ended. Its events:
 *
 *     task-start  {task}                        it has become a job
 *     task-end    {task, state, exit_code}      that job has ended
 *     task-cancel {tasks; userid, note}         they never start
 */
#ifndef FLUXQ_JOB_ARRAY_H
#define FLUXQ_JOB_ARRAY_H

#include "jobspec/array.h"

/* Every task is in exactly one of the sets. */
struct job_array {
    struct array_spec spec;
    struct idset *waiting, *running;
    struct idset *ok, *failed; /* ended: completed, or otherwise */
    struct idset *cancelled;   /* before their start */
    int exit_code;             /* the worst of those that have ended */
};

/* NULL: -EINVAL (text is not as in array.h of jobspec), -ENOMEM. */
struct job_array *job_array_create (const char *text, struct error *err);
void job_array_destroy (struct job_array *a);
/* The number of the job that a task of the array `id` is or becomes: id + 1 for the first
 * task, and so on. The task must be one of it. */
uint64_t job_array_task_id (const struct job_array *a, uint64_t id, uint32_t task);
/* The task that has that number, or IDSET_END. */
uint32_t job_array_task_of (const struct job_array *a, uint64_t id, uint64_t task_id);
/* How many numbers an array takes: its own and those of its tasks. */
uint64_t job_array_ids (const struct array_spec *spec);
/* As many run as may. */
bool job_array_is_full (const struct job_array *a);
/* Append "2 of 100 tasks failed: 4,7; 3 cancelled before they started". */
void job_array_add_result (const struct job_array *a, struct strbuf *sb);

#endif
