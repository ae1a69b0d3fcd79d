/* requeue.c - POST /v1/jobs/ID/requeue: ends a running job and queues it again
 *
 *   RUN --requeue {hold, userid}--> CLEANUP, its processes end --clean--> PRIORITY --> ...
 *
 * The job keeps its id and its place in the queue, unless requeue-at-end moves it. The
 * attempt does not count as a failed one: a job may be requeued any number of times, and
 * its tasks see how often in FLUXQ_RESTART_COUNT and SLURM_RESTART_COUNT.
 *
 * A job with --requeue=expedite that loses a node keeps its place, and goes before all other
 * jobs until its next start (expedited-requeue).
 */
#include "broker/api/api.h"
#include "broker/core/exec_job.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/requeue.h"
#include "broker/services/stream/watch.h"
#include "job/details.h"

static struct service_place place;

struct settings {
    bool expedited; /* --requeue=expedite is allowed */
};

static const struct config_key keys[] = {
    { "expedited-requeue", value_bool, CONFIG_FIELD (struct settings, expedited), 0, 0,
      NULL },
    { 0 },
};
static const struct settings defaults = { .expedited = false };

SERVICE_SETTINGS_OF (struct settings)

int requeue_check (const struct broker *b, const struct jobspec *js, struct error *err)
{
    return !js->expedite || settings_of (b)->expedited
               ? 0
               : error_set (err, EINVAL,
                            "--requeue=expedite: the administrator has not allowed it "
                            "(expedited-requeue in fluxq.yaml); say --requeue");
}

/* A requeue that nobody asked for: the job has lost a node, or its start has failed. */
static void on_requeue (struct broker *b, struct entry *e,
                        const struct service_requeue *how, json_t *context)
{
    (void)how;
    if (!settings_of (b)->expedited || json_object_get (context, "userid")
        || !details_get (entry_job (e)->details, "expedited_requeue"))
        return;
    json_object_set_new (context, "expedited", json_true ());
    json_object_set_new (context, "order", json_string ("old"));
}

/* Whether the job cannot be queued again; the error says why. */
static bool is_refused (const struct broker *b, const struct entry *e, struct error *err)
{
    const struct job *job = entry_job (e);
    uintmax_t id = entry_id (e);

    if (job->state < JOB_RUN)
        error_set (err, EINVAL, "job %ju waits already", id);
    else if (job->state > JOB_RUN || job->finished)
        error_set (err, EINVAL, "job %ju has ended or is ending: submit it again", id);
    else if (job->adopted)
        error_set (err, EINVAL,
                   "job %ju belongs to another program (%s), which restarts it", id,
                   job->adopted);
    else if (!exec_job_may_run_again (b, entry_jobspec (e)))
        error_set (err, EINVAL,
                   "job %ju was submitted with --no-requeue, or requeue is off in "
                   "fluxq.yaml",
                   id);
    else
        return false;
    return true;
}

static int requeue (struct broker *b, struct entry *e, uid_t uid, bool hold)
{
    const struct service_requeue how = { .at_end = broker_config (b)->requeue_at_end };
    bool own = uid == entry_job (e)->userid;
    json_t *context = json_pack ("{s:f s:b s:I s:b}", "begin", 0.0, "uncounted", 1,
                                 "userid", (json_int_t)uid, "hold", (int)hold);

    if (!context)
        return -ENOMEM;
    return broker_requeue (b, e, own ? "requeued by its user" : "requeued by operator",
                           &how, context);
}

/* The tasks of an array that run: their number, or a negative errno. */
static int requeue_tasks (struct broker *b, const struct entry *array, uid_t uid,
                          bool hold)
{
    struct entry *e;
    struct error err = { 0 };
    int n = 0, rc;

    entries_each (ENTRIES_ACTIVE, b, e) {
        if (entry_job (e)->array_job != entry_id (array) || is_refused (b, e, &err))
            continue;
        if ((rc = requeue (b, e, uid, hold)) < 0)
            return rc;
        n++;
    }
    return n;
}

static void api_requeue (struct broker *b, struct http_request *req,
                         const struct api_path *path)
{
    static const char *const members[] = { "hold", NULL };
    struct entry *e = api_entry (b, req, path, NULL);
    struct error err = { 0 };
    bool hold = false;
    int rc;

    if (!e || !api_require (b, req, path, e))
        return;
    autojson json_t *body = api_body (req, members);
    if (!body)
        return;
    if (json_get_bool (body, "hold", &hold, JSON_OPTIONAL_KEY, "request", &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    bool array = entry_job (e)->array && !strchr (path->arg, '_');
    if (entry_job (e)->array && !array)
        error_set (&err, EINVAL, "task %s waits already", path->arg);
    if (err.code || (!array && is_refused (b, e, &err))) {
        http_reply_problem (req, 409, "wrong-state", "%s", err.text);
        return;
    }
    uid_t uid = http_request_uid (req);
    rc = array ? requeue_tasks (b, e, uid, hold) : requeue (b, e, uid, hold);
    if (rc < 0)
        http_reply_problem (req, 503, "busy", "job %ju is not queued again: %s",
                            (uintmax_t)entry_id (e), strerror (-rc));
    else if (array && rc == 0)
        http_reply_problem (req, 409, "wrong-state", "no task of array %ju runs",
                            (uintmax_t)entry_id (e));
    else
        watch_reply_after_commit (b, req, json_object ());
}

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/requeue", api_requeue, ROLE_OWNER | ROLE_OPERATOR, "requeue" },
    { 0 },
};

const struct broker_service service_requeue = {
    .name = "requeue",
    .place = &place,
    .settings = &settings,
    .requeues = on_requeue,
    .routes = routes,
};
