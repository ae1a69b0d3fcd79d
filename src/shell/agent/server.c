/* server.c - accepts connections to this rank: children in the tree of agents, and
 * requests */
#include "shell/agent/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/sha256.h"
#include "shell/io/stream.h"

#define TICK 1.0
#define RECEIVE (256 * 1024)
#define PUMP_MAX (1u << 20) /* bytes for one stream in one round */
#define REFUSALS_SECONDS 60.0
#define REFUSALS_LOGGED 16 /* in that time; further ones are counted only */

enum conn_state {
    CONN_FIRST,
    CONN_HELLO,
    CONN_PROOF,
    CONN_JOINING,
    CONN_MEMBER,
    CONN_HTTP,
    CONN_REPLY,
    CONN_STREAM,
    CONN_UPGRADED, /* until the connection is handed over */
    CONN_CLOSED,
};

struct conn {
    struct loop_io io;
    struct server *server;
    enum conn_state state;
    double since; /* time when accepted, or (member) of the last message */
    uint32_t rank;
    uint8_t nonces[2][WIRE_NONCE]; /* the member's nonce, ours */
    char *rest;                    /* bytes received and not parsed yet */
    size_t restlen;
    struct outbuf out;
    struct stream stream;
    struct conn *prev, *next;
};

struct child {
    struct conn *conn; /* NULL: not connected */
    bool met;          /* has joined at least once */
};

struct server {
    struct loop *loop;
    struct server_config config;
    struct loop_io listener; /* fd -1: closed */
    struct loop_timer tick;
    double next_beat;
    const struct server_events *events;
    void *ctx;
    struct child *children; /* [nchildren] from first_child on */
    uint32_t first_child;
    uint32_t nchildren;
    uint32_t nmembers; /* connected children */
    struct conn *streams[SERVER_STREAMS_MAX];
    uint32_t nstreams;
    struct conn *oldest, *newest; /* list of all connections */
    uint32_t nloose;
    uint32_t refusals; /* since refusals_since */
    double refusals_since;
    char buf[RECEIVE];
};

static bool is_loose (const struct conn *conn)
{
    return conn->state != CONN_MEMBER && conn->state != CONN_STREAM;
}

static struct child *child_of (const struct conn *conn)
{
    return &conn->server->children[conn->rank - conn->server->first_child];
}

/* Logs refused connections. Anyone who reaches the port can connect at will, so the
 * number of lines is limited. */
PRINTF_LIKE (2, 3) static void log_conn (struct conn *conn, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    if (conn->server->refusals++ >= REFUSALS_LOGGED)
        return;
    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    conn->server->events->log (conn->server->ctx, text);
}

/* Once a second: logs the number of refusals that were not logged. */
static void count_refusals (struct server *server, double now)
{
    char text[80];
    if (now - server->refusals_since < REFUSALS_SECONDS)
        return;
    if (server->refusals > REFUSALS_LOGGED) {
        snprintf (text, sizeof (text), "refused %u more connections within %.0f s",
                  server->refusals - REFUSALS_LOGGED, now - server->refusals_since);
        server->events->log (server->ctx, text);
    }
    server->refusals = 0;
    server->refusals_since = now;
}

static void leave_streams (struct conn *conn)
{
    struct server *server = conn->server;
    for (uint32_t i = 0; i < server->nstreams; i++)
        if (server->streams[i] == conn)
            server->streams[i] = server->streams[--server->nstreams];
}

static void leave_lists (struct conn *conn)
{
    struct server *server = conn->server;
    *(conn->prev ? &conn->prev->next : &server->oldest) = conn->next;
    *(conn->next ? &conn->next->prev : &server->newest) = conn->prev;
    if (is_loose (conn))
        server->nloose--;
    if (conn->state == CONN_MEMBER) {
        child_of (conn)->conn = NULL;
        server->nmembers--;
    }
    leave_streams (conn);
}

