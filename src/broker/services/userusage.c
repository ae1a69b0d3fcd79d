/* userusage.c - usage of users: counted, kept in the journal, and shown
 *
 *   alloc, free --> on_event(): usage of the user (sched/usage.h)
 *
 * The journal has the usage of ended jobs as settings "usage/UID" = "CORE_SECONDS AT
 * NAME", written in the transaction of the `free` event. The usage cannot be derived from
 * the jobs: a start reads only the newest ended ones (keep-finished), and with a
 * half-life of days many more count. Running jobs add their usage themselves.
 */
#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/userusage.h"
#include "common/clock.h"
#include "common/parse.h"

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 10000

struct state {
    struct usage *usage;
    double half_life;
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

struct usage *userusage (const struct broker *b)
{
    return state_of (b)->usage;
}

void userusage_set_half_life (struct broker *b, double seconds)
{
    struct state *state = state_of (b);

    state->half_life = seconds;
    if (state->usage)
        usage_set_half_life (state->usage, seconds, clock_wall ());
}

static void keep (const struct broker *b, const struct job *job, double now,
                  struct journal_txn *t)
{
    autostrbuf struct strbuf value = STRBUF_INIT (512);
    char name[32];

    snprintf (name, sizeof (name), "usage/%u", (unsigned)job->userid);
    strbuf_addf (&value, "%.6f %.6f %s", usage_past (userusage (b), job->userid, now),
                 now, job->user);
    if (!value.err)
        journal_txn_setting (t, name, value.buf);
}

/* Counts the cores that the job's user holds from now on. */
static void on_event (struct broker *b, struct entry *e, const struct job_change *change)
{
    const struct job *job = entry_job (e);
    struct usage *usage = userusage (b);
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
void userusage_drop_idle (struct broker *b)
{
    struct journal_txn *t = journal_txn_create ();

    if (!t)
        return; /* the next round tries again */
    usage_drop_idle (userusage (b), clock_wall (), forget, t);
    if (journal_txn_empty (t))
        journal_txn_destroy (t);
    else /* what is not deleted counts as nothing */
        journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, NULL, NULL);
}

static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    const struct job *job = entry_job (e);

    (void)before;
    if (job->state < JOB_RUN && !entry_is_waiting (e))
        usage_name (userusage (b), job->userid, job->user);
}

static int load (struct broker *b, struct error *err)
{
    struct state *state = state_of (b);

    if (!(state->usage = usage_create (state->half_life)))
        return error_set (err, ENOMEM, "out of memory");
    return journal_load_settings (broker_journal (b), load_usage, state->usage, err);
}

static void release (struct broker *b)
{
    usage_destroy (userusage (b));
}

/* -- GET /v1/fair-share -- */

static json_t *describe_user (const struct broker *b, const struct usage_user *user,
                              double all)
{
    autojson json_t *name = broker_text (user->name);

    return json_pack ("{s:I s:O s:f s:f s:f s:I s:f}", "userid", (json_int_t)user->uid,
                      "user", name, "usage", user->core_seconds, "usage_part",
                      all > 0 ? MIN (1.0, user->core_seconds / all) : 0.0, "share",
                      usage_share (userusage (b)), "cores", (json_int_t)user->cores,
                      "factor", user->factor);
}

static json_t *describe_users (const struct broker *b, uid_t viewer, int64_t after,
                               int64_t limit)
{
    struct usage *usage = userusage (b);
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
                           state_of (b)->half_life);
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

static const struct api_route routes[] = {
    { "GET", "/v1/fair-share", api_fair_share, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_userusage = {
    .name = "userusage",
    .order = SERVICE_FIRST, /* before the events that an event causes */
    .place = &place,
    .state_size = sizeof (struct state),
    .load = load,
    .release = release,
    .comes = comes,
    .moved = moved,
    .event = on_event,
    .routes = routes,
};
