/* agentlink.c - see agentlink.h
 *
 *   connect --bytes--> streaming --FINISH--> finished
 *    ^    \                |  \
 *    |     trouble         |   refused by on_bytes --> stopped --resume--> connect
 *    +--- back-off <-------+
 *
 * One timer serves the next try of the stream and of the commands. Callbacks may close
 * the link: while `busy` is set it is only marked, and link_leave() frees it.
 */
#include "exec/agentlink.h"

#include <utlist.h>

#include "common/sha256.h"
#include "exec/agentstream.h"

#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS 2000
#define COMMAND_TRIES_MS 30000
#define COMMAND_TIMEOUT 10.0
/* seconds of silence before a new request, in case the connection died silently */
#define STREAM_IDLE 300.0
#define TARGET_MAX 4096
#define BUFFER_MAX ((size_t)1 << 20)
#define ANSWER_MAX ((size_t)8 << 20)
#define HEADERS_MAX 8

struct agentlink_command {
    struct agentlink *l;
    struct httpc_request *req;
    char target[TARGET_MAX];
    uint64_t due; /* uv_now() of the next try, 0: under way */
    uint64_t deadline;
    unsigned tries;
    void (*done) (int rc, void *arg);
    exec_steps_fn *answered; /* of a GET, instead of done */
    void *arg;
    struct agentlink_command *prev, *next;
};

enum stream_state { STREAM_WAIT, STREAM_OPEN, STREAM_STOPPED, STREAM_FINISHED };

struct agentlink {
    struct httpc *h;
    uv_loop_t *loop;
    uv_timer_t timer;
    char *url_prefix, *unix_socket;
    const char *const *headers;
    const struct httpc_tls *tls;
    uid_t peer;
    uint8_t key[AGENT_KEY_SIZE];
    const struct agentlink_events *ev;
    void *arg;
    enum stream_state state;
    struct httpc_request *req;
    uint64_t due; /* of the stream's next try */
    uint64_t start;
    uint64_t offset; /* of the next byte to pass on */
    /* frames passed on (without output the offset is not known: skip so many) */
    uint64_t seen;
    uint64_t skip;
    unsigned failures;
    struct strbuf buf;
    struct agentlink_command *commands;
    struct agentlink_command *limit; /* in commands, or NULL */
    unsigned busy;
    bool closed;
};

/* -- life -- */

static void on_timer_closed (uv_handle_t *handle)
{
    struct agentlink *l = handle->data;

    free (l->url_prefix);
    free (l->unix_socket);
    strbuf_release (&l->buf);
    secret_wipe (l->key, sizeof (l->key));
    free (l);
}

void agentlink_forget (struct agentlink_command *c)
{
    if (!c)
        return;
    httpc_cancel (c->req);
    if (c->l->limit == c)
        c->l->limit = NULL;
    DL_DELETE (c->l->commands, c);
    free (c);
}

static void command_end (struct agentlink_command *c, int rc);

static void link_free (struct agentlink *l)
{
    struct agentlink_command *c, *tmp;

    httpc_cancel (l->req);
    DL_FOREACH_SAFE (l->commands, c, tmp)
    {
        command_end (c, -ESRCH);
    }
    uv_close ((uv_handle_t *)&l->timer, on_timer_closed);
}

static void link_enter (struct agentlink *l)
{
    l->busy++;
}

static void link_leave (struct agentlink *l)
{
    if (--l->busy == 0 && l->closed)
        link_free (l);
}

void agentlink_close (struct agentlink *l)
{
    if (!l || l->closed)
        return;
    l->closed = true;
    if (l->busy == 0)
        link_free (l);
}

/* -- requests -- */

static struct httpc_request *send_signed (struct agentlink *l, const char *method,
                                          const char *target, struct httpc_options *opt,
                                          struct error *err)
{
    char auth[AGENT_AUTH_MAX];
    char line[AGENT_AUTH_MAX + sizeof (AGENT_AUTH_HEADER) + 4];
    const char *headers[HEADERS_MAX + 2] = { line };
    autostrbuf struct strbuf url = STRBUF_INIT (8192);
    int rc = agent_auth_make (l->key, method, target, auth);

    if (rc < 0)
        return error_null (error_errno (err, -rc, "signing a request"));
    snprintf (line, sizeof (line), "%s: %s", AGENT_AUTH_HEADER, auth);
    for (size_t i = 0; l->headers && l->headers[i] && i < HEADERS_MAX; i++)
        headers[i + 1] = l->headers[i];
    if (strbuf_addf (&url, "%s%s", l->url_prefix, target) < 0)
        return error_null (error_errno (err, -url.err, "%s", target));
    opt->method = method;
    opt->url = url.buf;
    opt->unix_socket = l->unix_socket;
    opt->headers = headers;
    opt->tls = l->tls;
    return httpc_send (l->h, opt, err);
}

