/* http.c - see http.h
 *
 * libcurl asks for sockets to be watched (on_socket) and for one timer (on_timer); their
 * events go to curl_multi_socket_action(). curl's multi functions must not be called from
 * within its own callbacks, so while `inside` is set, sends and cancels are only stored,
 * and carried out when curl has returned (settle).
 */
#include "kube/http_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/strbuf.h"

#define BODY_MAX_DEFAULT ((size_t)64 << 20)
#define IDLE_LOOK_MS 500
#define LOST_PEER_MS 30000 /* unacknowledged data for this time: the connection is dead */

struct sock {
    uv_poll_t poll;
    struct httpc *h;
    curl_socket_t fd;
};

enum request_state { REQUEST_QUEUED, REQUEST_ACTIVE, REQUEST_CONNECTED, REQUEST_DEAD };

struct httpc_request {
    struct httpc *h;
    CURL *easy;
    enum request_state state;
    struct httpc_lists lists;
    struct strbuf body;
    uint64_t last; /* uv_now() of the last byte */
    uint64_t idle_ms;
    bool connect_only;
    int stop; /* > 0: our own reason to end the request, an errno */
    int (*on_data) (const char *data, size_t len, void *arg);
    void (*on_done) (const struct httpc_response *resp, void *arg);
    void *arg;
    char errbuf[CURL_ERROR_SIZE];
    struct httpc_request *prev, *next;
};

struct httpc {
    uv_loop_t *loop;
    CURLM *multi;
    uv_timer_t timer; /* curl's */
    uv_timer_t idle;  /* ours, for requests with an idle time-out */
    unsigned open_handles;
    unsigned inside; /* depth of calls: in curl, or in a caller's callback */
    bool dead;
    void (*guard) (void *arg); /* or NULL */
    void *guard_arg;
    struct httpc_request *requests; /* all requests, in order of httpc_send() */
};

/* -- the end of things -- */

static void request_free (struct httpc_request *r)
{
    DL_DELETE (r->h->requests, r);
    if (r->easy) {
        if (r->state != REQUEST_QUEUED)
            curl_multi_remove_handle (r->h->multi, r->easy);
        curl_easy_cleanup (r->easy);
    }
    curl_slist_free_all (r->lists.headers);
    curl_slist_free_all (r->lists.connect_to);
    strbuf_release (&r->body);
    free (r);
}

static void on_handle_closed (uv_handle_t *handle)
{
    struct httpc *h = handle->data;

    if (--h->open_handles == 0)
        free (h);
}

static void httpc_free (struct httpc *h)
{
    struct httpc_request *r, *tmp;

    DL_FOREACH_SAFE (h->requests, r, tmp)
    request_free (r);
    curl_multi_cleanup (h->multi); /* closes connections and calls on_socket
                                    * (CURL_POLL_REMOVE) */
    uv_close ((uv_handle_t *)&h->timer, on_handle_closed);
    uv_close ((uv_handle_t *)&h->idle, on_handle_closed);
}

void httpc_destroy (struct httpc *h)
{
    struct httpc_request *r, *tmp;

    if (!h || h->dead)
        return;
    h->dead = true;
    if (h->inside == 0) {
        httpc_free (h);
        return;
    }
    DL_FOREACH_SAFE (h->requests, r, tmp)
    httpc_cancel (r);
}

static void on_sock_closed (uv_handle_t *handle)
{
    struct sock *s = handle->data;
    struct httpc *h = s->h;

    free (s);
    if (--h->open_handles == 0)
        free (h);
}

/* -- finished requests -- */

static int errno_of (CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        return ECONNREFUSED;
    case CURLE_COULDNT_RESOLVE_HOST:
        return EHOSTUNREACH;
    case CURLE_OPERATION_TIMEDOUT:
        return ETIMEDOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return EACCES;
    case CURLE_OUT_OF_MEMORY:
        return ENOMEM;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return ECONNRESET;
    default:
        return EIO;
    }
}

