/* priority.c - priorities of waiting jobs: computed and shown
 *
 *   ENQUEUE ------> priority_set_rank(): the rank that the queue orders by (sched/priority.h)
 *   timer --------> a round: takes fair-share factors and the machine's size again, ranks
 *                   all waiting jobs again, in slices of a few ms, and gives jobs with a
 *                   changed rank to the scheduler again
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/api/columns.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/services/priority.h"
#include "broker/services/userusage.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "sched/priority.h"

#define SLICE_SECONDS 0.002
#define SLICE_PAUSE 0.001 /* seconds */
#define STEPS_A_LOOK 32   /* steps between two looks at the clock */

struct priorities {
    int64_t all_cores, all_nodes; /* of the machine, as of the last round */
    struct broker_timer timer;    /* the next round or slice */
    struct round {
        bool under_way, counted; /* counted: all nodes have been counted */
        int node;                /* the node counted last */
        int64_t cores, nodes;    /* totals so far */
        struct entry *at;        /* the next job to rank */
    } round;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    struct priority_weights weights;
    double half_life; /* of usage, seconds; 0: usage does not decay */
    double interval;  /* seconds between two computations, >= 1 */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key mapping[] = {
    { "queue", value_int, AT (weights.queue), 0, PRIORITY_WEIGHT_MAX, NULL },
    { "age", value_int, AT (weights.age), 0, PRIORITY_WEIGHT_MAX, NULL },
    { "age-max", value_seconds, AT (weights.age_max), 1, CONFIG_YEARS_MAX, NULL },
    { "size", value_int, AT (weights.size), -PRIORITY_WEIGHT_MAX, PRIORITY_WEIGHT_MAX,
      NULL },
    { "fair-share", value_int, AT (weights.fair_share), 0, PRIORITY_WEIGHT_MAX, NULL },
    { "half-life", value_seconds, AT (half_life), 0, CONFIG_YEARS_MAX, NULL },
    { "interval", value_seconds, AT (interval), 1, 86400, NULL },
    { 0 },
};

static const struct config_key keys[] = {
    { "priority", value_mapping, 0, sizeof (struct settings), 0, 0, mapping },
    { 0 },
};

static const struct settings defaults = { .weights = PRIORITY_WEIGHTS_DEFAULT,
                                          .half_life = 7 * 86400.0,
                                          .interval = 60 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct priorities)

/* -- one job -- */

static struct priority_job describe (const struct broker *b, const struct entry *e,
                                     double now)
{
    const struct priorities *p = state_of (b);
    const struct job *job = entry_job (e);
    double since = job_age_since (job);

    return (struct priority_job){
        .urgency = job->urgency,
        .queue = broker_config (b)->queues[entry_queue (e)].priority,
        .since = since > 0 ? since : now,
        .size = priority_size (job->ncores, p->all_cores, job->nnodes, p->all_nodes),
        .fair_share = usage_fair_share (userusage (b), job->userid, now),
        .setback = job->setback,
        .nice = job->nice,
        .fixed = job->expedited ? PRIORITY_MAX : job->fixed,
    };
}

/* With the job's age counted from now: its rank, minus the lowest rank among the waiting
 * jobs of its queue and urgency. */
static int64_t setback (const struct broker *b, const struct entry *e)
{
    double now = clock_wall ();
    struct priority_job job = describe (b, e, now);
    const struct entry *w;

    job.since = now;
    job.setback = 0;
    int64_t own =
        priority_rank (&settings_of (b)->weights, &job, now, broker_started_at (b));
    int64_t last = own;
    entries_each (ENTRIES_WAITING, b, w)
        if (entry_queue (w) == entry_queue (e)
            && entry_job (w)->urgency == entry_job (e)->urgency
            && entry_job (w)->state == JOB_SCHED)
            last = MIN (last, entry_job (w)->priority);
    return own - last;
}

/* The priority of a waiting job at this time; ret may be NULL. */
static int64_t priority_of (const struct broker *b, const struct entry *e, double now,
                            struct priority *ret)
{
    struct priority_job job = describe (b, e, now);
    struct priority p;

