/* task.c - sets of tasks: their output, their input, their ends */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "common/macros.h"
#include "shell/io/pty.h"
#include "shell/step/cgroup.h"
#include "shell/step/task_private.h"

#define TICK 0.05        /* seconds */
#define QUIET 0.2        /* seconds without output after the task's death */
#define QUIET_LATEST 2.0 /* seconds; a process left behind may write forever */

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

/* Takes one piece of at most max bytes. > 0: bytes taken; 0: end of file; -EAGAIN: no
 * bytes now. */
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

void taskset_look (struct taskset *set, double now)
{
    for (uint32_t i = 0, n = set->n, left = set->running; i < n && left > 0; i++) {
        left -= !set->v[i].reported;
        report_if_drained (&set->v[i], now);
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

/* Takes the output left in the pipes of a dead task even without room: the pipes bound
 * it, and the end of the job must not wait for it. */
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
        /* The pipe is empty: find out whether it is at its end. */
        if (p->io.fd >= 0 && ioctl (p->io.fd, FIONREAD, &left) == 0 && left == 0)
            take (p, 1);
    }
}

void task_died (struct task *task, int status)
{
    task->dead = true;
    task->status = status;
    task->died = loop_now ();
    take_rest (task);
    report_if_drained (task, task->died);
}

void taskset_end (struct taskset *set)
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
    if (task->pty && len == 0) /* the descriptor is the terminal: keep it open */
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

static void watch_pipes (struct task *task, const struct task_streams *p)
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
    struct task_streams ours;
    if (set->n == set->room)
        return error_set (err, EINVAL, "more tasks than were announced");
    pid_t pid = task_spawn (set->tasks, how, &ours);
    if (pid < 0)
        return error_errno (err, -pid, "cannot start task %u", how->id);
    task->set = set;
    task->pid = pid;
    task->id = how->id;
    task->pty = how->pty != NULL;
    watch_pipes (task, &ours);
    set->n++;
    set->running++;
    return 0;
}
