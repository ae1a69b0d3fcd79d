/* http_client.c - requests and streams over one kept-alive connection; see http_client.h
 */
#include "net/http_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/json.h"
#include "common/parse.h"
#include "net/credential.h"
#include "net/http_connect.h"
#include "net/http_parser.h"
#include "net/http_patience.h"
#include "net/keyfile.h"

#define IDLE_MS 60000
#define SILENT_MS 5000 /* then the user gets a message */
#define BODY_MAX ((size_t)1 << 30)
#define ERROR_BODY_MAX ((size_t)1 << 20) /* body of a refused stream */
#define SEND_HEAD_MAX ((size_t)64 * 1024)
#define TOKEN_FILE_MAX ((size_t)16 * 1024)

struct http_client {
    struct http_address address;
    int fd;    /* -1: not connected */
    bool used; /* by an earlier request */
    bool is_default; /* no default socket has been reached yet */
    struct http_patience patience;
    const volatile sig_atomic_t *interrupt;
    char buffer[65536];
};

/* A request and its response. */
struct exchange {
    const char *method, *target, *body;
    size_t len;
    const char *const *headers;
    int timeout_ms; /* between bytes; -1: unlimited */
    int (*fn) (const char *data, size_t len, void *arg); /* for streams */
    void *arg;
    const struct http_reader *reader; /* of a body that is read while it arrives */
    bool upgrade; /* data after 101 stays in the socket */
    bool reached; /* the request had a connection */
    struct http_wait wait;
    struct http_parser parser;
    struct strbuf collected;
};

/* -- the connection -- */

static int connect_once (struct http_client *c, struct error *err)
{
    if (!c->is_default)
        return http_address_connect (&c->address, err);
    http_address_release (&c->address);
    int fd = http_address_connect_default (&c->address, c->patience.seconds, err);
    c->is_default = fd < 0;
    return fd;
}

/* Connects, and waits for a broker that restarts. */
static int connect_patiently (struct http_client *c, struct http_wait *wait,
                              struct error *err)
{
    struct error own = { 0 };

    for (;;) {
        int fd = connect_once (c, &own);
        if (fd >= 0) {
            c->fd = fd;
            return 0;
        }
        bool again = http_address_may_return (&c->address, fd, c->patience.seconds);
        int rc = again ? http_wait (wait, 0, own.text) : fd;
        if (rc == -EINTR)
            return error_set (err, EINTR, "interrupted");
        if (rc < 0)
            return error_set (err, own.code, "%s", own.text);
    }
}

struct http_client *http_client_open_patient (const char *url,
                                              const struct http_patience *patience,
                                              const volatile sig_atomic_t *interrupt,
                                              struct error *err)
{
    struct http_client *c = malloc (sizeof (*c));
    struct http_wait wait;

    if (!c)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    memset (c, 0,
            /* a short-lived client need not touch the buffer's pages */
            offsetof (struct http_client, buffer));
    c->fd = -1;
    c->patience = *patience;
    c->interrupt = interrupt;
    if (!url)
        url = getenv ("FLUXQ_BROKER");
    c->is_default = !url || !*url;
    http_wait_init (&wait, &c->patience, interrupt);
    if ((!c->is_default && http_address_parse (&c->address, url, err) < 0)
        || connect_patiently (c, &wait, err) < 0) {
        http_client_close (c);
        return NULL;
    }
    return c;
}

struct http_client *http_client_open (const char *url, struct error *err)
{
    static const struct http_patience none = { 0 };

    return http_client_open_patient (url, &none, NULL, err);
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

/* Connects, also when the server has closed an idle connection (or sent unrequested
 * data). */
static int ensure_connected (struct http_client *c, struct http_wait *wait,
                             struct error *err)
{
    struct pollfd p = { .fd = c->fd, .events = POLLIN };

