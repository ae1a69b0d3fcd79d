/* guardian.c - keeps the process id that the executor knows, and waits for the worker */
#include "shell/agent/guardian.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "common/macros.h"
#include "shell/step/descendants.h"

#define KILL_SECONDS 30

static int fail (const char *what)
{
    dprintf (STDERR_FILENO, "fluxq-shell: %s: %s\n", what, strerror (errno));
    return 1;
}

static void block_signals (sigset_t *set)
{
    sigemptyset (set);
    sigaddset (set, SIGCHLD);
    sigaddset (set, SIGTERM);
    sigaddset (set, SIGINT);
    sigaddset (set, SIGHUP);
    sigprocmask (SIG_BLOCK, set, NULL);
}

/* Passes signals on and reaps other children (as PID 1, processes of `kubectl exec`)
 * until the worker is dead. Returns the worker's wait status. */
static int wait_for_worker (pid_t worker, const sigset_t *set)
{
    for (;;) {
        siginfo_t info;
        int sig = sigwaitinfo (set, &info);
        int status;
        pid_t pid;
        if (sig > 0 && sig != SIGCHLD)
            kill (worker, sig);
        while ((pid = waitpid (-1, &status, WNOHANG)) > 0)
            if (pid == worker)
                return status;
    }
}

/* Kills the processes that the worker left. */
static void kill_the_rest (void)
{
    const struct timespec pause = { 0, 10 * 1000 * 1000 };
    for (int i = 0; i < KILL_SECONDS * 100 && !descendants_kill (NULL, NULL); i++)
        nanosleep (&pause, NULL);
}

int guardian_run (int (*work) (void *arg, int guardian_fd), void *arg)
{
    int fds[2];
    sigset_t set;
    descendants_note_init ();
    if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
        return fail ("prctl");
    if (pipe2 (fds, O_CLOEXEC) < 0)
        return fail ("pipe");
    block_signals (&set);
    pid_t worker = fork ();
    if (worker < 0)
        return fail ("fork");
    if (worker == 0) {
        close (fds[1]);
        if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
            _exit (fail ("prctl"));
        exit (work (arg, fds[0]));
    }
    close (fds[0]);
    int status = wait_for_worker (worker, &set);
    kill_the_rest ();
    if (WIFSIGNALED (status)) {
        dprintf (STDERR_FILENO, "fluxq-shell: the agent died: %s\n",
                 strsignal (WTERMSIG (status)));
        return 1;
    }
    return WEXITSTATUS (status);
}
