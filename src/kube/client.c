/* client.c - see client.h
 *
 *   waiting --(a place is free)--> sent --answer--> done
 *      ^                             |
 *      +------- back-off <--trouble--+
 */
#include "kube/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/json.h"
#include "common/log.h"
#include "common/sha256.h"

#define REQUEST_TIMEOUT 60.0
#define TOKEN_LOOK_MS 60000
#define FEW_TRIES 4 /* of what is likely to fail again */
#define RETRY_AFTER_MAX 60.0

enum request_state { REQUEST_WAITING, REQUEST_SENT, REQUEST_BACKOFF };

struct kube_request {
    struct kube *k;
    enum request_state state;
    const char *method;
    char *path;
    char *body;
    struct httpc_request *http;
    unsigned tries;
    uint64_t due;
    kube_done_f *done;
    void *arg;
    struct kube_request *prev, *next;
};

struct kube {
    struct httpc *h;
    uv_loop_t *loop;
    struct kubeconfig *kc;
    uv_timer_t timer; /* back-off, and requests that wait for the loop's next turn */
    uv_timer_t token_timer;
    unsigned open_handles;
    struct kube_request *requests;
    unsigned sent, total;
    char *auth; /* "Authorization: Bearer ..." */
    const char *auth_headers[2];
    bool away;
};

double kube_backoff (unsigned n)
{
    uint16_t chance = 0;
    double s = n >= 8 ? 10.0 : 0.1 * (double)(1u << (n ? n - 1 : 0));

    secret_random (&chance, sizeof (chance)); /* without it: no jitter */
    return (s > 10 ? 10 : s) * (1.0 - 0.5 * chance / 65536.0);
}

/* ---- who we are ---- */

static int set_auth (struct kube *k)
{
    char *line = NULL;

    if (!k->kc->token)
        return 0;
    if (asprintf (&line, "Authorization: Bearer %s", k->kc->token) < 0)
        return -ENOMEM;
    if (k->auth)
        secret_wipe (k->auth, strlen (k->auth));
    free (k->auth);
    k->auth = line;
    k->auth_headers[0] = line;
    return 0;
}

static void on_token_timer (uv_timer_t *timer)
{
    struct kube *k = timer->data;
    struct error err = { 0 };

    if (kubeconfig_refresh (k->kc, &err) < 0)
        log_warning ("kube: %s (the old token stays in use)", err.text);
    else
        set_auth (k);
}

/* ---- answers ---- */

void kube_explain (int status, const char *text, const json_t *body,
                   const char **ret_reason, struct error *err)
{
    const char *message = json_string_value (json_object_get (body, "message"));
    const char *reason = json_string_value (json_object_get (body, "reason"));
    int code = status == 404   ? ENOENT
               : status == 409 ? EEXIST
               : status == 403 ? EACCES
                               : EIO;

    *ret_reason = reason ? reason : "";
    if (message && message[0])
        error_set (err, code, "%s", message);
    else
        error_set (err, code, "HTTP %d: %.*s", status, (int)strcspn (text, "\r\n"), text);
}

static void request_free (struct kube_request *r)
{
    if (r->state == REQUEST_SENT)
        r->k->sent--;
    r->k->total--;
    httpc_cancel (r->http);
    DL_DELETE (r->k->requests, r);
    if (r->body)
        secret_wipe (r->body, strlen (r->body)); /* Secrets go this way too */
    free (r->body);
    free (r->path);
    free (r);
}

static void request_done (struct kube_request *r, struct kube_result *res)
{
    kube_done_f *done = r->done;
    void *arg = r->arg;

    request_free (r);
    done (res, arg);
}

static void on_timer (uv_timer_t *timer);

