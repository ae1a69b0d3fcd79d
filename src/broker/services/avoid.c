/* avoid.c - a job that failed to start is tried on other nodes next
 *
 *   start failed on node2 --> requeue {avoid: "node2"} --> job->avoid --> e->avoiding
 *                                                    good start: forgotten
 *
 * The job is queued with a request that adds {"not": [{"hostlist": [...]}]} to its
 * constraints, if the job can run that way at some time as things are. Otherwise (too few
 * other nodes, or they are down, drained, or used without a time limit) it is queued with
 * its own request: a node that might fail is better than none. The event lists all nodes
 * to avoid, so a restart knows them.
 */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "broker/core/broker.h"
#include "broker/services/avoid.h"
#include "broker/services/placing.h"
#include "broker/services/queuenodes.h"
#include "broker/services/reserve.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "common/clock.h"
#include "common/hostlist.h"
#include "common/log.h"

#define SOMEDAY (180 * 86400.0) /* a later start waits for a job without time limit */
#define AVOID_MAX 4096          /* nodes; further ones are not avoided */

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
    if (!e->avoiding)
        return;
    match_request_destroy (e->avoiding);
    e->avoiding = NULL;
    e->avoids = false;
    b->navoiding--;
}

static void prepare (struct broker *b, struct entry *e)
{
    struct error err = { 0 };

    drop (b, e);
    if (!e->job->avoid || !e->js || e->job->state == JOB_INACTIVE)
        return;
    autojson json_t *not = json_pack ("{s:[{s:[s]}]}", "not", "hostlist", e->job->avoid);
    if (not )
        e->avoiding = broker_request (b, e->js, e->job->queue, not, &err);
    if (e->avoiding)
        b->navoiding++;
    else
        log_warning ("job %ju: its next start does not avoid %s: %s", (uintmax_t)e->id,
                     e->job->avoid, err.code ? err.text : "out of memory");
}

const struct match_request *broker_avoid_choose (struct broker *b, struct entry *e)
{
    double now = MAX (clock_wall (), e->job->t_begin), start;

    if (e->avoiding && !b->recovering && !broker_is_prepared (b)) {
        e->avoids = b->avoid_due = true; /* chosen again when the matchers are prepared */
        return e->avoiding;
    }
    e->avoids = e->avoiding && !b->recovering
                && match_earliest (broker_matcher_of (b, e), e->avoiding, now,
                                   e->job->duration, &start, NULL, NULL)
                       == 0
                && start - now < SOMEDAY;
    return e->avoids ? e->avoiding : placing_choose (b, e);
}

static void recheck (struct broker *b)
{
    struct entry *e;

    if (!b->avoid_due || b->recovering)
        return;
    b->avoid_due = false;
    if (b->navoiding == 0)
        return;
    DL_FOREACH2 (b->waiting, e, waiting_next)
    {
        bool before = e->avoids;

        if (!e->avoiding || e->job->state != JOB_SCHED)
            continue;
        broker_avoid_choose (b, e);
        if (e->avoids != before)
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
    autofree char *avoid = how->avoids ? all_to_avoid (e->job, how->nodes) : NULL;

    (void)b;
    if (avoid)
        json_object_set_new (context, "avoid", json_string (avoid));
}

static void on_drop (struct entry *e)
{
    match_request_destroy (e->avoiding);
}

static void nodes_known (struct broker *b)
{
    b->avoid_due = true;
}

const struct broker_service service_avoid = {
    .name = "avoid",
    .order = SERVICE_AFTER, /* placing.c makes the usual request first */
    .replayed = prepare,
    .event = on_event,
    .requeues = on_requeue,
    .ended = drop,
    .drop = on_drop,
    .nodes_known = nodes_known,
    .pass_begins = recheck,
};
