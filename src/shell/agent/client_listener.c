/* client_listener.c - the socket on which fluxq-run in the job reaches the agent of its
 * rank */
#include "shell/agent/client_listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "shell/io/agent_file.h"
#include "shell/io/resumable.h"
#include "shell/io/sock.h"

#define RECEIVE (FRAME_HEAD + FRAME_DATA_MAX)

struct client {
    struct loop_io io;
    struct client_listener *listener;
    uint32_t number;
    bool said_something; /* rank 0 knows the client */
    bool adopted;
    bool leaves; /* it does not return when its connection ends */
    uint8_t token[SESSION_TOKEN];
    uint32_t grace; /* seconds that its session outlives a connection */
    struct loop_timer gone;
    struct resumable link;
    char *buf; /* [RECEIVE] */
    size_t len, used; /* used: bytes of the messages before the current one */
    struct client *next;
};

struct client_listener {
    struct loop *loop;
    struct loop_io socket;
    uint32_t rank;
    char *address; /* "unix:/..." */
    client_listener_up_fn up;
    void *ctx;
    struct client *clients;
    uint32_t nclients, nadopted, next_number;
};

static void up (struct client *c, const struct frame *msg)
{
    struct frame own = *msg;
    own.rank = c->listener->rank;
    own.task = c->number;
    c->said_something = true;
    c->listener->up (c->listener->ctx, &own);
}

static void client_close (struct client *c)
{
    struct client_listener *listener = c->listener;
    struct client **at = &listener->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    listener->nclients--;
    listener->nadopted -= c->adopted;
    loop_timer_clear (listener->loop, &c->gone);
    loop_watch (listener->loop, &c->io, 0);
    if (c->io.fd >= 0)
        close (c->io.fd);
    resumable_release (&c->link);
    free (c->buf);
    if (c->said_something)
        up (c, &(struct frame){ .type = WIRE_RUN_GONE });
    loop_free_later (listener->loop, c);
}

/* -- sessions -- */

static void on_nobody_came (struct loop_timer *timer)
{
    client_close (CONTAINER_OF (timer, struct client, gone));
}

static void detach (struct client *c)
{
    loop_watch (c->listener->loop, &c->io, 0);
    if (c->io.fd >= 0)
        close (c->io.fd);
    c->io.fd = -1;
    c->len = 0;
    resumable_lost (&c->link);
}

/* The client's connection has ended. */
static void client_lost (struct client *c)
{
    if (!c->link.open || c->leaves) {
        client_close (c);
        return;
    }
    detach (c);
    loop_timer_set (c->listener->loop, &c->gone, loop_now () + c->grace);
}

/* Keeps reading after a failed write: the client may have sent messages before it closed,
 * and its end is detected after them. */
