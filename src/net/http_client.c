/* http_client.c - requests and streams over one kept-alive connection; see http_client.h
 * */
#include "net/http_client.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/json.h"
#include "common/strbuf.h"
#include "net/credential.h"
#include "net/http_connect.h"
#include "net/http_parser.h"

#define IDLE_MS 60000
#define BODY_MAX ((size_t)1 << 30)
#define ERROR_BODY_MAX ((size_t)1 << 20) /* of a stream's refusal */
#define SEND_HEAD_MAX ((size_t)64 * 1024)

struct http_client {
    struct http_address address;
    int fd;    /* -1: not connected */
    bool used; /* by a request before this one */
    const volatile sig_atomic_t *interrupt;
    char buffer[65536];
};

/* One request with what becomes of its answer. */
struct exchange {
    const char *method, *target, *body;
    size_t len;
    const char *const *headers;
    int timeout_ms;                                      /* between bytes, -1: none */
    int (*fn) (const char *data, size_t len, void *arg); /* stream */
    void *arg;
    bool upgrade; /* what follows 101 stays in the socket */
    struct http_parser parser;
    struct strbuf collected;
};

/* -- the connection -- */

struct http_client *http_client_open (const char *url, struct error *err)
{
    struct http_client *c = malloc (sizeof (*c));

    if (!c) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    memset (c, 0,
            offsetof (struct http_client, buffer)); /* a start need not touch all of it */
    c->fd = -1;
    if (!url)
        url = getenv ("FLUXQ_BROKER");
    if (!url || !*url)
        c->fd = http_address_connect_default (&c->address, err);
    else if (http_address_parse (&c->address, url, err) == 0)
        c->fd = http_address_connect (&c->address, err);
    if (c->fd < 0) {
        http_client_close (c);
        return NULL;
    }
    return c;
}

static void disconnect (struct http_client *c)
{
    if (c->fd >= 0)
        close (c->fd);
    c->fd = -1;
    c->used = false;
}

void http_client_close (struct http_client *c)
{
    if (!c)
        return;
    disconnect (c);
    http_address_release (&c->address);
    free (c);
}

const char *http_client_url (const struct http_client *c)
{
    return c->address.url;
}

void http_client_set_interrupt (struct http_client *c, const volatile sig_atomic_t *flag)
{
    c->interrupt = flag;
}

/* Connect, also when the server has closed an idle connection (or sent what nobody asked
 * for). */
static int ensure_connected (struct http_client *c, struct error *err)
{
    struct pollfd p = { .fd = c->fd, .events = POLLIN };

    if (c->fd >= 0 && c->used && poll (&p, 1, 0) != 0)
        disconnect (c);
    if (c->fd < 0) {
        int fd = http_address_connect (&c->address, err);
        if (fd < 0)
            return fd;
        c->fd = fd;
    }
    return 0;
}

/* poll(2); signals are let in only while it waits, so that none slips in between a look at the
 * interrupt's flag and the wait. */
static int poll_interruptible (struct pollfd *p, int timeout_ms,
                               const volatile sig_atomic_t *interrupt)
{
    const struct timespec timeout = { .tv_sec = timeout_ms / 1000,
                                      .tv_nsec = (long)(timeout_ms % 1000) * 1000000 };
    sigset_t all, before;

    sigfillset (&all);
    sigprocmask (SIG_BLOCK, &all, &before);
    int n = -1;
    if (*interrupt)
        errno = EINTR;
    else
        n = ppoll (p, 1, timeout_ms < 0 ? NULL : &timeout, &before);
    int saved = errno;
    sigprocmask (SIG_SETMASK, &before, NULL);
    errno = saved;
    return n;
}

/* The events that came, or -ETIMEDOUT, -EINTR. */
static int wait_for (struct http_client *c, short events, int timeout_ms,
                     struct error *err)
{
    struct pollfd p = { .fd = c->fd, .events = events };

