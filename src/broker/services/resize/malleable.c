/* malleable.c - offers malleable jobs nodes that no job waits for, and asks for them back
 *
 *   after a pass, at most once a second, and for a fiftieth of the time:
 *     jobs wait   --> giveback_plan() on a model --> resize to less, by "scheduler"
 *     no job does --> the next larger size that fits --> resize to more
 *
 * There is one round at a time: nothing is decided while a job is being resized, as its
 * nodes are not free yet. Nodes are asked back only if that lets a waiting job start, one
 * of the first FRONT in the queue. The job with the lowest priority gives first, of equal
 * ones the newest; offers go in the opposite order. A job gets no offers for
 * `resize-interval` after its last change, so that nodes do not go back and forth, and
 * none after its user has set its size.
 */
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/array.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/resize/malleable.h"
#include "broker/services/resize/resize.h"
#include "common/clock.h"
#include "sched/giveback.h"

#define FRONT 8
#define ASKED_MAX 8       /* jobs that are remembered as asked */
#define JOBS_MAX 64       /* malleable jobs considered in a round */
#define OFFERS_MAX 64     /* sizes tried for a job */
#define ROUND_SECONDS 1.0 /* between two rounds, and */
#define ROUND_SHARE                                                                      \
    50.0 /* ... this multiple of the last round's time, on large machines */

/* A job that was asked for nodes, and their number. */
struct asked {
    uint64_t job;
    uint32_t nodes;
};

struct state {
    struct broker_timer timer; /* the next round */
    double next;               /* mono, earliest time of that round */
    /* id of the job for which nodes were asked back, 0: none; asked of: */
    uint64_t waiting;
    struct asked asked[ASKED_MAX];
    size_t nasked;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    bool grow;       /* jobs are offered nodes that no job waits for, */
    double interval; /* ... this many seconds after their last change */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "resize-grow", value_bool, AT (grow), 0, 0, NULL },
    { "resize-interval", value_duration, AT (interval), 0, 0, NULL },
    { 0 },
};

static const struct settings defaults = { .grow = true, .interval = 60 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct state)

struct round {
    struct broker *b;
    /* running malleable jobs, by ascending priority */
    struct entry *jobs[JOBS_MAX];
    size_t n;
    bool busy; /* one of them is being resized */
};

static bool is_malleable (const struct entry *e)
{
    const struct job *job = entry_job (e);

    return job->state == JOB_RUN && job->started && entry_jobspec (e)
           && entry_jobspec (e)->malleable && entry_alloc (e) && entry_exec_job (e)
           && !reserve_has_realm (e) && !job->finished;
}

static bool gives_before (const struct entry *a, const struct entry *b)
{
    const struct job *job = entry_job (a);

    return job->priority != entry_job (b)->priority
               ? job->priority < entry_job (b)->priority
               : entry_id (a) > entry_id (b);
}

/* Inserts in order; if the list is full, jobs with the highest priority are left out. */
static void insert (struct round *r, struct entry *e)
{
    size_t at = r->n;

    if (r->n == JOBS_MAX && !gives_before (e, r->jobs[JOBS_MAX - 1]))
        return;
    at = MIN (r->n, (size_t)JOBS_MAX - 1);
    for (; at > 0 && gives_before (e, r->jobs[at - 1]); at--)
        r->jobs[at] = r->jobs[at - 1];
    r->jobs[at] = e;
    r->n = MIN (r->n + 1, (size_t)JOBS_MAX);
}

static void find_jobs (struct round *r)
{
    struct entry *e;

    entries_each (ENTRIES_ACTIVE, r->b, e) {
        if (!is_malleable (e))
            continue;
        r->busy |= entry_job (e)->resize.active;
        insert (r, e);
    }
}

/* -- asked for -- */

/* A model of the machine with all running jobs. */
static struct growth *model_of (struct broker *b, double now)
{
    struct growth *x =
        growth_create (broker_graph (b), broker_matcher (b),
                       broker_config (b)->match_policy, NULL, 0, true, now);
    struct entry *e;

    entries_each (ENTRIES_ACTIVE, b, e) {
        if (x && entry_alloc (e) && growth_run (x, entry_id (e), entry_alloc (e)) < 0) {
            growth_destroy (x);
            return NULL;
        }
    }
    return x;
}

static void ask (struct round *r, const struct giveback_job *jobs, uint64_t waiting)
{
    struct broker *b = r->b;
    struct state *state = state_of (b);
    char reason[96];

    snprintf (reason, sizeof (reason), "job %ju waits", (uintmax_t)waiting);
    state->waiting = waiting;
    state->nasked = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct error err = { 0 };
        int64_t has = (int64_t)jobs[i].r->nranks;
        if (jobs[i].nodes >= has)
            continue;
        if (resize_job (b, r->jobs[i], jobs[i].nodes, reason, RESIZE_BY_SCHEDULER,
                        broker_uid (b), &err)
            < 0)
            log_warning ("no nodes are requested from job %ju: %s", (uintmax_t)jobs[i].id,
                         err.text);
        else if (state->nasked < ASKED_MAX)
            state->asked[state->nasked++] =
                (struct asked){ jobs[i].id, (uint32_t)(has - jobs[i].nodes) };
    }
}

