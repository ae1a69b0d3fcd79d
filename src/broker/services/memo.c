/* memo.c - POST /v1/jobs/ID/memo: changes texts of a job that are only shown
 *
 * The request has new values for attributes with `changes` (jobspec/options/attributes.h),
 * by their keys in the submit event: {"comment": "checked", "extra": ""}. "" takes a text
 * away. The event `memo` records them. The job's variables keep the values of the submit.
 */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/stream/watch.h"
#include "jobspec/options/attributes.h"

/* Whether the caller may not give the attribute this value; the reply was sent. */
static bool value_is_refused (struct broker *b, struct http_request *req,
                              const struct entry *e, const struct attribute *a,
                              const json_t *value)
{
    const char *text = json_string_value (value);
    struct error err = { 0 };

    if (!text || strlen (text) != json_string_length (value))
        error_set (&err, EINVAL, "request.%s: must be a text", a->event);
    else if (*text)
        attribute_check_line (text, (size_t)a->max, a->event, &err);
    if (err.code)
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
    else if (a->by_operator && !api_may (b, req, ROLE_OPERATOR, e))
        http_reply_problem (req, 403, "not-operator", "%s: only operators may set it",
                            a->event);
    else
        return false;
    return true;
}

/* The texts of the request that differ from those of the job; NULL: the reply was sent. */
static json_t *read_texts (struct broker *b, struct http_request *req,
                           const struct entry *e)
{
    const char *keys[ATTRIBUTES_MAX + 1];
    size_t n = 0;

    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->changes)
            keys[n++] = a->event;
    keys[n] = NULL;
    json_t *body = api_body (req, keys);
    for (const struct attribute *a = attribute_table; body && a->name; a++) {
        json_t *value = a->changes ? json_object_get (body, a->event) : NULL;
        if (value && value_is_refused (b, req, e, a, value)) {
            json_decref (body);
            return NULL;
        }
        const char *old =
            json_string_value (json_object_get (entry_job (e)->shown, a->event));
        if (value && !strcmp (json_string_value (value), old ? old : ""))
            json_object_del (body, a->event);
    }
    return body;
}

static bool state_is_refused (struct http_request *req, const struct entry *e,
                              const struct api_path *path)
{
    const struct job *job = entry_job (e);

    if (job->array && strchr (path->arg, '_'))
        http_reply_problem (req, 409, "wrong-state",
                            "the waiting tasks of array %ju have the same texts: name "
                            "%ju",
                            (uintmax_t)entry_id (e), (uintmax_t)entry_id (e));
    else if (job->state == JOB_INACTIVE)
        http_reply_problem (req, 409, "wrong-state", "job %ju has ended",
                            (uintmax_t)entry_id (e));
    else if (job->state == JOB_NEW || entry_is_submitting (e))
        http_reply_problem (req, 409, "wrong-state", "job %ju is not yet accepted",
                            (uintmax_t)entry_id (e));
    else
        return false;
    return true;
}

static int emit (struct broker *b, struct entry *e, const json_t *texts, uid_t uid)
{
    json_t *context = json_deep_copy (texts);

    if (!context
        || json_object_set_new (context, "userid", json_integer ((json_int_t)uid)) < 0) {
        json_decref (context);
        return -ENOMEM;
    }
    return broker_emit (b, e, "memo", context);
}

/* The tasks of an array that run change with it. */
static int change (struct broker *b, struct entry *e, const json_t *texts, uid_t uid)
{
    struct entry *task;
    int rc = emit (b, e, texts, uid);

    if (!entry_job (e)->array)
        return rc;
    entries_each (ENTRIES_ACTIVE, b, task)
        if (rc == 0 && entry_job (task)->array_job == entry_id (e))
            rc = emit (b, task, texts, uid);
    return rc;
}

static void api_memo (struct broker *b, struct http_request *req,
                      const struct api_path *path)
{
    struct entry *e = api_entry (b, req, path, NULL);

    if (!e || !api_require (b, req, path, e))
        return;
    autojson json_t *texts = read_texts (b, req, e);
    if (!texts || state_is_refused (req, e, path))
        return;
    int rc =
        json_object_size (texts) > 0 ? change (b, e, texts, http_request_uid (req)) : 0;
    if (rc < 0)
        http_reply_problem (req, 503, "busy", "job %ju keeps its texts: %s",
                            (uintmax_t)entry_id (e), strerror (-rc));
    else
        watch_reply_after_commit (b, req, json_object ());
}

static const struct api_route routes[] = {
    { "POST", "/v1/jobs/{}/memo", api_memo, ROLE_OWNER | ROLE_OPERATOR, "update" },
    { 0 },
};

const struct broker_service service_memo = {
    .name = "memo",
    .routes = routes,
};
