#include "shell/door.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/macros.h"
#include "shell/sock.h"

#define RECEIVE (FRAME_HEAD + FRAME_DATA_MAX)

struct client {
    struct loop_io io;
    struct door *door;
    uint32_t number;
    bool said_something; /* rank 0 knows of it */
    bool adopted;
    struct outbuf out;
    char *buf; /* [RECEIVE] */
    size_t len;
    struct client *next;
};

struct door {
    struct loop *loop;
    struct loop_io listener;
    uint32_t rank;
    char *address; /* "unix:/..." */
    door_up_fn up;
    void *ctx;
    struct client *clients;
    uint32_t nclients, nadopted, next_number;
};

char *agent_file (const struct launch *launch, const char *name)
{
    const char *slash = launch->spool ? strrchr (launch->spool, '/') : NULL;
    int dir = slash ? (int)(slash - launch->spool) : 0;
    char *path;
    if (asprintf (&path, "%.*s/%s", dir, slash ? launch->spool : "", name) < 0)
        return NULL;
    return path;
}

char *door_path (const struct launch *launch, uint32_t rank)
{
    char name[32];
    snprintf (name, sizeof (name), "door-%u", rank);
    return agent_file (launch, name);
}

static void up (struct client *c, const struct frame *msg)
{
    struct frame own = *msg;
    own.rank = c->door->rank;
    own.task = c->number;
    c->said_something = true;
    c->door->up (c->door->ctx, &own);
}

static void client_close (struct client *c)
{
    struct door *door = c->door;
    struct client **at = &door->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    door->nclients--;
    door->nadopted -= c->adopted;
    loop_watch (door->loop, &c->io, 0);
    close (c->io.fd);
    outbuf_release (&c->out);
    free (c->buf);
    if (c->said_something)
        up (c, &(struct frame){ .type = WIRE_RUN_GONE });
    loop_free_later (door->loop, c);
}

/* The frames that have come; false: it talks nonsense. */
static bool use_received (struct client *c)
{
    size_t pos = 0;
    struct frame msg;
    ssize_t n;
    while ((n = wire_parse (c->buf + pos, c->len - pos, &msg)) > 0) {
        if (msg.type < WIRE_RUN_HOLD || msg.type >= WIRE_RUN_GONE)
            return false;
        up (c, &msg);
        pos += (size_t)n;
    }
    memmove (c->buf, c->buf + pos, c->len - pos);
    c->len -= pos;
    return n == 0;
}

static void flush (struct client *c)
{
    int rc = outbuf_flush (&c->out, c->io.fd);
    if (rc < 0)
        client_close (c);
    else
        loop_watch (c->door->loop, &c->io, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

static void on_client (struct loop_io *io, uint32_t events)
{
    struct client *c = CONTAINER_OF (io, struct client, io);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ssize_t n = recv (io->fd, c->buf + c->len, RECEIVE - c->len, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        c->len += n > 0 ? (size_t)n : 0;
        if (n <= 0 || !use_received (c)) {
            client_close (c);
            return;
        }
    }
    if (events & EPOLLOUT)
        flush (c);
}

/* The socket's mode keeps others out already; in a job's pods there is nobody else. */
static bool is_ours (int fd)
{
    struct ucred who;
    socklen_t len = sizeof (who);
    return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0
           && (who.uid == geteuid () || who.uid == 0);
}

/* NULL: no room for it; fd is still the caller's. */
static struct client *admit (struct door *door, int fd)
{
    struct client *c = calloc (1, sizeof (*c));
    char *buf = malloc (RECEIVE);
    if (!c || !buf || door->nclients >= DOOR_CLIENTS_MAX) {
        free (c);
        free (buf);
        return NULL;
    }
    c->io = (struct loop_io){ .fd = fd, .ready = on_client };
    c->door = door;
    c->number = door->next_number++;
    c->buf = buf;
    c->next = door->clients;
    door->clients = c;
    door->nclients++;
    loop_watch (door->loop, &c->io, EPOLLIN);
    return c;
}

/* As if it came from the socket now; false: it talks nonsense. */
static bool take_early (struct client *c, const char *data, size_t len)
{
    while (len > 0) {
        size_t n = MIN (len, RECEIVE - c->len); /* > 0: a whole frame is used at once */
        memcpy (c->buf + c->len, data, n);
        c->len += n;
        data += n;
        len -= n;
        if (!use_received (c))
            return false;
    }
    return true;
}

void door_adopt (struct door *door, int fd, struct outbuf *out, const char *data,
                 size_t len)
{
    struct client *c = admit (door, fd);
    if (!c) {
        close (fd);
        outbuf_release (out);
        return;
    }
    c->out = *out;
    c->adopted = true;
    door->nadopted++;
    if (take_early (c, data, len))
        flush (c);
    else
        client_close (c);
}

uint32_t door_adopted (const struct door *door)
{
    return door->nadopted;
}

static void on_listener (struct loop_io *io, uint32_t events)
{
    struct door *door = CONTAINER_OF (io, struct door, listener);
    (void)events;
    for (int i = 0; i < 64; i++) {
        int fd = accept4 (io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (!is_ours (fd) || !admit (door, fd))
            close (fd);
    }
}

void door_message (struct door *door, const struct frame *msg)
{
    struct client *c = door->clients;
    while (c && c->number != msg->task)
        c = c->next;
    if (!c)
        return;
    wire_put (&c->out, msg);
    if (c->out.len > DOOR_UNSENT_MAX)
        client_close (c);
    else
        flush (c);
}

struct door *door_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                          door_up_fn up_fn, void *ctx, struct error *err)
{
    struct door *door = calloc (1, sizeof (*door));
    autofree char *path = door_path (launch, rank);
    if (!door || !path || asprintf (&door->address, "unix:%s", path) < 0) {
        free (door);
        error_set (err, ENOMEM, "no memory");
        return NULL;
    }
    door->loop = loop;
    door->rank = rank;
    door->up = up_fn;
    door->ctx = ctx;
    door->listener =
        (struct loop_io){ .fd = sock_listen (door->address, err), .ready = on_listener };
    if (door->listener.fd < 0) {
        free (door->address);
        free (door);
        return NULL;
    }
    loop_watch (loop, &door->listener, EPOLLIN);
    return door;
}

static void nobody (void *ctx, const struct frame *msg)
{
    (void)ctx;
    (void)msg;
}

void door_destroy (struct door *door)
{
    if (!door)
        return;
    door->up = nobody;
    while (door->clients)
        client_close (door->clients);
    loop_watch (door->loop, &door->listener, 0);
    close (door->listener.fd);
    sock_unlink (door->address);
    free (door->address);
    free (door);
}