    priority_sum (&settings_of (b)->weights, &job, now, &p);
    if (ret)
        *ret = p;
    return p.sum;
}

/* The sum as computed, of a held job as if it were released. */
static int64_t computed (const struct broker *b, struct priority_job *job)
{
    struct priority p;

    job->fixed = 0;
    job->urgency = job->urgency > 0 ? job->urgency : PRIORITY_URGENCY_DEFAULT;
    priority_sum (&settings_of (b)->weights, job, clock_wall (), &p);
    return p.sum;
}

static int refuse_raise (int64_t fixed, int64_t most, struct error *err)
{
    return fixed <= most
               ? 0
               : error_set (err, EPERM,
                            "priority: only operators may raise a job's priority, which "
                            "is computed as %jd",
                            (intmax_t)most);
}

int priority_check (const struct broker *b, const struct entry *e, int64_t fixed,
                    struct error *err)
{
    struct priority_job job = describe (b, e, clock_wall ());

    return refuse_raise (fixed, computed (b, &job), err);
}

int priority_check_submit (const struct broker *b, const struct jobspec *js,
                           const struct config_queue *queue, uid_t uid, struct error *err)
{
    const struct priorities *p = state_of (b);
    double now = clock_wall ();
    struct jobspec_sizes sizes;

    jobspec_get_sizes (js, &sizes);
    struct priority_job job = {
        .queue = queue->priority,
        .since = now,
        .size =
            priority_size (sizes.min_cores, p->all_cores, sizes.min_nodes, p->all_nodes),
        .fair_share = usage_fair_share (userusage (b), uid, now),
        .nice = js->nice,
    };
    return refuse_raise (js->priority, computed (b, &job), err);
}

void priority_set_rank (const struct broker *b, struct entry *e)
{
    double now = clock_wall ();
    struct priority_job job = describe (b, e, now);

    entry_job (e)->priority =
        priority_rank (&settings_of (b)->weights, &job, now, broker_started_at (b));
}

/* -- rounds -- */

static void round_begin (struct broker *b)
{
    struct priorities *p = state_of (b);

    usage_round (userusage (b));
    p->round = (struct round){ .under_way = true,
                               .node = -1,
                               .at = entries_first (b, ENTRIES_WAITING) };
}

/* Counts the next node; false: no more. */
static bool count_node (struct broker *b, struct round *r)
{
    struct machine_node_info info;

    r->node = machine_node_next (broker_graph (b), r->node);
    if (r->node < 0)
        return false;
    if (machine_node_info (broker_graph (b), r->node, &info) == 0) {
        r->cores += info.cores;
        r->nodes++;
    }
    return true;
}

static void rank_again (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);
    int64_t before = job->priority;

    /* users with waiting jobs count */
    usage_name (userusage (b), job->userid, NULL);
    priority_set_rank (b, e);
    if (job->priority != before && job->state == JOB_SCHED)
        broker_enqueue (b, e);
}

/* false: the round is over. */
static bool round_step (struct broker *b)
{
    struct priorities *p = state_of (b);
    struct round *r = &p->round;

    if (!r->counted) {
        r->counted = !count_node (b, r);
        if (r->counted) {
            p->all_cores = r->cores;
            p->all_nodes = r->nodes;
        }
        return true;
    }
    struct entry *e = r->at;
    if (!e)
        return false;
    r->at = entries_next (e, ENTRIES_WAITING);
    rank_again (b, e);
    return true;
}

static void slice (struct broker *b)
{
    struct priorities *p = state_of (b);
    double begin = clock_mono ();
    bool more = true;

    if (!p->round.under_way)
        round_begin (b);
    for (unsigned n = 1; more; n++) {
        more = round_step (b);
        if (n % STEPS_A_LOOK == 0 && clock_mono () - begin > SLICE_SECONDS)
            break;
    }
    if (!more) {
        p->round.under_way = false;
        userusage_drop_idle (b);
    }
    broker_timer_set (&p->timer, more ? SLICE_PAUSE : settings_of (b)->interval);
}

static void round_due (struct broker *b)
{
    struct priorities *p = state_of (b);

    p->round.under_way = false;
    broker_timer_set (&p->timer, 0);
}

