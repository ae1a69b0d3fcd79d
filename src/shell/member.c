/* member.c - the ranks other than 0: join, run the tasks, report
 *
 *     TRY --resolved--> CONNECT --connected--> CHALLENGE --rank 0 proves itself--> JOINED
 *      ^                   |                       |                                 |
 *      +--back-off---------+-----------------------+         rank 0 lost or WIRE_EXIT
 *
 * Until join_timeout is over every failure is tried again: names resolve late, rank 0's
 * process starts late, and what answers under its name may not be it yet.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macros.h"
#include "common/sha256.h"
#include "shell/agent.h"
#include "shell/cgroup.h"
#include "shell/door.h"
#include "shell/sock.h"
#include "shell/stepd.h"
#include "shell/task.h"
#include "shell/wire.h"

#define BACKOFF_FIRST 0.05
#define BACKOFF_MOST 1.0
#define TRY_SECONDS 10.0
#define RECEIVE (64 * 1024)

enum member_state { MEMBER_TRY, MEMBER_CONNECT, MEMBER_CHALLENGE, MEMBER_JOINED };

struct member {
    struct agent *agent;
    struct tasks *tasks;
    struct stepd *stepd;
    struct door *door;
    enum member_state state;
    struct loop_io resolver; /* fd -1: not resolving */
    struct loop_io io;       /* fd -1: no connection */
    struct loop_timer
        timer; /* the next try, or the end of this one; joined: heartbeats */
    struct sock_addresses addresses;
    unsigned int tries;
    double backoff;
    double join_by;
    double heard; /* last of rank 0 */
    uint8_t nonce[WIRE_NONCE];
    struct outbuf out;
    int64_t credit; /* bytes of output that rank 0 takes now */
    bool fell_back;
    bool ending;          /* all is being killed */
    bool orphaned;        /* rank 0 or the guardian is lost */
    struct error problem; /* why the tasks cannot start */
    char reason[256];     /* of the last failed try */
    char buf[RECEIVE + FRAME_HEAD + FRAME_DATA_MAX];
    size_t len;
};

static void try_now (struct member *m);
static void try_again (struct member *m, const char *fmt, ...) PRINTF_LIKE (2, 3);

/* --- to rank 0 --- */

static void lose_root (struct member *m, const char *why);