static void on_tick (uv_timer_t *timer);

static void schedule (struct agentlink *l)
{
    uint64_t now = uv_now (l->loop), first = l->state == STREAM_WAIT ? l->due : 0;
    struct agentlink_command *c;

    if (l->closed)
        return;
    DL_FOREACH (l->commands, c)
        if (c->due && (!first || c->due < first))
            first = c->due;
    if (first)
        uv_timer_start (&l->timer, on_tick, first > now ? first - now : 0, 0);
    else
        uv_timer_stop (&l->timer);
}

static uint64_t backoff (unsigned tries)
{
    uint64_t ms = tries >= 7 ? BACKOFF_MAX_MS
                             : (uint64_t)BACKOFF_FIRST_MS << (tries ? tries - 1 : 0);

    return MIN (ms, BACKOFF_MAX_MS);
}

/* Describes a failure: the first line of the answer, or the API server's message. */
static void describe (const struct httpc_response *resp, struct error *err)
{
    autojson json_t *body = NULL;
    const char *message;

    if (resp->status == 0) {
        *err = resp->err;
        return;
    }
    if (resp->body[0] == '{')
        body = json_parse (resp->body, resp->len, "answer", NULL);
    message = json_string_value (json_object_get (body, "message"));
    if (message)
        error_set (err, resp->status == 404 ? ENOENT : EIO, "%s", message);
    else
        error_set (err, resp->status == 404 ? ENOENT : EIO, "HTTP %d: %.*s", resp->status,
                   (int)strcspn (resp->body, "\r\n"), resp->body);
}

/* -- the stream -- */

static void stream_trouble (struct agentlink *l, const struct error *err)
{
    l->state = STREAM_WAIT;
    l->failures++;
    l->due = uv_now (l->loop) + backoff (l->failures);
    if (l->ev->on_trouble)
        l->ev->on_trouble (l->failures, err, l->arg);
    schedule (l);
}

static void hand_on (struct agentlink *l, const struct frame *f)
{
    struct frame_finish fin;

    if (l->skip > 0) {
        l->skip--;
        return;
    }
    l->seen++;
    if (l->ev->on_frame)
        l->ev->on_frame (f, l->arg);
    if (l->closed || f->type != FRAME_FINISH)
        return;
    l->state = STREAM_FINISHED;
    if (frame_finish_decode (f->data, f->len, &fin) < 0)
        fin = (struct frame_finish){ .status = 1 << 8,
                                     .reason = "lost",
                                     .text = "the agent's last word cannot be read" };
    if (l->ev->on_finish)
        l->ev->on_finish (&fin, l->arg);
}

/* Returns the bytes of whole frames at the front of the buffer; -EBADMSG: the rest is no
 * frame. */
static ssize_t whole_frames (const struct strbuf *buf)
{
    size_t have = 0;
    struct frame f;

    for (;;) {
        ssize_t n = frame_parse (buf->buf + have, buf->len - have, &f);

        if (n < 0 && have == 0)
            return n;
        if (n <= 0)
            return (ssize_t)have;
        have += (size_t)n;
        if (f.type == FRAME_FINISH)
            return (ssize_t)have;
    }
}

/* Returns 0, or non-zero to end the request. */
static int consume (struct agentlink *l)
{
    ssize_t whole = whole_frames (&l->buf);
    struct frame f;

    if (whole <= 0)
        return (int)whole;
    if (l->ev->on_bytes
        && l->ev->on_bytes (l->offset, l->buf.buf, (size_t)whole, l->arg) != 0) {
        l->state = STREAM_STOPPED;
        return -ECANCELED;
    }
    l->failures = 0;
    l->offset += (uint64_t)whole;
    for (size_t at = 0; at < (size_t)whole && !l->closed;) {
        ssize_t n = frame_parse (l->buf.buf + at, (size_t)whole - at, &f);

        hand_on (l, &f);
        at += (size_t)n;
    }
    strbuf_consume (&l->buf, (size_t)whole);
    return l->closed || l->state == STREAM_FINISHED ? -ECANCELED : 0;
}

static int on_stream_data (const char *data, size_t len, void *arg)
{
    struct agentlink *l = arg;
    int rc = 0;

    link_enter (l);
    while (rc == 0 && len > 0) {
        size_t piece = MIN (len, BUFFER_MAX / 2);

        rc = strbuf_add (&l->buf, data, piece);
        data += piece;
        len -= piece;
        if (rc == 0 && !l->closed)
            rc = consume (l);
    }
    link_leave (l);
    return rc; /* non-zero also when l was closed, which cancels r */
}