static int init (struct broker *b, struct error *err)
{
    (void)err;
    userusage_set_half_life (b, settings_of (b)->half_life);
    return 0;
}

static void reloaded (struct broker *b, const struct config *old)
{
    (void)old;
    userusage_set_half_life (b, settings_of (b)->half_life);
    round_due (b);
}

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    const struct settings *s = settings_of (b);

    (void)viewer;
    json_object_set_new (
        status, "priority",
        json_pack ("{s:I s:I s:f s:I s:I s:f}", "queue", (json_int_t)s->weights.queue,
                   "age", (json_int_t)s->weights.age, "age_max", s->weights.age_max,
                   "size", (json_int_t)s->weights.size, "fair_share",
                   (json_int_t)s->weights.fair_share, "half_life", s->half_life));
}

/* -- the list of those that wait -- */

static void move_on (struct broker *b, struct entry *e)
{
    struct round *r = &state_of (b)->round;

    if (r->at == e)
        r->at = entries_next (e, ENTRIES_WAITING);
}

static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    (void)before;
    if (entry_job (e)->state >= JOB_RUN)
        move_on (b, e);
}

/* -- GET /v1/jobs/ID/priority -- */

static json_t *describe_terms (const struct broker *b, const struct entry *e,
                               const struct priority *p, const struct priority_job *job)
{
    const struct priority_weights *w = &settings_of (b)->weights;
    const struct {
        const char *name;
        int64_t weight;
        double factor;
        int64_t points;
    } terms[] = {
        { "urgency", PRIORITY_URGENCY_WEIGHT, entry_job (e)->urgency, p->urgency },
        { "queue", w->queue, job->queue, p->queue },
        { "age", w->age, p->age_factor, p->age },
        { "size", w->size, p->size_factor, p->size },
        { "fair-share", w->fair_share, job->fair_share, p->fair_share },
    };
    json_t *list = json_array ();

    if (job->fixed > 0) {
        json_array_append_new (list, json_pack ("{s:s s:i s:f s:I}", "name", "fixed",
                                                "weight", 1, "factor", (double)job->fixed,
                                                "points", (json_int_t)p->sum));
        return list;
    }
    for (size_t i = 0; i < ARRAY_SIZE (terms); i++)
        json_array_append_new (
            list, json_pack ("{s:s s:I s:f s:I}", "name", terms[i].name, "weight",
                             (json_int_t)terms[i].weight, "factor", terms[i].factor,
                             "points", (json_int_t)terms[i].points));
    if (job->setback > 0) /* applies only to jobs requeued at the end */
        json_array_append_new (list,
                               json_pack ("{s:s s:i s:f s:I}", "name", "requeue",
                                          "weight", -1, "factor", (double)job->setback,
                                          "points", (json_int_t)-job->setback));
    if (job->nice != 0)
        json_array_append_new (list, json_pack ("{s:s s:i s:f s:I}", "name", "nice",
                                                "weight", -1, "factor", (double)job->nice,
                                                "points", (json_int_t)-job->nice));
    return list;
}

static json_t *describe_priority (const struct broker *b, const struct entry *e)
{
    const struct priorities *all = state_of (b);
    const struct usage *usage = userusage (b);
    double now = clock_wall ();
    const struct priority_job job = describe (b, e, now);
    struct priority p;

    priority_sum (&settings_of (b)->weights, &job, now, &p);
    return json_pack (
        "{s:I s:s s:I s:s s:b s:I s:o s:f s:f s:I s:I s:I s:I s:f s:f s:f s:I}", "id",
        (json_int_t)entry_id (e), "user", entry_job (e)->user, "userid",
        (json_int_t)entry_job (e)->userid, "queue", entry_job (e)->queue, "held",
        (int)(entry_job (e)->urgency == 0), "priority", (json_int_t)p.sum, "terms",
        describe_terms (b, e, &p, &job), "age", MAX (0.0, now - job.since), "age_max",
        settings_of (b)->weights.age_max, "cores", (json_int_t)entry_job (e)->ncores,
        "cores_all", (json_int_t)all->all_cores, "nodes",
        (json_int_t)entry_job (e)->nnodes, "nodes_all", (json_int_t)all->all_nodes,
        "usage", usage_of (usage, entry_job (e)->userid, now), "usage_all",
        usage_all (usage, now), "share", usage_share (usage), "users",
        (json_int_t)usage_count (usage));
}

