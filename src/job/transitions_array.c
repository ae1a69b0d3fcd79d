/* transitions_array.c - events of the tasks of an array */
#include <errno.h>
#include <string.h>

#include "job/transitions.h"

static int no_array (const struct event *e, struct error *err)
{
    return error_set (err, EPROTO, "%s: it is not an array", e->name);
}

/* Read the task that the event names; it must be in the set `from`. */
static int read_task (const struct event *e, const struct idset *from, uint32_t *ret,
                      struct error *err)
{
    int64_t task;

    if (!e->context)
        return error_set (err, EINVAL, "%s.task: is missing", e->name);
    int rc = json_get_int (e->context, "task", 0, ARRAY_INDEX_MAX, &task, JSON_REQUIRED,
                           e->name, err);
    if (rc < 0)
        return rc;
    *ret = (uint32_t)task;
    if (!idset_has (from, *ret))
        return error_set (err, EPROTO, "%s: task %u is not in the list", e->name, *ret);
    return 0;
}

/* Change the state of the array when no task waits, or none runs, any more. */
static void follow_tasks (struct job *job, double now, struct outcome *out)
{
    const struct job_array *a = job->array;
    unsigned leave = job->state < JOB_RUN ? JOB_ACT_DEQUEUE : 0;

    if (idset_count (a->waiting) > 0)
        return;
    if (idset_count (a->running) > 0) {
        *out = (struct outcome){ JOB_RUN, leave };
        job->started = true;
        return;
    }
    *out = (struct outcome){ JOB_CLEANUP, leave | JOB_ACT_CLEAN };
    job->finished = true;
    job->status = (a->exit_code & 0xff) << 8;
    job->t_finish = now;
}

/* Move a task from one set to another. */
static int move (struct idset *from, struct idset *to, uint32_t task, struct error *err)
{
    if (idset_add (to, task) < 0)
        return error_set (err, ENOMEM, "out of memory");
    if (idset_remove (from, task) < 0) {
        idset_remove (to, task); /* cannot fail: it only shortens or removes a range */
        return error_set (err, ENOMEM, "out of memory");
    }
    return 0;
}

int transition_task_start (struct job *job, const struct event *e, struct outcome *out,
                           struct error *err)
{
    uint32_t task;

    if (!job->array)
        return no_array (e, err);
    int rc = read_task (e, job->array->waiting, &task, err);
    if (rc == 0)
        rc = move (job->array->waiting, job->array->running, task, err);
    if (rc < 0)
        return rc;
    if (job->t_start <= 0)
        job->t_start = e->timestamp;
    follow_tasks (job, e->timestamp, out);
    return 0;
}

int transition_task_end (struct job *job, const struct event *e, struct outcome *out,
                         struct error *err)
{
    const char *state;
    int64_t code;
    uint32_t task;

    if (!job->array)
        return no_array (e, err);
    struct job_array *a = job->array;
    int rc = read_task (e, a->running, &task, err);
    if (rc < 0
        || (rc = json_get_string (e->context, "state", &state, JSON_REQUIRED, e->name,
                                  err))
               < 0
        || (rc = json_get_int (e->context, "exit_code", 0, 255, &code, JSON_REQUIRED,
                               e->name, err))
               < 0)
        return rc;
    bool ok = !strcmp (state, job_phase_name (JOB_COMPLETED));
    rc = move (a->running, ok ? a->ok : a->failed, task, err);
    if (rc < 0)
        return rc;
    a->exit_code = MAX (a->exit_code, ok ? 0 : MAX ((int)code, 1));
    follow_tasks (job, e->timestamp, out);
    return 0;
}

/* Cancel waiting tasks: they never start. */
static int withdraw (struct job *job, const struct idset *tasks, struct error *err)
{
    struct job_array *a = job->array;
    struct idset *gone = idset_copy (a->cancelled), *rest = idset_copy (a->waiting);

    if (!gone || !rest || idset_add_all (gone, tasks) < 0
        || idset_remove_all (rest, tasks) < 0) {
        idset_destroy (gone);
        idset_destroy (rest);
        return error_set (err, ENOMEM, "out of memory");
    }
    idset_destroy (a->cancelled);
    idset_destroy (a->waiting);
    a->cancelled = gone;
    a->waiting = rest;
    return 0;
}

int transition_task_cancel (struct job *job, const struct event *e, struct outcome *out,
                            struct error *err)
{
    const char *text;
    struct idset *tasks = NULL;

    if (!job->array)
        return no_array (e, err);
    if (!e->context)
        return error_set (err, EINVAL, "%s.tasks: is missing", e->name);
    int rc = json_get_string (e->context, "tasks", &text, JSON_REQUIRED, e->name, err);
    if (rc >= 0)
        rc = array_tasks_parse (text, ARRAY_TASKS_MAX, &tasks, e->name, err);
    if (rc < 0)
        return rc;
    IDSET_FOREACH (tasks, task)
    {
        if (rc == 0 && !idset_has (job->array->waiting, task))
            rc = error_set (err, EPROTO, "%s: task %u does not wait", e->name, task);
    }
    if (rc == 0)
        rc = withdraw (job, tasks, err);
    idset_destroy (tasks);
    if (rc == 0)
        follow_tasks (job, e->timestamp, out);
    return rc;
}

int transition_array_exception (struct job *job, double now, struct outcome *out,
                                struct error *err)
{
    enum job_state before = job->state;
    int rc = withdraw (job, job->array->waiting, err);

    if (rc == 0 && before <= JOB_RUN) {
        *out = (struct outcome){ before, 0 };
        follow_tasks (job, now, out);
    }
    return rc;
}
