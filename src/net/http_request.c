/* http_request.c - a request from MHD's first call to its reply; see http_private.h */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "net/http_private.h"

/* -- life -- */

/* MHD calls this with the raw target before anything else for a request; the result
 * becomes the request's context. */
void *http_request_create (void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct http_listener *l = cls;
    struct http_request *req = calloc (1, sizeof (*req));

    if (!req)
        return NULL;
    req->target = strdup (uri);
    if (!req->target) {
        free (req);
        return NULL;
    }
    req->server = l->server;
    req->listener = l;
    l->idle_turns = 0; /* requests that arrive together do not make idle turns */
    req->mhd = mhd;
    req->uid = (uid_t)-1;
    http_request_observe (req);
    strbuf_init (&req->body, HTTP_BODY_MAX);
    DL_APPEND (l->server->requests, req);
    return req;
}

static void account_body (struct http_request *req, size_t len)
{
    req->server->body_bytes += len;
    if (req->conn->peer)
        req->conn->peer->body_bytes += len;
}

static void unaccount_body (struct http_request *req)
{
    if (!req->conn)
        return;
    req->server->body_bytes -= req->body.len;
    if (req->conn->peer)
        req->conn->peer->body_bytes -= req->body.len;
}

void http_request_release (struct http_request *req)
{
    if (req->mhd || req->owned || req->working)
        return;
    if (req->aux_free)
        req->aux_free (req->aux);
    while (req->headers) {
        struct http_header *next = req->headers->next;
        free (req->headers);
        req->headers = next;
    }
    strbuf_release (&req->body);
    if (req->streaming)
        strbuf_release (&req->out);
    http_auth_destroy (req->auth);
    free (req->account);
    free (req->note);
    free (req->from);
    free (req->params);
    free (req->query_text);
    free (req->path);
    free (req->target);
    free (req);
}

void http_request_completed (void *cls, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode why)
{
    struct http_request *req = *context;

    (void)cls;
    (void)mhd;
    (void)why;
    if (!req)
        return;
    *context = NULL;
    DL_DELETE (req->server->requests, req);
    if (req->conn) {
        req->conn->req = NULL;
        req->conn->since = uv_now (req->server->loop);
    }
    http_stream_unwatch (req);
    http_request_keep_from (req);
    unaccount_body (req);
    if (req->response)
        MHD_destroy_response (req->response);
    req->response = NULL;
    req->mhd = NULL;
    req->conn = NULL;
    req->server = NULL;
    http_upgrade_failed (req);
    if (req->streaming && req->owned) {
        req->on_close (req, req->stream_arg);
        req->owned = false;
    }
    http_request_release (req);
}

void http_request_resume (struct http_request *req)
{
    if (req->suspended) {
        req->suspended = false;
        MHD_resume_connection (req->mhd);
    }
    req->listener->dirty = true;
}

/* -- MHD's calls for a request: head, body in pieces, end, and after each resume -- */

static void problem_later (struct http_request *req, int status)
{
    if (status == MHD_HTTP_CONTENT_TOO_LARGE) {
        http_reply_problem (req, status, "too-large", "the body is larger than %zu MiB",
                            HTTP_BODY_MAX / (1024 * 1024));
        return;
    }
    http_reply_header (req, "Retry-After", "1");
    http_reply_problem (req, status, "busy",
                        "too many requests are in progress: try again in a second");
}

static bool header_is (struct http_request *req, const char *name, const char *value)
{
    const char *v = http_request_header (req, name);

    return v && strcasecmp (v, value) == 0;
}

/* Decides on the announced body: take it, discard it so that the client sees the answer,
 * or refuse it now. */
static void judge_length (struct http_request *req)
{
    const char *text = http_request_header (req, "Content-Length");
    unsigned long long length =
        text ? strtoull (text, NULL, 10) : 0; /* MHD has checked it */

    if (length <= HTTP_BODY_MAX)
        return;
    if (length > HTTP_DISCARD_MAX || header_is (req, "Expect", "100-continue"))
        problem_later (req, MHD_HTTP_CONTENT_TOO_LARGE);
    else
        req->refuse = MHD_HTTP_CONTENT_TOO_LARGE;
}

