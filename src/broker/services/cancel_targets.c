/* cancel_targets.c - the jobs and tasks that a POST /v1/cancel selects
 */
#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/api/privacy.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/services/cancelling.h"
#include "broker/services/depend/array.h"

#define SAID_MAX 20 /* ended tasks of arrays that are reported one by one */

static int add_target (struct cancelling *c, uint64_t id, bool named)
{
    if (array_reserve (&c->list, &c->alloc, c->n + 1, sizeof (*c->list)) < 0)
        return -ENOMEM;
    c->list[c->n++] = (struct target){ id, named };
    return 0;
}

/* By id; of equal ids the named one first. */
static int cmp_target (const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return y->named - x->named;
}

void cancelling_failed (struct cancelling *c, uint64_t id, const char *code,
                        const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    audit_note_failed (c->req, code);
    json_array_append_new (c->failed,
                           json_pack ("{s:I s:s s:o}", "id", (json_int_t)id, "code", code,
                                      "detail", broker_text (text)));
}

static int cancel_waiting_tasks (struct cancelling *c, struct entry *e,
                                 const struct idset *tasks)
{
    uintmax_t id = entry_id (e);

    if (idset_count (tasks) == 0)
        return 0;
    if (!api_may (c->b, c->req, c->roles, e)) {
        cancelling_failed (c, entry_id (e), "not-owner", "job %ju belongs to %s", id,
                           entry_job (e)->user);
    } else if (c->signum || c->step != EXEC_NO_STEP) {
        cancelling_failed (
            c, entry_id (e), "wrong-state",
            "no signal can reach the tasks of array %ju that do not run yet (%u)", id,
            idset_count (tasks));
    } else {
        int rc = array_cancel (c->b, e, tasks, http_request_uid (c->req), c->note);
        if (rc < 0)
            cancelling_failed (c, entry_id (e), "busy", "array %ju: %s", id,
                               strerror (-rc));
        else
            json_array_append_new (c->done, json_integer ((json_int_t)entry_id (e)));
    }
    return 0;
}

/* Tasks of an array, by number: running ones become targets, waiting ones are
 * cancelled. */
static int collect_part (struct cancelling *c, const struct id_part *part)
{
    struct entry *e = entry_find (c->b, part->array);
    if (e && !privacy_sees (c->b, http_request_uid (c->req), e, PRIVATE_JOBS))
        e = NULL;
    const struct job_array *a = e ? entry_job (e)->array : NULL;

    if (!a) {
        audit_note_id (c->req, part->array);
        cancelling_failed (c, part->array, "unknown-job",
                           e ? "job %ju is not an array" : "there is no array %ju",
                           (uintmax_t)part->array);
        return 0;
    }
    audit_note_job (c->req, e);
    struct idset *waiting = idset_create ();
    int rc = waiting ? 0 : -ENOMEM;
    IDSET_FOREACH (part->tasks, task)
    {
        if (rc == 0 && idset_has (a->waiting, task))
            rc = idset_add (waiting, task);
        else if (rc == 0 && idset_has (a->running, task))
            rc = add_target (c, job_array_task_id (a, entry_id (e), task), true);
        else if (rc == 0 && c->nsaid++ < SAID_MAX)
            cancelling_failed (c, entry_id (e), "wrong-state",
                               idset_has (a->spec.tasks, task)
                                   ? "task %u of array %ju has ended already"
                                   : "there is no task %u in array %ju",
                               task, (uintmax_t)entry_id (e));
    }
    if (rc == 0)
        rc = cancel_waiting_tasks (c, e, waiting);
    idset_destroy (waiting);
    return rc;
}

/* Adds the array's tasks that are jobs now. */
static int collect_array (struct cancelling *c, const struct entry *e)
{
    const struct job_array *a = entry_job (e)->array;
    int rc = 0;

    IDSET_FOREACH (a->running, task)
    {
        if (rc == 0)
            rc = add_target (c, job_array_task_id (a, entry_id (e), task), false);
    }
    return rc;
}

static int collect_named (struct cancelling *c, const struct job_ids *ids)
{
    for (size_t i = 0; i < ids->named.n; i++) {
        uint64_t id = ids->named.v[i].first;
        const struct entry *e = entry_find (c->b, id);
        if (add_target (c, id, true) < 0
            || (e && entry_job (e)->array && collect_array (c, e) < 0))
            return -ENOMEM;
    }
    for (size_t i = 0; i < ids->nparts; i++)
        if (collect_part (c, &ids->parts[i]) < 0)
            return -ENOMEM;
    return 0;
}

int cancelling_collect (struct cancelling *c, const struct api_filter *f)
{
    struct entry *e;

    if (f->ids && collect_named (c, f->ids) < 0)
        return -ENOMEM;
    if (f->ids && f->ids->ranges.n == 0)
        return 0;
    entries_each (ENTRIES_ALL, c->b, e) {
        if (!f->ids
            && (entry_job (e)->state == JOB_INACTIVE
                || !api_may (c->b, c->req, c->roles, e)))
            continue;
        if (api_filter_match (f, e)
            && (!f->ids || job_ids_has_given (f->ids, entry_id (e)))
            && add_target (c, entry_id (e), f->ids != NULL) < 0)
            return -ENOMEM;
    }
    bool sorted = true; /* the usual case */
    for (size_t i = 1; i < c->n && sorted; i++)
        sorted = cmp_target (&c->list[i - 1], &c->list[i]) <= 0;
    if (!sorted)
        qsort (c->list, c->n, sizeof (*c->list), cmp_target);
    return 0;
}
