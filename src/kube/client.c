/* client.c - see client.h
 *
 *   waiting --(a place is free, the budget allows it)--> sent --answer--> done
 *      ^                                                  |
 *      +----------------- back-off <-------trouble--------+
 *
 * Each of the three states is a list; waiting requests have two, see KUBE_LATER.
 */
#include "kube/client.h"

#include <math.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/sha256.h"
#include "kube/budget.h"
#include "kube/object.h"
#include "kube/window.h"

#define REQUEST_TIMEOUT 60.0
#define TOKEN_LOOK_MS 60000
#define FEW_TRIES 4 /* for answers that will probably fail again */
#define RETRY_AFTER_MAX 60.0
#define FRESH_SECONDS                                                                    \
    10.0                  /* after the server was away: it may not know its rules yet */
#define CALM_SECONDS 10.0 /* without a 429: the slowdown is over */

enum request_state { REQUEST_WAITING, REQUEST_LATER, REQUEST_SENT, REQUEST_BACKOFF };
#define NSTATES (REQUEST_BACKOFF + 1)

struct kube_request {
    struct kube *k;
    enum request_state state; /* in k->lists[state] */
    unsigned flags;           /* KUBE_LATER ... */
    bool in_doubt;            /* a try had no answer: it may have been carried out */
    const char *method;
    char *path;
    char *body;
    struct httpc_request *http;
    unsigned tries;
    uint64_t due;
    double sent_at;
    kube_done_f *done;
    void *arg;
    struct kube_request *prev, *next;
};

/* The server has answered 429, or 503 with Retry-After: it wants fewer requests. In
 * seconds of now_of(). */
struct slowdown {
    double until;       /* send nothing before */
    double since, last; /* the first and the last such answer; 0: none */
    unsigned n;         /* number of such answers */
};

struct kube {
    struct httpc *h;
    uv_loop_t *loop;
    struct kubeconfig *kc;
    uv_timer_t timer; /* back-off, and waiting requests for the loop's next turn */
    uv_timer_t token_timer;
    unsigned open_handles;
    struct kube_request *lists[NSTATES]; /* each in order of kube_send() */
    unsigned sent, total;
    struct kube_budget budget;
    struct kube_window window;
    struct slowdown slow;
    char *auth; /* "Authorization: Bearer ..." */
    const char *auth_headers[2];
    bool away;
    double back; /* when the server answered again, by now_of(); 0: it was never away */
};

static void set_state (struct kube_request *r, enum request_state state)
{
    struct kube *k = r->k;

    k->sent -= r->state == REQUEST_SENT;
    DL_DELETE (k->lists[r->state], r);
    r->state = state;
    DL_APPEND (k->lists[state], r);
    k->sent += state == REQUEST_SENT;
}

static double now_of (const struct kube *k)
{
    return (double)uv_now (k->loop) / 1000;
}

double kube_backoff (unsigned n)
{
    uint16_t chance = 0;
    double s = n >= 8 ? 10.0 : 0.1 * (double)(1u << (n ? n - 1 : 0));

    secret_random (&chance, sizeof (chance)); /* without it: no jitter */
    return (s > 10 ? 10 : s) * (1.0 - 0.5 * chance / 65536.0);
}

/* -- identity of the client -- */

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

/* -- answers -- */

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
    r->k->sent -= r->state == REQUEST_SENT;
    r->k->total--;
    httpc_cancel (r->http);
    DL_DELETE (r->k->lists[r->state], r);
    if (r->body)
        secret_wipe (r->body, strlen (r->body)); /* bodies may have secrets */
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

/* Seconds until the next waiting request may be sent: 0 now, INFINITY if an answer must
 * come first, or nothing waits. */
static double send_in (const struct kube *k)
{
    double now = now_of (k);

    if (k->total > KUBE_WAITING)
        return 0; /* to refuse it */
    if ((!k->lists[REQUEST_WAITING] && !k->lists[REQUEST_LATER])
        || k->sent >= window_size (&k->window))
        return INFINITY;
    return MAX (budget_wait (&k->budget, now), MAX (k->slow.until - now, 0));
}

