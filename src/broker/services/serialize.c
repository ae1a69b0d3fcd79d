/* serialize.c - starts of large jobs, one at a time (start-serialize)
 *
 * A job of that many ranks or more waits here after its allocation, until no other such
 * job that was allocated earlier is still starting. Nothing is made for the job
 * meanwhile, and the timeouts of its start do not run: they begin with the executor's
 * start(). Jobs start in the order of their allocation, also after a restart.
 */
#include <string.h>
#include <utlist.h>

#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"

static bool is_large (const struct broker *b, const struct entry *e)
{
    size_t limit = b->config->start_serialize;

    return limit > 0 && e->job->nnodes >= (int64_t)limit;
}

static bool is_starting (const struct entry *e)
{
    return e->job->state == JOB_RUN && !e->job->started && !e->job->array;
}

/* Jobs that are starting go first, whenever they were allocated: the limit may have been
 * lowered. */
static bool goes_before (const struct entry *a, const struct entry *b)
{
    if (a->starting || a->xjob)
        return true;
    return a->job->t_alloc < b->job->t_alloc
           || (a->job->t_alloc <= b->job->t_alloc && a->id < b->id);
}

static bool holds_start (struct broker *b, struct entry *e)
{
    const struct entry *other;
    char text[160];

    if (!is_large (b, e) || !is_starting (e))
        return false;
    DL_FOREACH2 (b->table.active, other, active.next)
    {
        if (other == e || !is_large (b, other) || !is_starting (other)
            || !goes_before (other, e))
            continue;
        snprintf (text, sizeof (text),
                  "waits until job %ju is ready: starts of %zu or more ranks go one at a "
                  "time",
                  (uintmax_t)other->id, b->config->start_serialize);
        entry_set_note (e, text);
        return true;
    }
    entry_set_note (e, NULL);
    return false;
}

/* For starts that waited for this job's start. */
static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    (void)e;
    if (before == JOB_RUN && b->config->start_serialize > 0)
        broker_starts_due (b);
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    (void)e;
    if (b->config->start_serialize > 0 && !strcmp (change->name, "start"))
        broker_starts_due (b);
}

const struct broker_service service_serialize = {
    .name = "serialize",
    .moved = moved,
    .event = on_event,
    .holds_start = holds_start,
};
