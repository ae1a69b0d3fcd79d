/* plan.c - turns the scheduler's decisions into allocations, in bounded pieces
 */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/service.h"
#include "broker/core/sizes.h"
#include "broker/core/turn.h"
#include "broker/services/deadline.h"
#include "broker/services/depend/array.h"
#include "broker/services/licenses.h"
#include "broker/services/nodes/avoid.h"
#include "broker/services/priority.h"
#include "broker/services/reserve/reserve.h"
#include "common/clock.h"

/* The time in which a turn's last call may begin. A call takes up to 15 ms on a slow CPU
 * with 4,096 nodes (t/bench/plan); together they hold the loop for at most 20 ms. */
#define PASS_SECONDS 0.005
#define TRIES 1            /* of a call: one or two matches, then a look at the clock */
#define MISSED_SECONDS 1.0 /* from a pass without memory to the next */
#define SLEEP_MAX 60.0     /* begin times use the wall clock, which may be set */

struct planning {
    struct broker_timer next; /* the next pass, or the rest of this one */
    bool missed; /* no memory to queue or place some job: a later pass tries again */
};

static struct service_place place;
SERVICE_STATE_OF (struct planning)

/* The work is done at the end of the turn of the loop in which the timer fires. */
static void plan_in (struct broker *b, double seconds)
{
    broker_timer_set (&state_of (b)->next, seconds);
}

static void enqueue (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);

    if (entry_is_submitting (e) || !entry_request (e))
        return; /* submit.c and recover.c call again when the job is accepted */
    uint64_t id = job->array ? array_enqueue (b, e) : entry_id (e);
    if (id == 0)
        return;
    struct sched *sched = reserve_sched_for (b, e);
    struct sched_entry s = { .id = id,
                             .priority = job->priority,
                             .turn = job->turn,
                             .held = job->urgency == 0,
                             .begin = job->t_begin,
                             .duration = job->duration,
                             .max_wait = entry_max_wait (e),
                             .time_min = entry_time_min (e),
                             .req = avoid_choose (b, e),
                             .licenses = licenses_need (b, e),
                             .queue = entry_queue (e) };
    if (!entry_note (e) && job->requeue_reason) /* after a restart of the broker */
        entry_set_note (e, job->requeue_reason);
    int rc =
        /* else the job waits for its reservation */
        sched ? sched_enqueue (sched, &s) : 0;
    if (rc < 0)
        log_error ("job %ju: cannot be queued: %s", (uintmax_t)entry_id (e),
                   strerror (-rc));
    if (rc == -ENOMEM)
        state_of (b)->missed = true;
    broker_plan_due (b);
}

/* Queues the jobs that had no memory to be queued; the others keep their places. */
static void enqueue_missed (struct broker *b)
{
    struct entry *e;

    if (!state_of (b)->missed)
        return;
    state_of (b)->missed = false;
    entries_each (ENTRIES_WAITING, b, e) {
        if (entry_job (e)->state == JOB_SCHED)
            broker_enqueue (b, e);
    }
}

static void dequeue (struct broker *b, struct entry *e)
{
    if (entry_job (e)->array)
        array_dequeue (b, e);
    else
        reserve_dequeue (b, e, entry_id (e));
    broker_plan_due (b); /* jobs planned behind it may move forward */
}

/* {"R":..., "nodelist":..., "nnodes":..., "ntasks":..., "ncores":...}, "duration" if it
 * was lowered, "size" of an elastic job, "places" if a placement was asked for, and
 * "namespace" if the queue has one: the attempt stays there, even if the queue's setting
 * changes. */
static json_t *alloc_context (const struct broker *b, const struct entry *e,
                              const struct sched_decision *d)
{
    autofree char *text = rset_encode (entry_alloc (e));
    autofree char *nodelist = rset_nodelist (entry_alloc (e));
    json_t *r = text ? json_loads (text, 0, NULL) : NULL;
    json_t *space =
        json_object_get (broker_config (b)->queues[entry_queue (e)].pods, "namespace");

    if (!r || !nodelist) {
        json_decref (r);
        return NULL;
    }
    json_t *o = json_pack ("{s:o s:s}", "R", r, "nodelist", nodelist);
    int rc = o ? sizes_to_alloc (o, e, &d->size) : -1;
    if (rc == 0)
        rc = services_try (allocates, b, e, o);
    if (rc == 0 && d->duration != entry_job (e)->duration)
        rc = json_object_set_new (o, "duration", json_real (d->duration));
    if (rc == 0 && space)
        rc = json_object_set (o, "namespace", space);
    if (rc < 0) {
        json_decref (o);
        return NULL;
    }
    return o;
}

