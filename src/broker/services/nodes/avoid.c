/* avoid.c - a job that failed to start is tried on other nodes next
 *
 *   start failed on node2 --> requeue {avoid: "node2"} --> job->avoid --> slot.req
 *                                                    good start: forgotten
 *
 * The job is queued with a request that adds {"not": [{"hostlist": [...]}]} to its
 * constraints, if the job can run that way at some time as things are. Otherwise (too few
 * other nodes, or they are down, drained, or used without a time limit) it is queued with
 * its own request: a node that might fail is better than none. The event lists all nodes
 * to avoid, so a restart knows them.
 */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/nodes/avoid.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/placing.h"
#include "broker/services/reserve/reserve.h"
#include "common/clock.h"

#define SOMEDAY (180 * 86400.0) /* a later start waits for a job without time limit */
#define AVOID_MAX 4096          /* nodes; further ones are not avoided */

struct slot {
    struct match_request *req; /* the job's, without the nodes of job->avoid; or NULL */
    bool used;                 /* the job is queued with it */
};

struct avoidance {
    size_t n;    /* jobs with a request of their own here */
    bool is_due; /* the choices are to be checked again */
};

static struct service_place place;
SERVICE_STATE_OF (struct avoidance)
SERVICE_SLOT_OF (struct slot)

static void add_names (struct hostlist *to, const char *names)
{
    struct hostlist *hl = names ? hostlist_decode (names, HOSTLIST_MAX, NULL) : NULL;
    const char *name;

    for (size_t i = 0; hl && (name = hostlist_nth (hl, i)); i++)
        if (hostlist_find (to, name) < 0 && hostlist_count (to) < AVOID_MAX)
            hostlist_append (to, name);
    hostlist_destroy (hl);
}

static char *all_to_avoid (const struct job *job, const char *nodes)
{
    struct hostlist *all = hostlist_create ();
    char *text = NULL;

    if (!all)
        return NULL;
    add_names (all, job->avoid);
    add_names (all, nodes);
    if (hostlist_count (all) > 0)
        text = hostlist_encode (all);
    hostlist_destroy (all);
    return text;
}

static void drop (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);

    if (!s->req)
        return;
    match_request_destroy (s->req);
    *s = (struct slot){ 0 };
    state_of (b)->n--;
}

static void prepare (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct slot *s = slot_of (e);
    struct error err = { 0 };

    drop (b, e);
    if (!job->avoid || !entry_jobspec (e) || job->state == JOB_INACTIVE)
        return;
    autojson json_t *not = json_pack ("{s:[{s:[s]}]}", "not", "hostlist", job->avoid);
    if (not )
        s->req = queuenodes_request (b, entry_jobspec (e), job->queue, not, &err);
    if (s->req)
        state_of (b)->n++;
    else
        log_warning ("job %ju: its next start does not avoid %s: %s",
                     (uintmax_t)entry_id (e), job->avoid,
                     err.code ? err.text : "out of memory");
}

void avoid_check_again (struct broker *b)
{
    state_of (b)->is_due = true;
}

const struct match_request *avoid_choose (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    struct slot *s = slot_of (e);
    double now = MAX (clock_wall (), job->t_begin), start;

    s->used = s->req && !broker_is_recovering (b)
              && match_earliest (reserve_matcher_of (b, e), s->req, now, job->duration,
                                 &start, NULL, NULL)
                     == 0
              && start - now < SOMEDAY;
    return s->used ? s->req : placing_choose (b, e);
}

static void recheck (struct broker *b)
{
    struct avoidance *a = state_of (b);
    struct entry *e;

    if (!a->is_due || broker_is_recovering (b))
        return;
    a->is_due = false;
    if (a->n == 0)
        return;
    entries_each (ENTRIES_WAITING, b, e) {
        const struct slot *s = slot_of (e);
        bool before = s->used;

        if (!s->req || entry_job (e)->state != JOB_SCHED)
            continue;
        avoid_choose (b, e);
        if (s->used != before)
            broker_enqueue (b, e);
    }
}

static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    if (!strcmp (change->name, "requeue"))
        prepare (b, e);
}

static void on_requeue (struct broker *b, struct entry *e,
                        const struct service_requeue *how, json_t *context)
{
    autofree char *avoid = how->avoids ? all_to_avoid (entry_job (e), how->nodes) : NULL;

    (void)b;
    if (avoid)
        json_object_set_new (context, "avoid", json_string (avoid));
}

static void on_drop (struct entry *e)
{
    match_request_destroy (slot_of (e)->req);
}

const struct broker_service service_avoid = {
    .name = "avoid",
    .order = SERVICE_AFTER, /* placing.c makes the usual request first */
    .place = &place,
    .state_size = sizeof (struct avoidance),
    .slot_size = sizeof (struct slot),
    .replayed = prepare,
    .event = on_event,
    .requeues = on_requeue,
    .ended = drop,
    .drop = on_drop,
    .nodes_known = avoid_check_again,
    .pass_begins = recheck,
};
