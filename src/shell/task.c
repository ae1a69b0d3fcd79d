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
#include "common/rlimits.h"
#include "shell/cgroup.h"
#include "shell/cpubind.h"
#include "shell/descend.h"
#include "shell/env.h"
#include "shell/infile.h"
#include "shell/pty.h"
#include "shell/wire.h"

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
    struct taskset *set;
    pid_t pid;
    uint32_t id;
    int status;
    struct use use; /* with what it left behind */
    bool dead;
    bool reported;
    double died;
    double heard; /* last output */
    struct task_pipe pipes[2];
    struct task_pipe input; /* fd -1: none, or closed */
    struct outbuf waiting;  /* for it */
    bool input_ends;        /* behind that */
    bool pty;               /* both pipes and input are its terminal */
};

struct taskset {
    struct tasks *tasks;
    const struct task_events *events;
    void *ctx;
    struct task *v;
    uint32_t n, room;
    uint32_t running;
    uint64_t oom_before; /* see cgroup.h */
    struct taskset *next;
};

struct tasks {
    struct loop *loop;
    const struct launch *launch;
    uint32_t rank;
    struct taskset *sets;             /* all */
    struct taskset *own;              /* the job's, also in `sets` */
    const struct task_events *events; /* of the job's */
    void *ctx;
    int cwd_fd;
    const char *cwd;
    uint64_t end_time;
    bool killing;
    struct use ended; /* by sets that are gone, and by what is nobody's */
    struct loop_timer tick;
    struct loop_timer again;
    struct rlimit nofile;
    struct rlimits rlimits;       /* of the launch file */
    struct idset *cpus, *allowed; /* that the job's own tasks may use; NULL: any */
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
    for (size_t i = 0; i < launch->nrlimits; i++)
        rlimits_add (&tasks->rlimits, launch->rlimits[i], NULL);
    getrlimit (RLIMIT_NOFILE, &tasks->nofile);
    struct rlimit most = { tasks->nofile.rlim_max, tasks->nofile.rlim_max };
    setrlimit (RLIMIT_NOFILE, &most);
    return tasks;
}

static void close_pipe (struct task_pipe *p)
{
    if (p->io.fd < 0)
        return;
    loop_watch (p->task->set->tasks->loop, &p->io, 0);
    close (p->io.fd);
    p->io.fd = -1;
}

static void close_input (struct task *task)
{
    const struct task_events *events = task->set->events;
    size_t rest = task->waiting.len;

    close_pipe (&task->input);
    outbuf_release (&task->waiting);
    if (rest > 0 && events->taken)
        events->taken (task->set->ctx, task->id, rest);
}

