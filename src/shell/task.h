/* task.h - the tasks of one rank: start, output, end (tasks.c, task.c, birth.c)
 *
 *     struct tasks *tasks = tasks_create (&loop, launch, rank, &events, ctx);
 *     tasks_enter_cwd (tasks, &fell_back, &err);           // early: a bad one ends the
 * start
 *     tasks_start (tasks, end_time, &err);
 *     tasks_reap (tasks);                                  // on SIGCHLD
 *     tasks_kill (tasks);                                  // then events->killed()
 *
 * Those are the job's own. Each step has a set of its own beside them (stepd.c):
 *
 *     struct taskset *set = taskset_create (tasks, n, &events, ctx);
 *     taskset_start (set, &(struct task_start){ .id = 4, .argv = argv, ... }, &err);
 *     taskset_signal (set, SIGTERM);
 *     taskset_destroy (set);                               // all have been reported
 *
 * Each task is the leader of a session of its own and dies with the agent (PDEATHSIG).
 * Its output comes through two pipes, or a pseudo terminal (pty.h), read only while events->room() allows. A task has
 * ended for the job when it is dead and its output was read: to the end of file or, when
 * something it left behind holds the pipe, until nothing came for 200 ms (2 s at most).
 */
#ifndef FLUXQ_SHELL_TASK_H
#define FLUXQ_SHELL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/launch.h"
#include "common/stepuse.h"
#include "shell/loop.h"

struct tasks;
struct taskset;

struct task_events {
    /* Bytes of output that may be taken now; 0 leaves them in the pipe until
     * tasks_resume(), taskset_resume(). */
    size_t (*room) (void *ctx);
    /* At most FRAME_DATA_MAX bytes; stream 1 or 2. */
    void (*output) (void *ctx, uint32_t task, int stream, const char *data, size_t len);
    /* oom: the task failed, and the kernel has killed something for lack of memory. */
    void (*exited) (void *ctx, uint32_t task, int status, bool oom);
    /* After tasks_kill(): no process is left, all tasks have been reported. NULL in a
     * step's. */
    void (*killed) (void *ctx);
    /* So many bytes of taskset_input() have left our hands: the task's pipe has them, or
     * nobody wants them any more. NULL: no task has input. */
    void (*taken) (void *ctx, uint32_t task, size_t len);
};

/* NULL without memory. launch and events must outlive it. */
struct tasks *tasks_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct task_events *events, void *ctx);
void tasks_destroy (struct tasks *tasks);
/* Number of tasks of the job's own that this rank runs. */
uint32_t tasks_count (const struct launch *launch, uint32_t rank);
/* Find the working directory, where there are tasks or files for it. *ret_fell_back: it is
 * not there, / is used. */
int tasks_enter_cwd (struct tasks *tasks, bool *ret_fell_back, struct error *err);
/* Its descriptor, and its name; -1: it was not entered. */
int tasks_cwd (const struct tasks *tasks, const char **ret_name);
/* Start all of the job's own. A program that cannot be executed is not an error here but
 * a task that ends with 127 (no such file) or 126. On error some may run: call
 * tasks_kill(). */
int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err);
/* What the job's own tasks have used here, and what all that ran here has: that is the
 * cgroup's word where the job has one of its own. */
struct use tasks_own_use (const struct tasks *tasks);
struct use tasks_use (const struct tasks *tasks);
/* Unix seconds as told to tasks_start(); 0: no limit, or it has not been called. */
uint64_t tasks_end_time (const struct tasks *tasks);
void tasks_reap (struct tasks *tasks);
void tasks_resume (struct tasks *tasks);
/* Another time limit holds for what is started from now on. */
void tasks_set_end_time (struct tasks *tasks, uint64_t end_time);
/* What of a job a signal is for. */
enum tasks_whom {
    TASKS_ALL,   /* all processes that descend from the agent */
    TASKS_STEPS, /* the tasks of steps: all sets but the job's own */
    TASKS_BATCH, /* the job's own tasks alone, not what they have started */
};
void tasks_signal (struct tasks *tasks, int sig, enum tasks_whom whom);
void tasks_kill (struct tasks *tasks);

/* -- further sets -- */

struct task_pty { /* 0: not known */
    uint32_t rows, cols;
};

struct task_start {
    uint32_t id; /* global number */
    char *const *argv;
    bool is_script; /* argv[0] is a path; else it is looked for in PATH of env */
    char **env;
    int cwd_fd;                 /* descriptor of the working directory, */
    const char *cwd;            /* and its name for messages */
    bool input;                 /* standard input by taskset_input(); else */
    int in_fd;                  /* this, which stays the caller's; -1: /dev/null */
    const struct task_pty *pty; /* a terminal for all three (stream 1); or NULL */
    int pass_fd; /* one more descriptor that the task gets under its number; -1 */
    void (*prepare) (void *ctx); /* in the child, before the program; or NULL */
    void *prepare_ctx;
};

/* Room for n tasks. NULL without memory. */
struct taskset *taskset_create (struct tasks *tasks, uint32_t n,
                                const struct task_events *events, void *ctx);
/* What still runs is killed and reported to nobody. */
void taskset_destroy (struct taskset *set);
/* What its tasks have used: of those that are dead, with all that they started. */
struct use taskset_use (const struct taskset *set);
/* Start the next task of the set: 0 or negative errno. */
int taskset_start (struct taskset *set, const struct task_start *how, struct error *err);
/* Tasks that have not been reported. */
uint32_t taskset_running (const struct taskset *set);
void taskset_resume (struct taskset *set);
/* To the process groups of the tasks that live. */
void taskset_signal (struct taskset *set, int sig);
/* Bytes for a task's standard input, by its place in the set; they are kept until it reads
 * them. len 0: end of file (ctrl-D to a terminal). */
void taskset_input (struct taskset *set, uint32_t local, const char *data, size_t len);
/* Its terminal has another size now; nothing if it has none. */
void taskset_resize (struct taskset *set, uint32_t local, const struct task_pty *size);

#endif
