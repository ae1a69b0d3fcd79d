/* urgency.c - POST /v1/jobs/ID/urgency: holds and releases jobs, moves them up and
 * down */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/stream/watch.h"
#include "common/printable.h"

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
    else if (api_is_operator (b, req))
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

static void api_job_urgency (struct broker *b, struct http_request *req,
                             const struct api_path *path)
{
    static const char *const keys[] = { "urgency", "reason", NULL };
    const char *reason = NULL;
    struct error err = { 0 };
    struct entry *e = api_entry (b, req, path, NULL);
    int64_t urgency = 0;

    if (!e || !api_require (b, req, e))
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
    if (json_get_int (body, "urgency", 0, 31, &urgency, JSON_REQUIRED, "request", &err)
            < 0
        || json_get_string (body, "reason", &reason, JSON_OPTIONAL_KEY, "request", &err)
               < 0
        || (reason && printable_check (reason, "reason", &err) < 0)) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    if (reason && (urgency > 0 || !*reason || strlen (reason) > HOLD_REASON_MAX)) {
        http_reply_problem (req, 400, "bad-request",
                            "reason: 1 to %d bytes, and with urgency 0 only",
                            HOLD_REASON_MAX);
        return;
    }
    if (urgency_is_refused (b, req, e, urgency))
        return;
    json_t *context = json_pack ("{s:I s:I}", "urgency", (json_int_t)urgency, "userid",
                                 (json_int_t)http_request_uid (req));
    if (reason)
        json_object_set_new (context, "note", broker_text (reason));
    int rc = broker_emit (b, e, "urgency", context);
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
    { "POST", "/v1/jobs/{}/urgency", api_job_urgency, false },
    { 0 },
};

const struct broker_service service_urgency = {
    .name = "urgency",
    .order = SERVICE_FIRST, /* the reason of a held job is the hold */
    .reason = reason,
    .routes = routes,
};