    for (;;) {
        int n = c->interrupt ? poll_interruptible (&p, timeout_ms, c->interrupt)
                             : poll (&p, 1, timeout_ms);
        if (n > 0)
            return p.revents;
        if (n == 0)
            return error_set (err, ETIMEDOUT, "no answer from the broker at %s for %d s",
                              c->address.url, timeout_ms / 1000);
        if (errno != EINTR)
            return error_errno (err, errno, "waiting for the broker");
        if (c->interrupt && *c->interrupt)
            return error_set (err, EINTR, "interrupted");
    }
}

/* -- sending -- */

static bool is_clean (const char *s, bool blanks)
{
    for (; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f || (*s == ' ' && !blanks))
            return false;
    }
    return true;
}

static int add_credential (const struct exchange *x, struct strbuf *head,
                           struct error *err)
{
    char *cred = credential_make (NULL, x->method, x->target, x->body, x->len, err);

    if (!cred)
        return err && err->code ? -err->code : -EIO;
    strbuf_addf (head, "Authorization: MUNGE %s\r\n", cred);
    free (cred);
    return 0;
}

static int build_head (const struct http_client *c, const struct exchange *x,
                       struct strbuf *head, struct error *err)
{
    struct error own = { 0 };

    if (!is_clean (x->method, false) || !is_clean (x->target, false)
        || x->target[0] != '/')
        return error_set (err, EINVAL, "'%s %s' is not a request", x->method, x->target);
    strbuf_addf (head, "%s %s HTTP/1.1\r\nHost: %s\r\n", x->method, x->target,
                 c->address.host ? c->address.host : "localhost");
    if (x->len > 0)
        strbuf_adds (head, "Content-Type: application/json\r\n");
    if (x->len > 0 || strcmp (x->method, "GET") != 0)
        strbuf_addf (head, "Content-Length: %zu\r\n", x->len);
    for (const char *const *h = x->headers; h && *h; h++) {
        if (!is_clean (*h, true) || !strchr (*h, ':'))
            return error_set (err, EINVAL, "'%s' is not a header", *h);
        strbuf_addf (head, "%s\r\n", *h);
    }
    if (!c->address.path && add_credential (x, head, &own) < 0)
        return error_set (err, own.code, "%s", own.text);
    if (strbuf_adds (head, "\r\n") < 0)
        return error_set (err, -head->err, "the request's head is too large");
    return 0;
}

/* All of head and body, unless the server answers before it has seen all: that is no
 * error. */
static int send_request (struct http_client *c, const struct exchange *x,
                         const struct strbuf *head, struct error *err)
{
    size_t total = head->len + x->len;
    size_t sent = 0;

    while (sent < total) {
        struct iovec iov[2];
        struct msghdr msg = { .msg_iov = iov };
        if (sent < head->len)
            iov[msg.msg_iovlen++] = (struct iovec){ head->buf + sent, head->len - sent };
        size_t body = sent > head->len ? sent - head->len : 0;
        if (x->len > body)
            iov[msg.msg_iovlen++] =
                (struct iovec){ (char *)(uintptr_t)x->body + body, x->len - body };
        ssize_t n = sendmsg (c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            int events = wait_for (c, POLLIN | POLLOUT, IDLE_MS, err);
            if (events < 0)
                return events;
            if (events & POLLIN)
                return 1;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return 1; /* perhaps it said why */
        } else if (errno != EINTR) {
            return error_errno (err, errno, "sending to the broker");
        }
    }
    return 0;
}

/* -- receiving -- */

static int on_body (const char *data, size_t len, void *arg)
{
    struct exchange *x = arg;

    if (x->fn && x->parser.status < 400)
        return x->fn (data, len, x->arg);
    return strbuf_add (&x->collected, data, len);
}

/* What has come; of it only what belongs to the answer may be taken from the socket when
 * another protocol follows. */
static ssize_t look (struct http_client *c, const struct exchange *x)
{
    return recv (c->fd, c->buffer, sizeof (c->buffer),
                 MSG_DONTWAIT | (x->upgrade ? MSG_PEEK : 0));
}

