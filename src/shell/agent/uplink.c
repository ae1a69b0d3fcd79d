/* uplink.c - connects a member to its parent in the tree of agents, and retries until it
 * joins */
#include "shell/agent/uplink.h"

#include <netdb.h>
#include <sys/epoll.h>

#include "common/sha256.h"
#include "shell/io/sock.h"
#include "shell/io/wire.h"

#define BACKOFF_FIRST 0.05
#define BACKOFF_MOST 1.0
#define TRY_SECONDS 10.0
#define RECEIVE (64 * 1024)

enum uplink_state {
    UPLINK_TRY,
    UPLINK_CONNECT,
    UPLINK_CHALLENGE,
    UPLINK_JOINED,
    UPLINK_LOST,
};

struct uplink {
    struct agent *agent;
    uint32_t parent;
    char *address;
    const struct uplink_events *events;
    void *ctx;
    enum uplink_state state;
    struct loop_io resolver; /* fd -1: not resolving */
    struct loop_io io;       /* fd -1: no connection */
    /* Next try, or end of this one; once joined: heartbeats. */
    struct loop_timer timer;
    struct sock_addresses addresses;
    unsigned int tries;
    double backoff;
    double join_by;
    double heard; /* time of the parent's last message */
    uint8_t nonce[WIRE_NONCE];
    struct outbuf out;
    struct outbuf early; /* messages put before it has joined */
    char reason[256];    /* of the last failed try */
    char buf[RECEIVE + FRAME_HEAD + FRAME_DATA_MAX];
    size_t len;
};

static void try_again (struct uplink *up, const char *fmt, ...) PRINTF_LIKE (2, 3);

/* Closes all descriptors of this try or connection. */
static void close_all (struct uplink *up)
{
    struct loop *loop = &up->agent->loop;
    loop_watch (loop, &up->io, 0);
    if (up->io.fd >= 0)
        close (up->io.fd);
    loop_watch (loop, &up->resolver, 0);
    if (up->resolver.fd >= 0)
        close (up->resolver.fd);
    up->io.fd = up->resolver.fd = -1;
    outbuf_release (&up->out);
    up->len = 0;
}

static void lose (struct uplink *up, const char *why)
{
    close_all (up);
    loop_timer_clear (&up->agent->loop, &up->timer);
    up->state = UPLINK_LOST;
    agent_log (up->agent, "rank %u was lost: %s", up->parent, why);
    up->events->lost (up->ctx);
}

/* -- connecting -- */

static void try_again (struct uplink *up, const char *fmt, ...)
{
    va_list ap;
    va_start (ap, fmt);
    vsnprintf (up->reason, sizeof (up->reason), fmt, ap);
    va_end (ap);
    close_all (up);
    up->state = UPLINK_TRY;
    up->tries++;
    loop_timer_set (&up->agent->loop, &up->timer,
                    MIN (loop_now () + up->backoff, up->join_by));
    up->backoff = MIN (up->backoff * 2, BACKOFF_MOST);
}

static void connect_now (struct uplink *up)
{
    struct error err = { 0 };
    up->io.fd = sock_connect (up->address, &up->addresses, up->tries, &err);
    if (up->io.fd < 0) {
        try_again (up, "%s", err.text);
        return;
    }
    up->state = UPLINK_CONNECT;
    loop_watch (&up->agent->loop, &up->io, EPOLLOUT);
}

static void on_resolved (struct loop_io *io, uint32_t events)
{
    struct uplink *up = CONTAINER_OF (io, struct uplink, resolver);
    (void)events;
    ssize_t n = read (io->fd, &up->addresses, sizeof (up->addresses));
    loop_watch (&up->agent->loop, io, 0);
    close (io->fd);
    io->fd = -1;
    if (n != (ssize_t)sizeof (up->addresses))
        try_again (up, "the resolver died");
    else if (up->addresses.eai)
        try_again (up, "%s", gai_strerror (up->addresses.eai));
    else
        connect_now (up);
}

