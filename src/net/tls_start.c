/* tls_start.c - see tls_start.h */
#include "net/tls_start.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/program_path.h"
#include "net/tls_report.h"

#define PROGRAM "fluxq-tls"
#define REPORT_SECONDS 60.0 /* several addresses, and the handshake */

/* In the helper's process. The command's other descriptors would keep files and pipes of
 * others open. */
static void become (const char *path, int fd, const char *host, const char *port)
{
    sigset_t none;
    int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    null = fcntl (null, F_DUPFD, 3); /* a command may have no standard input */
    fd = fcntl (fd, F_DUPFD, 3);
    if (null >= 0 && fd >= 0 && dup2 (fd, 0) == 0 && dup2 (null, 1) == 1
        && dup2 (null, 2) == 2 && close_range (3, ~0U, 0) == 0)
        execl (path, PROGRAM, host, port, (char *)NULL);
    _exit (127);
}

/* The helper is the child of a child that ends at once, so init waits for it. */
static int spawn (const char *path, int fd, const char *host, const char *port)
{
    pid_t pid = fork ();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        setsid ();
        pid = fork ();
        if (pid == 0)
            become (path, fd, host, port);
        _exit (pid < 0);
    }
    while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

static int wait_readable (int fd, double until)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    double left = until - clock_mono ();
    int n = left > 0 ? poll (&p, 1, (int)(left * 1000) + 1) : 0;

    return n > 0 || (n < 0 && errno == EINTR) ? 0 : n == 0 ? -ETIMEDOUT : -errno;
}

static int read_report (int fd, struct tls_report *report)
{
    double until = clock_mono () + REPORT_SECONDS;
    size_t got = 0;

    while (got < sizeof (*report)) {
        int rc = wait_readable (fd, until);
        if (rc < 0)
            return rc;
        ssize_t n = recv (fd, (char *)report + got, sizeof (*report) - got, MSG_DONTWAIT);
        if (n == 0)
            return -EPIPE;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        got += n > 0 ? (size_t)n : 0;
    }
    report->text[sizeof (report->text) - 1] = '\0';
    return 0;
}

/* Takes over fd; the result of tls_start(). */
static int take_report (int fd, struct tls_channel *channel, struct error *err)
{
    struct tls_report report;
    int rc = read_report (fd, &report);

    if (rc == 0 && report.status == 0) {
        memcpy (channel->name, report.channel, TLS_CHANNEL_SIZE);
        channel->identified = report.identified;
        return fd;
    }
    close (fd);
    if (rc < 0)
        return error_errno (err, -rc, "no answer from " PROGRAM);
    return error_set (err, report.status, "%s", report.text);
}

int tls_start (const char *host, const char *port, struct tls_channel *channel,
               struct error *err)
{
    char path[PATH_MAX];
    int pair[2];

    int rc = program_path ("net", PROGRAM, path, err);
    if (rc < 0)
        return rc;
    if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno (err, errno, "socket pair for " PROGRAM);
    rc = spawn (path, pair[1], host, port);
    close (pair[1]);
    if (rc < 0) {
        close (pair[0]);
        return error_errno (err, -rc, "start of " PROGRAM);
    }
    return take_report (pair[0], channel, err);
}