/* why is for the loss of a member; may be NULL. */
static void conn_close (struct conn *conn, const char *why)
{
    struct server *server = conn->server;
    bool was_member = conn->state == CONN_MEMBER;
    if (conn->state == CONN_CLOSED)
        return;
    leave_lists (conn);
    loop_watch (server->loop, &conn->io, 0);
    close (conn->io.fd);
    free (conn->rest);
    outbuf_release (&conn->out);
    conn->state = CONN_CLOSED;
    loop_free_later (server->loop, conn);
    if (was_member)
        server->events->closed (server->ctx, conn->rank, why ? why : "connection closed");
}

/* Sends waiting bytes, and watches for room in the socket if some are left. */
static void conn_flush (struct conn *conn)
{
    int rc = outbuf_flush (&conn->out, conn->io.fd);
    if (rc < 0) {
        conn_close (conn, strerror (-rc));
        return;
    }
    if (rc == 1 && conn->state == CONN_REPLY) /* the peer reads all, then closes */
        shutdown (conn->io.fd, SHUT_WR);
    loop_watch (conn->server->loop, &conn->io, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

/* The first bytes: a member's magic, or else HTTP. */
static ssize_t step_first (struct conn *conn, const char *data, size_t len)
{
    if (memcmp (data, WIRE_MAGIC, MIN (len, 4u)) != 0)
        conn->state = CONN_HTTP;
    else if (len >= 4)
        conn->state = CONN_HELLO;
    else
        return 0;
    return len > 0 ? -EAGAIN : 0; /* parse the same bytes in the new state */
}

static ssize_t step_hello (struct conn *conn, const char *data, size_t len)
{
    uint8_t challenge[WIRE_CHALLENGE_SIZE];
    struct server *server = conn->server;
    if (len < WIRE_HELLO_SIZE)
        return 0;
    conn->rank = wire_get_u32 (data + 4);
    if (conn->rank < server->first_child
        || conn->rank - server->first_child >= server->nchildren) {
        log_conn (conn, "refused a connection that claims to be rank %u", conn->rank);
        return -EPROTO;
    }
    memcpy (conn->nonces[0], data + 8, WIRE_NONCE);
    if (secret_random (conn->nonces[1], WIRE_NONCE) < 0)
        return -EPROTO;
    memcpy (challenge, conn->nonces[1], WIRE_NONCE);
    wire_proof (server->config.key, WIRE_ROLE_ROOT, server->config.job_id, conn->rank,
                conn->nonces[0], conn->nonces[1], challenge + WIRE_NONCE);
    outbuf_add (&conn->out, challenge, sizeof (challenge));
    conn->state = CONN_PROOF;
    return WIRE_HELLO_SIZE;
}

static ssize_t step_proof (struct conn *conn, const char *data, size_t len)
{
    uint8_t mac[WIRE_PROOF];
    struct server *server = conn->server;
    if (len < WIRE_PROOF)
        return 0;
    wire_proof (server->config.key, WIRE_ROLE_MEMBER, server->config.job_id, conn->rank,
                conn->nonces[0], conn->nonces[1], mac);
    if (!secret_equal (mac, data, sizeof (mac))) {
        log_conn (conn, "refused rank %u: it does not have the job's key", conn->rank);
        return -EPROTO;
    }
    conn->state = CONN_JOINING;
    return WIRE_PROOF;
}

static ssize_t step_join (struct conn *conn, const char *data, size_t len)
{
    struct server *server = conn->server;
    struct child *child = child_of (conn);
    struct frame msg;
    const char *why = "it does not say its name";
    ssize_t n = wire_parse (data, len, &msg);
    if (n == 0)
        return 0;
    if (n > 0 && child->met)
        why = "it has joined before";
    else if (n > 0 && msg.type == WIRE_JOIN && msg.rank == conn->rank
             && server->events->join (server->ctx, conn->rank, &msg, &why)) {
        server->nloose--;
        conn->state = CONN_MEMBER;
        conn->since = loop_now ();
        *child = (struct child){ .conn = conn, .met = true };
        server->nmembers++;
        return server->events->message (server->ctx, conn->rank, &msg) ? n : -EPROTO;
    }
    log_conn (conn, "refused rank %u: %s", conn->rank, why);
    return -EPROTO;
}

static ssize_t step_member (struct conn *conn, const char *data, size_t len)
{
    struct server *server = conn->server;
    struct frame msg;
    ssize_t n = wire_parse (data, len, &msg);
    if (n <= 0 || msg.type == WIRE_BEAT)
        return n;
    if (tree_holds (server->config.tree, conn->rank, msg.rank)
        && server->events->message (server->ctx, msg.rank, &msg))
        return n;
    log_conn (conn, "nonsense through rank %u: type %u of rank %u", conn->rank, msg.type,
              msg.rank);
    return -EPROTO;
}

static ssize_t step_http (struct conn *conn, const char *data, size_t len)
{
    struct http_request req;
    ssize_t n = http_parse (data, len, &req);
    if (n > 0)
        conn->server->events->request (conn->server->ctx, conn, &req);
    else if (n < 0)
        server_reply (conn, 400, "text/plain", "not a request that this agent accepts\n");
    return n < 0 ? (ssize_t)len : n;
}

/* Handle input, each in one state; other states ignore it. Return the bytes used (> 0),
 * 0: more bytes needed, -EAGAIN: call again; else the connection is broken. */
static ssize_t (*const steps[]) (struct conn *conn, const char *data, size_t len) = {
    [CONN_FIRST] = step_first,  [CONN_HELLO] = step_hello,   [CONN_PROOF] = step_proof,
    [CONN_JOINING] = step_join, [CONN_MEMBER] = step_member, [CONN_HTTP] = step_http,
    [CONN_CLOSED] = NULL,
};

static void keep_rest (struct conn *conn, const char *data, size_t len)
{
    free (conn->rest);
    conn->rest = len > 0 ? malloc (len) : NULL;
    conn->restlen = len;
    if (len > 0 && !conn->rest)
        abort ();
    if (len > 0)
        memcpy (conn->rest, data, len);
}

/* Passes the descriptor, the output and the input of the connection to
 * events->upgraded. */
static void conn_hand_on (struct conn *conn, const char *data, size_t len)
{
    struct server *server = conn->server;
    struct outbuf out = conn->out;
    leave_lists (conn);
    loop_watch (server->loop, &conn->io, 0);
    free (conn->rest);
    conn->state = CONN_CLOSED;
    loop_free_later (server->loop, conn);
    server->events->upgraded (server->ctx, conn->io.fd, &out, data, len);
}

static void conn_receive (struct conn *conn)
{
    struct server *server = conn->server;
    size_t len = conn->restlen, pos = 0;
    if (len > 0)
        memcpy (server->buf, conn->rest, len);
    ssize_t n = recv (conn->io.fd, server->buf + len, sizeof (server->buf) - len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        conn_close (conn, n < 0 ? strerror (errno) : NULL);
        return;
    }
    if (conn->state == CONN_MEMBER)
        conn->since = loop_now ();
    len += (size_t)n;
    while (pos < len && conn->state != CONN_CLOSED && conn->state != CONN_UPGRADED) {
        ssize_t used = (ssize_t)(len - pos);
        if (steps[conn->state])
            used = steps[conn->state](conn, server->buf + pos, len - pos);
        if (used == 0)
            break;
        if (used < 0 && used != -EAGAIN) {
            conn_close (conn, "it talks nonsense");
            return;
        }
        pos += used > 0 ? (size_t)used : 0;
    }
    if (conn->state == CONN_UPGRADED)
        conn_hand_on (conn, server->buf + pos, len - pos);
    if (conn->state == CONN_CLOSED)
        return;
    keep_rest (conn, server->buf + pos, len - pos);
    conn_flush (conn);
}

/* Sends spool data to a stream as far as its socket takes them. */
static void conn_pump (struct conn *conn)
{
    struct server *server = conn->server;
    for (size_t sent = 0; sent < PUMP_MAX;) {
        uint32_t wanted = EPOLLIN;
        int rc = 1;
        if (conn->out.len == 0) {
            rc = stream_fill (&conn->stream, server->config.spool, &conn->out);
            if (rc > 0 && conn->out.len == 0)
                break; /* at the end, or before much skipped output: serve others first */
        }
        if (rc > 0) {
            sent += conn->out.len + 1;
            rc = outbuf_flush (&conn->out, conn->io.fd);
            wanted |= EPOLLOUT;
        }
        if (rc < 0)
            conn_close (conn, NULL); /* no last chunk: the reader detects it */
        else if (rc == 0)
            loop_watch (server->loop, &conn->io, wanted);
        if (rc <= 0)
            return;
        if (conn->stream.ended)
            break;
    }
    loop_watch (server->loop, &conn->io, EPOLLIN | EPOLLOUT);
    if (!conn->stream.ended)
        return;
    leave_streams (conn);
    conn->state = CONN_REPLY;
    conn->since = loop_now ();
    server->nloose++;
    conn_flush (conn);
}

static void on_conn (struct loop_io *io, uint32_t events)
{
    struct conn *conn = CONTAINER_OF (io, struct conn, io);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        conn_receive (conn);
    if (!(events & EPOLLOUT) || conn->state == CONN_CLOSED)
        return;
    if (conn->state == CONN_STREAM)
        conn_pump (conn);
    else
        conn_flush (conn);
}

static void drop_oldest_loose (struct server *server)
{
    struct conn *conn = server->oldest;
    while (conn && !is_loose (conn))
        conn = conn->next;
    if (conn)
        conn_close (conn, NULL);
}

static void conn_create (struct server *server, int fd)
{
    struct conn *conn = calloc (1, sizeof (*conn));
    if (!conn)
        abort ();
    /* Detects a peer whose machine is gone; fails on unix sockets. */
    int on = 1, idle = 30;
    setsockopt (fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof (on));
    setsockopt (fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof (idle));
    setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
    conn->io = (struct loop_io){ .fd = fd, .ready = on_conn };
    conn->server = server;
    conn->since = loop_now ();
    conn->prev = server->newest;
    *(server->newest ? &server->newest->next : &server->oldest) = conn;
    server->newest = conn;
    server->nloose++;
    loop_watch (server->loop, &conn->io, EPOLLIN);
}

static void on_listener (struct loop_io *io, uint32_t events)
{
    struct server *server = CONTAINER_OF (io, struct server, listener);
    (void)events;
    for (int i = 0; i < 64; i++) {
        if (server->nloose >= SERVER_LOOSE_MAX)
            drop_oldest_loose (server);
        int fd = accept4 (io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && server->nloose > 0) {
            drop_oldest_loose (server);
            continue;
        }
        if (fd < 0) {
            if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
                loop_watch (server->loop, io, 0); /* until the next tick */
            return;
        }
        conn_create (server, fd);
    }
}

/* Once a second: closes silent connections and sends heartbeats. */
static void on_tick (struct loop_timer *timer)
{
    struct server *server = CONTAINER_OF (timer, struct server, tick);
    double now = loop_now ();
    /* If this process itself was delayed (a file server, SIGSTOP), peers must not be
     * blamed for messages that it has not read yet. */
    double late = now - timer->when > TICK ? now - timer->when : 0;
    for (struct conn *conn = server->oldest, *next; conn; conn = next) {
        next = conn->next;
        if (late > 0)
            conn->since += late;
        double limit =
            conn->state == CONN_MEMBER ? WIRE_MEMBER_SILENT : SERVER_LOOSE_SECONDS;
        if (conn->state != CONN_STREAM && now - conn->since > limit)
            conn_close (conn, "no sign of life for 20 s");
    }
    if (now >= server->next_beat) {
        server->next_beat = now + WIRE_BEAT_EVERY;
        server_broadcast (server, &(struct frame){ .type = WIRE_BEAT });
    }
    if (server->listener.fd >= 0)
        loop_watch (server->loop, &server->listener, EPOLLIN);
    count_refusals (server, now);
    loop_timer_set (server->loop, timer, now + TICK);
}

struct server *server_create (struct loop *loop, const struct server_config *config,
                              const struct server_events *events, void *ctx)
{
    struct server *server = calloc (1, sizeof (*server));
    if (!server)
        return NULL;
    server->loop = loop;
    server->config = *config;
    server->listener = (struct loop_io){ .fd = config->fd, .ready = on_listener };
    server->tick.fire = on_tick;
    server->refusals_since = loop_now ();
    server->events = events;
    server->ctx = ctx;
    server->first_child = tree_first_child (config->tree, config->rank);
    server->nchildren = tree_nchildren (config->tree, config->rank);
    server->children = calloc (server->nchildren + 1, sizeof (*server->children));
    if (!server->children) {
        free (server);
        return NULL;
    }
    loop_watch (loop, &server->listener, EPOLLIN);
    loop_timer_set (loop, &server->tick, loop_now () + TICK);
    return server;
}

static void close_listener (struct server *server)
{
    if (server->listener.fd < 0)
        return;
    loop_watch (server->loop, &server->listener, 0);
    close (server->listener.fd);
    server->listener.fd = -1;
}

void server_shut (struct server *server)
{
    close_listener (server);
    while (server->nloose > 0)
        drop_oldest_loose (server);
    server->config.key = NULL;
}

static void no_closed (void *ctx, uint32_t rank, const char *why)
{
    (void)ctx, (void)rank, (void)why;
}

void server_destroy (struct server *server)
{
    if (!server)
        return;
    static const struct server_events quiet = { .closed = no_closed };
    server->events = &quiet; /* closing calls no other event */
    while (server->oldest)
        conn_close (server->oldest, NULL);
    close_listener (server);
    loop_timer_clear (server->loop, &server->tick);
    free (server->children);
    free (server);
}

static void send_to_child (struct server *server, uint32_t i, uint32_t rank,
                           const struct frame *msg)
{
    struct conn *conn = server->children[i].conn;
    struct frame addressed = *msg;
    if (!conn)
        return;
    addressed.rank = rank;
    wire_put (&conn->out, &addressed);
    conn_flush (conn);
}

void server_send (struct server *server, uint32_t rank, const struct frame *msg)
{
    uint32_t via = tree_route (server->config.tree, server->config.rank, rank);
    if (via != TREE_NONE)
        send_to_child (server, via - server->first_child, rank, msg);
}

void server_broadcast (struct server *server, const struct frame *msg)
{
    for (uint32_t i = 0; i < server->nchildren; i++)
        send_to_child (server, i, WIRE_ALL, msg);
}

void server_forget (struct server *server, uint32_t rank)
{
    if (rank < server->first_child || rank - server->first_child >= server->nchildren)
        return;
    struct child *child = &server->children[rank - server->first_child];
    if (!child->conn)
        child->met = false;
}

uint32_t server_members (const struct server *server)
{
    return server->nmembers;
}

uint32_t server_streams (const struct server *server)
{
    return server->nstreams;
}

void server_reply (struct conn *conn, int status, const char *type, const char *body)
{
    http_reply (&conn->out, status, type, body);
    conn->state = CONN_REPLY;
}

int server_stream (struct conn *conn, const struct http_request *req, uint64_t offset,
                   bool output)
{
    struct server *server = conn->server;
    if (server->nstreams == SERVER_STREAMS_MAX)
        return -EBUSY;
    conn->stream =
        (struct stream){ .pos = offset, .output = output, .chunked = req->minor > 0 };
    http_reply_stream (&conn->out, conn->stream.chunked);
    server->streams[server->nstreams++] = conn;
    server->nloose--;
    conn->state = CONN_STREAM;
    return 0;
}

void server_upgrade (struct conn *conn)
{
    http_reply_upgrade (&conn->out);
    conn->state = CONN_UPGRADED;
}

void server_pump (struct server *server)
{
    for (uint32_t i = server->nstreams; i > 0; i--)
        if (i <= server->nstreams && server->streams[i - 1]->out.len == 0)
            conn_pump (server->streams[i - 1]);
}