/* Shortens the allocation so that it ends by the job's deadline. */
static void keep_deadline (struct broker *b, const struct entry *e,
                           struct sched_decision *d)
{
    double limit = deadline_time_limit (e, d->r->starttime, d->duration);
    double end = d->r->starttime + limit;

    if (limit == d->duration
        || match_extend (reserve_matcher_of (b, e), d->id, end, NULL) < 0)
        return;
    d->duration = limit;
    d->r->expiration = end;
}

static void allocate (struct broker *b, struct sched_decision *d)
{
    struct entry *e = entry_find (b, d->id);
    json_t *context;

    if (!e)
        e = array_start (b, d->id);

    if (!e || entry_job (e)->state != JOB_SCHED) {
        log_error ("job %ju: was placed but does not wait", (uintmax_t)d->id);
        reserve_unbook (b, d->id);
        rset_destroy (d->r);
        return;
    }
    keep_deadline (b, e, d);
    entry_set_alloc (e, d->r);
    if (!(context = alloc_context (b, e, d))
        || broker_emit (b, e, "alloc", context) < 0) {
        log_error ("job %ju: allocation could not be recorded", (uintmax_t)d->id);
        match_cancel (reserve_matcher_of (b, e), d->id);
        rset_destroy (entry_alloc (e));
        entry_set_alloc (e, NULL);
        broker_enqueue (b, e);
    }
}

static bool has_time (double begin)
{
    return clock_mono () - begin < PASS_SECONDS;
}

static void plan (struct broker *b)
{
    struct sched_decision d = { 0 };
    int rc = 0;

    if (!broker_is_plan_due (b) || broker_is_recovering (b) || broker_is_stopping (b))
        return;
    double begin = clock_mono ();
    enqueue_missed (b);
    services_call (pass_begins, b);
    while (!pause_reason (b)) {
        rc = reserve_sched_next (b, clock_wall (), TRIES, &d);
        if (rc == 1)
            allocate (b, &d);
        else if (rc < 0 && rc != -EAGAIN)
            log_error ("scheduler: %s", strerror (-rc));
        if (rc == -ENOMEM)
            state_of (b)->missed = true;
        if ((rc != 1 && rc != -EAGAIN) || !has_time (begin))
            break;
    }

    bool more = rc == 1 || rc == -EAGAIN;
    broker_set_plan_due (b, more);
    if (more) {
        plan_in (b, 0);
        return;
    }
    services_call (pass_ends, b);
    double when = reserve_wakeup (b);
    for (const struct broker_service **s = SERVICES_WITH (wakeup); *s; s++) {
        double own = (*s)->wakeup (b);
        if (own > 0 && (when <= 0 || own < when))
            when = own;
    }
    if (state_of (b)->missed)
        plan_in (b, MISSED_SECONDS);
    else if (when > 0 && !pause_reason (b)) /* the end of a pause asks for a pass */
        plan_in (b, MIN (MAX (when - clock_wall (), 0.0), SLEEP_MAX) + 0.001);
}

/* Cancels the booking; waiting jobs may fit now. */
static void give_back (struct broker *b, struct entry *e)
{
    match_cancel (reserve_matcher_of (b, e), entry_id (e));
    reserve_freed (b, e);
    entry_end_alloc (e);
    reserve_leave (e);
    broker_plan_due (b);
    broker_emit_or_stop (b, e, "free", NULL);
}

static void rank_and_enqueue (struct broker *b, struct entry *e)
{
    priority_set_rank (b, e);
    enqueue (b, e);
}

static const struct service_act acts[] = {
    { JOB_ACT_ENQUEUE, rank_and_enqueue },
    { JOB_ACT_DEQUEUE, dequeue },
    { JOB_ACT_FREE, give_back },
    { 0, NULL },
};

const struct broker_service service_plan = {
    .name = "plan",
    .place = &place,
    .state_size = sizeof (struct planning),
    .timer = offsetof (struct planning, next),
    .on_timer = broker_plan_due,
    .enqueue = enqueue,
    .acts = acts,
    .end_of_turn = plan,
};
