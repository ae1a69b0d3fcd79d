/* fake_agent.c - see fake_agent.h */
#include "broker/core/test/fake_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

enum phase { OPENING, OPEN, REFUSED, CLOSED };

struct agentstream {
    struct agent agent; /* the first member */
    enum phase phase;
    int fd; /* the broker's end */
    uv_poll_t poll;
    const struct agentstream_events *ev;
    void *arg;
    bool drained;      /* the last read got -EAGAIN */
    const void *again; /* the bytes of a write that got -EAGAIN, or NULL */
    size_t again_len;
    struct agentstream *next;
};

static struct agentstream *streams;

static void expect_open (const struct agentstream *s, const char *call)
{
    if (s->phase != OPEN)
        fail_msg ("job %ju: %s() in phase %d", (uintmax_t)s->agent.job, call,
                  (int)s->phase);
}

/* -- the agent's side -- */

struct agent *agent_at (size_t n)
{
    struct agentstream *s = streams;

    while (s && n-- > 0)
        s = s->next;
    return s ? &s->agent : NULL;
}

void agent_accept (struct agent *a)
{
    struct agentstream *s = (struct agentstream *)a;

    assert_int_equal (s->phase, OPENING);
    s->phase = OPEN;
    s->ev->opened (NULL, s->arg);
}

void agent_refuse (struct agent *a, int code, const char *text)
{
    struct agentstream *s = (struct agentstream *)a;
    struct error err = { 0 };

    assert_int_equal (s->phase, OPENING);
    s->phase = REFUSED;
    error_set (&err, code, "%s", text);
    s->ev->opened (&err, s->arg);
}

struct agentstream *fake_agent_open (struct small *small, uint64_t job,
                                     const struct agentstream_events *ev, void *arg,
                                     struct error *err)
{
    struct agentstream *s = calloc (1, sizeof (*s));
    int fds[2];

    if (!s) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    assert_int_equal (
        socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    s->agent = (struct agent){ .job = job, .fd = fds[0] };
    s->fd = fds[1];
    s->ev = ev;
    s->arg = arg;
    assert_int_equal (uv_poll_init (&small->loop, &s->poll, s->fd), 0);
    LL_APPEND (streams, s);
    return s;
}

void fake_agent_end (void)
{
    struct agentstream *s, *next;

    LL_FOREACH_SAFE (streams, s, next)
    {
        if (!s->agent.closed)
            fail_msg ("job %ju: the stream to its agent is not closed",
                      (uintmax_t)s->agent.job);
        if (s->agent.fd >= 0)
            close (s->agent.fd);
        free (s);
    }
    streams = NULL;
}

/* -- what the linker gives instead of the executor's functions -- */

void __wrap_agentstream_want (struct agentstream *s, bool readable, bool writable);
ssize_t __wrap_agentstream_read (struct agentstream *s, void *buf, size_t len);
ssize_t __wrap_agentstream_write (struct agentstream *s, const void *buf, size_t len);
void __wrap_agentstream_close (struct agentstream *s);

static void on_poll (uv_poll_t *poll, int status, int events)
{
    struct agentstream *s = CONTAINER_OF (poll, struct agentstream, poll);

    (void)status;
    (void)events;
    s->ev->ready (s->arg);
}

void __wrap_agentstream_want (struct agentstream *s, bool readable, bool writable)
{
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);

    expect_open (s, __func__);
    if (readable)
        assert_true (s->drained);
    if (events)
        uv_poll_start (&s->poll, events, on_poll);
    else
        uv_poll_stop (&s->poll);
}

ssize_t __wrap_agentstream_read (struct agentstream *s, void *buf, size_t len)
{
    expect_open (s, __func__);
    ssize_t n = recv (s->fd, buf, len, 0);
    s->drained = n < 0 && errno == EAGAIN;
    if (n < 0)
        return s->drained ? -EAGAIN : -ECONNRESET;
    return n;
}

ssize_t __wrap_agentstream_write (struct agentstream *s, const void *buf, size_t len)
{
    expect_open (s, __func__);
    if (s->again)
        assert_true (s->again == buf && s->again_len == len);
    ssize_t n = send (s->fd, buf, len, MSG_NOSIGNAL);
    bool again = n < 0 && errno == EAGAIN;
    s->again = again ? buf : NULL;
    s->again_len = len;
    if (n < 0)
        return again ? -EAGAIN : -ECONNRESET;
    return n;
}

void __wrap_agentstream_close (struct agentstream *s)
{
    if (!s)
        return;
    assert_int_not_equal (s->phase, CLOSED);
    s->phase = CLOSED;
    s->agent.closed = true;
    uv_poll_stop (&s->poll);
    uv_close ((uv_handle_t *)&s->poll, NULL);
    close (s->fd);
}
