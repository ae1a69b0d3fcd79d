/* priority.c - priorities of waiting jobs and usage of users: computed, kept and shown
 *
 *   alloc, free --> broker_account(): usage of the user (sched/usage.h)
 *   ENQUEUE ------> priority_set_rank(): the rank that the queue orders by (sched/priority.h)
 *   timer --------> a round: takes fair-share factors and the machine's size again, ranks
 *                   all waiting jobs again, in slices of a few ms, and gives jobs with a
 *                   changed rank to the scheduler again
 *
 * The journal has the usage of ended jobs as settings "usage/UID" = "CORE_SECONDS AT
 * NAME", written in the transaction of the `free` event. The usage cannot be derived from
 * the jobs: a start reads only the newest ended ones (keep-finished), and with a
 * half-life of days many more count. Running jobs add their usage themselves.
 */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "broker/config/keys.h"
#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/turn.h"
#include "broker/services/priority.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/parse.h"
#include "sched/usage.h"

#define SLICE_SECONDS 0.002
#define SLICE_PAUSE 0.001 /* seconds */
#define STEPS_A_LOOK 32   /* steps between two looks at the clock */
#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 10000

struct priorities {
    struct usage *usage;
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
#undef AT

static const struct config_key keys[] = {
    { "priority", value_mapping, 0, sizeof (struct settings), 0, 0, mapping },
    { 0 },
};

static const struct settings defaults = { .weights = PRIORITY_WEIGHTS_DEFAULT,
                                          .half_life = 7 * 86400.0,
                                          .interval = 60 };
static const struct config_part settings = { keys, sizeof (struct settings), &defaults };

static const struct settings *settings_of (const struct broker *b)
{
    return service_settings (broker_config (b), &place);
}

static struct priorities *state_of (const struct broker *b)
{
    return service_state (b, &place);
}

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
        .fair_share = usage_fair_share (p->usage, job->userid, now),
        .setback = job->setback,
        .nice = job->nice,
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

int64_t priority_of (const struct broker *b, const struct entry *e, struct priority *ret)
{
    double now = clock_wall ();
    struct priority_job job = describe (b, e, now);
    struct priority p;

    priority_sum (&settings_of (b)->weights, &job, now, &p);
    if (ret)
        *ret = p;
    return p.sum;
}

void priority_set_rank (const struct broker *b, struct entry *e)
{
    double now = clock_wall ();
    struct priority_job job = describe (b, e, now);

    entry_job (e)->priority =
        priority_rank (&settings_of (b)->weights, &job, now, broker_started_at (b));
}

/* -- usage -- */

static void keep (const struct broker *b, const struct job *job, double now,
                  struct journal_txn *t)
{
    autostrbuf struct strbuf value;
    char name[32];

    strbuf_init (&value, 512);
    snprintf (name, sizeof (name), "usage/%u", (unsigned)job->userid);
    strbuf_addf (&value, "%.6f %.6f %s",
                 usage_past (state_of (b)->usage, job->userid, now), now, job->user);
    if (!value.err)
        journal_txn_setting (t, name, value.buf);
}

/* Counts the cores that the job's user holds from now on. */
static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    const struct job *job = entry_job (e);
    struct usage *usage = state_of (b)->usage;
    double now = change->now;

    if (job->allocated == change->held
        && (!change->held
            || (change->held_cores == job->ncores && change->held_since == job->t_cores)))
        return;
    if (change->held)
        usage_end (usage, job->userid, change->held_cores, change->held_since, now);
    if (job->allocated
        && usage_begin (usage, job->userid, job->ncores, job->t_cores, now) < 0)
        log_error ("job %ju: its usage is not counted: out of memory",
                   (uintmax_t)entry_id (e));
    if (change->held)
        keep (b, job, now, change->txn);
}

static void comes (struct broker *b, struct entry *e)
{
    const struct job_change none = { .now = broker_started_at (b) };

    on_event (b, e, &none);
}

/* "CORE_SECONDS AT NAME" */
static int load_usage (const char *name, const char *value, void *arg)
{
    struct usage *usage = arg;
    int64_t uid;
    char *end;

    if (strncmp (name, "usage/", 6) != 0)
        return 0;
    double core_seconds = strtod (value, &end), at = strtod (end, &end);
    int rc = parse_int (name + 6, 0, UINT32_MAX, &uid, name, NULL);
    if (rc == 0)
        rc = usage_restore (usage, (uint32_t)uid, core_seconds, at, clock_wall ());
    if (rc == 0 && *end == ' ')
        rc = usage_name (usage, (uint32_t)uid, end + 1);
    if (rc < 0)
        log_warning ("journal: setting %s is not a usage record: %s", name, value);
    return rc == -ENOMEM ? rc : 0;
}

static void forget (uint32_t uid, void *arg)
{
    char name[32];
    snprintf (name, sizeof (name), "usage/%u", (unsigned)uid);
    journal_txn_setting (arg, name, NULL);
}

/* Drops users without usage or jobs, here and on disk. */
static void drop_idle_users (struct broker *b)
{
    struct journal_txn *t = journal_txn_create ();

    if (!t)
        return; /* the next round tries again */
    usage_drop_idle (state_of (b)->usage, clock_wall (), forget, t);
    if (journal_txn_empty (t))
        journal_txn_destroy (t);
    else /* what is not deleted counts as nothing */
        journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, NULL, NULL);
}

/* -- rounds -- */