static void api_job_priority (struct broker *b, struct http_request *req,
                              const struct api_path *path)
{
    struct entry *e = api_entry (b, req, path, NULL);

    if (!e)
        return;
    if (entry_job (e)->state >= JOB_RUN)
        http_reply_problem (
            req, 409, "wrong-state", "job %ju no longer waits (%s): it has no priority",
            (uintmax_t)entry_id (e), job_phase_name (job_phase (entry_job (e))));
    else {
        json_t *o = describe_priority (b, e);
        if (!privacy_sees (b, http_request_uid (req), e, PRIVATE_USAGE)) {
            static const char *const usage[] = { "usage", "priority", "share" };
            for (size_t i = 0; i < ARRAY_SIZE (usage); i++)
                json_object_set_new (o, usage[i], json_null ());
            json_object_set_new (o, "terms", json_array ());
        }
        if (!privacy_sees_usage (b, http_request_uid (req), PRIVACY_ANYONE))
            json_object_set_new (o, "usage_all", json_null ());
        api_reply_json (req, 200, o);
    }
}

/* -- columns -- */

/* Waiting jobs: the present sum; others: the last one recorded. */
static void col_priority (const struct cell *c)
{
    column_add_number (c->sb, column_job_waits (c->e)
                                  ? priority_of (c->b, c->e, c->now, NULL)
                                  : c->job->priority_told);
}

static void col_fixed (const struct cell *c)
{
    int64_t fixed = c->job->expedited ? PRIORITY_MAX : c->job->fixed;

    if (column_job_waits (c->e) && fixed > 0)
        column_add_number (c->sb, fixed);
}

#define TERM(term)                                                                       \
    static void col_##term (const struct cell *c)                                        \
    {                                                                                    \
        struct priority p;                                                               \
        if (!column_job_waits (c->e))                                                    \
            return;                                                                      \
        priority_of (c->b, c->e, c->now, &p);                                            \
        column_add_number (c->sb, p.term);                                               \
    }
TERM (urgency)
TERM (queue)
TERM (age)
TERM (size)
TERM (fair_share)

static const struct column columns[] = {
    { "priority", COLUMN_NUMBER, col_priority, PRIVATE_USAGE },
    { "priority_urgency", COLUMN_NUMBER, col_urgency, 0 },
    { "priority_queue", COLUMN_NUMBER, col_queue, 0 },
    { "priority_age", COLUMN_NUMBER, col_age, 0 },
    { "priority_size", COLUMN_NUMBER, col_size, 0 },
    { "priority_fair_share", COLUMN_NUMBER, col_fair_share, PRIVATE_USAGE },
    { "priority_fixed", COLUMN_NUMBER, col_fixed, 0 },
    { 0 },
};

static void act_priority (struct broker *b, struct entry *e)
{
    broker_emit_or_stop (b, e, "priority",
                         json_pack ("{s:I}", "priority",
                                    (json_int_t)priority_of (b, e, clock_wall (), NULL)));
}

static void on_requeue (struct broker *b, struct entry *e,
                        const struct service_requeue *how, json_t *context)
{
    if (how->at_end)
        json_object_set_new (context, "setback",
                             json_integer ((json_int_t)setback (b, e)));
}

static const struct service_act acts[] = { { JOB_ACT_PRIORITY, act_priority },
                                           { 0, NULL } };

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}/priority", api_job_priority, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_priority = {
    .name = "priority",
    .place = &place,
    .state_size = sizeof (struct priorities),
    .settings = &settings,
    .timer = offsetof (struct priorities, timer),
    .on_timer = slice,
    .init = init,
    .reloaded = reloaded,
    .moved = moved,
    .acts = acts,
    .goes = move_on,
    .requeues = on_requeue,
    .recovered = round_due,
    .routes = routes,
    .columns = columns,
    .shows_status = shows_status,
};
