/* serialize.c - starts of large jobs, one at a time (start-serialize)
 *
 * A job of that many ranks or more waits here after its allocation, until no other such
 * job that was allocated earlier is still starting. Nothing is made for the job
 * meanwhile, and the timeouts of its start do not run: they begin with the executor's
 * start(). Jobs start in the order of their allocation, also after a restart.
 */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"

static struct service_place place;

/* -- settings -- */

struct settings {
    /* starts of this many ranks or more go one at a time; 0: none do */
    size_t start_serialize;
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "start-serialize", value_int, AT (start_serialize), 0, 1000000, NULL },
    { 0 },
};

static const struct settings defaults = { 0 };

SERVICE_SETTINGS_OF (struct settings)

static bool is_large (const struct broker *b, const struct entry *e)
{
    size_t limit = settings_of (b)->start_serialize;

    return limit > 0 && entry_job (e)->nnodes >= (int64_t)limit;
}

static bool is_starting (const struct entry *e)
{
    const struct job *job = entry_job (e);

    return job->state == JOB_RUN && !job->started && !job->array;
}

/* Jobs that are starting go first, whenever they were allocated: the limit may have been
 * lowered. */
static bool goes_before (const struct entry *a, const struct entry *b)
{
    const struct job *job = entry_job (a);

    if (entry_is_starting (a) || entry_exec_job (a))
        return true;
    return job->t_alloc < entry_job (b)->t_alloc
           || (job->t_alloc <= entry_job (b)->t_alloc && entry_id (a) < entry_id (b));
}

static bool holds_start (struct broker *b, struct entry *e)
{
    const struct entry *other;
    char text[160];

    if (!is_large (b, e) || !is_starting (e))
        return false;
    entries_each (ENTRIES_ACTIVE, b, other) {
        if (other == e || !is_large (b, other) || !is_starting (other)
            || !goes_before (other, e))
            continue;
        snprintf (text, sizeof (text),
                  "waits until job %ju is ready: starts of %zu or more ranks go one at a "
                  "time",
                  (uintmax_t)entry_id (other), settings_of (b)->start_serialize);
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
    if (before == JOB_RUN && settings_of (b)->start_serialize > 0)
        broker_starts_due (b);
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    (void)e;
    if (settings_of (b)->start_serialize > 0 && !strcmp (change->name, "start"))
        broker_starts_due (b);
}

const struct broker_service service_serialize = {
    .name = "serialize",
    .place = &place,
    .settings = &settings,
    .moved = moved,
    .event = on_event,
    .holds_start = holds_start,
};
