#include "shell/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/frame.h"
#include "common/macros.h"
#include "shell/descend.h"
#include "shell/env.h"
#include "shell/infile.h"
#include "shell/oom.h"

#define TICK 0.05        /* seconds */
#define QUIET 0.2        /* so long without output after the task's death */
#define QUIET_LATEST 2.0 /* what was left behind may write on for ever */
#define KILL_AGAIN 0.01
#define BUSY_TRIES 500 /* for a script that somebody still has open for writing */
#define BUSY_PAUSE_MS 10

struct task_pipe {
    struct loop_io io; /* fd -1: at its end */
    struct task *task;
    int stream;
};

struct task {
    struct tasks *tasks;
    pid_t pid;
    uint32_t id;
    int status;
    bool dead;
    bool reported;
    double died;
    double heard; /* last output */
    struct task_pipe pipes[2];
};

struct tasks {
    struct loop *loop;
    const struct launch *launch;
    uint32_t rank;
    const struct task_events *events;
    void *ctx;
    struct task *v;
    uint32_t n;
    uint32_t running;
    int cwd_fd;
    const char *cwd;
    bool killing;
    struct loop_timer tick;
    struct loop_timer again;
    struct rlimit nofile;
    uint64_t oom_before; /* see oom.h */
    char buf[FRAME_DATA_MAX];
};

static void on_tick (struct loop_timer *timer);
static void on_kill_again (struct loop_timer *timer);

uint32_t tasks_count (const struct launch *launch, uint32_t rank)
{
    if (launch->batch)
        return rank == 0;
    return launch->nodes[rank].ntasks;
}

static uint32_t tasks_first (const struct launch *launch, uint32_t rank)
{
    return launch->batch ? 0 : launch_first_task (launch, rank);
}

struct tasks *tasks_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct task_events *events, void *ctx)
{
    struct tasks *tasks = calloc (1, sizeof (*tasks));
    if (!tasks)
        return NULL;
    tasks->loop = loop;
    tasks->launch = launch;
    tasks->rank = rank;
    tasks->events = events;
    tasks->ctx = ctx;
    tasks->cwd_fd = -1;
    tasks->tick.fire = on_tick;
    tasks->again.fire = on_kill_again;
    /* Many descriptors for the agent, what the user is used to for the tasks. */
    getrlimit (RLIMIT_NOFILE, &tasks->nofile);
    struct rlimit most = { tasks->nofile.rlim_max, tasks->nofile.rlim_max };
    setrlimit (RLIMIT_NOFILE, &most);
    return tasks;
}

static void close_pipe (struct task_pipe *p)
{
    if (p->io.fd < 0)
        return;
    loop_watch (p->task->tasks->loop, &p->io, 0);
    close (p->io.fd);
    p->io.fd = -1;
}

void tasks_destroy (struct tasks *tasks)
{
    if (!tasks)
        return;
    for (uint32_t i = 0; i < tasks->n; i++)
        for (int s = 0; s < 2; s++)
            close_pipe (&tasks->v[i].pipes[s]);
    loop_timer_clear (tasks->loop, &tasks->tick);
    loop_timer_clear (tasks->loop, &tasks->again);
    if (tasks->cwd_fd >= 0)
        close (tasks->cwd_fd);
    free (tasks->v);
    free (tasks);
}