static void try_now (struct uplink *up)
{
    struct error err = { 0 };
    pid_t pid;
    loop_timer_set (&up->agent->loop, &up->timer,
                    MIN (loop_now () + TRY_SECONDS, up->join_by));
    if (sock_is_unix (up->address)) {
        connect_now (up);
        return;
    }
    up->resolver.fd = sock_resolve (up->address, &pid, &err);
    if (up->resolver.fd < 0)
        try_again (up, "%s", err.text);
    else
        loop_watch (&up->agent->loop, &up->resolver, EPOLLIN);
}

static void say_hello (struct uplink *up)
{
    uint8_t hello[WIRE_HELLO_SIZE];
    int rc = sock_connected (up->io.fd);
    if (rc < 0) {
        try_again (up, "%s", strerror (-rc));
        return;
    }
    if (secret_random (up->nonce, sizeof (up->nonce)) < 0) {
        try_again (up, "no random bytes");
        return;
    }
    memcpy (hello, WIRE_MAGIC, 4);
    wire_put_u32 (hello + 4, up->agent->rank);
    memcpy (hello + 8, up->nonce, WIRE_NONCE);
    outbuf_add (&up->out, hello, sizeof (hello));
    up->state = UPLINK_CHALLENGE;
    uplink_flush (up);
}

/* Checks the parent's proof, then sends our own and joins. */
static void answer_challenge (struct uplink *up)
{
    struct agent *agent = up->agent;
    uint64_t job_id = agent->launch.job_id;
    const uint8_t *challenge = (const uint8_t *)up->buf;
    uint8_t proof[WIRE_PROOF];
    wire_proof (agent->key, WIRE_ROLE_ROOT, job_id, agent->rank, up->nonce, challenge,
                proof);
    if (!secret_equal (proof, challenge + WIRE_NONCE, sizeof (proof))) {
        agent_log (agent, "the program that answers at %s does not have this job's key",
                   up->address);
        try_again (up, "the program that answers there does not have this job's key");
        return;
    }
    wire_proof (agent->key, WIRE_ROLE_MEMBER, job_id, agent->rank, up->nonce, challenge,
                proof);
    outbuf_add (&up->out, proof, sizeof (proof));
    up->state = UPLINK_JOINED;
    up->heard = loop_now ();
    loop_timer_set (&agent->loop, &up->timer, up->heard + WIRE_BEAT_EVERY);
    up->events->joined (up->ctx);
    outbuf_add (&up->out, up->early.data + up->early.off, up->early.len);
    outbuf_release (&up->early);
    uplink_flush (up);
}

/* -- the connection -- */

/* Handles received bytes; returns how many were used. */
static size_t use_received (struct uplink *up)
{
    size_t pos = 0;
    if (up->state == UPLINK_CHALLENGE) {
        if (up->len < WIRE_CHALLENGE_SIZE)
            return 0;
        answer_challenge (up);
        pos = WIRE_CHALLENGE_SIZE;
    }
    while (up->state == UPLINK_JOINED && !up->agent->loop.stopped) {
        struct frame msg;
        ssize_t n = wire_parse (up->buf + pos, up->len - pos, &msg);
        if (n == 0)
            break;
        if (n < 0 || (msg.type != WIRE_BEAT && !up->events->message (up->ctx, &msg))) {
            lose (up, "it talks nonsense");
            break;
        }
        pos += (size_t)n;
    }
    return pos;
}

static void receive (struct uplink *up)
{
    ssize_t n = recv (up->io.fd, up->buf + up->len, sizeof (up->buf) - up->len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        const char *why = n < 0 ? strerror (errno) : "connection closed";
        if (up->state == UPLINK_JOINED)
            lose (up, why);
        else
            try_again (up, "%s", why);
        return;
    }
    up->heard = loop_now ();
    up->len += (size_t)n;
    size_t used = use_received (up);
    used = MIN (used, up->len); /* a failed try has emptied the buffer */
    memmove (up->buf, up->buf + used, up->len - used);
    up->len -= used;
}