static void on_stream_done (const struct httpc_response *resp, void *arg)
{
    struct agentlink *l = arg;
    struct error err = { 0 };

    l->req = NULL;
    if (l->closed || l->state == STREAM_STOPPED || l->state == STREAM_FINISHED)
        return;
    link_enter (l);
    if (resp->status == 0 && resp->err.code == ETIMEDOUT && l->failures == 0) {
        l->state = STREAM_WAIT; /* silence is no trouble: send again at once */
        l->due = uv_now (l->loop) + 1;
        schedule (l);
    } else {
        if (resp->status >= 200 && resp->status < 300)
            error_set (&err, ECONNRESET, "the agent ended the stream");
        else
            describe (resp, &err);
        stream_trouble (l, &err);
    }
    link_leave (l);
}

static void stream_open (struct agentlink *l)
{
    struct httpc_options opt = { .idle_timeout = STREAM_IDLE,
                                 .max_body = 65536,
                                 .on_data = on_stream_data,
                                 .on_done = on_stream_done,
                                 .arg = l };
    char target[TARGET_MAX];
    struct error err = { 0 };

    strbuf_reset (&l->buf);
    if (!l->ev->on_bytes) {
        l->offset = l->start;
        l->skip = l->seen;
    }
    snprintf (target, sizeof (target), "/v1/stream?offset=%ju&output=%d",
              (uintmax_t)l->offset, l->ev->on_bytes ? 1 : 0);
    l->state = STREAM_OPEN;
    l->req = send_signed (l, "GET", target, &opt, &err);
    if (!l->req)
        stream_trouble (l, &err);
}

void agentlink_resume (struct agentlink *l)
{
    if (l->state != STREAM_STOPPED)
        return;
    l->state = STREAM_WAIT;
    l->due = uv_now (l->loop) + 1;
    schedule (l);
}

/* -- commands -- */

static void command_answer (struct agentlink_command *c, int rc, const char *text,
                            size_t len)
{
    void (*done) (int, void *) = c->done;
    exec_steps_fn *answered = c->answered;
    void *arg = c->arg;

    agentlink_forget (c);
    if (answered)
        answered (rc, text, len, arg);
    else if (done)
        done (rc, arg);
}

static void command_end (struct agentlink_command *c, int rc)
{
    command_answer (c, rc, NULL, 0);
}

static bool is_trouble (int status)
{
    return status == 0 || status == 429 || status >= 500;
}

static void command_again (struct agentlink_command *c, int rc)
{
    uint64_t now = uv_now (c->l->loop);

    if (now >= c->deadline) {
        command_end (c, rc);
        return;
    }
    c->tries++;
    c->due = now + backoff (c->tries);
    schedule (c->l);
}

static void on_command_done (const struct httpc_response *resp, void *arg)
{
    struct agentlink_command *c = arg;
    struct agentlink *l = c->l;

    c->req = NULL;
    link_enter (l);
    if (is_trouble (resp->status))
        command_again (c, resp->status == 0 && resp->err.code ? -resp->err.code : -EIO);
    else if (resp->status >= 200 && resp->status < 300)
        command_answer (c, 0, resp->body, resp->len);
    else if (resp->status == 404)
        command_end (c, -ENOENT);
    else
        command_end (c, resp->status == 401 || resp->status == 403 ? -EACCES : -EINVAL);
    link_leave (l);
}

static void command_send (struct agentlink_command *c)
{
    struct httpc_options opt = { .timeout = COMMAND_TIMEOUT,
                                 .max_body = c->answered ? ANSWER_MAX : 65536,
                                 .on_done = on_command_done,
                                 .arg = c };
    struct error err = { 0 };

    c->due = 0;
    c->req = send_signed (c->l, c->answered ? "GET" : "POST", c->target, &opt, &err);
    if (!c->req)
        command_again (c, err.code ? -err.code : -EIO);
}

/* The command is sent on the loop's next turn, so no callback comes from within this
 * call. */
static struct agentlink_command *command_add (struct agentlink *l, const char *target,
                                              void (*done) (int, void *), void *arg)
{
    struct agentlink_command *c = calloc (1, sizeof (*c));

    if (!c || l->closed) {
        free (c);
        if (done)
            done (-ENOMEM, arg);
        return NULL;
    }
    c->l = l;
    c->done = done;
    c->arg = arg;
    snprintf (c->target, sizeof (c->target), "%s", target);
    c->due = uv_now (l->loop);
    if (c->due == 0)
        c->due = 1;
    c->deadline = c->due + COMMAND_TRIES_MS;
    DL_APPEND (l->commands, c);
    schedule (l);
    return c;
}

