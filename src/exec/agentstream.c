/* agentstream.c - see agentstream.h
 *
 *   CONNECTING --connected--> ASKING --101--> OPEN
 *       |                       |  the request goes out, the answer's head comes in
 *       +--trouble, 15 s--------+--any other answer--> FAILED
 *
 * Each stream has a curl client of its own: in a client with other requests, curl would
 * close connections that are idle for two minutes.
 */
#include "exec/agentstream.h"

#include <sys/socket.h>

#include "common/sha256.h"
#include "net/http_parser.h"

#define OPEN_MS 15000
#define TARGET "/v1/client"
#define REQUEST_MAX ((size_t)64 * 1024) /* tokens are long */
#define ANSWER_MAX ((size_t)64 * 1024)  /* bytes of a refusal */
#define PIECE 4096

enum stream_state { STREAM_CONNECTING, STREAM_ASKING, STREAM_OPEN, STREAM_FAILED };

struct agentstream {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_poll_t *poll; /* from ASKING on */
    struct httpc *http;
    struct httpc_request *conn;
    enum stream_state state;
    bool check_peer;
    uid_t peer;
    struct strbuf request;
    size_t sent; /* bytes of request */
    struct http_parser parser;
    struct strbuf body;
    char early[PIECE]; /* bytes that came with the answer's head */
    size_t early_off, early_len;
    const struct agentstream_events *ev;
    void *arg;
};

/* -- life -- */

static void on_timer_closed (uv_handle_t *handle)
{
    struct agentstream *s = handle->data;

    if (s->request.buf)
        secret_wipe (s->request.buf, s->request.len); /* it may have a token */
    strbuf_release (&s->request);
    strbuf_release (&s->body);
    http_parser_release (&s->parser);
    free (s);
}

static void on_poll_closed (uv_handle_t *handle)
{
    free (handle);
}

void agentstream_close (struct agentstream *s)
{
    if (!s)
        return;
    if (s->poll) {
        uv_poll_stop (s->poll);
        uv_close ((uv_handle_t *)s->poll, on_poll_closed);
    }
    s->poll = NULL;
    httpc_cancel (s->conn);
    httpc_destroy (s->http);
    uv_timer_stop (&s->timer);
    uv_close ((uv_handle_t *)&s->timer, on_timer_closed);
}

static void fail (struct agentstream *s, const struct error *err)
{
    s->state = STREAM_FAILED;
    uv_timer_stop (&s->timer);
    if (s->poll)
        uv_poll_stop (s->poll);
    s->ev->opened (err, s->arg);
}

static void on_late (uv_timer_t *timer)
{
    struct agentstream *s = timer->data;
    struct error err = { 0 };

    error_set (&err, ETIMEDOUT, "the job's agent has not answered for %d s",
               OPEN_MS / 1000);
    fail (s, &err);
}

/* -- asking -- */

static int on_body (const char *data, size_t len, void *arg)
{
    struct agentstream *s = arg;

    return strbuf_add (&s->body, data, len);
}

/* Agents answer with a line of text, the API server with a Status object. */
static void refused (struct agentstream *s)
{
    struct error err = { 0 };
    int status = s->parser.status;
    autojson json_t *body = NULL;

    if (s->body.len && s->body.buf[0] == '{')
        body = json_parse (s->body.buf, s->body.len, "answer", NULL);
    const char *message = json_string_value (json_object_get (body, "message"));
    int code = body ? EIO : status == 409 ? ESRCH : status == 503 ? EAGAIN : EIO;
    if (message)
        error_set (&err, code, "%s", message);
    else
        error_set (&err, code, "%.*s", (int)strcspn (s->body.buf, "\r\n"), s->body.buf);
    if (!err.text[0])
        error_set (&err, code, "HTTP %d", status);
    fail (s, &err);
}

static void trouble (struct agentstream *s, const char *text)
{
    struct error err = { 0 };

    error_set (&err, EIO, "%s", text);
    fail (s, &err);
}

/* 1: all is sent, 0: later, or -ECONNRESET. */
static int send_request (struct agentstream *s)
{
    while (s->sent < s->request.len) {
        ssize_t n =
            httpc_raw_write (s->conn, s->request.buf + s->sent, s->request.len - s->sent);
        if (n < 0)
            return n == -EAGAIN ? 0 : (int)n;
        s->sent += (size_t)n;
    }
    return 1;
}

/* Reads the answer so far; false: it has been handled. */
static bool read_answer (struct agentstream *s)
{
    struct error err = { 0 };
    ssize_t n = 1;

    while (n > 0 && !http_parser_done (&s->parser)) {
        n = httpc_raw_read (s->conn, s->early, sizeof (s->early));
        if (n == -EAGAIN)
            return true;
        ssize_t used =
            n > 0 ? http_parser_feed (&s->parser, s->early, (size_t)n, &err) : 0;
        if (n <= 0)
            used = http_parser_eof (&s->parser, &err);
        if (used < 0) {
            trouble (s, n <= 0 ? "the connection to the job's agent broke"
                               : "the program that answers is not the job's agent");
            return false;
        }
        s->early_off = (size_t)used;
        s->early_len = n > 0 ? (size_t)(n - used) : 0;
    }
    if (s->parser.status != 101) {
        refused (s);
        return false;
    }
    s->state = STREAM_OPEN;
    uv_timer_stop (&s->timer);
    agentstream_want (s, false, false);
    s->ev->opened (NULL, s->arg);
    return false;
}

static void ask (struct agentstream *s)
{
    int rc = send_request (s);

    if (rc < 0)
        trouble (s, "the connection to the job's agent broke");
    else if (rc == 0)
        agentstream_want (s, false, true);
    else if (read_answer (s))
        agentstream_want (s, true, false);
}

