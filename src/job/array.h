/* array.h - a job array as one record until its tasks start
 *
 *     struct job_array *a = job_array_create ("1-100%10", &err);
 *     uint32_t task = idset_first (a->waiting);
 *     job_array_task_id (a, 12, task);           // id of the job that the task becomes
 *
 * An array is a job (job.h) that never gets resources itself: each of its tasks becomes a
 * job of its own when it starts. The submission of the array reserves the ids of its
 * tasks. The array stands in the queue for all tasks that have not started. When none is
 * left, the array is in RUN until all tasks have ended. Its events:
 *
 *     task-start  {task}                        the task has become a job
 *     task-end    {task, state, exit_code}      the task's job has ended
 *     task-cancel {tasks; userid, note}         the tasks never start
 */
#pragma once

#include "jobspec/attributes/array.h"

/* Each task is in exactly one of the sets. */
struct job_array {
    struct array_spec spec;
    struct idset *waiting, *running;
    struct idset *ok, *failed; /* ended: completed, or otherwise */
    struct idset *cancelled;   /* before their start */
    int exit_code;             /* the worst of the tasks that have ended */
};

/* text: as in array.h of jobspec. NULL with -EINVAL or -ENOMEM in err. */
struct job_array *job_array_create (const char *text, struct error *err);
void job_array_destroy (struct job_array *a);
/* The id of the job that a task of the array `id` is or becomes: id + 1 for the first
 * task, and so on. The array must have the task. */
uint64_t job_array_task_id (const struct job_array *a, uint64_t id, uint32_t task);
/* The task of the array `id` whose job has the id task_id, or IDSET_END. */
uint32_t job_array_task_of (const struct job_array *a, uint64_t id, uint64_t task_id);
/* The number of ids that an array takes: its own and those of its tasks. */
uint64_t job_array_ids (const struct array_spec *spec);
/* Whether the limit of running tasks is reached. */
bool job_array_is_full (const struct job_array *a);
/* Append "2 of 100 tasks failed: 4,7; 3 of 100 tasks cancelled before they started". */
void job_array_add_result (const struct job_array *a, struct strbuf *sb);