/* Sets the timer to the earliest event that is due. */
static void schedule (struct kube *k)
{
    uint64_t now = uv_now (k->loop), first = UINT64_MAX;
    double wait = send_in (k);
    struct kube_request *r;

    if (wait < INFINITY)
        first = now + (uint64_t)ceil (wait * 1000);
    DL_FOREACH (k->lists[REQUEST_BACKOFF], r)
        first = MIN (first, r->due);
    if (first == UINT64_MAX)
        uv_timer_stop (&k->timer);
    else
        uv_timer_start (&k->timer, on_timer, first > now ? first - now : 0, 0);
}

static void request_again (struct kube_request *r, double after)
{
    double delay = MAX (kube_backoff (r->tries), MIN (after, RETRY_AFTER_MAX));

    set_state (r, REQUEST_BACKOFF);
    r->due = uv_now (r->k->loop) + (uint64_t)(delay * 1000) + 1;
}

/* Logs one line when a slowdown begins and one when it is over, however many requests
 * there are. */
static void see_slowdown (struct kube *k, const struct httpc_response *resp)
{
    struct slowdown *s = &k->slow;
    double now = now_of (k);

    if (resp->status == 429 || (resp->status == 503 && resp->retry_after > 0)) {
        double after = MIN (MAX (resp->retry_after, 0), RETRY_AFTER_MAX);

        if (s->n++ == 0) {
            s->since = now;
            log_warning ("kube: %s asks for fewer requests (status %d, Retry-After %.0f "
                         "s): they wait",
                         k->kc->server, resp->status, after);
        }
        s->last = now;
        s->until = MAX (s->until, now + after);
    } else if (s->n > 0 && resp->status != 0 && now > s->last + CALM_SECONDS) {
        log_info ("kube: %s accepts all requests again (%u were delayed in %.0f s)",
                  k->kc->server, s->n, s->last - s->since);
        *s = (struct slowdown){ 0 };
    }
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
    case 403:
        return kube_is_fresh (r->k);
    default:
        return false;
    }
}

void kube_notice (struct kube *k, const struct error *err)
{
    if (err && !k->away)
        log_warning ("kube: %s does not answer: %s (requests wait, jobs go on)",
                     k->kc->server, err->text);
    else if (!err && k->away) {
        log_info ("kube: %s answers again", k->kc->server);
        k->back = now_of (k);
    }
    k->away = err != NULL;
}

bool kube_away (const struct kube *k)
{
    return k->away;
}

bool kube_is_fresh (const struct kube *k)
{
    return kube_back_for (k) < FRESH_SECONDS;
}

double kube_back_for (const struct kube *k)
{
    return k->away ? 0 : k->back > 0 ? now_of (k) - k->back : INFINITY;
}

/* "POST pods", "PATCH jobs/status"; false: of no kind, since each takes another time. */
static bool kind_of (const struct kube_request *r, char *buf, size_t size)
{
    static const char in[] = "/namespaces/";
    const char *s = strstr (r->path, in), *name, *more;

    s = s ? strchr (s + sizeof (in) - 1, '/') : NULL;
    if (!s
        || strchr (r->path,
                   '?')) /* the time of these depends on the length of lists */
        return false;
    int len = (int)strcspn (++s, "/");
    name = s[len] ? s + len + 1 : "";
    more = strchr (name, '/');
    if (more && strchr (more + 1, '/'))
        return false;
    snprintf (buf, size, "%s %.*s%s", r->method, len, s, more ? more : "");
    return true;
}

static void see_time (struct kube_request *r, int status)
{
    struct kube *k = r->k;
    char kind[64];
    double now = clock_mono ();

    if (status == 0 || status == 429 || status >= 500) {
        window_trouble (&k->window);
        return;
    }
    if (kind_of (r, kind, sizeof (kind)))
        window_answer (&k->window, kind, now - r->sent_at, k->sent, now);
}

static void on_done (const struct httpc_response *resp, void *arg)
{
    struct kube_request *r = arg;
    struct kube *k = r->k;
    struct kube_result res = { .status = resp->status, .reason = "" };

    r->http = NULL;
    r->tries++;
    r->in_doubt |= resp->status == 0 || resp->status >= 500;
    kube_notice (k, resp->status == 0 ? &resp->err : NULL);
    see_slowdown (k, resp);
    see_time (r, resp->status);
    if (worth_another_try (r, resp->status)) {
        if (resp->status == 401)
            on_token_timer (&k->token_timer);
        request_again (r, resp->retry_after);
        schedule (k);
        return;
    }
    if (resp->len)
        res.body = kube_object_parse (resp->body, resp->len, "answer", NULL);
    if (resp->status < 200 || resp->status > 299)
        kube_explain (resp->status, resp->body, res.body, &res.reason, &res.err);
    else if (!res.body) {
        res.text = resp->body;
        res.len = resp->len;
    }
    request_done (r, &res);
    json_decref (res.body);
    schedule (k);
}