static void check_head (struct http_request *req, const char *method, int target)
{
    if (target < 0) {
        http_reply_problem (req, MHD_HTTP_BAD_REQUEST, "bad-target",
                            "the target of the request is not a path and query");
    } else if (strlen (method) >= sizeof (req->method)) {
        http_reply_problem (req, MHD_HTTP_NOT_IMPLEMENTED, "bad-method",
                            "no such method");
    } else if (http_request_header (req, "Transfer-Encoding")) {
        http_reply_header (req, "Connection", "close");
        http_reply_problem (req, MHD_HTTP_LENGTH_REQUIRED, "length-required",
                            "a request's body needs a Content-Length");
    } else {
        judge_length (req);
    }
}

static void begin (struct http_request *req, const char *method)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info (req->mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_conn *conn = info ? info->socket_context : NULL;

    req->begun = true;
    if (!conn) {
        req->abort = true;
        return;
    }
    req->conn = conn;
    conn->req = req;
    conn->since = uv_now (req->server->loop);
    req->fd = conn->fd;
    req->uid = conn->uid;
    req->guest = conn->guest;
    snprintf (req->method, sizeof (req->method), "%s", method);
    bool local = http_request_is_local (req);
    int rc = http_request_parse_target (req);
    req->abort = rc == -ENOMEM;
    if (local && !req->abort)
        http_request_identify (req);
    if (!req->abort && !req->response)
        check_head (req, method, rc);
    if (!local && !req->abort && !req->response)
        http_request_identify (req);
}

static enum MHD_Result take_body (struct http_request *req, const char *data, size_t len)
{
    const struct http_peer *peer = req->conn->peer;

    if (req->refuse == 0) {
        if (req->body.len + len > HTTP_BODY_MAX)
            req->refuse = MHD_HTTP_CONTENT_TOO_LARGE;
        else if (req->server->body_bytes + len > HTTP_BODIES_MAX
                 || (peer && peer->body_bytes + len > HTTP_PEER_BODIES_MAX))
            req->refuse = MHD_HTTP_TOO_MANY_REQUESTS;
        if (req->refuse) {
            unaccount_body (req);
            strbuf_release (&req->body);
        }
    }
    if (req->refuse) {
        req->discarded += len;
        return req->discarded > HTTP_DISCARD_MAX ? MHD_NO : MHD_YES;
    }
    if (strbuf_add (&req->body, data, len) < 0)
        return MHD_NO;
    account_body (req, len);
    if (req->auth)
        sha256_update (&req->auth->sum, data, len);
    return MHD_YES;
}

static void complete (struct http_request *req)
{
    if (req->complete)
        return;
    req->complete = true;
    if (req->refuse)
        problem_later (req, req->refuse);
    else
        http_request_dispatch (req);
}

static enum MHD_Result suspend (struct http_request *req)
{
    req->suspended = true;
    MHD_suspend_connection (req->mhd);
    return MHD_YES;
}

static enum MHD_Result queue_response (struct http_request *req)
{
    if (req->abort)
        return MHD_NO;
    enum MHD_Result ok =
        MHD_queue_response (req->mhd, (unsigned)req->status, req->response);
    MHD_destroy_response (req->response);
    req->response = NULL;
    return ok;
}

enum MHD_Result http_request_access (void *cls, struct MHD_Connection *mhd,
                                     const char *url, const char *method,
                                     const char *version, const char *upload_data,
                                     size_t *upload_size, void **context)
{
    struct http_request *req = *context;
    bool wait = false;

    (void)cls;
    (void)mhd;
    (void)url;
    (void)version;
    if (!req)
        return MHD_NO;
    if (!req->begun) {
        begin (req, method);
        req->held = wait = req->working;
    } else if (req->held) { /* MHD announces the head again */
        req->held = wait = req->working;
    } else if (*upload_size > 0) {
        enum MHD_Result ok = take_body (req, upload_data, *upload_size);
        *upload_size = 0;
        return ok;
    } else {
        complete (req);
        wait = true;
    }
    if (req->response || req->abort)
        return queue_response (req);
    return wait ? suspend (req) : MHD_YES;
}