static void flush (struct client *c)
{
    if (c->io.fd < 0)
        return;
    int rc = resumable_flush (&c->link, c->io.fd);
    loop_watch (c->listener->loop, &c->io, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

static struct client *find_session (struct client_listener *listener, const char *token)
{
    struct client *c = listener->clients;
    while (c && (!c->link.open || memcmp (c->token, token, SESSION_TOKEN) != 0))
        c = c->next;
    return c;
}

/* c was only a connection: from now on it belongs to the session, with its pending
 * input. */
static void take_over (struct client *session, struct client *c)
{
    struct client_listener *listener = c->listener;
    detach (session);
    loop_timer_clear (listener->loop, &session->gone);
    loop_watch (listener->loop, &c->io, 0);
    session->io.fd = c->io.fd;
    c->io.fd = -1;
    session->len = c->len - c->used;
    memcpy (session->buf, c->buf + c->used, session->len);
    outbuf_add (&session->link.hello, c->link.out.data + c->link.out.off,
                c->link.out.len);
    client_close (c);
}

enum used { USED, NONSENSE, TAKEN_OVER };

static enum used come_again (struct client *c, const struct frame *msg,
                             struct client **ret)
{
    struct client *session = find_session (c->listener, msg->data);
    uint64_t theirs = wire_get_u64 (msg->data + SESSION_TOKEN);
    if (c->said_something || c->link.open)
        return NONSENSE;
    if (!session) {
        resumable_hello (&c->link, SESSION_UNKNOWN, NULL, 0, 0);
        return USED;
    }
    take_over (session, c);
    *ret = session;
    if (resumable_resume (&session->link, theirs) < 0)
        return NONSENSE;
    resumable_hello (&session->link, SESSION_HERE, NULL, session->link.received, 8);
    return TAKEN_OVER;
}

/* The broker saw the client end; its last messages may still be under way. */
static enum used on_gone (struct client *c, const struct frame *msg)
{
    struct client *session = find_session (c->listener, msg->data);
    if (session && session->io.fd < 0)
        client_close (session);
    else if (session)
        session->leaves = true;
    return NONSENSE; /* this connection has no other use */
}

static enum used on_session (struct client *c, const struct frame *msg,
                             struct client **ret)
{
    if (!c->adopted)
        return NONSENSE;
    if (msg->stream == SESSION_AGAIN && msg->len == SESSION_TOKEN + 8)
        return come_again (c, msg, ret);
    if (msg->stream == SESSION_GONE && msg->len == SESSION_TOKEN)
        return on_gone (c, msg);
    if (msg->stream != SESSION_NEW || msg->len != SESSION_TOKEN + 4 || c->link.open
        || find_session (c->listener, msg->data))
        return NONSENSE;
    memcpy (c->token, msg->data, SESSION_TOKEN);
    c->grace =
        MIN (wire_get_u32 (msg->data + SESSION_TOKEN), (uint32_t)KEEPALIVE_GRACE_MAX);
    resumable_open (&c->link);
    resumable_hello (&c->link, SESSION_HERE, NULL, 0, 8);
    return USED;
}

/* -- messages -- */

static enum used use_message (struct client *c, const struct frame *msg, size_t size,
                              struct client **ret)
{
    if (resumable_received (&c->link, msg, size))
        return USED;
    if (msg->type == WIRE_RUN_SESSION)
        return on_session (c, msg, ret);
    bool is_step = msg->type >= WIRE_RUN_KEEPALIVE && msg->type < WIRE_RUN_GONE;
    if (!is_step && msg->type != WIRE_RUN_CALL)
        return NONSENSE;
    up (c, msg);
    return USED;
}

/* Handles the received frames. NULL: the client sent an invalid message and is closed;
 * else the client to which the connection belongs now. */
static struct client *use_received (struct client *c)
{
    struct frame msg;
    ssize_t n;
    c->used = 0;
    while ((n = wire_parse (c->buf + c->used, c->len - c->used, &msg)) > 0) {
        struct client *other = NULL;
        c->used += (size_t)n;
        enum used used = use_message (c, &msg, (size_t)n, &other);
        if (used == TAKEN_OVER)
            return use_received (other);
        if (used == NONSENSE) {
            client_close (other ? other : c);
            return NULL;
        }
    }
    if (n < 0) {
        client_close (c);
        return NULL;
    }
    memmove (c->buf, c->buf + c->used, c->len - c->used);
    c->len -= c->used;
    return c;
}

static void on_client (struct loop_io *io, uint32_t events)
{
    struct client *c = CONTAINER_OF (io, struct client, io);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ssize_t n = recv (io->fd, c->buf + c->len, RECEIVE - c->len, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            client_lost (c);
            return;
        }
        c->len += (size_t)n;
        if (!(c = use_received (c)))
            return;
    }
    flush (c);
}

/* The socket's mode keeps other users out already; in a job's pods there are none. */
static bool is_ours (int fd)
{
    struct ucred who;
    socklen_t len = sizeof (who);
    return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0
           && (who.uid == geteuid () || who.uid == 0);
}

/* NULL: no room for the client; the caller still owns fd. */
static struct client *admit (struct client_listener *listener, int fd)
{
    struct client *c = calloc (1, sizeof (*c));
    char *buf = malloc (RECEIVE);
    if (!c || !buf || listener->nclients >= CLIENTS_MAX) {
        free (c);
        free (buf);
        return NULL;
    }
    c->io = (struct loop_io){ .fd = fd, .ready = on_client };
    c->listener = listener;
    c->number = listener->next_number++;
    c->gone.fire = on_nobody_came;
    c->buf = buf;
    c->next = listener->clients;
    listener->clients = c;
    listener->nclients++;
    loop_watch (listener->loop, &c->io, EPOLLIN);
    return c;
}

/* Handles bytes as if the socket had just received them; returns like use_received(). */
static struct client *take_early (struct client *c, const char *data, size_t len)
{
    while (len > 0 && c) {
        size_t n = MIN (len, RECEIVE - c->len); /* > 0: a whole frame is used at once */
        memcpy (c->buf + c->len, data, n);
        c->len += n;
        data += n;
        len -= n;
        c = use_received (c);
    }
    return c;
}

void client_listener_adopt (struct client_listener *listener, int fd, struct outbuf *out,
                            const char *data, size_t len)
{
    struct client *c = admit (listener, fd);
    if (!c) {
        close (fd);
        outbuf_release (out);
        return;
    }
    c->link.out = *out;
    c->adopted = true;
    listener->nadopted++;
    if ((c = take_early (c, data, len)) != NULL)
        flush (c);
}

uint32_t client_listener_adopted (const struct client_listener *listener)
{
    return listener->nadopted;
}

static void on_listener (struct loop_io *io, uint32_t events)
{
    struct client_listener *listener = CONTAINER_OF (io, struct client_listener, socket);
    (void)events;
    for (int i = 0; i < 64; i++) {
        int fd = accept4 (io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (!is_ours (fd) || !admit (listener, fd))
            close (fd);
    }
}

void client_listener_message (struct client_listener *listener, const struct frame *msg)
{
    struct client *c = listener->clients;
    while (c && c->number != msg->task)
        c = c->next;
    if (!c)
        return;
    resumable_put (&c->link, msg);
    if (c->link.out.len > CLIENT_UNSENT_MAX)
        client_close (c);
    else
        flush (c);
}

struct client_listener *
client_listener_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                        client_listener_up_fn up_fn, void *ctx, struct error *err)
{
    struct client_listener *listener = calloc (1, sizeof (*listener));
    autofree char *path = client_socket_path (launch, rank);
    if (!listener || !path || asprintf (&listener->address, "unix:%s", path) < 0) {
        free (listener);
        return error_null (error_no_memory (err, NULL));
    }
    listener->loop = loop;
    listener->rank = rank;
    listener->up = up_fn;
    listener->ctx = ctx;
    listener->socket = (struct loop_io){ .fd = sock_listen (listener->address, err),
                                         .ready = on_listener };
    if (listener->socket.fd < 0) {
        free (listener->address);
        free (listener);
        return NULL;
    }
    loop_watch (loop, &listener->socket, EPOLLIN);
    return listener;
}

static void nobody (void *ctx, const struct frame *msg)
{
    (void)ctx;
    (void)msg;
}

void client_listener_destroy (struct client_listener *listener)
{
    if (!listener)
        return;
    listener->up = nobody;
    while (listener->clients)
        client_close (listener->clients);
    loop_watch (listener->loop, &listener->socket, 0);
    close (listener->socket.fd);
    sock_unlink (listener->address);
    free (listener->address);
    free (listener);
}