/* -- sending -- */

static const char *accept_of (unsigned flags)
{
#define BRIEF(kind)                                                                      \
    "Accept: application/json;as=" kind ";g=meta.k8s.io;v=v1,application/json"
    return flags & KUBE_BRIEF        ? BRIEF ("PartialObjectMetadata")
           : flags & KUBE_BRIEF_LIST ? BRIEF ("PartialObjectMetadataList")
                                     : "Accept: application/json";
#undef BRIEF
}

static const char *const *request_headers (const struct kube *k,
                                           const struct kube_request *r,
                                           const char *headers[4])
{
    size_t n = 0;

    headers[n++] = accept_of (r ? r->flags : 0);
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
    r->sent_at = clock_mono ();
    set_state (r, REQUEST_SENT);
}

static enum request_state queue_of (const struct kube_request *r)
{
    return r->flags & KUBE_LATER ? REQUEST_LATER : REQUEST_WAITING;
}

/* Sends as many requests as the window, the budget and the server admit; those of starts
 * last. */
static void send_some (struct kube *k)
{
    struct kube_request *r;

    while (k->sent < window_size (&k->window) && now_of (k) >= k->slow.until
           && (r = k->lists[REQUEST_WAITING] ? k->lists[REQUEST_WAITING]
                                             : k->lists[REQUEST_LATER])
           && budget_take (&k->budget, now_of (k)))
        request_send (r);
}

/* Too many requests wait: refuses the newest. Its callback may change the lists. */
static void refuse_one (struct kube *k)
{
    struct kube_result res = { .reason = "" };
    struct kube_request *r = k->lists[REQUEST_LATER];

    if (!r)
        r = k->lists[REQUEST_WAITING] ? k->lists[REQUEST_WAITING]
                                      : k->lists[REQUEST_BACKOFF];
    error_set (&res.err, EBUSY, "more than %d requests wait for the API server",
               KUBE_WAITING);
    request_done (r->prev, &res);
}

static void on_timer (uv_timer_t *timer)
{
    struct kube *k = timer->data;
    uint64_t now = uv_now (k->loop);
    struct kube_request *r, *tmp;

    DL_FOREACH_SAFE (k->lists[REQUEST_BACKOFF], r, tmp)
    {
        if (r->due <= now)
            set_state (r, queue_of (r));
    }
    send_some (k);
    while (k->total > KUBE_WAITING)
        refuse_one (k);
    schedule (k);
}

struct kube_request *kube_send (struct kube *k, const char *method, const char *path,
                                json_t *body, kube_done_f *done, void *arg)
{
    return kube_send_as (k, 0, method, path, body, done, arg);
}

struct kube_request *kube_send_as (struct kube *k, unsigned flags, const char *method,
                                   const char *path, json_t *body, kube_done_f *done,
                                   void *arg)
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
    r->flags = flags;
    r->method = method;
    r->done = done;
    r->arg = arg;
    r->state = queue_of (r);
    DL_APPEND (k->lists[r->state], r);
    k->total++;
    if (k->total <= KUBE_WAITING)
        send_some (k);
    schedule (k);
    return r;
}

bool kube_is_unsent (const struct kube_request *r)
{
    return r->state != REQUEST_SENT && !r->in_doubt;
}

void kube_cancel (struct kube_request *r)
{
    if (r)
        request_free (r);
}

void kube_set_budget (struct kube *k, double rate, double burst)
{
    budget_init (&k->budget, rate, burst);
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

/* -- life -- */

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
        kube_set_budget (k, KUBE_RATE, KUBE_BURST);
        window_init (&k->window);
    }
    if (!k || set_auth (k) < 0) {
        free (k);
        kubeconfig_destroy (kc);
        return error_null (error_set (err, ENOMEM, "out of memory"));
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
    for (size_t i = 0; i < NSTATES; i++) {
        DL_FOREACH_SAFE (k->lists[i], r, tmp)
        {
            request_free (r);
        }
    }
    uv_close ((uv_handle_t *)&k->timer, on_closed);
    uv_close ((uv_handle_t *)&k->token_timer, on_closed);
}