static void on_tick (uv_timer_t *timer)
{
    struct agentlink *l = timer->data;
    uint64_t now = uv_now (l->loop);
    struct agentlink_command *c;

    link_enter (l);
    if (l->state == STREAM_WAIT && l->due <= now)
        stream_open (l);
    while (!l->closed) { /* the end of a command changes the list: start again */
        DL_FOREACH (l->commands, c)
            if (c->due && c->due <= now)
                break;
        if (!c)
            break;
        command_send (c);
    }
    schedule (l);
    link_leave (l);
}

void agentlink_signal (struct agentlink *l, int signum, enum exec_whom whom, int64_t step,
                       void (*done) (int rc, void *arg), void *arg)
{
    static const char *const words[] = { [EXEC_WHOM_TASKS] = "tasks",
                                         [EXEC_WHOM_STEPS] = "steps",
                                         [EXEC_WHOM_BATCH] = "batch",
                                         [EXEC_WHOM_FULL] = "full" };
    char target[TARGET_MAX];

    if (step == EXEC_NO_STEP)
        snprintf (target, sizeof (target), "/v1/signal?signal=%d&whom=%s", signum,
                  words[whom]);
    else if (signum > 0)
        snprintf (target, sizeof (target), "/v1/signal?signal=%d&step=%jd", signum,
                  (intmax_t)step);
    else
        snprintf (target, sizeof (target), "/v1/cancel?step=%jd", (intmax_t)step);
    command_add (l, target, done, arg);
}

void agentlink_steps (struct agentlink *l, bool fresh, exec_steps_fn *done, void *arg)
{
    struct agentlink_command *c =
        command_add (l, fresh ? "/v1/steps?fresh=1" : "/v1/steps", NULL, arg);

    if (c)
        c->answered = done;
    else
        done (-ENOMEM, NULL, 0, arg);
}

void agentlink_limit (struct agentlink *l, double seconds)
{
    char target[TARGET_MAX];

    if (l->closed)
        return;
    agentlink_forget (l->limit);
    snprintf (target, sizeof (target), "/v1/limit?seconds=%.3f", seconds);
    l->limit = agentlink_post (l, target, NULL, NULL);
}

void agentlink_terminate (struct agentlink *l, const char *reason, double grace)
{
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);

    strbuf_adds (&target, "/v1/terminate?reason=");
    strbuf_add_urlencoded (&target, reason);
    strbuf_addf (&target, "&grace=%.3f", grace);
    if (target.err == 0)
        command_add (l, target.buf, NULL, NULL);
}

struct agentlink_command *agentlink_post (struct agentlink *l, const char *target,
                                          void (*done) (int rc, void *arg), void *arg)
{
    struct agentlink_command *c = command_add (l, target, done, arg);

    if (c)
        c->deadline = UINT64_MAX;
    return c;
}

void agentlink_release (struct agentlink *l, uint64_t offset)
{
    char target[TARGET_MAX];

    snprintf (target, sizeof (target), "/v1/release?offset=%ju", (uintmax_t)offset);
    command_add (l, target, NULL, NULL);
}

struct agentstream *agentlink_connect (const struct agentlink *l,
                                       const struct agentstream_events *ev, void *arg,
                                       struct error *err)
{
    const struct agentlink_where where = { .unix_socket = l->unix_socket,
                                           .peer = l->peer,
                                           .url_prefix = l->url_prefix,
                                           .headers = l->headers,
                                           .tls = l->tls };

    return agentstream_open (l->loop, &where, l->key, ev, arg, err);
}

struct agentlink *agentlink_open (struct httpc *h, uv_loop_t *loop,
                                  const struct agentlink_where *where,
                                  const uint8_t key[AGENT_KEY_SIZE], uint64_t offset,
                                  const struct agentlink_events *ev, void *arg,
                                  struct error *err)
{
    struct agentlink *l = calloc (1, sizeof (*l));

    if (!l)
        goto nomem;
    l->url_prefix = strdup (where->url_prefix);
    l->unix_socket = where->unix_socket ? strdup (where->unix_socket) : NULL;
    strbuf_init (&l->buf, BUFFER_MAX);
    if (!l->url_prefix || (where->unix_socket && !l->unix_socket))
        goto nomem;
    l->h = h;
    l->loop = loop;
    l->peer = where->peer;
    l->headers = where->headers;
    l->tls = where->tls;
    memcpy (l->key, key, AGENT_KEY_SIZE);
    l->ev = ev;
    l->arg = arg;
    l->start = l->offset = offset;
    uv_timer_init (loop, &l->timer);
    l->timer.data = l;
    l->due = uv_now (loop) + 1;
    schedule (l);
    return l;
nomem:
    if (l) {
        free (l->url_prefix);
        free (l->unix_socket);
        free (l);
    }
    return error_null (error_set (err, ENOMEM, "out of memory"));
}