static int take (struct http_client *c, const struct exchange *x, size_t n,
                 struct error *err)
{
    while (x->upgrade && n > 0) {
        ssize_t got = recv (c->fd, c->buffer, n, MSG_DONTWAIT);
        if (got <= 0)
            return error_set (err, EPROTO, "the broker's answer is gone again");
        n -= (size_t)got;
    }
    return 0;
}

static int receive (struct http_client *c, struct exchange *x, struct error *err)
{
    while (!http_parser_done (&x->parser)) {
        int rc = wait_for (c, POLLIN, x->timeout_ms, err);
        if (rc < 0)
            return rc;
        ssize_t n = look (c, x);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0 && errno != ECONNRESET)
            return error_errno (err, errno, "receiving from the broker");
        if (n <= 0)
            return http_parser_eof (&x->parser, err);
        ssize_t used = http_parser_feed (&x->parser, c->buffer, (size_t)n, err);
        if (used < 0)
            return (int)used;
        if ((rc = take (c, x, (size_t)used, err)) < 0)
            return rc;
        if (used < n && x->parser.status != 101)
            x->parser.close = true; /* more than the answer: do not use it again */
    }
    return 0;
}

static int exchange_once (struct http_client *c, struct exchange *x, struct error *err)
{
    struct strbuf head;
    int rc = ensure_connected (c, err);

    if (rc < 0)
        return rc;
    strbuf_init (&head, SEND_HEAD_MAX);
    rc = build_head (c, x, &head, err);
    if (rc == 0) {
        rc = send_request (c, x, &head, err);
        if (rc >= 0) {
            bool cut = rc > 0;
            rc = receive (c, x, err);
            if (cut || x->parser.close)
                rc = rc == 0 ? 1 : rc;
        }
    }
    strbuf_release (&head);
    if (rc == 0)
        c->used = true;
    else
        disconnect (c);
    return MIN (rc, 0);
}

static bool may_repeat (const struct exchange *x, int rc, bool kept_alive)
{
    return kept_alive && (rc == -ECONNRESET || rc == -EPIPE) && !x->parser.started
           && (x->upgrade || strcmp (x->method, "GET") == 0);
}

static int explain (const struct exchange *x, int rc, struct error *err)
{
    bool harmless =
        x->upgrade || strcmp (x->method, "GET") == 0 || strcmp (x->method, "HEAD") == 0;

    if (x->parser.stopped)
        return x->parser.stopped;
    if (!harmless && (rc == -ECONNRESET || rc == -ETIMEDOUT) && err)
        return error_set (err, -rc, "%s; whether it was done is not known", err->text);
    return rc;
}

/* The whole of it; fills ret. Returns 0, what fn returned, or a negative errno. */
static int run (struct http_client *c, struct exchange *x, struct http_response *ret,
                struct error *err)
{
    bool is_head = strcmp (x->method, "HEAD") == 0;
    bool kept_alive = c->used;

    memset (ret, 0, sizeof (*ret));
    strbuf_init (&x->collected, x->fn ? ERROR_BODY_MAX : BODY_MAX);
    http_parser_init (&x->parser, is_head, on_body, x);
    x->parser.upgrade = x->upgrade;
    int rc = exchange_once (c, x, err);
    if (may_repeat (x, rc, kept_alive)) {
        http_parser_release (&x->parser);
        http_parser_init (&x->parser, is_head, on_body, x);
        x->parser.upgrade = x->upgrade;
        rc = exchange_once (c, x, err);
    }
    if (x->collected.err == -E2BIG)
        rc = error_set (err, EFBIG, "the broker's answer is larger than %zu MiB",
                        x->collected.max >> 20);
    else if (x->collected.err)
        rc = error_set (err, ENOMEM, "out of memory");
    else if (rc < 0)
        rc = explain (x, rc, err);
    ret->status = x->parser.status;
    ret->retry_after = x->parser.retry_after;
    memcpy (ret->content_type, x->parser.content_type, sizeof (ret->content_type));
    if (rc == 0 || (x->parser.stopped && x->collected.err == 0)) {
        ret->len = x->collected.len;
        ret->body = strbuf_detach (&x->collected);
        if (!ret->body)
            rc = error_set (err, ENOMEM, "out of memory");
    }
    http_parser_release (&x->parser);
    strbuf_release (&x->collected);
    return rc;
}

