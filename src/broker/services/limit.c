/* limit.c - changes the time limit of a waiting or running job
 *
 *   POST /v1/jobs/ID/limit --waits--> event jobspec-update: it is queued again
 *                          --runs---> match_extend() --> event resource-update
 *                                                        --commit--> tell its agent
 *
 * The agent of rank 0 ends the job at its limit (src/shell/agent/jobstate.c). After a
 * restart the events have the limit, and the broker tells the agent again, in case the
 * agent does not know it.
 */
#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/deadline.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/stream/watch.h"
#include "common/clock.h"

static void tell_executor (struct broker *b, struct entry *e)
{
    const struct job *job = entry_job (e);

    if (!entry_exec_job (e) || job->finished)
        return;
    entry_exec_job (e)->time_limit = job->duration;
    entry_exec_job (e)->limit_changed = true;
    broker_ops (b)->limit (broker_exec (b), entry_exec_job (e));
}

/* Changes a running job: 0, or the reason why it cannot keep its nodes for so long. */
static int change_running (struct broker *b, struct entry *e, double limit, uid_t uid,
                           struct error *err)
{
    const struct job *job = entry_job (e);
    double end = limit > 0 ? entry_alloc (e)->starttime + limit : 0;
    double before = entry_alloc (e)->expiration;
    double deadline = job->t_deadline;
    double begun = job->t_start > 0 ? job->t_start : clock_wall ();

    if (deadline > 0 && (limit <= 0 || begun + limit > deadline))
        return error_set (err, EINVAL, "it could not end by its deadline any more");
    int rc = match_extend (reserve_matcher_of (b, e), entry_id (e), end, err);

    if (rc < 0)
        return rc;
    entry_alloc (e)->expiration = end;
    rc = broker_emit (b, e, "resource-update",
                      json_pack ("{s:f s:f s:I}", "expiration", end, "duration", limit,
                                 "userid", (json_int_t)uid));
    if (rc < 0) {
        match_extend (reserve_matcher_of (b, e), entry_id (e), before, NULL);
        entry_alloc (e)->expiration = before;
        return error_set (err, -rc, "it cannot be recorded now");
    }
    broker_plan_due (b); /* a shorter limit may let other jobs start */
    return 0;
}

static int change_waiting (struct broker *b, struct entry *e, double limit, uid_t uid,
                           struct error *err)
{
    const struct job *job = entry_job (e);
    double least = entry_time_min (e) > 0 ? entry_time_min (e) : limit;

    if (limit > 0 && limit < entry_time_min (e))
        return error_set (err, EINVAL, "its --time-min is more");
    if (job->t_deadline > 0
        && (least <= 0 || MAX (clock_wall (), job->t_begin) + least > job->t_deadline))
        return error_set (err, EINVAL, "it could not end by its deadline any more");
    deadline_watch (b, e, false);
    int rc = broker_emit (b, e, "jobspec-update",
                          json_pack ("{s:f s:I}", "attributes.system.duration", limit,
                                     "userid", (json_int_t)uid));
    deadline_watch (b, e, true);
    return rc < 0 ? error_set (err, -rc, "it cannot be recorded now") : 0;
}

/* Reads {"limit": SECONDS} or {"change": SECONDS}. 0 with *ret (0: none), or the reply
 * was sent. */
static int read_limit (struct http_request *req, const struct job *job, json_t *body,
                       double *ret)
{
    struct error err = { 0 };
    double limit = 0, change = 0;
    int given = json_get_double (body, "limit", 0, JOBSPEC_DURATION_MAX, &limit,
                                 JSON_OPTIONAL_KEY, "request", &err);
    int changed = given < 0 ? 0
                            : json_get_double (body, "change", -JOBSPEC_DURATION_MAX,
                                               JOBSPEC_DURATION_MAX, &change,
                                               JSON_OPTIONAL_KEY, "request", &err);

    if (given >= 0 && changed >= 0 && given + changed != 1)
        error_set (&err, EINVAL, "request: give one of limit and change");
    else if (changed == 1 && job->duration <= 0)
        error_set (&err, EINVAL, "job %ju has no time limit that could be changed",
                   (uintmax_t)job->id);
    else if (changed == 1 && job->duration + change <= 0)
        error_set (&err, EINVAL, "nothing would be left of the time limit of job %ju",
                   (uintmax_t)job->id);
    if (err.code) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return -EINVAL;
    }
    *ret = changed == 1 ? MIN (job->duration + change, JOBSPEC_DURATION_MAX) : limit;
    return 0;
}

static bool state_is_refused (struct http_request *req, const struct entry *e,
                              const struct api_path *path)
{
    const struct job *job = entry_job (e);

    if (job->array && strchr (path->arg, '_'))
        http_reply_problem (req, 409, "wrong-state",
                            "the waiting tasks of array %ju have one time limit: name "
                            "%ju",
                            (uintmax_t)entry_id (e), (uintmax_t)entry_id (e));
    else if (job->array && job->state >= JOB_RUN)
        http_reply_problem (req, 409, "wrong-state",
                            "no task of array %ju waits: name its running tasks",
                            (uintmax_t)entry_id (e));
    else if (job->state > JOB_RUN || job->finished
             || (job->state == JOB_RUN && !entry_alloc (e)))
        http_reply_problem (req, 409, "wrong-state", "job %ju has ended or is ending",
                            (uintmax_t)entry_id (e));
    else if (job->state == JOB_NEW || entry_is_submitting (e))
        http_reply_problem (req, 409, "wrong-state", "job %ju is not yet accepted",
                            (uintmax_t)entry_id (e));
    else
        return false;
    return true;
}

/* Users may only lower the limit, as in Slurm. */
static bool is_raised (const struct job *job, double limit)
{
    return job->duration > 0 && (limit <= 0 || limit > job->duration);
}

static void api_job_limit (struct broker *b, struct http_request *req,
                           const struct api_path *path)
{
    static const char *const keys[] = { "limit", "change", NULL };
    struct error err = { 0 };
    struct entry *e = api_entry (b, req, path, NULL);
    double limit;

    if (!e || !api_require (b, req, path, e))
        return;
    autojson json_t *body = api_body (req, keys);
    if (!body || state_is_refused (req, e, path)
        || read_limit (req, entry_job (e), body, &limit) < 0)
        return;
    audit_note_action (req, is_raised (entry_job (e), limit) ? "extend" : "limit");
    if (is_raised (entry_job (e), limit) && !api_may (b, req, ROLE_OPERATOR, e)) {
        http_reply_problem (req, 403, "not-operator",
                            "only operators may extend a time limit; users may lower it");
        return;
    }
    uid_t uid = http_request_uid (req);
    int rc = entry_job (e)->state == JOB_RUN ? change_running (b, e, limit, uid, &err)
                                             : change_waiting (b, e, limit, uid, &err);
    if (rc < 0)
        http_reply_problem (req, 409, "wrong-state", "job %ju keeps its time limit: %s",
                            (uintmax_t)entry_id (e), err.text);
    else
        watch_reply_after_commit (b, req, json_pack ("{s:f}", "time_limit", limit));
}

static const struct service_act acts[] = { { JOB_ACT_LIMIT, tell_executor },
                                           { 0, NULL } };

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/limit", api_job_limit, ROLE_OWNER | ROLE_OPERATOR, "limit" },
    { 0 },
};

const struct broker_service service_limit = {
    .name = "limit",
    .acts = acts,
    .routes = routes,
};