static void describe (struct httpc_request *r, CURLcode code, struct error *err)
{
    const char *why = r->errbuf[0] ? r->errbuf : curl_easy_strerror (code);

    if (r->stop == EFBIG)
        error_set (err, EFBIG, "the answer is longer than %zu bytes", r->body.max);
    else if (r->stop == ETIMEDOUT)
        error_set (err, ETIMEDOUT, "nothing came for %ju s",
                   (uintmax_t)(r->idle_ms / 1000));
    else if (r->stop)
        error_set (err, r->stop, "ended on request: %s", strerror (r->stop));
    else
        error_set (err, errno_of (code), "%s", why);
}

/* Calls on_done; after that r is freed, unless it is a connection now. */
static void request_done (struct httpc_request *r, CURLcode code)
{
    struct httpc_response resp = { .body = "" };
    long status = 0;
    curl_off_t after = 0;

    if (code == CURLE_OK && !r->stop && r->connect_only) {
        r->state = REQUEST_CONNECTED;
        r->on_done (&resp, r->arg);
        return;
    }
    if (code == CURLE_OK && !r->stop) {
        curl_easy_getinfo (r->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo (r->easy, CURLINFO_RETRY_AFTER, &after);
        resp.status = (int)status;
        resp.retry_after = (double)after;
        resp.body = r->body.buf;
        resp.len = r->body.len;
        if (!resp.status)
            error_set (&resp.err, EIO, "the answer has no status");
    } else
        describe (r, code, &resp.err);
    r->state = REQUEST_DEAD;
    r->on_done (&resp, r->arg);
    request_free (r);
}

static void reap (struct httpc *h)
{
    CURLMsg *msg;
    int left;

    while (!h->dead && (msg = curl_multi_info_read (h->multi, &left))) {
        struct httpc_request *r = NULL;
        CURLcode code = msg->data.result;

        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo (msg->easy_handle, CURLINFO_PRIVATE, &r);
        if (r->state != REQUEST_DEAD)
            request_done (r, code);
    }
}

static void request_add (struct httpc_request *r)
{
    CURLMcode rc = curl_multi_add_handle (r->h->multi, r->easy);

    if (rc != CURLM_OK) {
        snprintf (r->errbuf, sizeof (r->errbuf), "%s", curl_multi_strerror (rc));
        request_done (r, CURLE_FAILED_INIT);
        return;
    }
    r->state = REQUEST_ACTIVE;
}

/* Carries out sends and cancels stored while curl or a callback was running. Called at
 * depth 0. */
static void settle (struct httpc *h)
{
    struct httpc_request *r, *tmp;

    h->inside++;
    reap (h);
    DL_FOREACH_SAFE (h->requests, r, tmp)
    {
        if (r->state == REQUEST_DEAD)
            request_free (r);
    }
    for (;;) { /* a failed add calls on_done, which may change the list: start again */
        DL_FOREACH (h->requests, r)
            if (r->state == REQUEST_QUEUED)
                break;
        if (!r || h->dead)
            break;
        request_add (r);
    }
    h->inside--;
    if (h->dead)
        httpc_free (h);
}

static void ask_guard (const struct httpc *h)
{
    if (h->guard)
        h->guard (h->guard_arg);
}

static void drive (struct httpc *h, curl_socket_t fd, int mask)
{
    int running;

    ask_guard (h);
    h->inside++;
    curl_multi_socket_action (h->multi, fd, mask, &running);
    h->inside--;
    settle (h);
}

/* -- curl's callbacks and the loop's -- */

static void on_poll (uv_poll_t *poll, int status, int events)
{
    struct sock *s = poll->data;
    int mask = 0;

    if (status < 0)
        mask = CURL_CSELECT_ERR;
    if (events & UV_READABLE)
        mask |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        mask |= CURL_CSELECT_OUT;
    drive (s->h, s->fd, mask);
}

static int on_socket (CURL *easy, curl_socket_t fd, int what, void *arg, void *sockp)
{
    struct httpc *h = arg;
    struct sock *s = sockp;
    int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s) {
            curl_multi_assign (h->multi, fd, NULL);
            uv_poll_stop (&s->poll);
            uv_close ((uv_handle_t *)&s->poll, on_sock_closed);
        }
        return 0;
    }
    if (!s) {
        s = calloc (1, sizeof (*s));
        if (!s)
            return -1;
        if (uv_poll_init (h->loop, &s->poll, fd) < 0) {
            free (s);
            return -1;
        }
        s->h = h;
        s->fd = fd;
        s->poll.data = s;
        h->open_handles++;
        curl_multi_assign (h->multi, fd, s);
    }
    if (what & CURL_POLL_IN)
        events |= UV_READABLE;
    if (what & CURL_POLL_OUT)
        events |= UV_WRITABLE;
    return uv_poll_start (&s->poll, events, on_poll) < 0 ? -1 : 0;
}