/* -- queries of the handler -- */

const char *http_request_method (const struct http_request *req)
{
    return req->method;
}

const char *http_request_path (const struct http_request *req)
{
    return req->path;
}

const char *http_request_header (const struct http_request *req, const char *name)
{
    return req->mhd ? MHD_lookup_connection_value (req->mhd, MHD_HEADER_KIND, name)
                    : NULL;
}

const char *http_request_body (const struct http_request *req, size_t *ret_len)
{
    if (ret_len)
        *ret_len = req->body.len;
    return req->body.buf;
}

uid_t http_request_uid (const struct http_request *req)
{
    return req->uid;
}

uint64_t http_request_guest (const struct http_request *req)
{
    return req->guest;
}

void http_request_set_aux (struct http_request *req, void *aux, void (*free_fn) (void *))
{
    req->aux = aux;
    req->aux_free = free_fn;
}

/* -- replies -- */

/* Without memory the reply is sent without the header. */
void http_reply_header (struct http_request *req, const char *name, const char *value)
{
    size_t name_size = strlen (name) + 1;
    size_t value_size = strlen (value) + 1;
    struct http_header *h = malloc (sizeof (*h) + name_size + value_size);

    if (!h)
        return;
    memcpy (h->name, name, name_size);
    h->value = memcpy (h->name + name_size, value, value_size);
    LL_PREPEND (req->headers, h);
}

void http_request_respond (struct http_request *req, int status, const char *content_type,
                           struct MHD_Response *response)
{
    bool ok =
        response
        && MHD_add_response_header (response, "Content-Type",
                                    content_type ? content_type : "application/json");

    for (struct http_header *h = req->headers; ok && h; h = h->next)
        ok = MHD_add_response_header (response, h->name, h->value) == MHD_YES;
    if (!ok && response) {
        MHD_destroy_response (response);
        response = NULL;
    }
    req->abort = !ok;
    req->response = response;
    req->status = status;
    http_request_resume (req);
}

/* code: of a problem, else NULL. */
static void reply (struct http_request *req, int status, const char *code,
                   const char *content_type, char *body, size_t len,
                   enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = NULL;

    http_request_answered (req, status, code);
    req->owned = false;
    if (req->mhd)
        response = MHD_create_response_from_buffer (len, body, mode);
    if (!response && mode == MHD_RESPMEM_MUST_FREE)
        free (body);
    if (req->mhd)
        http_request_respond (req, status, content_type, response);
    else
        http_request_release (req);
}

void http_reply (struct http_request *req, int status, const char *content_type,
                 const char *body, size_t len)
{
    reply (req, status, NULL, content_type, (char *)(uintptr_t)body, len,
           MHD_RESPMEM_MUST_COPY);
}

void http_reply_take (struct http_request *req, int status, const char *content_type,
                      char *body, size_t len)
{
    reply (req, status, NULL, content_type, body, len, MHD_RESPMEM_MUST_FREE);
}

void http_reply_problem (struct http_request *req, int status, const char *code,
                         const char *fmt, ...)
{
    struct strbuf detail = STRBUF_INIT (4096), body = STRBUF_INIT (32 * 1024);
    va_list ap;

    va_start (ap, fmt);
    strbuf_vaddf (&detail, fmt, ap);
    va_end (ap);
    strbuf_adds (&body, "{\"type\":\"about:blank\",\"title\":");
    strbuf_add_json (&body, MHD_get_reason_phrase_for ((unsigned)status), SIZE_MAX);
    strbuf_addf (&body, ",\"status\":%d,\"code\":", status);
    strbuf_add_json (&body, code, SIZE_MAX);
    strbuf_adds (&body, ",\"detail\":");
    strbuf_add_json (&body, detail.buf, detail.len);
    strbuf_adds (&body, "}\n");
    strbuf_release (&detail);
    size_t len = body.len;
    char *text = strbuf_detach (&body);
    reply (req, status, code, "application/problem+json", text, text ? len : 0,
           MHD_RESPMEM_MUST_FREE);
}
