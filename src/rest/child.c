/* child.c - see child.h */
#include "rest/child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/io.h"
#include "net/http_client.h"

#define RESULT_FD 3

static void reset_signals (void)
{
    sigset_t none;

    for (int signum = 1; signum < NSIG; signum++)
        signal (signum, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
}

/* Closes all descriptors but the standard ones and the pipe. */
static bool keep_only (int fd)
{
    if (fd != RESULT_FD && dup2 (fd, RESULT_FD) < 0)
        return false;
    return close_range (RESULT_FD + 1, ~0U, 0) == 0
           && fcntl (RESULT_FD, F_SETFD, FD_CLOEXEC) == 0;
}

static void answer (struct rest_call *call)
{
    json_t *members = call->route->fn (call);
    autofree char *text = rest_answer (
        call, json_array_size (call->errors) ? (json_decref (members), NULL) : members);
    char status[16];
    int n = snprintf (status, sizeof (status), "%d\n", call->status);

    if (text && io_write_all (RESULT_FD, status, (size_t)n) >= 0)
        io_write_all (RESULT_FD, text, strlen (text));
}

static void run (struct rest_call *call, const char *token, double seconds, pid_t parent,
                 int fd)
{
    reset_signals ();
    if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent || !keep_only (fd))
        _exit (1);
    alarm ((unsigned)seconds);
    if (token && setenv (HTTP_TOKEN_VARIABLE, token, 1) < 0)
        _exit (1);
    answer (call);
    _exit (0);
}

pid_t rest_child_start (struct rest_call *call, const char *token, double seconds,
                        int *ret_fd)
{
    pid_t parent = getpid (), pid;
    int fds[2];

    if (pipe2 (fds, O_CLOEXEC) < 0)
        return -errno;
    fflush (NULL);
    if ((pid = fork ()) == 0)
        run (call, token, seconds, parent, fds[1]);
    int code = errno;
    close (fds[1]);
    if (pid < 0) {
        close (fds[0]);
        return -code;
    }
    io_set_nonblock (fds[0]);
    *ret_fd = fds[0];
    return pid;
}