static void on_io (struct loop_io *io, uint32_t events)
{
    struct uplink *up = CONTAINER_OF (io, struct uplink, io);
    if (up->state == UPLINK_CONNECT) {
        say_hello (up);
        return;
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        receive (up);
    if ((events & EPOLLOUT) && up->state != UPLINK_CONNECT)
        uplink_flush (up);
}

static void beat (struct uplink *up)
{
    double now = loop_now ();
    double late = now - up->timer.when;
    double limit = up->parent == 0 ? WIRE_ROOT_SILENT : WIRE_MEMBER_SILENT;
    up->heard += late > 1 ? late : 0; /* this process itself was delayed */
    if (now - up->heard > limit) {
        char why[64];
        snprintf (why, sizeof (why), "no sign of life for %.0f s", limit);
        lose (up, why);
        return;
    }
    uplink_put (up, &(struct frame){ .type = WIRE_BEAT, .rank = up->agent->rank });
    loop_timer_set (&up->agent->loop, &up->timer, now + WIRE_BEAT_EVERY);
}

static void on_timer (struct loop_timer *timer)
{
    struct uplink *up = CONTAINER_OF (timer, struct uplink, timer);
    if (up->state == UPLINK_JOINED) {
        beat (up);
    } else if (loop_now () >= up->join_by) {
        agent_log (up->agent, "could not join rank %u at %s: %s", up->parent, up->address,
                   up->reason[0] ? up->reason : "no answer");
        up->events->gave_up (up->ctx);
    } else if (up->state == UPLINK_TRY && up->resolver.fd < 0) {
        try_now (up);
    } else {
        try_again (up, "no answer within 10 s");
    }
}

/* -- for the member -- */

struct uplink *uplink_create (struct agent *agent, uint32_t parent,
                              const struct uplink_events *events, void *ctx)
{
    struct uplink *up = calloc (1, sizeof (*up));
    char *address = sock_of_rank (agent->launch.rendezvous, parent);
    if (!up || !address) {
        free (up);
        free (address);
        return NULL;
    }
    up->agent = agent;
    up->parent = parent;
    up->address = address;
    up->events = events;
    up->ctx = ctx;
    up->resolver = (struct loop_io){ .fd = -1, .ready = on_resolved };
    up->io = (struct loop_io){ .fd = -1, .ready = on_io };
    up->timer.fire = on_timer;
    up->backoff = BACKOFF_FIRST;
    return up;
}

void uplink_start (struct uplink *up)
{
    double now = loop_now ();

    up->join_by = now + up->agent->launch.join_timeout;
    loop_timer_set (&up->agent->loop, &up->timer, now);
}

void uplink_destroy (struct uplink *up)
{
    if (!up)
        return;
    close_all (up);
    loop_timer_clear (&up->agent->loop, &up->timer);
    outbuf_release (&up->early);
    free (up->address);
    free (up);
}

bool uplink_started (const struct uplink *up)
{
    return up->join_by > 0;
}

bool uplink_joined (const struct uplink *up)
{
    return up->state == UPLINK_JOINED;
}

void uplink_put (struct uplink *up, const struct frame *msg)
{
    if (up->state == UPLINK_JOINED)
        wire_put (&up->out, msg);
    else if (up->state != UPLINK_LOST)
        wire_put (&up->early, msg);
}

void uplink_flush (struct uplink *up)
{
    if (up->io.fd < 0 || up->state == UPLINK_CONNECT)
        return;
    int rc = outbuf_flush (&up->out, up->io.fd);
    if (rc >= 0)
        loop_watch (&up->agent->loop, &up->io, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
    else if (up->state == UPLINK_JOINED)
        lose (up, strerror (-rc));
    else
        try_again (up, "%s", strerror (-rc));
}