static void on_poll (uv_poll_t *poll, int status, int events)
{
    struct agentstream *s = poll->data;

    (void)events;
    (void)status; /* a read will return the error */
    if (s->state == STREAM_ASKING)
        ask (s);
    else if (s->state == STREAM_OPEN)
        s->ev->ready (s->arg);
}

/* The path of a unix socket leads through a directory of the user: the listener must be
 * that user, not a third user whom the broker may reach and this user may not. */
static bool is_peer (const struct agentstream *s, int fd)
{
    struct ucred who;
    socklen_t len = sizeof (who);

    return !s->check_peer
           || (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0
               && who.uid == s->peer);
}

static int start_poll (struct agentstream *s, int fd)
{
    s->poll = calloc (1, sizeof (*s->poll));
    if (!s->poll)
        return -ENOMEM;
    int rc = uv_poll_init (s->loop, s->poll, fd);
    if (rc < 0) {
        free (s->poll);
        s->poll = NULL;
        return rc;
    }
    s->poll->data = s;
    return 0;
}

static void on_connected (const struct httpc_response *resp, void *arg)
{
    struct agentstream *s = arg;

    if (resp->err.code) {
        s->conn = NULL;
        fail (s, &resp->err);
        return;
    }
    int fd = httpc_raw_fd (s->conn);
    if (fd < 0 || !is_peer (s, fd)) {
        trouble (s, fd < 0 ? "the connection to the job's agent broke"
                           : "the process at the agent's socket does not belong to the "
                             "job's user");
        return;
    }
    if (start_poll (s, fd) < 0) {
        struct error err = { 0 };
        error_no_memory (&err, NULL);
        fail (s, &err);
        return;
    }
    s->state = STREAM_ASKING;
    agentstream_want (s, false, true);
}

/* -- the stream -- */

void agentstream_want (struct agentstream *s, bool readable, bool writable)
{
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);

    if (!s->poll)
        return;
    if (events)
        uv_poll_start (s->poll, events, on_poll);
    else
        uv_poll_stop (s->poll);
}

ssize_t agentstream_read (struct agentstream *s, void *buf, size_t len)
{
    if (s->early_len == 0)
        return httpc_raw_read (s->conn, buf, len);
    size_t n = MIN (len, s->early_len);
    memcpy (buf, s->early + s->early_off, n);
    s->early_off += n;
    s->early_len -= n;
    return (ssize_t)n;
}

ssize_t agentstream_write (struct agentstream *s, const void *buf, size_t len)
{
    return httpc_raw_write (s->conn, buf, len);
}

/* -- opening -- */

/* Splits "https://host:port/path" into Host and path. */
static int write_request (struct agentstream *s, const struct agentlink_where *where,
                          const uint8_t key[AGENT_KEY_SIZE], struct error *err)
{
    const char *host = strstr (where->url_prefix, "://");
    char auth[AGENT_AUTH_MAX];
    int rc = agent_auth_make (key, "GET", TARGET, auth);

    if (rc < 0)
        return error_errno (err, -rc, "signing a request");
    if (!host)
        return error_set (err, EINVAL, "%s is not a URL", where->url_prefix);
    host += 3;
    size_t len = strcspn (host, "/");
    strbuf_addf (&s->request,
                 "GET %s" TARGET " HTTP/1.1\r\nHost: %.*s\r\nConnection: Upgrade\r\n"
                 "Upgrade: " AGENT_PROTOCOL "\r\n" AGENT_AUTH_HEADER ": %s\r\n",
                 host + len, (int)len, host, auth);
    for (size_t i = 0; where->headers && where->headers[i]; i++)
        strbuf_addf (&s->request, "%s\r\n", where->headers[i]);
    strbuf_adds (&s->request, "\r\n");
    return s->request.err ? error_errno (err, -s->request.err, "request to the agent")
                          : 0;
}

static int start (struct agentstream *s, const struct agentlink_where *where,
                  const uint8_t key[AGENT_KEY_SIZE], struct error *err)
{
    int rc = write_request (s, where, key, err);

    if (rc < 0)
        return rc;
    if (!(s->http = httpc_create (s->loop, err)))
        return -ENOMEM;
    struct httpc_options opt = { .method = "GET",
                                 .url = where->url_prefix,
                                 .unix_socket = where->unix_socket,
                                 .tls = where->tls,
                                 .connect_only = 1,
                                 .on_done = on_connected,
                                 .arg = s };
    s->conn = httpc_send (s->http, &opt, err);
    return s->conn ? 0 : -EIO;
}

struct agentstream *agentstream_open (uv_loop_t *loop,
                                      const struct agentlink_where *where,
                                      const uint8_t key[AGENT_KEY_SIZE],
                                      const struct agentstream_events *ev, void *arg,
                                      struct error *err)
{
    struct agentstream *s = calloc (1, sizeof (*s));

    if (!s)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    s->loop = loop;
    s->ev = ev;
    s->arg = arg;
    s->check_peer = where->unix_socket != NULL;
    s->peer = where->peer;
    strbuf_init (&s->request, REQUEST_MAX);
    strbuf_init (&s->body, ANSWER_MAX);
    http_parser_init (&s->parser, false, on_body, s);
    s->parser.upgrade = true;
    uv_timer_init (loop, &s->timer);
    s->timer.data = s;
    if (start (s, where, key, err) < 0) {
        agentstream_close (s);
        return NULL;
    }
    uv_timer_start (&s->timer, on_late, OPEN_MS, 0);
    return s;
}