static void flush (struct member *m)
{
    if (m->io.fd < 0)
        return;
    int rc = outbuf_flush (&m->out, m->io.fd);
    if (rc >= 0)
        loop_watch (&m->agent->loop, &m->io, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
    else if (m->state == MEMBER_JOINED)
        lose_root (m, strerror (-rc));
    else
        try_again (m, "%s", strerror (-rc));
}

static void put (struct member *m, uint8_t type, uint8_t stream, uint32_t task,
                 const void *data, size_t len)
{
    wire_put (&m->out, &(struct frame){ .type = type,
                                        .stream = stream,
                                        .rank = m->agent->rank,
                                        .task = task,
                                        .len = (uint32_t)len,
                                        .data = data });
}

/* --- this rank's tasks --- */

static size_t on_room (void *ctx)
{
    struct member *m = ctx;
    return m->credit > 0 ? (size_t)m->credit : 0;
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    struct member *m = ctx;
    m->credit -= (int64_t)len;
    if (m->io.fd >= 0)
        put (m, FRAME_OUTPUT, (uint8_t)stream, task, data, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct member *m = ctx;
    uint8_t data[4];
    if (m->orphaned)
        return; /* we killed it: rank 0 shall see us lost, not that task fail */
    if (oom) {
        uint8_t figures[WIRE_OOM_SIZE];
        struct cgroup_memory now = cgroup_memory_now ();
        wire_put_oom (figures, &now);
        put (m, WIRE_OOM, 0, 0, figures, sizeof (figures));
    }
    wire_put_u32 (data, (uint32_t)status);
    put (m, FRAME_EXIT, oom, task, data, sizeof (data));
}

static void put_usage (struct member *m, uint8_t stream, struct use use)
{
    char text[USE_TEXT_MAX];
    size_t len = use_encode (&use, text);
    put (m, WIRE_USAGE, stream, 0, text, len);
}

static void on_killed (void *ctx)
{
    struct member *m = ctx;
    if (m->orphaned) {
        loop_stop (&m->agent->loop, 1);
        return;
    }
    put_usage (m, 0, tasks_own_use (m->tasks));
    put_usage (m, 1, tasks_use (m->tasks));
    put (m, WIRE_DONE, 0, 0, NULL, 0);
}

static const struct task_events task_events = { on_room, on_output, on_exited, on_killed,
                                                NULL };

/* Nobody is left to report to: end everything here. */
static void lose_root (struct member *m, const char *why)
{
    if (m->io.fd >= 0) {
        loop_watch (&m->agent->loop, &m->io, 0);
        close (m->io.fd);
        m->io.fd = -1;
    }
    if (m->orphaned)
        return; /* on the way out already */
    m->orphaned = true;
    agent_log (m->agent, "rank 0 was lost: %s", why);
    tasks_kill (m->tasks);
}

static void start_tasks (struct member *m, const struct frame *msg)
{
    struct error err = { 0 };
    m->credit = msg->task;
    if (tasks_start (m->tasks, wire_get_u64 (msg->data), &err) < 0)
        put (m, WIRE_FAIL, 0, 0, err.text, strlen (err.text));
}

static void on_message (struct member *m, const struct frame *msg)
{
    switch (msg->type) {
    case WIRE_BEAT:
        break;
    case WIRE_START:
        if (msg->len == 8 && !m->ending)
            start_tasks (m, msg);
        break;
    case WIRE_CREDIT:
        m->credit += msg->task;
        if (m->credit > 0)
            tasks_resume (m->tasks);
        break;
    case WIRE_SIGNAL:
        tasks_signal (m->tasks, (int)msg->task);
        break;
    case WIRE_END:
        m->ending = true;
        tasks_kill (m->tasks);
        break;
    case WIRE_EXIT:
        m->ending = true;
        loop_stop (&m->agent->loop, 0);
        break;
    default:
        if (msg->type >= WIRE_STEP_START)
            stepd_message (m->stepd, msg);
        else if (msg->type >= WIRE_RUN_STARTED && m->door)
            door_message (m->door, msg);
        else
            lose_root (m, "it talks nonsense");
    }
}

/* Of steps and of this rank's clients. */
static void step_up (void *ctx, const struct frame *msg)
{
    struct member *m = ctx;
    if (!m->orphaned)
        put (m, msg->type, msg->stream, msg->task, msg->data, msg->len);
}

/* --- joining --- */

static void stop_trying (struct member *m)
{
    struct loop *loop = &m->agent->loop;
    loop_watch (loop, &m->io, 0);
    if (m->io.fd >= 0)
        close (m->io.fd);
    loop_watch (loop, &m->resolver, 0);
    if (m->resolver.fd >= 0)
        close (m->resolver.fd);
    m->io.fd = m->resolver.fd = -1;
    outbuf_release (&m->out);
    m->len = 0;
}

static void try_again (struct member *m, const char *fmt, ...)
{
    va_list ap;
    va_start (ap, fmt);
    vsnprintf (m->reason, sizeof (m->reason), fmt, ap);
    va_end (ap);
    stop_trying (m);
    m->state = MEMBER_TRY;
    m->tries++;
    loop_timer_set (&m->agent->loop, &m->timer,
                    MIN (loop_now () + m->backoff, m->join_by));
    m->backoff = MIN (m->backoff * 2, BACKOFF_MOST);
}

static void connect_now (struct member *m)
{
    struct error err = { 0 };
    m->io.fd = sock_connect (m->agent->launch.rendezvous, &m->addresses, m->tries, &err);
    if (m->io.fd < 0) {
        try_again (m, "%s", err.text);
        return;
    }
    m->state = MEMBER_CONNECT;
    loop_watch (&m->agent->loop, &m->io, EPOLLOUT);
}

static void on_resolved (struct loop_io *io, uint32_t events)
{
    struct member *m = CONTAINER_OF (io, struct member, resolver);
    (void)events;
    ssize_t n = read (io->fd, &m->addresses, sizeof (m->addresses));
    loop_watch (&m->agent->loop, io, 0);
    close (io->fd);
    io->fd = -1;
    if (n != (ssize_t)sizeof (m->addresses))
        try_again (m, "the resolver died");
    else if (m->addresses.eai)
        try_again (m, "%s", gai_strerror (m->addresses.eai));
    else
        connect_now (m);
}

static void try_now (struct member *m)
{
    const char *rendezvous = m->agent->launch.rendezvous;
    struct error err = { 0 };
    pid_t pid;
    loop_timer_set (&m->agent->loop, &m->timer,
                    MIN (loop_now () + TRY_SECONDS, m->join_by));
    if (sock_is_unix (rendezvous)) {
        connect_now (m);
        return;
    }
    m->resolver.fd = sock_resolve (rendezvous, &pid, &err);
    if (m->resolver.fd < 0)
        try_again (m, "%s", err.text);
    else
        loop_watch (&m->agent->loop, &m->resolver, EPOLLIN);
}

static void say_hello (struct member *m)
{
    uint8_t hello[WIRE_HELLO_SIZE];
    int rc = sock_connected (m->io.fd);
    if (rc < 0) {
        try_again (m, "%s", strerror (-rc));
        return;
    }
    if (secret_random (m->nonce, sizeof (m->nonce)) < 0) {
        try_again (m, "no random bytes");
        return;
    }
    memcpy (hello, WIRE_MAGIC, 4);
    wire_put_u32 (hello + 4, m->agent->rank);
    memcpy (hello + 8, m->nonce, WIRE_NONCE);
    outbuf_add (&m->out, hello, sizeof (hello));
    m->state = MEMBER_CHALLENGE;
    flush (m);
}

/* Rank 0 has proven itself or not; prove ourselves and join. */
static void answer_challenge (struct member *m)
{
    struct agent *agent = m->agent;
    const struct launch *l = &agent->launch;
    const char *name = l->nodes[agent->rank].name;
    const uint8_t *challenge = (const uint8_t *)m->buf;
    uint8_t proof[WIRE_PROOF];
    wire_proof (agent->key, WIRE_ROLE_ROOT, l->job_id, agent->rank, m->nonce, challenge,
                proof);
    if (!secret_equal (proof, challenge + WIRE_NONCE, sizeof (proof))) {
        agent_log (agent, "what answers at %s does not have this job's key",
                   l->rendezvous);
        try_again (m, "what answers there does not have this job's key");
        return;
    }
    wire_proof (agent->key, WIRE_ROLE_MEMBER, l->job_id, agent->rank, m->nonce, challenge,
                proof);
    outbuf_add (&m->out, proof, sizeof (proof));
    put (m, WIRE_JOIN, 0,
         m->problem.code ? WIRE_JOIN_FAILS
         : m->fell_back  ? WIRE_JOIN_FELL_BACK
                         : WIRE_JOIN_READY,
         name, strlen (name));
    if (m->problem.code)
        put (m, WIRE_FAIL, 0, 0, m->problem.text, strlen (m->problem.text));
    m->state = MEMBER_JOINED;
    m->heard = loop_now ();
    secret_wipe (agent->key, sizeof (agent->key));
    loop_timer_set (&agent->loop, &m->timer, m->heard + WIRE_BEAT_EVERY);
    flush (m);
}

/* --- the connection --- */

/* Use what has been received; how much of it. */
static size_t use_received (struct member *m)
{
    size_t pos = 0;
    if (m->state == MEMBER_CHALLENGE) {
        if (m->len < WIRE_CHALLENGE_SIZE)
            return 0;
        answer_challenge (m);
        pos = WIRE_CHALLENGE_SIZE;
    }
    while (m->state == MEMBER_JOINED && m->io.fd >= 0 && !m->agent->loop.stopped) {
        struct frame msg;
        ssize_t n = wire_parse (m->buf + pos, m->len - pos, &msg);
        if (n == 0)
            break;
        if (n < 0) {
            lose_root (m, "it talks nonsense");
            break;
        }
        on_message (m, &msg);
        pos += (size_t)n;
    }
    return pos;
}

static void receive (struct member *m)
{
    ssize_t n = recv (m->io.fd, m->buf + m->len, sizeof (m->buf) - m->len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        const char *why = n < 0 ? strerror (errno) : "connection closed";
        if (m->state == MEMBER_JOINED)
            lose_root (m, why);
        else
            try_again (m, "%s", why);
        return;
    }
    m->heard = loop_now ();
    m->len += (size_t)n;
    size_t used = use_received (m);
    used = MIN (used, m->len); /* a try that failed has emptied the buffer */
    memmove (m->buf, m->buf + used, m->len - used);
    m->len -= used;
}

static void on_io (struct loop_io *io, uint32_t events)
{
    struct member *m = CONTAINER_OF (io, struct member, io);
    if (m->state == MEMBER_CONNECT) {
        say_hello (m);
        return;
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        receive (m);
    if ((events & EPOLLOUT) && m->io.fd >= 0 && m->state != MEMBER_CONNECT)
        flush (m);
}

/* --- the agent's own events --- */

static void beat (struct member *m)
{
    double now = loop_now ();
    double late = now - m->timer.when;
    m->heard += late > 1 ? late : 0; /* we were held up ourselves */
    if (now - m->heard > WIRE_ROOT_SILENT) {
        lose_root (m, "no sign of life for 60 s");
        return;
    }
    put (m, WIRE_BEAT, 0, 0, NULL, 0);
    loop_timer_set (&m->agent->loop, &m->timer, now + WIRE_BEAT_EVERY);
}

static void on_timer (struct loop_timer *timer)
{
    struct member *m = CONTAINER_OF (timer, struct member, timer);
    if (m->state == MEMBER_JOINED) {
        beat (m);
    } else if (loop_now () >= m->join_by) {
        agent_log (m->agent, "could not join rank 0 at %s: %s",
                   m->agent->launch.rendezvous, m->reason[0] ? m->reason : "no answer");
        loop_stop (&m->agent->loop, 1);
    } else if (m->state == MEMBER_TRY && m->resolver.fd < 0) {
        try_now (m);
    } else {
        try_again (m, "no answer within 10 s");
    }
}

static void on_child (void *arg)
{
    struct member *m = arg;
    tasks_reap (m->tasks);
}

static void on_end (void *arg, const char *why, bool guardian_died)
{
    struct member *m = arg;
    if (m->state != MEMBER_JOINED) {
        agent_log (m->agent, "ended before it joined: %s", why);
        loop_stop (&m->agent->loop, 1);
    } else if (guardian_died) {
        /* Rank 0 takes us for lost when the connection closes: when nothing is left here.
         * */
        m->orphaned = true;
        tasks_kill (m->tasks);
    } else {
        put (m, WIRE_TERMINATE, 0, 0, why, strlen (why));
    }
}

static void on_round (void *arg)
{
    struct member *m = arg;
    if (m->state == MEMBER_JOINED && m->out.len > 0)
        flush (m);
}

int member_run (struct agent *agent)
{
    static struct member m;
    double now = loop_now ();
    m.agent = agent;
    m.resolver = (struct loop_io){ .fd = -1, .ready = on_resolved };
    m.io = (struct loop_io){ .fd = -1, .ready = on_io };
    m.timer.fire = on_timer;
    m.backoff = BACKOFF_FIRST;
    m.join_by = now + agent->launch.join_timeout;
    m.tasks = tasks_create (&agent->loop, &agent->launch, agent->rank, &task_events, &m);
    m.stepd =
        stepd_create (&agent->loop, &agent->launch, m.tasks, agent->rank, step_up, &m);
    if (!m.tasks || !m.stepd) {
        agent_log (agent, "no memory");
        return 1;
    }
    if (tasks_enter_cwd (m.tasks, &m.fell_back, &m.problem) == 0)
        m.door = door_create (&agent->loop, &agent->launch, agent->rank, step_up, &m,
                              &m.problem);
    agent->on_child = on_child;
    agent->on_end = on_end;
    agent->arg = &m;
    agent->loop.round = on_round;
    agent->loop.round_arg = &m;
    try_now (&m);
    int status = loop_run (&agent->loop);
    stop_trying (&m);
    loop_timer_clear (&agent->loop, &m.timer);
    door_destroy (m.door);
    stepd_destroy (m.stepd);
    tasks_destroy (m.tasks);
    return status;
}