int http_client_request (struct http_client *c, const char *method, const char *target,
                         const char *body, size_t len, const char *const headers[],
                         struct http_response *ret, struct error *err)
{
    struct exchange x = {
        .method = method,
        .target = target,
        .body = body ? body : "",
        .len = body ? len : 0,
        .headers = headers,
        .timeout_ms = IDLE_MS,
    };

    return run (c, &x, ret, err);
}

int http_client_stream (struct http_client *c, const char *method, const char *target,
                        int (*fn) (const char *data, size_t len, void *arg), void *arg,
                        struct http_response *ret, struct error *err)
{
    struct exchange x = {
        .method = method,
        .target = target,
        .body = "",
        .timeout_ms = -1,
        .fn = fn,
        .arg = arg,
    };

    return run (c, &x, ret, err);
}

/* The socket, as one that a program may read and write as it likes. */
static int give_away (struct http_client *c, int *ret_fd, struct error *err)
{
    static const int on = 1, idle = 60;
    int fd = c->fd;
    int flags = fd < 0 ? -1 : fcntl (fd, F_GETFL);

    if (fd < 0)
        return error_set (err, ECONNRESET, "the broker closed the connection");
    if (flags < 0 || fcntl (fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return error_errno (err, errno, "connection to the broker");
    /* Days may pass without a byte; on a unix socket these do nothing. */
    setsockopt (fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof (on));
    setsockopt (fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof (idle));
    setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
    c->fd = -1;
    c->used = false;
    *ret_fd = fd;
    return 0;
}

int http_client_upgrade (struct http_client *c, const char *target, int *ret_fd,
                         struct error *err)
{
    static const char *const headers[] = { "Connection: Upgrade", "Upgrade: fluxq",
                                           NULL };
    struct http_response r;
    struct exchange x = {
        .method = "POST",
        .target = target,
        .body = "",
        .headers = headers,
        .timeout_ms = IDLE_MS,
        .upgrade = true,
    };
    int rc = run (c, &x, &r, err);

    if (rc == 0 && r.status == 101)
        rc = give_away (c, ret_fd, err);
    else if (rc == 0)
        rc = http_response_error (&r, err);
    http_response_release (&r);
    return rc;
}

void http_response_release (struct http_response *r)
{
    free (r->body);
    memset (r, 0, sizeof (*r));
}

/* -- errors -- */

static int errnum_of (int status)
{
    static const struct {
        int status, errnum;
    } table[] = {
        { 401, EACCES }, { 403, EACCES },     { 404, ENOENT },
        { 429, EAGAIN }, { 501, EOPNOTSUPP }, { 503, EAGAIN },
    };

    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        if (table[i].status == status)
            return table[i].errnum;
    }
    if (status >= 400 && status < 500)
        return EINVAL;
    return status >= 500 ? EIO : EPROTO;
}

int http_response_error (const struct http_response *r, struct error *err)
{
    const char *detail = NULL;
    autojson json_t *o = NULL;

    if (r->body && strncasecmp (r->content_type, "application/", 12) == 0)
        o = json_parse (r->body, r->len, "answer", NULL);
    if (o
        && json_get_string (o, "detail", &detail, JSON_OPTIONAL_KEY, "answer", NULL) <= 0)
        json_get_string (o, "title", &detail, JSON_OPTIONAL_KEY, "answer", NULL);
    if (detail)
        return error_set (err, errnum_of (r->status), "%s", detail);
    size_t line = r->body ? strcspn (r->body, "\r\n") : 0;
    return error_set (
        err, errnum_of (r->status), "the broker answered with status %d%s%.*s", r->status,
        line ? ": " : "", (int)MIN (line, (size_t)200), r->body ? r->body : "");
}