void tasks_destroy (struct tasks *tasks)
{
    if (!tasks)
        return;
    while (tasks->sets)
        taskset_destroy (tasks->sets);
    loop_timer_clear (tasks->loop, &tasks->tick);
    loop_timer_clear (tasks->loop, &tasks->again);
    if (tasks->cwd_fd >= 0)
        close (tasks->cwd_fd);
    idset_destroy (tasks->cpus);
    idset_destroy (tasks->allowed);
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

/* What a child needs of its parent. */
struct birth {
    const struct tasks *tasks;
    const struct task_start *how;
    pid_t agent;
    int in, out, err; /* in: -1: /dev/null */
};

/* In the child, before exec: everything that the agent changed for itself back to normal.
 * */
static void become_task (const struct birth *b)
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
        setpriority (PRIO_PROCESS, 0, (int)b->tasks->launch->nice);
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

static void run_child (const struct birth *b)
{
    become_task (b);
    environ = b->how->env;
    if (b->how->is_script)
        exec_script (b->how->argv);
    execvp (b->how->argv[0], b->how->argv);
    exec_failed (b->how->argv[0], errno);
}

/* Take one piece of at most max bytes: > 0 taken, 0 end of file, -EAGAIN nothing there
 * now. */
static ssize_t take (struct task_pipe *p, size_t max)
{
    struct taskset *set = p->task->set;
    char *buf = set->tasks->buf;
    ssize_t n;
    do {
        n = read (p->io.fd, buf, MIN (max, sizeof (set->tasks->buf)));
    } while (n < 0 && errno == EINTR);
    if (n > 0) {
        p->task->heard = loop_now ();
        set->events->output (set->ctx, p->task->id, p->stream, buf, (size_t)n);
    } else if (n == 0 || errno != EAGAIN) {
        close_pipe (p);
        return 0;
    }
    return n > 0 ? n : -EAGAIN;
}

static void report (struct task *task)
{
    struct taskset *set = task->set;
    task->reported = true;
    set->running--;
    close_input (task);
    bool oom = task->status != 0 && cgroup_oom_kills () > set->oom_before;
    set->events->exited (set->ctx, task->id, task->status, oom);
}

static void report_if_drained (struct task *task, double now)
{
    struct tasks *tasks = task->set->tasks;
    if (!task->dead || task->reported)
        return;
    bool drained = task->pipes[0].io.fd < 0 && task->pipes[1].io.fd < 0;
    if (drained || now - MAX (task->died, task->heard) >= QUIET
        || now - task->died >= QUIET_LATEST)
        report (task);
    else if (!tasks->tick.armed)
        loop_timer_set (tasks->loop, &tasks->tick, now + TICK);
}

/* A set may be destroyed once its last task is reported: by then nothing here looks at it
 * again. */
static void on_tick (struct loop_timer *timer)
{
    struct tasks *tasks = CONTAINER_OF (timer, struct tasks, tick);
    double now = loop_now ();
    for (struct taskset *set = tasks->sets, *next; set; set = next) {
        next = set->next;
        for (uint32_t i = 0, n = set->n, left = set->running; i < n && left > 0; i++) {
            left -= !set->v[i].reported;
            report_if_drained (&set->v[i], now);
        }
    }
}

static void on_pipe (struct loop_io *io, uint32_t events)
{
    struct task_pipe *p = CONTAINER_OF (io, struct task_pipe, io);
    struct taskset *set = p->task->set;
    (void)events;
    size_t room = set->events->room (set->ctx);
    if (room == 0) {
        loop_watch (set->tasks->loop, io, 0);
        return;
    }
    if (take (p, room) == 0)
        report_if_drained (p->task, loop_now ());
}

void taskset_resume (struct taskset *set)
{
    for (uint32_t i = 0; i < set->n; i++)
        for (int s = 0; s < 2; s++)
            if (set->v[i].pipes[s].io.fd >= 0)
                loop_watch (set->tasks->loop, &set->v[i].pipes[s].io, EPOLLIN);
}

void tasks_resume (struct tasks *tasks)
{
    if (tasks->own)
        taskset_resume (tasks->own);
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

static struct task *find_task (struct tasks *tasks, pid_t pid)
{
    for (struct taskset *set = tasks->sets; set; set = set->next)
        for (uint32_t i = 0; i < set->n; i++)
            if (set->v[i].pid == pid && !set->v[i].dead)
                return &set->v[i];
    return NULL;
}

/* The task that has begun this session. */
static struct task *find_leader (struct tasks *tasks, pid_t session)
{
    for (struct taskset *set = tasks->sets; set && session > 0; set = set->next)
        for (uint32_t i = 0; i < set->n; i++)
            if (set->v[i].pid == session)
                return &set->v[i];
    return NULL;
}

/* What a task did not wait for has become our child: it counts as the task's. */
static void count_orphan (struct tasks *tasks, const struct reaped *dead)
{
    struct task *task = find_leader (tasks, dead->session);
    use_join (task ? &task->use : &tasks->ended, &dead->use);
}

static void on_reaped (void *arg, const struct reaped *dead)
{
    struct task *task = find_task (arg, dead->pid);
    if (!task) {
        count_orphan (arg, dead);
        return;
    }
    use_join (&task->use, &dead->use);
    task->dead = true;
    task->status = dead->status;
    task->died = loop_now ();
    take_rest (task);
    report_if_drained (task, task->died);
}

void tasks_reap (struct tasks *tasks)
{
    struct reaped dead;
    while (reap_next (&dead) > 0)
        on_reaped (tasks, &dead);
    if (tasks->killing)
        on_kill_again (&tasks->again);
}

/* Nothing lives any more: what has not been reported is. The last report may be the end of
 * the set. */
static void end_set (struct taskset *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        take_rest (&set->v[i]);
        for (int s = 0; s < 2; s++)
            close_pipe (&set->v[i].pipes[s]);
    }
    for (uint32_t i = 0, left = set->running; left > 0; i++) {
        if (set->v[i].reported)
            continue;
        left--;
        report (&set->v[i]);
    }
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
    for (struct taskset *set = tasks->sets, *next; set; set = next) {
        next = set->next;
        end_set (set);
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

static void signal_leaders (const struct taskset *set, int sig)
{
    for (uint32_t i = 0; set && i < set->n; i++)
        if (!set->v[i].dead && set->v[i].pid > 0)
            kill (set->v[i].pid, sig);
}

void tasks_signal (struct tasks *tasks, int sig, enum tasks_whom whom)
{
    if (whom == TASKS_ALL)
        descend_signal (sig);
    else if (whom == TASKS_BATCH)
        signal_leaders (tasks->own, sig);
    for (struct taskset *set = tasks->sets; set && whom == TASKS_STEPS; set = set->next)
        if (set != tasks->own)
            taskset_signal (set, sig);
}

/* -- start -- */

struct taskset *taskset_create (struct tasks *tasks, uint32_t n,
                                const struct task_events *events, void *ctx)
{
    struct taskset *set = calloc (1, sizeof (*set));
    if (!set || !(set->v = calloc (MAX (n, 1u), sizeof (*set->v)))) {
        free (set);
        return NULL;
    }
    set->tasks = tasks;
    set->room = n;
    set->events = events;
    set->ctx = ctx;
    set->oom_before = cgroup_oom_kills ();
    set->next = tasks->sets;
    tasks->sets = set;
    return set;
}

void taskset_destroy (struct taskset *set)
{
    struct taskset **at = &set->tasks->sets;
    static const struct task_events nobody = { 0 };
    set->events = &nobody;
    taskset_signal (set, SIGKILL);
    while (*at != set)
        at = &(*at)->next;
    *at = set->next;
    struct use use = taskset_use (set);
    use_join (&set->tasks->ended, &use);
    if (set == set->tasks->own)
        set->tasks->own = NULL;
    for (uint32_t i = 0; i < set->n; i++) {
        for (int s = 0; s < 2; s++)
            close_pipe (&set->v[i].pipes[s]);
        close_input (&set->v[i]);
    }
    loop_free_later (set->tasks->loop, set->v);
    loop_free_later (set->tasks->loop, set);
}

struct use taskset_use (const struct taskset *set)
{
    struct use sum = { 0 };
    for (uint32_t i = 0; i < set->n; i++)
        use_add (&sum, &set->v[i].use);
    return sum;
}

struct use tasks_own_use (const struct tasks *tasks)
{
    return tasks->own ? taskset_use (tasks->own) : (struct use){ 0 };
}

struct use tasks_use (const struct tasks *tasks)
{
    struct use sum = { .known = 1U << USE_USER | 1U << USE_SYSTEM | 1U << USE_PEAK };
    use_join (&sum, &tasks->ended);
    for (const struct taskset *set = tasks->sets; set; set = set->next) {
        struct use use = taskset_use (set);
        use_join (&sum, &use);
    }
    if (cgroup_is_own ()) {
        struct use group = cgroup_use (CGROUP_ROOT);
        use_overrule (&sum, &group);
    }
    return sum;
}

uint32_t taskset_running (const struct taskset *set)
{
    return set->running;
}

void taskset_signal (struct taskset *set, int sig)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (!set->v[i].dead && set->v[i].pid > 0 && kill (-set->v[i].pid, sig) < 0)
            kill (set->v[i].pid, sig); /* it does not lead its session yet */
}

static void flush_input (struct task *task)
{
    const struct taskset *set = task->set;
    size_t before = task->waiting.len;
    int rc = outbuf_write (&task->waiting, task->input.io.fd);
    size_t gone = before - task->waiting.len;
    if (gone > 0)
        set->events->taken (set->ctx, task->id, gone);
    if (rc < 0 || (rc == 1 && task->input_ends))
        close_input (task);
    else
        loop_watch (set->tasks->loop, &task->input.io, rc == 1 ? 0 : EPOLLOUT);
}

static void on_input (struct loop_io *io, uint32_t events)
{
    (void)events;
    flush_input (CONTAINER_OF (io, struct task_pipe, io)->task);
}

void taskset_input (struct taskset *set, uint32_t local, const char *data, size_t len)
{
    struct task *task = &set->v[local];
    if (task->input.io.fd < 0) {
        if (len > 0)
            set->events->taken (set->ctx, task->id, len);
        return;
    }
    if (task->pty && len == 0) /* the descriptor is the terminal: it stays */
        outbuf_add (&task->waiting, PTY_END_OF_FILE, 1);
    else
        task->input_ends = task->input_ends || len == 0;
    outbuf_add (&task->waiting, data, len);
    flush_input (task);
}

void taskset_resize (struct taskset *set, uint32_t local, const struct task_pty *size)
{
    const struct task *task = &set->v[local];
    if (task->pty && task->input.io.fd >= 0)
        pty_resize (task->input.io.fd, size->rows, size->cols);
}

/* The pipes' ends of a birth: the child's in *b, ours here. */
struct pipes {
    int in, out, err;
};

/* A terminal on both sides, a descriptor for each use. */
static int open_terminal (struct birth *b, struct pipes *ours)
{
    const struct task_pty *size = b->how->pty;
    int fds[2];
    int rc = pty_open (size->rows, size->cols, fds);
    if (rc < 0)
        return rc;
    *ours = (struct pipes){ fcntl (fds[0], F_DUPFD_CLOEXEC, 0), fds[0], -1 };
    b->in = fcntl (fds[1], F_DUPFD_CLOEXEC, 0);
    b->out = fcntl (fds[1], F_DUPFD_CLOEXEC, 0);
    b->err = fds[1];
    return ours->in < 0 || b->in < 0 || b->out < 0 ? -EMFILE : 0;
}

static int open_pipes (struct birth *b, struct pipes *ours)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 }, in[2] = { -1, -1 };
    int rc = 0;
    if (b->how->pty)
        return open_terminal (b, ours);
    if (pipe2 (out, O_CLOEXEC) < 0 || pipe2 (err, O_CLOEXEC) < 0
        || (b->how->input && pipe2 (in, O_CLOEXEC) < 0))
        rc = -errno;
    *ours = (struct pipes){ in[1], out[0], err[0] };
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

static void watch_pipes (struct task *task, const struct pipes *p)
{
    int fds[2] = { p->out, p->err };
    for (int s = 0; s < 2; s++) {
        task->pipes[s] = (struct task_pipe){ { fds[s], 0, on_pipe }, task, s + 1 };
        if (fds[s] < 0)
            continue;
        fcntl (fds[s], F_SETFL, O_NONBLOCK);
        loop_watch (task->set->tasks->loop, &task->pipes[s].io, EPOLLIN);
    }
    if (p->in >= 0)
        fcntl (p->in, F_SETFL, O_NONBLOCK);
    task->input = (struct task_pipe){ { p->in, 0, on_input }, task, 0 };
}

int taskset_start (struct taskset *set, const struct task_start *how, struct error *err)
{
    struct task *task = &set->v[set->n];
    struct birth b = { .tasks = set->tasks,
                       .how = how,
                       .agent = getpid (),
                       .in = -1,
                       .out = -1,
                       .err = -1 };
    struct pipes ours = { -1, -1, -1 };
    if (set->n == set->room)
        return error_set (err, EINVAL, "more tasks than were announced");
    int rc = open_pipes (&b, &ours);
    if (rc == 0 && (task->pid = fork ()) < 0)
        rc = -errno;
    if (rc == 0 && task->pid == 0)
        run_child (&b);
    close_if (b.in);
    close_if (b.out);
    close_if (b.err);
    if (rc < 0) {
        close_if (ours.in);
        close_if (ours.out);
        close_if (ours.err);
        return error_errno (err, -rc, "cannot start task %u", how->id);
    }
    task->set = set;
    task->id = how->id;
    task->pty = how->pty != NULL;
    watch_pipes (task, &ours);
    set->n++;
    set->running++;
    return 0;
}

/* -- the job's own -- */

/* The script and its arguments, or the command. Caller frees the array. */
static char **own_argv (const struct launch *l)
{
    char **argv = calloc (l->nargs + 2, sizeof (char *));
    size_t n = 0;
    if (!argv)
        return NULL;
    if (l->batch)
        argv[n++] = l->script;
    for (size_t i = 0; i < l->nargs; i++)
        argv[n++] = l->args[i];
    return argv;
}

/* In the child. */
static void bind_own (void *ctx)
{
    const struct tasks *tasks = ctx;
    if (tasks->cpus && tasks->allowed)
        cpubind_apply (tasks->cpus, tasks->allowed);
}

static void find_cpus (struct tasks *tasks)
{
    const char *text = tasks->launch->nodes[tasks->rank].cores;
    if (!tasks->launch->cores_are_cpus || !text || !text[0])
        return;
    tasks->cpus = idset_decode (text, NULL);
    tasks->allowed = cpubind_allowed (NULL);
}

static int start_own (struct tasks *tasks, char *const *argv, uint32_t id, uint32_t local,
                      struct error *err)
{
    struct env_context ctx = { .launch = tasks->launch,
                               .rank = tasks->rank,
                               .task = id,
                               .local = local,
                               .cwd = tasks->cwd,
                               .end_time = tasks->end_time,
                               .default_path = getenv ("PATH") };
    struct task_start how = { .id = id,
                              .argv = argv,
                              .is_script = tasks->launch->batch,
                              .cwd_fd = tasks->cwd_fd,
                              .cwd = tasks->cwd,
                              .in_fd = -1,
                              .pass_fd = -1,
                              .prepare = bind_own,
                              .prepare_ctx = tasks };
    how.env = env_make (&ctx, err);
    if (!how.env)
        return -EINVAL;
    int rc = how.in_fd = infile_open (tasks->launch, tasks->rank, id, tasks->cwd_fd, err);
    if (rc >= 0)
        rc = taskset_start (tasks->own, &how, err);
    close_if (how.in_fd);
    env_free (how.env);
    return rc;
}

int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err)
{
    const struct launch *l = tasks->launch;
    uint32_t n = tasks_count (l, tasks->rank);
    uint32_t first = tasks_first (l, tasks->rank);
    autofree char **argv = own_argv (l);
    tasks->end_time = end_time;
    find_cpus (tasks);
    tasks->own = taskset_create (tasks, n, tasks->events, tasks->ctx);
    if (!argv || !tasks->own)
        return error_set (err, ENOMEM, "no memory");
    if (!argv[0] && n > 0)
        return error_set (err, EINVAL, "no command to run");
    int rc = 0;
    for (uint32_t i = 0; i < n && rc == 0; i++)
        rc = start_own (tasks, argv, first + i, i, err);
    return rc;
}

void tasks_set_end_time (struct tasks *tasks, uint64_t end_time)
{
    tasks->end_time = end_time;
}

uint64_t tasks_end_time (const struct tasks *tasks)
{
    return tasks->end_time;
}