/* The timer for whatever is due first: now, if a request may be sent. */
static void schedule (struct kube *k)
{
    uint64_t now = uv_now (k->loop), first = UINT64_MAX;
    struct kube_request *r;

    DL_FOREACH (k->requests, r) {
        if (r->state == REQUEST_WAITING
            && (k->sent < KUBE_UNDER_WAY || k->total > KUBE_WAITING)) {
            first = now;
            break;
        }
        if (r->state == REQUEST_BACKOFF && r->due < first)
            first = r->due;
    }
    if (first == UINT64_MAX)
        uv_timer_stop (&k->timer);
    else
        uv_timer_start (&k->timer, on_timer, first > now ? first - now : 0, 0);
}

static void request_again (struct kube_request *r, double after)
{
    double delay = kube_backoff (r->tries);

    if (after > delay)
        delay = after > RETRY_AFTER_MAX ? RETRY_AFTER_MAX : after;
    if (r->state == REQUEST_SENT)
        r->k->sent--;
    r->state = REQUEST_BACKOFF;
    r->due = uv_now (r->k->loop) + (uint64_t)(delay * 1000) + 1;
}

static bool worth_another_try (const struct kube_request *r, int status)
{
    switch (status) {
    case 0:
    case 429:
    case 502:
    case 503:
    case 504:
        return true;
    case 401:
    case 500:
        return r->tries < FEW_TRIES;
    default:
        return false;
    }
}

void kube_notice (struct kube *k, const struct error *err)
{
    if (err && !k->away)
        log_warning ("kube: %s does not answer: %s (requests wait, jobs run on)",
                     k->kc->server, err->text);
    else if (!err && k->away)
        log_info ("kube: %s answers again", k->kc->server);
    k->away = err != NULL;
}

bool kube_away (const struct kube *k)
{
    return k->away;
}

static void on_done (const struct httpc_response *resp, void *arg)
{
    struct kube_request *r = arg;
    struct kube *k = r->k;
    struct kube_result res = { .status = resp->status, .reason = "" };

    r->http = NULL;
    r->tries++;
    kube_notice (k, resp->status == 0 ? &resp->err : NULL);
    if (worth_another_try (r, resp->status)) {
        if (resp->status == 401)
            on_token_timer (&k->token_timer);
        request_again (r, resp->retry_after);
        schedule (k);
        return;
    }
    if (resp->len)
        res.body = json_parse (resp->body, resp->len, "answer", NULL);
    if (resp->status < 200 || resp->status > 299)
        kube_explain (resp->status, resp->body, res.body, &res.reason, &res.err);
    request_done (r, &res);
    json_decref (res.body);
    schedule (k);
}

/* ---- sending ---- */

static const char *const *request_headers (const struct kube *k,
                                           const struct kube_request *r,
                                           const char *headers[4])
{
    size_t n = 0;

    headers[n++] = "Accept: application/json";
    if (r && r->body)
        headers[n++] = strcmp (r->method, "PATCH") == 0
                           ? "Content-Type: application/merge-patch+json"
                           : "Content-Type: application/json";
    if (k->auth)
        headers[n++] = k->auth;
    headers[n] = NULL;
    return headers;
}

static void request_send (struct kube_request *r)
{
    struct kube *k = r->k;
    const char *headers[4];
    char url[4096];
    struct error err = { 0 };

    snprintf (url, sizeof (url), "%s%s", k->kc->server, r->path);
    r->http = httpc_send (k->h,
                          &(struct httpc_options){
                              .method = r->method,
                              .url = url,
                              .headers = request_headers (k, r, headers),
                              .body = r->body,
                              .body_len = r->body ? strlen (r->body) : 0,
                              .tls = &k->kc->tls,
                              .timeout = REQUEST_TIMEOUT,
                              .on_done = on_done,
                              .arg = r,
                          },
                          &err);
    if (!r->http) {
        r->tries++;
        request_again (r, 0);
        return;
    }
    r->state = REQUEST_SENT;
    k->sent++;
}