static void round_begin (struct broker *b)
{
    struct priorities *p = state_of (b);

    usage_round (p->usage);
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
    usage_name (state_of (b)->usage, job->userid, NULL);
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
        drop_idle_users (b);
    }
    broker_timer_set (&p->timer, more ? SLICE_PAUSE : settings_of (b)->interval);
}

static void round_due (struct broker *b)
{
    struct priorities *p = state_of (b);

    p->round.under_way = false;
    broker_timer_set (&p->timer, 0);
}

static int load (struct broker *b, struct error *err)
{
    struct priorities *p = state_of (b);

    broker_timer_init (b, &p->timer, slice);
    if (!(p->usage = usage_create (settings_of (b)->half_life)))
        return error_set (err, ENOMEM, "out of memory");
    return journal_load_settings (broker_journal (b), load_usage, p->usage, err);
}

static void reloaded (struct broker *b, const struct config *old)
{
    (void)old;
    usage_set_half_life (state_of (b)->usage, settings_of (b)->half_life, clock_wall ());
    round_due (b);
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
    const struct job *job = entry_job (e);

    (void)before;
    if (job->state >= JOB_RUN)
        move_on (b, e);
    else if (!entry_is_waiting (e))
        usage_name (state_of (b)->usage, job->userid, job->user);
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
        "usage", usage_of (all->usage, entry_job (e)->userid, now), "usage_all",
        usage_all (all->usage, now), "share", usage_share (all->usage), "users",
        (json_int_t)usage_count (all->usage));
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

/* -- GET /v1/fair-share -- */

static json_t *describe_user (const struct broker *b, const struct usage_user *user,
                              double all)
{
    autojson json_t *name = broker_text (user->name);

    return json_pack ("{s:I s:O s:f s:f s:f s:I s:f}", "userid", (json_int_t)user->uid,
                      "user", name, "usage", user->core_seconds, "usage_part",
                      all > 0 ? MIN (1.0, user->core_seconds / all) : 0.0, "share",
                      usage_share (state_of (b)->usage), "cores", (json_int_t)user->cores,
                      "factor", user->factor);
}

static json_t *describe_users (const struct broker *b, uid_t viewer, int64_t after,
                               int64_t limit)
{
    struct usage *usage = state_of (b)->usage;
    double now = clock_wall (), all = usage_all (usage, now);
    size_t n = 0;
    int64_t shown = 0, next = -1;
    autofree uint32_t *uids = usage_uids (usage, &n);
    json_t *list = uids ? json_array () : NULL;
    struct usage_user user;

    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (uids[i] <= after || !privacy_sees_usage (b, viewer, uids[i])
            || !usage_look (usage, uids[i], now, &user))
            continue;
        if (shown++ == limit) {
            next = json_integer_value (
                json_object_get (json_array_get (list, (size_t)limit - 1), "userid"));
            break;
        }
        json_array_append_new (list, describe_user (b, &user, all));
    }
    json_t *o = json_pack ("{s:o s:o s:I s:f s:f}", "users", list, "next",
                           next < 0 ? json_null () : json_integer ((json_int_t)next),
                           "total", (json_int_t)n, "usage_all", all, "half_life",
                           settings_of (b)->half_life);
    if (!privacy_sees_usage (b, viewer, PRIVACY_ANYONE)) {
        json_object_set_new (o, "usage_all", json_null ());
        json_object_set_new (o, "total",
                             json_integer ((json_int_t)json_array_size (list)));
    }
    return o;
}

static void api_fair_share (struct broker *b, struct http_request *req,
                            const struct api_path *path)
{
    const char *limit_text = http_request_query (req, "limit");
    const char *after_text = http_request_query (req, "after");
    int64_t limit = LIMIT_DEFAULT, after = -1;
    struct error err = { 0 };

    (void)path;
    if ((limit_text && parse_int (limit_text, 1, LIMIT_MAX, &limit, "limit", &err) < 0)
        || (after_text
            && parse_int (after_text, 0, UINT32_MAX, &after, "after", &err) < 0))
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
    else
        api_reply_json (req, 200,
                        describe_users (b, http_request_uid (req), after, limit));
}

static void act_priority (struct broker *b, struct entry *e)
{
    broker_emit_or_stop (
        b, e, "priority",
        json_pack ("{s:I}", "priority", (json_int_t)priority_of (b, e, NULL)));
}

static void on_requeue (struct broker *b, struct entry *e,
                        const struct service_requeue *how, json_t *context)
{
    if (how->at_end)
        json_object_set_new (context, "setback",
                             json_integer ((json_int_t)setback (b, e)));
}

static void release (struct broker *b)
{
    usage_destroy (state_of (b)->usage);
}

static const struct service_act acts[] = { { JOB_ACT_PRIORITY, act_priority },
                                           { 0, NULL } };

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}/priority", api_job_priority, false },
    { "GET", "/v1/fair-share", api_fair_share, false },
    { 0 },
};

const struct broker_service service_priority = {
    .name = "priority",
    .order = SERVICE_FIRST, /* before the events that an event causes */
    .place = &place,
    .state_size = sizeof (struct priorities),
    .settings = &settings,
    .load = load,
    .release = release,
    .reloaded = reloaded,
    .comes = comes,
    .moved = moved,
    .event = on_event,
    .acts = acts,
    .goes = move_on,
    .requeues = on_requeue,
    .recovered = round_due,
    .routes = routes,
};