static void on_timeout (uv_timer_t *timer)
{
    drive (timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer (CURLM *multi, long ms, void *arg)
{
    struct httpc *h = arg;

    (void)multi;
    if (h->dead && h->inside == 0)
        return 0; /* called by curl_multi_cleanup() */
    if (ms < 0)
        uv_timer_stop (&h->timer);
    else
        uv_timer_start (&h->timer, on_timeout, (uint64_t)ms, 0);
    return 0;
}

static void on_idle (uv_timer_t *timer)
{
    struct httpc *h = timer->data;
    uint64_t now = uv_now (h->loop);
    struct httpc_request *r, *tmp;
    bool any = false;

    h->inside++;
    DL_FOREACH_SAFE (h->requests, r, tmp)
    {
        if (r->state == REQUEST_DEAD || !r->idle_ms)
            continue;
        if (now - r->last >= r->idle_ms)
            r->stop = ETIMEDOUT;
        else
            any = true;
    }
    if (!any)
        uv_timer_stop (&h->idle); /* the next httpc_send() restarts it */
    for (;;) {                    /* on_done may change the list */
        DL_FOREACH (h->requests, r)
            if (r->stop == ETIMEDOUT && r->state == REQUEST_ACTIVE)
                break;
        if (!r)
            break;
        request_done (r, CURLE_OPERATION_TIMEDOUT);
    }
    h->inside--;
    settle (h);
}

static size_t on_write (char *data, size_t size, size_t n, void *arg)
{
    struct httpc_request *r = arg;
    size_t len = size * n;
    long status = 0;

    if (r->state == REQUEST_DEAD)
        return 0;
    r->last = uv_now (r->h->loop);
    curl_easy_getinfo (r->easy, CURLINFO_RESPONSE_CODE, &status);
    if (r->on_data && status >= 200 && status < 300) {
        if (r->on_data (data, len, r->arg) != 0 || r->state == REQUEST_DEAD) {
            r->stop = ECANCELED;
            return 0;
        }
        return len;
    }
    if (strbuf_add (&r->body, data, len) < 0) {
        r->stop = r->body.err == -E2BIG ? EFBIG : ENOMEM;
        return 0;
    }
    return len;
}

static size_t on_header (char *data, size_t size, size_t n, void *arg)
{
    struct httpc_request *r = arg;

    (void)data;
    r->last = uv_now (r->h->loop);
    return size * n;
}

/* A peer that disappears silently (a node that lost power) must not hold connections for
 * hours. */
static int on_new_socket (void *arg, curl_socket_t fd, curlsocktype purpose)
{
    int ms = LOST_PEER_MS;

    (void)arg;
    if (purpose == CURLSOCKTYPE_IPCXN)
        setsockopt (fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms,
                    /* a unix socket refuses this, without harm */
                    sizeof (ms));
    return CURL_SOCKOPT_OK;
}

/* -- sending -- */

static int set_options (struct httpc_request *r, const struct httpc_options *opt)
{
    CURL *easy = r->easy;

    curl_easy_setopt (easy, CURLOPT_PRIVATE, r);
    curl_easy_setopt (easy, CURLOPT_ERRORBUFFER, r->errbuf);
    curl_easy_setopt (easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, on_write);
    curl_easy_setopt (easy, CURLOPT_WRITEDATA, r);
    curl_easy_setopt (easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt (easy, CURLOPT_HEADERDATA, r);
    r->connect_only = opt->connect_only;
    return httpc_set_options (easy, opt, &r->lists);
}

struct httpc_request *httpc_send (struct httpc *h, const struct httpc_options *opt,
                                  struct error *err)
{
    struct httpc_request *r = calloc (1, sizeof (*r));

    ask_guard (h);
    if (!r || !(r->easy = curl_easy_init ())) {
        free (r);
        return error_null (error_set (err, ENOMEM, "out of memory"));
    }
    r->h = h;
    r->on_data = opt->on_data;
    r->on_done = opt->on_done;
    r->arg = opt->arg;
    r->idle_ms = (uint64_t)(opt->idle_timeout * 1000);
    r->last = uv_now (h->loop);
    strbuf_init (&r->body, opt->max_body ? opt->max_body : BODY_MAX_DEFAULT);
    DL_APPEND (h->requests, r);
    int rc = set_options (r, opt);
    if (rc < 0) {
        request_free (r);
        return error_null (error_errno (err, -rc, "%s", opt->url));
    }
    if (r->idle_ms && !uv_is_active ((uv_handle_t *)&h->idle))
        uv_timer_start (&h->idle, on_idle, IDLE_LOOK_MS, IDLE_LOOK_MS);
    if (h->inside == 0) {
        CURLMcode mc = curl_multi_add_handle (h->multi, r->easy);

        if (mc != CURLM_OK) {
            request_free (r);
            return error_null (
                error_set (err, EIO, "%s: %s", opt->url, curl_multi_strerror (mc)));
        }
        r->state = REQUEST_ACTIVE;
    }
    return r;
}

void httpc_set_guard (struct httpc *h, void (*guard) (void *arg), void *arg)
{
    h->guard = guard;
    h->guard_arg = arg;
}

void httpc_cancel (struct httpc_request *r)
{
    if (!r || r->state == REQUEST_DEAD)
        return;
    if (r->h->inside == 0 || r->state == REQUEST_QUEUED) /* not given to curl yet */
        request_free (r);
    else
        r->state = REQUEST_DEAD;
}

/* -- raw connections -- */

int httpc_raw_fd (const struct httpc_request *r)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    if (r->state != REQUEST_CONNECTED
        || curl_easy_getinfo (r->easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK)
        return -1;
    return fd;
}

ssize_t httpc_raw_read (struct httpc_request *r, void *buf, size_t len)
{
    size_t n = 0;
    CURLcode code = curl_easy_recv (r->easy, buf, len, &n);

    if (code == CURLE_AGAIN)
        return -EAGAIN;
    return code == CURLE_OK ? (ssize_t)n : -ECONNRESET;
}

ssize_t httpc_raw_write (struct httpc_request *r, const void *buf, size_t len)
{
    size_t n = 0;
    CURLcode code = curl_easy_send (r->easy, buf, len, &n);

    if (code == CURLE_AGAIN || (code == CURLE_OK && n == 0))
        return -EAGAIN;
    return code == CURLE_OK ? (ssize_t)n : -ECONNRESET;
}

static int set_multi (struct httpc *h)
{
    h->multi = curl_multi_init ();
    if (!h->multi)
        return -ENOMEM;
    curl_multi_setopt (h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt (h->multi, CURLMOPT_SOCKETDATA, h);
    curl_multi_setopt (h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt (h->multi, CURLMOPT_TIMERDATA, h);
    curl_multi_setopt (h->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    return 0;
}

struct httpc *httpc_create (uv_loop_t *loop, struct error *err)
{
    static bool ready; /* only the loop's thread comes here */
    struct httpc *h = calloc (1, sizeof (*h));

    if (!h || (!ready && curl_global_init (CURL_GLOBAL_DEFAULT) != CURLE_OK)
        || set_multi (h) < 0) {
        free (h);
        return error_null (error_set (err, ENOMEM, "the HTTP library does not start"));
    }
    ready = true;
    h->loop = loop;
    uv_timer_init (loop, &h->timer);
    uv_timer_init (loop, &h->idle);
    h->timer.data = h;
    h->idle.data = h;
    h->open_handles = 2;
    return h;
}
