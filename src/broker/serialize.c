/* serialize.c - large starts, one at a time (start-serialize)
 *
 * A job of that many ranks or more that has its allocation waits here until no other such
 * job that was allocated before it is on its way to being ready. Nothing is made for it
 * meanwhile, and its start's clocks do not run: they begin with the executor's start().
 * First allocated, first served: after a restart it is the same one that comes first.
 */
#include <string.h>
#include <utlist.h>

#include "broker/broker.h"

static bool is_large (const struct broker *b, const struct entry *e)
{
    size_t limit = b->config->start_serialize;

    return limit > 0 && e->job->nnodes >= (int64_t)limit;
}

static bool is_starting (const struct entry *e)
{
    return e->job->state == JOB_RUN && !e->job->started && !e->job->array;
}

/* Also who is at it already, whenever it was allocated: the limit may have been lowered. */
static bool goes_before (const struct entry *a, const struct entry *b)
{
    if (a->starting || a->xjob)
        return true;
    return a->job->t_alloc < b->job->t_alloc
           || (a->job->t_alloc <= b->job->t_alloc && a->id < b->id);
}

bool broker_start_waits (struct broker *b, struct entry *e)
{
    const struct entry *other;
    char text[160];

    if (!is_large (b, e) || !is_starting (e))
        return false;
    DL_FOREACH2 (b->active, other, active_next)
    {
        if (other == e || !is_large (b, other) || !is_starting (other)
            || !goes_before (other, e))
            continue;
        snprintf (text, sizeof (text),
                  "waits until job %ju is ready: starts of %zu or more ranks go one at a "
                  "time",
                  (uintmax_t)other->id, b->config->start_serialize);
        entry_set_note (e, text);
        e->start_again = true;
        return true;
    }
    entry_set_note (e, NULL);
    return false;
}
