/* tasks.c - all tasks of a rank: the job's own, and parts common to all sets */
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "common/macros.h"
#include "shell/io/infile.h"
#include "shell/io/stage.h"
#include "shell/step/cgroup.h"
#include "shell/step/cpubind.h"
#include "shell/step/descendants.h"
#include "shell/step/env.h"
#include "shell/step/task_private.h"

#define KILL_AGAIN 0.01 /* seconds */

static void on_tick (struct loop_timer *timer);
static void on_kill_again (struct loop_timer *timer);

uint32_t tasks_count (const struct launch *launch, uint32_t rank)
{
    if (launch->batch)
        return rank == 0;
    return launch_rank_tasks (launch, rank);
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
    /* Raises the descriptor limit for the agent; tasks get the user's usual limit
     * back. */
    for (size_t i = 0; i < launch->nrlimits; i++)
        rlimits_add (&tasks->rlimits, launch->rlimits[i], NULL);
    getrlimit (RLIMIT_NOFILE, &tasks->nofile);
    struct rlimit most = { tasks->nofile.rlim_max, tasks->nofile.rlim_max };
    setrlimit (RLIMIT_NOFILE, &most);
    return tasks;
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
    if (tasks_count (tasks->launch, tasks->rank) == 0
        && !stage_has_in (tasks->launch, tasks->rank)
        && !stage_has_out (tasks->launch, tasks->rank))
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

int tasks_cwd (const struct tasks *tasks, const char **ret_name)
{
    *ret_name = tasks->cwd;
    return tasks->cwd_fd;
}

/* A set may be destroyed once its last task is reported, so nothing here uses the set
 * after that. */
static void on_tick (struct loop_timer *timer)
{
    struct tasks *tasks = CONTAINER_OF (timer, struct tasks, tick);
    double now = loop_now ();
    for (struct taskset *set = tasks->sets, *next; set; set = next) {
        next = set->next;
        taskset_look (set, now);
    }
}

void tasks_resume (struct tasks *tasks)
{
    if (tasks->own)
        taskset_resume (tasks->own);
}

/* Finds the task of this process, or the task that leads this session: dead ones too. */
static struct task *find_task (struct tasks *tasks, pid_t pid, bool dead_too)
{
    for (struct taskset *set = tasks->sets; set; set = set->next)
        for (uint32_t i = 0; i < set->n; i++)
            if (set->v[i].pid == pid && (dead_too || !set->v[i].dead))
                return &set->v[i];
    return NULL;
}

/* A process that a task did not wait for has become our child: adds its usage to the
 * task's. */
static void count_orphan (struct tasks *tasks, const struct reaped *dead)
{
    struct task *task = find_task (tasks, dead->session, true);
    use_join (task ? &task->use : &tasks->ended, &dead->use);
}

static void on_reaped (void *arg, const struct reaped *dead)
{
    struct task *task = find_task (arg, dead->pid, false);
    if (!task) {
        count_orphan (arg, dead);
        return;
    }
    use_join (&task->use, &dead->use);
    task_died (task, dead->status);
}

void tasks_reap (struct tasks *tasks)
{
    struct reaped dead;
    while (reap_next (&dead) > 0)
        on_reaped (tasks, &dead);
    if (tasks->killing)
        on_kill_again (&tasks->again);
}

static void on_kill_again (struct loop_timer *timer)
{
    struct tasks *tasks = CONTAINER_OF (timer, struct tasks, again);
    if (!tasks->killing)
        return;
    loop_timer_clear (tasks->loop, timer);
    if (!descendants_kill (on_reaped, tasks)) {
        loop_timer_set (tasks->loop, timer, loop_now () + KILL_AGAIN);
        return;
    }
    tasks->killing = false;
    for (struct taskset *set = tasks->sets, *next; set; set = next) {
        next = set->next;
        taskset_end (set);
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
        descendants_signal (sig);
    else if (whom == TASKS_BATCH)
        signal_leaders (tasks->own, sig);
    for (struct taskset *set = tasks->sets; set && whom == TASKS_STEPS; set = set->next)
        if (set != tasks->own)
            taskset_signal (set, sig);
}

const struct taskset *tasks_own (const struct tasks *tasks)
{
    return tasks->own;
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

/* -- the job's own -- */

/* The script and its arguments, or the command. The caller frees the array. */
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
    tasks->cpus = idset_decode (text, LAUNCH_IDS_MAX, NULL);
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
                               .start_time = tasks->start_time,
                               .end_time = tasks->end_time,
                               .default_path = getenv ("PATH") };
    struct task_start how = { .id = id,
                              .argv = argv,
                              .is_script = tasks->launch->batch,
                              .cwd_fd = tasks->cwd_fd,
                              .cwd = tasks->cwd,
                              .in_fd = -1,
                              .pass_fd = -1,
                              .one_stream = tasks->launch->one_stream,
                              .prepare = bind_own,
                              .prepare_ctx = tasks };
    how.env = env_make (&ctx, err);
    if (!how.env)
        return -EINVAL;
    int rc = how.in_fd = infile_open (tasks->launch, tasks->rank, id, tasks->cwd_fd, err);
    if (rc >= 0)
        rc = taskset_start (tasks->own, &how, err);
    if (how.in_fd >= 0)
        close (how.in_fd);
    free_strings (how.env);
    return rc;
}

int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err)
{
    const struct launch *l = tasks->launch;
    uint32_t n = tasks_count (l, tasks->rank);
    uint32_t first = tasks_first (l, tasks->rank);
    autofree char **argv = own_argv (l);
    tasks->start_time = (uint64_t)time (NULL);
    tasks->end_time = end_time;
    find_cpus (tasks);
    tasks->own = taskset_create (tasks, n, tasks->events, tasks->ctx);
    if (!argv || !tasks->own)
        return error_no_memory (err, NULL);
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

uint64_t tasks_start_time (const struct tasks *tasks)
{
    return tasks->start_time;
}

uint64_t tasks_end_time (const struct tasks *tasks)
{
    return tasks->end_time;
}
