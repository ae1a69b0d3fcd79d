/* task.h - the tasks of one rank: start, output, end (tasks.c, task.c, task_spawn.c)
 *
 *     struct tasks *tasks = tasks_create (&loop, launch, rank, &events, ctx);
 *     tasks_enter_cwd (tasks, &fell_back, &err);    // early: an error ends the start
 *     tasks_start (tasks, end_time, &err);
 *     tasks_reap (tasks);                           // on SIGCHLD
 *     tasks_kill (tasks);                           // then events->killed()
 *
 * These calls handle the job's own tasks. Each step has a set of its own (stepd.c):
 *
 *     struct taskset *set = taskset_create (tasks, n, &events, ctx);
 *     taskset_start (set, &(struct task_start){ .id = 4, .argv = argv, ... }, &err);
 *     taskset_signal (set, SIGTERM);
 *     taskset_destroy (set);                        // when all tasks are reported
 *
 * Each task leads a session of its own and dies with the agent (PDEATHSIG). Its output
 * comes through two pipes or a pseudo terminal (pty.h), which the agent reads only while
 * events->room() allows. A task is reported as ended when it is dead and its output has
 * been read: up to end of file or, if a process that it left behind holds the pipe, until
 * no output came for 200 ms (2 s at most).
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"
#include "protocol/stepuse.h"
#include "shell/io/loop.h"

struct tasks;
struct taskset;

struct task_events {
    /* Returns the bytes of output that may be taken now. 0 leaves the output in the pipe
     * until tasks_resume() or taskset_resume(). */
    size_t (*room) (void *ctx);
    /* At most FRAME_DATA_MAX bytes; stream 1 or 2. */
    void (*output) (void *ctx, uint32_t task, int stream, const char *data, size_t len);
    /* oom: the task failed, and the kernel has killed a process for lack of memory. */
    void (*exited) (void *ctx, uint32_t task, int status, bool oom);
    /* After tasks_kill(): no process is left, and all tasks have been reported. NULL for
     * the set of a step. */
    void (*killed) (void *ctx);
    /* len bytes given to taskset_input() have left the agent: the task's pipe has them,
     * or no process wants them any more. NULL: no task has input. */
    void (*taken) (void *ctx, uint32_t task, size_t len);
};

/* NULL: no memory. launch and events must outlive the tasks. */
struct tasks *tasks_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct task_events *events, void *ctx);
void tasks_destroy (struct tasks *tasks);
/* Number of the job's own tasks that this rank runs. */
uint32_t tasks_count (const struct launch *launch, uint32_t rank);
/* Finds the working directory if tasks or files need it. *ret_fell_back: the directory is
 * not available, and / replaces it. */
int tasks_enter_cwd (struct tasks *tasks, bool *ret_fell_back, struct error *err);
/* Returns the descriptor of the working directory, and its name; -1: not entered. */
int tasks_cwd (const struct tasks *tasks, const char **ret_name);
/* Starts all of the job's own tasks. A program that cannot be executed is no error here,
 * but a task that ends with 127 (no such file) or 126. After an error some tasks may run:
 * call tasks_kill(). */
int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err);
/* tasks_own_use(): what the job's own tasks have used on this rank. tasks_use(): what all
 * processes on this rank have used, from the cgroup if the job has one of its own. */
struct use tasks_own_use (const struct tasks *tasks);
struct use tasks_use (const struct tasks *tasks);
/* The set of the job's own tasks; NULL: they are not started, or all reported. */
const struct taskset *tasks_own (const struct tasks *tasks);
/* Unix seconds when the tasks of the job were started; 0: they were not. */
uint64_t tasks_start_time (const struct tasks *tasks);
/* The end_time given to tasks_start() or tasks_set_end_time(), in unix seconds; 0: no
 * limit, or not called yet. */
uint64_t tasks_end_time (const struct tasks *tasks);
void tasks_reap (struct tasks *tasks);
void tasks_resume (struct tasks *tasks);
/* Sets the end time for tasks started from now on. */
void tasks_set_end_time (struct tasks *tasks, uint64_t end_time);
/* The processes of a job that a signal goes to. */
enum tasks_whom {
    TASKS_ALL,   /* all descendants of the agent */
    TASKS_STEPS, /* the tasks of steps: all sets except the job's own */
    TASKS_BATCH, /* the job's own tasks only, not the processes that they started */
    /* for root_signal(): TASKS_STEPS of a batch job, also if no step runs */
    TASKS_ONLY_STEPS,
};
void tasks_signal (struct tasks *tasks, int sig, enum tasks_whom whom);
void tasks_kill (struct tasks *tasks);

/* -- further sets -- */

struct task_pty { /* size of a terminal, 0: not known */
    uint32_t rows, cols;
};

struct task_start {
    uint32_t id; /* global number */
    char *const *argv;
    bool is_script; /* argv[0] is a path, not a name to find in PATH of env */
    char **env;
    int cwd_fd;                 /* descriptor of the working directory */
    const char *cwd;            /* name of the working directory, for messages */
    bool input;                 /* standard input comes from taskset_input() */
    int in_fd;                  /* else this descriptor of the caller; -1: /dev/null */
    const struct task_pty *pty; /* a terminal for all three (stream 1), or NULL */
    bool one_stream;            /* standard error goes into the pipe of standard output */
    int pass_fd; /* another descriptor that the task inherits with its number; -1: none */
    void (*prepare) (void *ctx); /* runs in the child before the program, or NULL */
    void *prepare_ctx;
};

/* A set with room for n tasks. NULL: no memory. */
struct taskset *taskset_create (struct tasks *tasks, uint32_t n,
                                const struct task_events *events, void *ctx);
/* Kills the tasks that still run, and does not report them. */
void taskset_destroy (struct taskset *set);
/* Usage of the dead tasks of the set, with the processes that they started. */
struct use taskset_use (const struct taskset *set);
/* Starts the next task of the set. 0 or negative errno. */
int taskset_start (struct taskset *set, const struct task_start *how, struct error *err);
/* Number of tasks that have not been reported. */
uint32_t taskset_running (const struct taskset *set);
void taskset_resume (struct taskset *set);
/* Sends sig to the process groups of the tasks that live. */
void taskset_signal (struct taskset *set, int sig);
/* Queues bytes for the standard input of a task, by its place in the set. len 0: end of
 * file (ctrl-D on a terminal). */
void taskset_input (struct taskset *set, uint32_t local, const char *data, size_t len);
/* Sets the size of the task's terminal, if it has one. */
void taskset_resize (struct taskset *set, uint32_t local, const struct task_pty *size);
