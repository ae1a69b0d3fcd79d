/* urgency.c - POST /v1/jobs/ID/urgency: holds and releases jobs, moves them up and
 * down, fixes their priority */
#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/priority.h"
#include "broker/services/stream/watch.h"
#include "common/printable.h"
#include "sched/priority.h"

#define HOLD_REASON_MAX 400

/* A user cannot release a job held by an operator, nor hold it again in their own
 * name. */
static bool urgency_is_refused (struct broker *b, struct http_request *req,
                                const struct entry *e, int64_t urgency)
{
    const struct job *job = entry_job (e);
    const char *note = job->hold_note;

    if (job->state >= JOB_RUN)
        http_reply_problem (req, 409, "wrong-state", "job %ju no longer waits (%s)",
                            (uintmax_t)entry_id (e), job_phase_name (job_phase (job)));
    else if (api_may (b, req, ROLE_OPERATOR, e))
        return false;
    else if (urgency > 16)
        http_reply_problem (req, 403, "not-operator",
                            "urgency above 16 is for operators");
    else if (job->held_by_operator)
        http_reply_problem (req, 403, "not-operator",
                            "job %ju is held by operator%s%s: only operators release it",
                            (uintmax_t)entry_id (e), note ? ", " : "", note ? note : "");
    else
        return false;
    return true;
}

struct urgency_request {
    int64_t urgency, fixed; /* fixed: priority in place of the computed one; 0: none */
    const char *reason;     /* of the body; or NULL */
};

/* Reads {urgency, reason} or {priority}; a priority of 0 is urgency 0. */
static int read_request (const json_t *body, const struct job *job,
                         struct urgency_request *r, struct error *err)
{
    int64_t priority = -1;
    int rc = json_get_int (body, "priority", 0, JOBSPEC_PRIORITY_TOP, &priority,
                           JSON_OPTIONAL_KEY, "request", err);

    *r = (struct urgency_request){ .fixed = MAX (priority, 0) };
    if (rc < 0)
        return rc;
    if (rc > 0 && json_object_get (body, "urgency"))
        return error_set (err, EINVAL, "request: give one of urgency and priority");
    if (priority > 0)
        r->urgency = job->urgency > 0 ? job->urgency : PRIORITY_URGENCY_DEFAULT;
    if (rc == 0
        && (rc = json_get_int (body, "urgency", 0, 31, &r->urgency, JSON_REQUIRED,
                               "request", err))
               < 0)
        return rc;
    if ((rc = json_get_string (body, "reason", &r->reason, JSON_OPTIONAL_KEY, "request",
                               err))
        < 0)
        return rc;
    if (!r->reason)
        return 0;
    if (r->urgency > 0 || !*r->reason || strlen (r->reason) > HOLD_REASON_MAX)
        return error_set (err, EINVAL,
                          "reason: 1 to %d bytes, and only for a job that is held",
                          HOLD_REASON_MAX);
    return printable_check (r->reason, "reason", err);
}

static int emit (struct broker *b, struct entry *e, const struct urgency_request *r,
                 uid_t uid)
{
    json_t *context = json_pack ("{s:I s:I}", "urgency", (json_int_t)r->urgency, "userid",
                                 (json_int_t)uid);

    if (r->fixed > 0)
        json_object_set_new (context, "fixed_priority", json_integer (r->fixed));
    if (r->reason)
        json_object_set_new (context, "note", broker_text (r->reason));
    return broker_emit (b, e, "urgency", context);
}

static void api_job_urgency (struct broker *b, struct http_request *req,
                             const struct api_path *path)
{
    static const char *const keys[] = { "urgency", "priority", "reason", NULL };
    struct error err = { 0 };
    struct entry *e = api_entry (b, req, path, NULL);
    struct urgency_request r;

    if (!e || !api_require (b, req, path, e))
        return;
    if (entry_job (e)->array && strchr (path->arg, '_')) {
        http_reply_problem (req, 409, "wrong-state",
                            "the waiting tasks of array %ju are held and released "
                            "together: name %ju",
                            (uintmax_t)entry_id (e), (uintmax_t)entry_id (e));
        return;
    }
    autojson json_t *body = api_body (req, keys);
    if (!body)
        return;
    if (read_request (body, entry_job (e), &r, &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    if (r.fixed == 0 && r.urgency == 0)
        audit_note_action (req, "hold");
    else if (r.fixed == 0 && entry_job (e)->urgency == 0)
        audit_note_action (req, "release");
    /* With a priority the urgency stays as it is, whoever has set it. */
    if (urgency_is_refused (b, req, e, r.fixed > 0 ? 0 : r.urgency))
        return;
    if (r.fixed > 0 && !api_may (b, req, ROLE_OPERATOR, e)
        && priority_check (b, e, r.fixed, &err) < 0) {
        http_reply_problem (req, 403, "not-operator", "%s", err.text);
        return;
    }
    int rc = emit (b, e, &r, http_request_uid (req));
    if (rc < 0)
        http_reply_problem (req, 503, "busy", "job %ju keeps its urgency: %s",
                            (uintmax_t)entry_id (e), strerror (-rc));
    else
        watch_reply_after_commit (b, req, json_object ());
}

static const char *reason (struct broker *b, const struct entry *e, struct strbuf *text)
{
    const struct job *job = entry_job (e);
    const char *note = job->hold_note;

    (void)b;
    if (job->state >= JOB_RUN || job->urgency > 0)
        return NULL;
    if (text)
        strbuf_addf (text, "held by %s%s%s",
                     job->held_by_operator ? "operator" : "its user", note ? ": " : "",
                     note ? note : "");
    if (text && !job->held_by_operator)
        strbuf_addf (text, "; release it with fluxq-ctl release %ju", (uintmax_t)job->id);
    return job_hold_reason (job, 0);
}

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/urgency", api_job_urgency, ROLE_OWNER | ROLE_OPERATOR,
      "urgency" },
    { 0 },
};

const struct broker_service service_urgency = {
    .name = "urgency",
    .order = SERVICE_FIRST, /* the reason of a held job is the hold */
    .reason = reason,
    .routes = routes,
};