int tasks_enter_cwd (struct tasks *tasks, bool *ret_fell_back, struct error *err)
{
    const char *cwd = tasks->launch->cwd ? tasks->launch->cwd : "/";
    *ret_fell_back = false;
    if (tasks_count (tasks->launch, tasks->rank) == 0)
        return 0;
    int fd = open (cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && faccessat (fd, ".", X_OK, AT_EACCESS) < 0) {
        int errnum = errno;
        close (fd);
        errno = errnum;
        fd = -1;
    }
    if (fd < 0 && tasks->launch->cwd_fallback) {
        *ret_fell_back = true;
        cwd = "/";
        fd = open (cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return error_errno (err, errno, "cannot change to directory %s", cwd);
    tasks->cwd_fd = fd;
    tasks->cwd = cwd;
    return infile_check (tasks->launch, tasks->rank,
                         tasks_first (tasks->launch, tasks->rank),
                         tasks_count (tasks->launch, tasks->rank), fd, err);
}

/* In the child: say why on the task's stderr, with the exit status of a shell. */
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

/* In the child, before exec: everything that the agent changed for itself back to normal.
 * */
static void become_task (const struct tasks *tasks, pid_t agent, int in, int out, int err)
{
    sigset_t none;
    setsid ();
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != agent)
        _exit (126); /* the agent died before the line above */
    for (int sig = 1; sig < NSIG; sig++)
        signal (sig, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    setrlimit (RLIMIT_NOFILE, &tasks->nofile);
    umask ((mode_t)tasks->launch->umask & 0777);
    if (dup2 (in, 0) < 0 || dup2 (out, 1) < 0 || dup2 (err, 2) < 0
        || fcntl (0, F_SETFD, 0) < 0) /* in may have been 0 */
        _exit (126);
    if (fchdir (tasks->cwd_fd) < 0)
        exec_failed (tasks->cwd, errno);
}

/* The broker wrote the script a moment ago; if it forked meanwhile, that child holds the file open for
 * writing until its own exec, and the kernel says "Text file busy". */
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

static void run_child (const struct tasks *tasks, pid_t agent, int in, int out, int err,
                       char **envp)
{
    const struct launch *l = tasks->launch;
    become_task (tasks, agent, in, out, err);
    environ = envp;
    if (l->batch) {
        char **argv = calloc (l->nargs + 2, sizeof (char *));
        if (!argv)
            _exit (126);
        argv[0] = l->script;
        for (size_t i = 0; i < l->nargs; i++)
            argv[i + 1] = l->args[i];
        exec_script (argv);
    }
    execvp (l->args[0], l->args);
    exec_failed (l->args[0], errno);
}

/* Take one piece of at most max bytes: > 0 taken, 0 end of file, -EAGAIN nothing there
 * now. */
static ssize_t take (struct task_pipe *p, size_t max)
{
    struct tasks *tasks = p->task->tasks;
    ssize_t n;
    do {
        n = read (p->io.fd, tasks->buf, MIN (max, sizeof (tasks->buf)));
    } while (n < 0 && errno == EINTR);
    if (n > 0) {
        p->task->heard = loop_now ();
        tasks->events->output (tasks->ctx, p->task->id, p->stream, tasks->buf, (size_t)n);
    } else if (n == 0 || errno != EAGAIN) {
        close_pipe (p);
        return 0;
    }
    return n > 0 ? n : -EAGAIN;
}

static void report (struct task *task)
{
    struct tasks *tasks = task->tasks;
    task->reported = true;
    tasks->running--;
    bool oom = task->status != 0 && oom_kills () > tasks->oom_before;
    tasks->events->exited (tasks->ctx, task->id, task->status, oom);
}

static void report_if_drained (struct task *task, double now)
{
    if (!task->dead || task->reported)
        return;
    bool drained = task->pipes[0].io.fd < 0 && task->pipes[1].io.fd < 0;
    if (drained || now - MAX (task->died, task->heard) >= QUIET
        || now - task->died >= QUIET_LATEST)
        report (task);
    else if (!task->tasks->tick.armed)
        loop_timer_set (task->tasks->loop, &task->tasks->tick, now + TICK);
}

static void on_tick (struct loop_timer *timer)
{
    struct tasks *tasks = CONTAINER_OF (timer, struct tasks, tick);
    double now = loop_now ();
    for (uint32_t i = 0; i < tasks->n; i++)
        report_if_drained (&tasks->v[i], now);
}

static void on_pipe (struct loop_io *io, uint32_t events)
{
    struct task_pipe *p = CONTAINER_OF (io, struct task_pipe, io);
    struct tasks *tasks = p->task->tasks;
    (void)events;
    size_t room = tasks->events->room (tasks->ctx);
    if (room == 0) {
        loop_watch (tasks->loop, io, 0);
        return;
    }
    if (take (p, room) == 0)
        report_if_drained (p->task, loop_now ());
}

void tasks_resume (struct tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->n; i++)
        for (int s = 0; s < 2; s++)
            if (tasks->v[i].pipes[s].io.fd >= 0)
                loop_watch (tasks->loop, &tasks->v[i].pipes[s].io, EPOLLIN);
}

/* What a dead task left in its pipes is taken whether there is room or not: it is bounded
 * by the pipes, and the end of the job must not wait for it. */
static void take_rest (struct task *task)
{
    for (int s = 0; s < 2; s++) {
        struct task_pipe *p = &task->pipes[s];
        int left = 0;
        if (p->io.fd < 0)
            continue;
        if (ioctl (p->io.fd, FIONREAD, &left) < 0)
            left = 0;
        while (left > 0) {
            ssize_t n = take (p, (size_t)left);
            if (n <= 0)
                break;
            left -= (int)n;
        }
        /* An empty pipe: learn whether that was the end of it. */
        if (p->io.fd >= 0 && ioctl (p->io.fd, FIONREAD, &left) == 0 && left == 0)
            take (p, 1);
    }
}

static void on_reaped (void *arg, pid_t pid, int status)
{
    struct tasks *tasks = arg;
    for (uint32_t i = 0; i < tasks->n; i++) {
        struct task *task = &tasks->v[i];
        if (task->pid != pid || task->dead)
            continue;
        task->dead = true;
        task->status = status;
        task->died = loop_now ();
        take_rest (task);
        report_if_drained (task, task->died);
        return;
    }
}

void tasks_reap (struct tasks *tasks)
{
    int status;
    pid_t pid;
    while ((pid = waitpid (-1, &status, WNOHANG)) > 0)
        on_reaped (tasks, pid, status);
    if (tasks->killing)
        on_kill_again (&tasks->again);
}

static void on_kill_again (struct loop_timer *timer)
{
    struct tasks *tasks = CONTAINER_OF (timer, struct tasks, again);
    if (!tasks->killing)
        return;
    loop_timer_clear (tasks->loop, timer);
    if (!descend_kill (on_reaped, tasks)) {
        loop_timer_set (tasks->loop, timer, loop_now () + KILL_AGAIN);
        return;
    }
    tasks->killing = false;
    for (uint32_t i = 0; i < tasks->n; i++) {
        take_rest (&tasks->v[i]);
        if (!tasks->v[i].reported)
            report (&tasks->v[i]);
        for (int s = 0; s < 2; s++)
            close_pipe (&tasks->v[i].pipes[s]);
    }
    tasks->events->killed (tasks->ctx);
}

void tasks_kill (struct tasks *tasks)
{
    if (tasks->killing)
        return;
    tasks->killing = true;
    on_kill_again (&tasks->again);
}

void tasks_signal (struct tasks *tasks, int sig)
{
    (void)tasks;
    descend_signal (sig);
}

static int start_one (struct tasks *tasks, uint32_t local, uint64_t end_time,
                      struct error *err)
{
    struct task *task = &tasks->v[local];
    int out[2] = { -1, -1 }, errs[2] = { -1, -1 };
    struct env_context ctx = { .launch = tasks->launch,
                               .rank = tasks->rank,
                               .task = task->id,
                               .local = local,
                               .cwd = tasks->cwd,
                               .end_time = end_time,
                               .default_path = getenv ("PATH") };
    char **envp = env_make (&ctx, err);
    if (!envp)
        return -EINVAL;
    int rc = 0;
    int in = infile_open (tasks->launch, tasks->rank, task->id, tasks->cwd_fd, err);
    if (in < 0) {
        env_free (envp);
        return in;
    }
    if (pipe2 (out, O_CLOEXEC) < 0 || pipe2 (errs, O_CLOEXEC) < 0)
        rc = -errno;
    pid_t agent = getpid ();
    if (rc == 0 && (task->pid = fork ()) < 0)
        rc = -errno;
    if (rc == 0 && task->pid == 0)
        run_child (tasks, agent, in, out[1], errs[1], envp);
    env_free (envp);
    close (in);
    close (out[1]);
    close (errs[1]);
    if (rc < 0) {
        close (out[0]);
        close (errs[0]);
        return error_errno (err, -rc, "cannot start task %u", task->id);
    }
    int fds[2] = { out[0], errs[0] };
    for (int s = 0; s < 2; s++) {
        fcntl (fds[s], F_SETFL, O_NONBLOCK);
        task->pipes[s] = (struct task_pipe){ { fds[s], 0, on_pipe }, task, s + 1 };
        loop_watch (tasks->loop, &task->pipes[s].io, EPOLLIN);
    }
    return 0;
}

int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err)
{
    uint32_t n = tasks_count (tasks->launch, tasks->rank);
    uint32_t first = tasks_first (tasks->launch, tasks->rank);
    if (!tasks->launch->batch && n > 0 && tasks->launch->nargs == 0)
        return error_set (err, EINVAL, "no command to run");
    tasks->v = calloc (MAX (n, 1u), sizeof (*tasks->v));
    if (!tasks->v)
        return error_set (err, ENOMEM, "no memory");
    tasks->oom_before = oom_kills ();
    for (uint32_t i = 0; i < n; i++) {
        tasks->v[i].tasks = tasks;
        tasks->v[i].id = first + i;
        int rc = start_one (tasks, i, end_time, err);
        if (rc < 0)
            return rc;
        tasks->n++;
        tasks->running++;
    }
    return 0;
}
