/* watch.c - see watch.h */
#include "cmd/client/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/clock.h"

static int note_change (const char *data, size_t len, void *arg)
{
    const int *fd = arg;

    (void)data;
    (void)len;
    /* A full pipe holds enough notes. */
    return write (*fd, "", 1) == 1 || errno == EAGAIN ? 0 : -EPIPE;
}

/* The child: reads the stream until it ends or the pipe has no reader. */
static _Noreturn void read_stream (const struct watch *w, int fd)
{
    struct http_response r = { 0 };
    struct error err = { 0 };

    signal (SIGINT, SIG_DFL);
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    struct http_client *client = http_client_open (w->c->broker, &err);
    if (client)
        http_client_stream (client, "GET", w->target, note_change, &fd, &r, &err);
    _exit (0);
}

static int open_stream (struct watch *w)
{
    int fds[2];

    if (pipe2 (fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return cmd_fail (w->c, "cannot make a pipe: %s", strerror (errno));
    fflush (stdout);
    w->pid = fork ();
    if (w->pid == 0) {
        close (fds[0]);
        read_stream (w, fds[1]);
    }
    close (fds[1]);
    w->fd = fds[0];
    if (w->pid > 0)
        return CMD_OK;
    close (w->fd);
    return cmd_fail (w->c, "cannot start a process: %s", strerror (errno));
}

static void close_stream (struct watch *w)
{
    if (w->pid <= 0)
        return;
    kill (w->pid, SIGKILL);
    while (waitpid (w->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close (w->fd);
    w->pid = 0;
}

int watch_start (struct watch *w, struct cmd *c, const char *target)
{
    *w = (struct watch){ .c = c, .target = strdup (target), .last = clock_mono () };
    if (!w->target)
        return cmd_fail (c, "out of memory");
    if (open_stream (w) == CMD_OK)
        return CMD_OK;
    free (w->target);
    return c->status;
}

void watch_stop (struct watch *w)
{
    close_stream (w);
    free (w->target);
    w->target = NULL;
}

/* Reads all notes; false: the stream has ended. */
static bool drain (struct watch *w)
{
    char buf[512];
    ssize_t n;

    while ((n = read (w->fd, buf, sizeof (buf))) > 0)
        ;
    return n < 0;
}

int watch_next (struct watch *w, double least, double most)
{
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    double limit = most > 0 ? w->last + most - clock_mono () : 0;
    int rc = 0;

    if (most <= 0 || limit > 0)
        rc = poll (&p, 1, most > 0 ? (int)(limit * 1000) + 1 : -1);
    if (cmd_interrupted ())
        return CMD_INTERRUPTED;
    double early = w->last + least - clock_mono ();
    if (early > 0 && !cmd_sleep (early))
        return CMD_INTERRUPTED;
    if (rc > 0 && !drain (w)) {
        close_stream (w);
        if (!cmd_sleep (1))
            return CMD_INTERRUPTED;
        if (open_stream (w) != CMD_OK)
            return w->c->status;
    }
    w->last = clock_mono ();
    return CMD_OK;
}
