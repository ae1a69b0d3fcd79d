/* task_spawn.c - a task's process, from fork() to the exec of its program */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "common/macros.h"
#include "shell/io/pty.h"
#include "shell/step/env_values.h"
#include "shell/step/task_private.h"

#define BUSY_TRIES 500 /* while another process has the script open for writing */
#define BUSY_PAUSE_MS 10

/* In the child: writes the reason to the task's stderr and exits with a shell's
 * status. */
static void exec_failed (const char *program, int errnum)
{
    char text[512];
    const char *hint = "";
    if (errnum == ENOENT && strchr (program, '/') && access (program, F_OK) == 0)
        hint = " (the file is there, but not the interpreter named in its first line)";
    else if (errnum == ENOEXEC)
        hint = " (a script starts with a line like #!/bin/sh)";
    int n = snprintf (text, sizeof (text), "fluxq: cannot execute %.300s: %s%s\n",
                      program, strerror (errnum), hint);
    (void)!write (STDERR_FILENO, text, (size_t)n);
    _exit (errnum == ENOENT ? 127 : 126);
}

/* The data that a child needs from its parent. */
struct task_spawn {
    const struct tasks *tasks;
    const struct task_start *how;
    pid_t agent;
    int in, out, err; /* in: -1: /dev/null */
};

/* In the child, before exec: undoes all settings that the agent made for itself. */
static void become_task (const struct task_spawn *b)
{
    sigset_t none;
    setsid ();
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != b->agent)
        _exit (126); /* the agent died before the line above */
    for (int sig = 1; sig < NSIG; sig++)
        signal (sig, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    setrlimit (RLIMIT_NOFILE, &b->tasks->nofile);
    rlimits_apply (&b->tasks->rlimits);
    if (b->tasks->launch->nice > 0)
        (void)!nice ((int)b->tasks->launch->nice); /* never below the agent's */
    umask ((mode_t)b->tasks->launch->umask & 0777);
    int in = b->in >= 0 ? b->in : b->how->in_fd;
    if (in < 0)
        in = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2 (in, 0) < 0 || dup2 (b->out, 1) < 0 || dup2 (b->err, 2) < 0
        || fcntl (0, F_SETFD, 0) < 0) /* in may have been 0 */
        _exit (126);
    if (b->how->pty && pty_take () < 0)
        _exit (126);
    if (b->how->pass_fd >= 0 && fcntl (b->how->pass_fd, F_SETFD, 0) < 0)
        _exit (126);
    if (fchdir (b->how->cwd_fd) < 0)
        exec_failed (b->how->cwd, errno);
    if (b->how->prepare)
        b->how->prepare (b->how->prepare_ctx);
}

/* The broker has just written the script. If it forked meanwhile, that child holds the
 * file open for writing until its own exec, and execv() fails with "Text file busy". */
static void exec_script (char *const argv[])
{
    const struct timespec pause = { 0, BUSY_PAUSE_MS * 1000000L };
    for (int i = 0; i < BUSY_TRIES; i++) {
        execv (argv[0], argv);
        if (errno != ETXTBSY)
            break;
        nanosleep (&pause, NULL);
    }
    exec_failed (argv[0], errno);
}

/* In the child: writes its number into the room that the environment has for it. */
static void set_pid (char *const env[])
{
    const size_t len = sizeof (ENV_PID "=") - 1;

    for (size_t i = 0; env && env[i]; i++)
        if (!strncmp (env[i], ENV_PID "=", len)
            && strlen (env[i] + len) == strlen (ENV_PID_ROOM))
            snprintf (env[i] + len, sizeof (ENV_PID_ROOM), "%d", (int)getpid ());
}

static void run_child (const struct task_spawn *b)
{
    become_task (b);
    set_pid (b->how->env);
    environ = b->how->env;
    if (b->how->is_script)
        exec_script (b->how->argv);
    execvp (b->how->argv[0], b->how->argv);
    exec_failed (b->how->argv[0], errno);
}

/* Opens a terminal, with a descriptor for each use on both sides. */
static int open_terminal (struct task_spawn *b, struct task_streams *ours)
{
    const struct task_pty *size = b->how->pty;
    int fds[2];
    int rc = pty_open (size->rows, size->cols, fds);
    if (rc < 0)
        return rc;
    *ours = (struct task_streams){ fcntl (fds[0], F_DUPFD_CLOEXEC, 0), fds[0], -1 };
    b->in = fcntl (fds[1], F_DUPFD_CLOEXEC, 0);
    b->out = fcntl (fds[1], F_DUPFD_CLOEXEC, 0);
    b->err = fds[1];
    return ours->in < 0 || b->in < 0 || b->out < 0 ? -EMFILE : 0;
}

static int open_pipes (struct task_spawn *b, struct task_streams *ours)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 }, in[2] = { -1, -1 };
    int rc = 0;
    if (b->how->pty)
        return open_terminal (b, ours);
    if (pipe2 (out, O_CLOEXEC) < 0
        || (b->how->one_stream ? (err[1] = fcntl (out[1], F_DUPFD_CLOEXEC, 0)) < 0
                               : pipe2 (err, O_CLOEXEC) < 0)
        || (b->how->input && pipe2 (in, O_CLOEXEC) < 0))
        rc = -errno;
    *ours = (struct task_streams){ in[1], out[0], err[0] };
    b->in = in[0];
    b->out = out[1];
    b->err = err[1];
    return rc;
}

static void close_if (int fd)
{
    if (fd >= 0)
        close (fd);
}

pid_t task_spawn (const struct tasks *tasks, const struct task_start *how,
                  struct task_streams *ours)
{
    struct task_spawn b = {
        .tasks = tasks, .how = how, .agent = getpid (), .in = -1, .out = -1, .err = -1
    };
    *ours = (struct task_streams){ -1, -1, -1 };
    pid_t pid = open_pipes (&b, ours);
    if (pid == 0 && (pid = fork ()) < 0)
        pid = -errno;
    else if (pid == 0)
        run_child (&b);
    close_if (b.in);
    close_if (b.out);
    close_if (b.err);
    if (pid > 0)
        return pid;
    close_if (ours->in);
    close_if (ours->out);
    close_if (ours->err);
    return pid;
}