static void on_timer (uv_timer_t *timer)
{
    struct kube *k = timer->data;
    uint64_t now = uv_now (k->loop);
    struct kube_request *r;

    DL_FOREACH (k->requests, r) {
        if (r->state == REQUEST_BACKOFF && r->due <= now)
            r->state = REQUEST_WAITING;
        if (r->state == REQUEST_WAITING && k->sent < KUBE_UNDER_WAY)
            request_send (r);
    }
    while (k->total
           > KUBE_WAITING) { /* the newest goes; its callback may change the list */
        struct kube_result res = { .reason = "" };

        error_set (&res.err, EBUSY, "more than %d requests wait for the API server",
                   KUBE_WAITING);
        request_done (k->requests->prev, &res);
    }
    schedule (k);
}

struct kube_request *kube_send (struct kube *k, const char *method, const char *path,
                                json_t *body, kube_done_f *done, void *arg)
{
    struct kube_request *r = calloc (1, sizeof (*r));

    if (r) {
        r->path = strdup (path);
        r->body = body ? json_dumps (body, JSON_COMPACT) : NULL;
    }
    if (!r || !r->path || (body && !r->body)) {
        if (r)
            free (r->path);
        free (r);
        json_decref (body);
        return NULL;
    }
    json_decref (body);
    r->k = k;
    r->method = method;
    r->done = done;
    r->arg = arg;
    DL_APPEND (k->requests, r);
    k->total++;
    if (k->sent < KUBE_UNDER_WAY && k->total <= KUBE_WAITING)
        request_send (r);
    schedule (k);
    return r;
}

void kube_cancel (struct kube_request *r)
{
    if (r)
        request_free (r);
}

struct httpc_request *
kube_stream (struct kube *k, const char *path, double idle,
             int (*on_data) (const char *data, size_t len, void *arg),
             void (*on_stream_done) (const struct httpc_response *resp, void *arg),
             void *arg, struct error *err)
{
    const char *headers[4];
    char url[4096];

    snprintf (url, sizeof (url), "%s%s", k->kc->server, path);
    return httpc_send (k->h,
                       &(struct httpc_options){
                           .method = "GET",
                           .url = url,
                           .headers = request_headers (k, NULL, headers),
                           .tls = &k->kc->tls,
                           .idle_timeout = idle,
                           .on_data = on_data,
                           .on_done = on_stream_done,
                           .arg = arg,
                       },
                       err);
}

/* ---- life ---- */

uv_loop_t *kube_loop (const struct kube *k)
{
    return k->loop;
}

const char *kube_server (const struct kube *k)
{
    return k->kc->server;
}

const struct httpc_tls *kube_tls (const struct kube *k)
{
    return &k->kc->tls;
}

const char *const *kube_auth_headers (const struct kube *k)
{
    return k->auth_headers;
}

struct kube *kube_create (struct httpc *h, uv_loop_t *loop, struct kubeconfig *kc,
                          struct error *err)
{
    struct kube *k = calloc (1, sizeof (*k));

    if (k) {
        k->h = h;
        k->loop = loop;
        k->kc = kc;
    }
    if (!k || set_auth (k) < 0) {
        free (k);
        kubeconfig_destroy (kc);
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    uv_timer_init (loop, &k->timer);
    uv_timer_init (loop, &k->token_timer);
    k->timer.data = k->token_timer.data = k;
    k->open_handles = 2;
    if (kc->token_file) {
        uv_timer_start (&k->token_timer, on_token_timer, TOKEN_LOOK_MS, TOKEN_LOOK_MS);
        uv_unref ((uv_handle_t *)&k->token_timer);
    }
    return k;
}

static void on_closed (uv_handle_t *handle)
{
    struct kube *k = handle->data;

    if (--k->open_handles > 0)
        return;
    if (k->auth)
        secret_wipe (k->auth, strlen (k->auth));
    free (k->auth);
    kubeconfig_destroy (k->kc);
    free (k);
}

void kube_destroy (struct kube *k)
{
    struct kube_request *r, *tmp;

    if (!k)
        return;
    DL_FOREACH_SAFE (k->requests, r, tmp)
    {
        request_free (r);
    }
    uv_close ((uv_handle_t *)&k->timer, on_closed);
    uv_close ((uv_handle_t *)&k->token_timer, on_closed);
}
