/* submit_fresh.c - a new job keeps its jobspec until a pass is over: it may start at once */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/submit/submission.h"

struct slot {
    struct entry *e;
    bool is_fresh;
    struct slot *prev, *next;
};

struct fresh {
    struct slot *list;
};

static struct service_place place;
SERVICE_STATE_OF (struct fresh)
SERVICE_SLOT_OF (struct slot)

void submit_fresh_keep (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    *s = (struct slot){ .e = e, .is_fresh = true };
    DL_APPEND (state_of (b)->list, s);
}

static void forget (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    if (s->is_fresh)
        DL_DELETE (state_of (b)->list, s);
    s->is_fresh = false;
}

/* Drops the jobspecs of new jobs that did not start at once; the journal has them. A job
 * that is starting or has started still uses its jobspec. */
static void drop_specs (struct broker *b)
{
    const struct fresh *all = state_of (b);

    while (all->list) {
        struct entry *e = all->list->e;
        forget (b, e);
        if ((entry_job (e)->state != JOB_RUN || entry_job (e)->array)
            && !entry_is_starting (e) && !entry_exec_job (e))
            entry_drop_spec (e);
    }
}

const struct broker_service service_submit_fresh = {
    .name = "submit-fresh",
    .place = &place,
    .state_size = sizeof (struct fresh),
    .slot_size = sizeof (struct slot),
    .goes = forget,
    .pass_ends = drop_specs,
};