/* 1: jobs were asked; 0: it would not help. */
static int give_to (struct round *r, struct growth *x, const struct sched_entry *front,
                    double now)
{
    struct giveback_job jobs[JOBS_MAX];
    const struct growth_job wanted = { front->id, front->req, front->duration };

    for (size_t i = 0; i < r->n; i++)
        jobs[i] = (struct giveback_job){ .id = entry_id (r->jobs[i]),
                                         .r = entry_alloc (r->jobs[i]),
                                         .sizes = jobspec_malleable (
                                             entry_jobspec (r->jobs[i])) };
    int rc = giveback_plan (x, jobs, r->n, &wanted, now);
    if (rc == 1)
        ask (r, jobs, front->id);
    return rc;
}

static bool has_spare (const struct round *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (giveback_smaller (jobspec_malleable (entry_jobspec (r->jobs[i])),
                              (int64_t)entry_alloc (r->jobs[i])->nranks)
            > 0)
            return true;
    return false;
}

static void take_back (struct round *r, const struct sched_entry **front, size_t n)
{
    double now = clock_wall ();
    struct growth *x = has_spare (r) ? model_of (r->b, now) : NULL;
    int rc = 0;

    for (size_t i = 0; i < n && x && rc == 0; i++)
        rc = give_to (r, x, front[i], now);
    growth_destroy (x);
}

/* -- offered -- */

/* Seconds until the job may be offered nodes; 0: now; < 0: never. */
static double offered_in (const struct round *r, const struct entry *e)
{
    const struct job *job = entry_job (e);
    const struct job_resize *last = &job->resize;
    double since = last->at > 0 ? last->at : job->t_start;

    if (!settings_of (r->b)->grow || last->by_user || job->resize.failed
        || giveback_larger (jobspec_malleable (entry_jobspec (e)),
                            (int64_t)entry_alloc (e)->nranks)
               == 0)
        return -1;
    return MAX (since + settings_of (r->b)->interval - clock_wall (), 0);
}

/* Offers the largest size for which there are nodes. */
static bool offer (struct round *r, struct entry *e)
{
    const struct jobspec_resource *sizes = jobspec_malleable (entry_jobspec (e));
    int64_t has = (int64_t)entry_alloc (e)->nranks,
            most = broker_config (r->b)->queues[entry_queue (e)].max_nodes;
    int64_t n = giveback_smaller (sizes, most > 0 ? most + 1 : INT32_MAX);
    struct error err = { 0 };

    for (int tries = 0; n > has && tries < OFFERS_MAX; tries++) {
        if (resize_job (r->b, e, n, "nobody waits", RESIZE_BY_SCHEDULER,
                        broker_uid (r->b), &err)
            == 0)
            return true;
        n = giveback_smaller (sizes, n);
    }
    return false;
}

/* Makes the offers that are due. Seconds until the next one; < 0: none. */
static double offer_all (struct round *r)
{
    double next = -1;

    for (size_t i = r->n; i-- > 0;) {
        double in = offered_in (r, r->jobs[i]);
        if (in == 0)
            offer (r, r->jobs[i]);
        else if (in > 0 && (next < 0 || in < next))
            next = in;
    }
    return next;
}

/* -- when -- */

static void again_in (struct state *state, double seconds)
{
    double wait = MAX (seconds, state->next - clock_mono ());

    broker_timer_set (&state->timer, MAX (wait, 0));
}

/* Seconds until the next round without a pass, 0: none; any event leads to a pass. */
static double run_round (struct broker *b)
{
    struct round r = { .b = b };
    const struct sched_entry *front[FRONT];

    find_jobs (&r);
    if (r.busy || r.n == 0)
        return 0;
    state_of (b)->waiting = 0;
    size_t n = sched_front (broker_sched (b), front, FRONT);
    if (n == 0)
        return MAX (offer_all (&r), 0);
    take_back (&r, front, n);
    return 0;
}

static void on_timer (struct broker *b)
{
    struct state *state = state_of (b);
    double began = clock_mono ();

    if (broker_is_recovering (b))
        return;
    if (broker_is_plan_due (b)) {
        again_in (state, ROUND_SECONDS); /* a pass is under way and starts what it can */
        return;
    }
    double look = run_round (b), now = clock_mono ();
    state->next = began + MAX (ROUND_SECONDS, ROUND_SHARE * (now - began));
    log_debug ("malleable jobs: a check took %.1f ms", (now - began) * 1e3);
    if (look > 0)
        again_in (state, look);
}

static void round_due (struct broker *b)
{
    struct state *state = state_of (b);

    if (!state->timer.is_set || broker_timer_left (&state->timer) > ROUND_SECONDS)
        again_in (state, 0);
}

/* -- in words -- */

void malleable_add_reason (const struct broker *b, const struct entry *e,
                           struct strbuf *sb)
{
    const struct state *state = state_of (b);
    const char *comma = "";

    if (state->waiting == 0 || state->waiting != array_queued_id (e))
        return;
    strbuf_addf (sb, "%swaits for ", sb->len ? "; " : "");
    for (size_t i = 0; i < state->nasked; i++) {
        const struct asked *a = &state->asked[i];
        strbuf_addf (sb, "%s%u node%s of malleable job %ju", comma, a->nodes,
                     a->nodes == 1 ? "" : "s", (uintmax_t)a->job);
        comma = " and ";
    }
}

const struct broker_service service_malleable = {
    .name = "malleable",
    .place = &place,
    .state_size = sizeof (struct state),
    .settings = &settings,
    .timer = offsetof (struct state, timer),
    .on_timer = on_timer,
    .pass_ends = round_due,
};