    if (c->fd >= 0 && c->used && poll (&p, 1, 0) != 0)
        disconnect (c);
    return c->fd < 0 ? connect_patiently (c, wait, err) : 0;
}

static void tell_silence (const struct http_client *c, int left_ms)
{
    char text[ERROR_TEXT_MAX];
    char until[40] = "";

    if (left_ms > 0)
        snprintf (until, sizeof (until), ", for %d s more", left_ms / 1000);
    snprintf (text, sizeof (text),
              "waiting for the broker%s: it accepts connections at %s and does not "
              "answer",
              until, c->address.url);
    c->patience.tell (text, c->patience.arg);
}

/* Returns the events, or -ETIMEDOUT, -EINTR. answer: waits for the first byte of a
 * response, so the user gets a message after a silence. */
static int wait_for (struct http_client *c, short events, int timeout_ms, bool answer,
                     struct error *err)
{
    struct pollfd p = { .fd = c->fd, .events = events };
    bool tells = answer && c->patience.tell;
    int left = timeout_ms;

    for (;;) {
        int n = http_poll (&p, tells ? SILENT_MS : left, c->interrupt);
        if (n > 0)
            return p.revents;
        if (n == 0 && tells) {
            left -= left > 0 ? SILENT_MS : 0;
            tell_silence (c, left);
            tells = false;
        } else if (n == 0) {
            return error_set (err, ETIMEDOUT, "no answer from the broker at %s for %d s",
                              c->address.url, timeout_ms / 1000);
        } else if (errno != EINTR) {
            return error_errno (err, errno, "waiting for the broker");
        } else if (c->interrupt && *c->interrupt) {
            return error_set (err, EINTR, "interrupted");
        }
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

/* The broker's name as the user wrote it: for the header Host and the credential. */
static int name_broker (const struct http_address *a, char ret[AUTHORITY_SIZE],
                        struct error *err)
{
    int64_t port = 0;

    if (!a->host) { /* a unix socket has no port */
        snprintf (ret, AUTHORITY_SIZE, "localhost");
        return 0;
    }
    if (parse_int (a->port, 1, 65535, &port, "port", err) < 0)
        return -EINVAL;
    if (authority_format (a->host, (uint16_t)port, ret) < 0)
        return error_set (err, EINVAL, "'%s' is not the name of a host", a->host);
    return 0;
}

static int add_credential (const struct http_client *c, const struct exchange *x,
                           const char *authority, struct strbuf *head, struct error *err)
{
    char *cred =
        credential_make (NULL, authority, c->address.tls ? c->address.channel.name : NULL,
                         x->method, x->target, x->body, x->len, err);

    if (!cred)
        return err && err->code ? -err->code : -EIO;
    strbuf_addf (head, "Authorization: MUNGE %s\r\n", cred);
    free (cred);
    return 0;
}

/* The value of a variable; NULL: none. */
static const char *variable (const char *name)
{
    const char *value = getenv (name);

    return value && *value ? value : NULL;
}

static int add_token (const struct http_client *c, const char *authority,
                      const char *token, const char *name, struct strbuf *head,
                      struct error *err)
{
    if (!*token || !is_clean (token, false))
        return error_set (err, EINVAL, "%s has no valid token", name);
    if (c->address.host && !c->address.tls && !authority_is_loopback (authority))
        return error_set (err, EPERM,
                          "the token in %s goes only over TLS or to a broker on this "
                          "machine, as others could read it on the way to %s: use "
                          "https://%s, or unset %s to use MUNGE",
                          name, authority, authority, name);
    strbuf_addf (head, "Authorization: Bearer %s\r\n", token);
    return 0;
}

/* Kubernetes writes a new token there from time to time. */
static int add_token_file (const struct http_client *c, const char *authority,
                           const char *path, struct strbuf *head, struct error *err)
{
    struct strbuf text = STRBUF_INIT (TOKEN_FILE_MAX + 1);
    int rc = keyfile_read (&text, path, KEYFILE_PUBLIC, err);

    if (rc == 0 && text.len == 0)
        rc = error_set (err, EINVAL, "%s: no token is in it", path);
    if (rc == 0) {
        text.buf[strcspn (text.buf, "\n")] = 0;
        rc = add_token (c, authority, text.buf, HTTP_TOKEN_FILE_VARIABLE, head, err);
    }
    keyfile_wipe (&text);
    return rc;
}

/* Says who sends the request, unless the kernel or the connection does. */
static int add_sender (const struct http_client *c, const struct exchange *x,
                       const char *authority, struct strbuf *head, struct error *err)
{
    const char *token = variable (HTTP_TOKEN_VARIABLE);
    const char *path = variable (HTTP_TOKEN_FILE_VARIABLE);

    if (token)
        return add_token (c, authority, token, HTTP_TOKEN_VARIABLE, head, err);
    if (path)
        return add_token_file (c, authority, path, head, err);
    if (c->address.tls && c->address.channel.identified)
        return 0;
    return c->address.host ? add_credential (c, x, authority, head, err) : 0;
}

static int build_head (const struct http_client *c, const struct exchange *x,
                       struct strbuf *head, struct error *err)
{
    char authority[AUTHORITY_SIZE];
    struct error own = { 0 };

    if (name_broker (&c->address, authority, err) < 0)
        return -EINVAL;
    if (!is_clean (x->method, false) || !is_clean (x->target, false)
        || x->target[0] != '/')
        return error_set (err, EINVAL, "'%s %s' is not a request", x->method, x->target);
    strbuf_addf (head, "%s %s HTTP/1.1\r\nHost: %s\r\n", x->method, x->target,
                 authority);
    if (x->len > 0)
        strbuf_adds (head, "Content-Type: application/json\r\n");
    if (x->len > 0 || strcmp (x->method, "GET") != 0)
        strbuf_addf (head, "Content-Length: %zu\r\n", x->len);
    for (const char *const *h = x->headers; h && *h; h++) {
        if (!is_clean (*h, true) || !strchr (*h, ':'))
            return error_set (err, EINVAL, "'%s' is not a header", *h);
        strbuf_addf (head, "%s\r\n", *h);
    }
    if (add_sender (c, x, authority, head, &own) < 0)
        return error_set (err, own.code, "%s", own.text);
    if (strbuf_adds (head, "\r\n") < 0)
        return error_set (err, -head->err, "the request's head is too large");
    return 0;
}

/* Sends head and body. 1: the server answered before it had read everything, which is not
 * an error. */
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
            int events = wait_for (c, POLLIN | POLLOUT, IDLE_MS, true, err);
            if (events < 0)
                return events;
            if (events & POLLIN)
                return 1;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return 1; /* the server may have sent a reason */
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
    if (x->reader && x->parser.status < 400) {
        x->reader->piece (data, len, x->reader->arg);
        return 0;
    }
    return strbuf_add (&x->collected, data, len);
}

/* Reads available data. If another protocol follows, only peeks: data after the response
 * must stay in the socket. */
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
            return error_set (err, EPROTO, "the broker's answer has been discarded");
        n -= (size_t)got;
    }
    return 0;
}

