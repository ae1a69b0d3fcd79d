/* run_link.c - fluxq-run's connection to the agent, renewed when it breaks */
#include "shell/run/run_link.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/parse.h"
#include "common/pass_fd.h"
#include "protocol/step_client.h"
#include "shell/run/run.h"

#define RECEIVE (256 * 1024)

static void lose (struct run_link *link, const char *why);

/* -- out -- */

static void flush (struct run_link *link)
{
    if (link->agent.fd < 0)
        return;
    /* A failed write means that the connection has ended: reading detects it. */
    int rc = resumable_flush (&link->out, link->agent.fd);
    loop_watch (link->loop, &link->agent, rc ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void run_link_put_frame (struct run_link *link, const struct frame *msg)
{
    resumable_put (&link->out, msg);
    flush (link);
}

void run_link_put (struct run_link *link, uint8_t type, const void *data, size_t len)
{
    run_link_put_frame (
        link, &(struct frame){ .type = type, .len = (uint32_t)len, .data = data });
}

static void look_if_done (struct run_link *link)
{
    if (link->finishing && (!link->is_session || resumable_is_done (&link->out)))
        link->done (link->ctx);
}

void run_link_finish (struct run_link *link)
{
    link->finishing = true;
    if (link->is_session)
        run_link_put_frame (link, &(struct frame){ .type = WIRE_RUN_SESSION,
                                                   .stream = SESSION_SYNC });
    look_if_done (link);
}

bool run_link_is_up (const struct run_link *link)
{
    return link->agent.fd >= 0;
}

/* -- in -- */

static void on_here (struct run_link *link, const struct frame *msg)
{
    if (msg->stream == SESSION_UNKNOWN)
        link->lost (link->ctx, "it has given the step up, because no client came back in "
                               "time");
    else if (msg->stream != SESSION_HERE || msg->len != 8
             || resumable_resume (&link->out, wire_get_u64 (msg->data)) < 0)
        link->lost (link->ctx, "it talks nonsense");
    else
        flush (link);
}

static void use_received (struct run_link *link)
{
    size_t pos = 0;
    ssize_t n = 0;
    while (!link->loop->stopped) {
        struct frame msg;
        n = wire_parse (link->buf + pos, link->len - pos, &msg);
        if (n <= 0)
            break;
        if (msg.type == WIRE_RUN_SESSION
            && !resumable_received (&link->out, &msg, (size_t)n)) {
            on_here (link, &msg);
        } else if (msg.type != WIRE_RUN_SESSION) {
            resumable_received (&link->out, &msg, (size_t)n);
            link->message (link->ctx, &msg);
        }
        pos += (size_t)n;
    }
    if (n < 0)
        link->lost (link->ctx, "it talks nonsense");
    memmove (link->buf, link->buf + pos, link->len - pos);
    link->len -= pos;
    flush (link);
    if (!link->loop->stopped)
        look_if_done (link);
}

static void on_agent (struct loop_io *io, uint32_t events)
{
    struct run_link *link = CONTAINER_OF (io, struct run_link, agent);
    if (events & EPOLLOUT)
        flush (link);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t n = recv (io->fd, link->buf + link->len, RECEIVE - link->len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        lose (link, n < 0 ? strerror (errno) : "connection closed");
        return;
    }
    link->len += (size_t)n;
    use_received (link);
}

/* -- another connection -- */

static void close_helper (struct run_link *link)
{
    loop_watch (link->loop, &link->helper, 0);
    if (link->helper.fd >= 0)
        close (link->helper.fd);
    link->helper.fd = -1;
    while (link->helper_pid > 0 && waitpid (link->helper_pid, NULL, 0) < 0
           && errno == EINTR)
        ;
    link->helper_pid = 0;
}

static void on_helper (struct loop_io *io, uint32_t events)
{
    struct run_link *link = CONTAINER_OF (io, struct run_link, helper);
    (void)events;
    int fd = pass_fd_receive (io->fd);
    if (fd == -EAGAIN || fd == -EINTR)
        return;
    close_helper (link);
    if (fd < 0) { /* the helper has said why */
        link->lost (link->ctx, NULL);
        return;
    }
    link->agent.fd = fd;
    resumable_hello (&link->out, SESSION_AGAIN, link->token, link->out.received, 8);
    flush (link);
}

/* Ignores the terminal's signals, which are for fluxq-run alone. */
static _Noreturn void become_helper (const struct run_link *link, int fd)
{
    static char *const argv[] = { (char *)STEP_CLIENT, NULL };
    const char *program = getenv (STEP_CLIENT_PROGRAM);
    char number[16];
    sigset_t none;
    sigemptyset (&none);
    signal (SIGINT, SIG_IGN);
    signal (SIGQUIT, SIG_IGN);
    sigprocmask (SIG_SETMASK, &none, NULL);
    snprintf (number, sizeof (number), "%d", fd);
    if (link->finishing)
        setenv (STEP_CLIENT_OVER, "1", 1);
    if (program && setenv (STEP_CLIENT_AGAIN, number, 1) == 0
        && fcntl (fd, F_SETFD, 0) == 0)
        execv (program, argv);
    _exit (1);
}

static int start_helper (struct run_link *link)
{
    int fds[2];
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    link->helper_pid = fork ();
    if (link->helper_pid == 0)
        become_helper (link, fds[1]);
    close (fds[1]);
    link->helper.fd = fds[0];
    if (link->helper_pid < 0) {
        close_helper (link);
        return -EAGAIN;
    }
    loop_watch (link->loop, &link->helper, EPOLLIN);
    return 0;
}

static void lose (struct run_link *link, const char *why)
{
    loop_watch (link->loop, &link->agent, 0);
    close (link->agent.fd);
    link->agent.fd = -1;
    link->len = 0;
    if (!link->is_session) {
        link->lost (link->ctx, why);
        return;
    }
    resumable_lost (&link->out);
    if (start_helper (link) < 0)
        link->lost (link->ctx, why);
}

/* -- life -- */

static int open_session (struct run_link *link, const char *text, struct error *err)
{
    const char *grace = getenv (STEP_CLIENT_GRACE);
    int64_t seconds = 0;
    if (!session_parse (text, link->token))
        return error_set (err, EINVAL, STEP_CLIENT_SESSION ": '%s' is not a session",
                          text);
    if (grace && parse_int (grace, 0, INT32_MAX, &seconds, STEP_CLIENT_GRACE, err) < 0)
        return -EINVAL;
    link->is_session = true;
    resumable_open (&link->out);
    resumable_hello (&link->out, SESSION_NEW, link->token, (uint64_t)seconds, 4);
    link->out.held = true;
    flush (link);
    return 0;
}

int run_link_open (struct run_link *link, pid_t *ret_agent, struct error *err)
{
    bool given = getenv (STEP_CLIENT_FD) != NULL;
    const char *session = given ? getenv (STEP_CLIENT_SESSION) : NULL;
    link->helper = (struct loop_io){ .fd = -1, .ready = on_helper };
    link->agent =
        (struct loop_io){ .fd = run_connect (ret_agent, err), .ready = on_agent };
    if (link->agent.fd < 0)
        return link->agent.fd;
    link->buf = malloc (RECEIVE);
    if (!link->buf)
        return error_no_memory (err, NULL);
    unsetenv (STEP_CLIENT_FD);
    return session ? open_session (link, session, err) : 0;
}

void run_link_close (struct run_link *link)
{
    if (link->helper_pid > 0)
        kill (link->helper_pid, SIGTERM);
    close_helper (link);
    resumable_release (&link->out);
    free (link->buf);
}
