/* array.c - see array.h; transitions_array.c has the events of arrays */
#include "job/array.h"

#define SHOWN_MAX 60 /* bytes of a list of tasks in a sentence */

struct job_array *job_array_create (const char *text, struct error *err)
{
    struct job_array *a = calloc (1, sizeof (*a));

    if (a && array_spec_parse (&a->spec, text, "array", err) < 0) {
        free (a);
        return NULL;
    }
    if (!a || !(a->waiting = idset_copy (a->spec.tasks))
        || !(a->running = idset_create ()) || !(a->ok = idset_create ())
        || !(a->failed = idset_create ()) || !(a->cancelled = idset_create ())) {
        job_array_destroy (a);
        return error_null (error_set (err, ENOMEM, "out of memory"));
    }
    return a;
}

void job_array_destroy (struct job_array *a)
{
    if (!a)
        return;
    array_spec_release (&a->spec);
    idset_destroy (a->waiting);
    idset_destroy (a->running);
    idset_destroy (a->ok);
    idset_destroy (a->failed);
    idset_destroy (a->cancelled);
    free (a);
}

uint64_t job_array_task_id (const struct job_array *a, uint64_t id, uint32_t task)
{
    return id + 1 + idset_rank (a->spec.tasks, task);
}

uint32_t job_array_task_of (const struct job_array *a, uint64_t id, uint64_t task_id)
{
    if (task_id <= id || task_id - id > idset_count (a->spec.tasks))
        return IDSET_END;
    return idset_nth (a->spec.tasks, (uint32_t)(task_id - id - 1));
}

uint64_t job_array_ids (const struct array_spec *spec)
{
    return 1 + (uint64_t)idset_count (spec->tasks);
}

bool job_array_is_full (const struct job_array *a)
{
    return a->spec.limit > 0 && idset_count (a->running) >= a->spec.limit;
}

void job_array_add_result (const struct job_array *a, struct strbuf *sb)
{
    uint32_t all = idset_count (a->spec.tasks), failed = idset_count (a->failed);
    uint32_t cancelled = idset_count (a->cancelled);

    if (failed > 0) {
        strbuf_addf (sb, "%u of %u tasks failed: ", failed, all);
        array_add_tasks (sb, a->failed, SHOWN_MAX);
    }
    if (cancelled > 0)
        strbuf_addf (sb, "%s%u of %u tasks cancelled before they started",
                     failed > 0 ? "; " : "", cancelled, all);
    if (failed + cancelled == 0)
        strbuf_addf (sb, "completed, all %u tasks", all);
}