static int receive (struct http_client *c, struct exchange *x, struct error *err)
{
    while (!http_parser_done (&x->parser)) {
        int rc = wait_for (c, POLLIN, x->timeout_ms, !x->parser.started, err);
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
            x->parser.close = true; /* extra data: do not reuse the connection */
    }
    return 0;
}

static int exchange_once (struct http_client *c, struct exchange *x, struct error *err)
{
    struct strbuf head = STRBUF_INIT (SEND_HEAD_MAX);
    int rc = ensure_connected (c, &x->wait, err);

    x->reached = rc == 0;
    if (rc < 0)
        return rc;
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

/* Whether sending the request twice has the same effect as once. */
static bool is_harmless (const struct exchange *x)
{
    static const char key[] = "Idempotency-Key:";

    for (const char *const *h = x->headers; h && *h; h++) {
        if (!strncasecmp (*h, key, sizeof (key) - 1))
            return true;
    }
    return x->upgrade || !strcmp (x->method, "GET") || !strcmp (x->method, "HEAD");
}

/* Whether to repeat the request: the broker went away, or is busy. Not if the reader of a
 * stream has seen pieces. */
static bool may_repeat (const struct exchange *x, int rc)
{
    int status = x->parser.status;

    if (!x->reached)
        return false; /* connecting has waited already */
    if (rc == 0)
        return (status == 429 || status == 503) && x->parser.retry_after > 0;
    return (rc == -ECONNRESET || rc == -EPIPE) && is_harmless (x)
           && !(x->fn && x->parser.started);
}

static int explain (const struct exchange *x, int rc, struct error *err)
{
    if (x->parser.stopped)
        return x->parser.stopped;
    if (!is_harmless (x) && (rc == -ECONNRESET || rc == -ETIMEDOUT) && x->reached && err)
        return error_set (err, -rc, "%s; it is not known whether the request was done",
                          err->text);
    return rc;
}

static void begin (struct exchange *x)
{
    strbuf_init (&x->collected, x->fn || x->reader ? ERROR_BODY_MAX : BODY_MAX);
    http_parser_init (&x->parser, !strcmp (x->method, "HEAD"), on_body, x);
    x->parser.upgrade = x->upgrade;
    if (x->reader)
        x->reader->begin (x->reader->arg);
}

static void release (struct exchange *x)
{
    http_parser_release (&x->parser);
    strbuf_release (&x->collected);
}

/* Runs the request, and repeats it while that is useful and the patience lasts. A
 * kept-alive connection may have been closed meanwhile: the first repeat needs no wait
 * then. */
static int exchange_patiently (struct http_client *c, struct exchange *x,
                               struct error *err)
{
    bool kept_alive = c->used;
    struct error own = { 0 };
    int rc;

    begin (x);
    while (may_repeat (x, rc = exchange_once (c, x, &own))) {
        if (rc == 0 || !kept_alive) {
            int late = http_wait (&x->wait, rc == 0 ? x->parser.retry_after : 0,
                                  rc == 0 ? "it is busy" : own.text);
            if (late == -EINTR)
                rc = error_set (&own, EINTR, "interrupted");
            if (late < 0)
                break;
        }
        kept_alive = false;
        release (x);
        begin (x);
    }
    if (rc < 0)
        error_set (err, own.code ? own.code : -rc, "%s", own.text);
    return rc;
}

/* Runs the whole request and fills ret. Returns 0, the result of fn, or a negative
 * errno. */
static int run (struct http_client *c, struct exchange *x, struct http_response *ret,
                struct error *err)
{
    memset (ret, 0, sizeof (*ret));
    http_wait_init (&x->wait, &c->patience, c->interrupt);
    int rc = exchange_patiently (c, x, err);
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
    release (x);
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

int http_client_read (struct http_client *c, const char *target,
                      const struct http_reader *reader, struct http_response *ret,
                      struct error *err)
{
    struct exchange x = {
        .method = "GET",
        .target = target,
        .body = "",
        .timeout_ms = IDLE_MS,
        .reader = reader,
    };

    return run (c, &x, ret, err);
}

/* Gives the socket away, in blocking mode. */
static int give_away (struct http_client *c, int *ret_fd, struct error *err)
{
    static const int on = 1, idle = 60;
    int fd = c->fd;
    int flags = fd < 0 ? -1 : fcntl (fd, F_GETFL);

    if (fd < 0)
        return error_set (err, ECONNRESET, "the broker closed the connection");
    if (flags < 0 || fcntl (fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return error_errno (err, errno, "connection to the broker");
    /* Days may pass without a byte. On a unix socket these calls have no effect. */
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
