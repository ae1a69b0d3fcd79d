/* task.h - the tasks of one rank: start, output, end
 *
 *     struct tasks *tasks = tasks_create (&loop, launch, rank, &events, ctx);
 *     tasks_enter_cwd (tasks, &fell_back, &err);           // early: a bad one ends the
 * start
 *     tasks_start (tasks, end_time, &err);
 *     tasks_reap (tasks);                                  // on SIGCHLD
 *     tasks_kill (tasks);                                  // then events->killed()
 *
 * Each task is the leader of a session of its own and dies with the agent (PDEATHSIG).
 * Its output comes through two pipes, read only while events->room() allows. A task has
 * ended for the job when it is dead and its output was read: to the end of file or, when
 * something it left behind holds the pipe, until nothing came for 200 ms (2 s at most).
 */
#ifndef FLUXQ_SHELL_TASK_H
#define FLUXQ_SHELL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/launch.h"
#include "shell/loop.h"

struct tasks;

struct task_events {
    /* Bytes of output that may be taken now; 0 leaves them in the pipe until
     * tasks_resume(). */
    size_t (*room) (void *ctx);
    /* At most FRAME_DATA_MAX bytes; stream 1 or 2. */
    void (*output) (void *ctx, uint32_t task, int stream, const char *data, size_t len);
    /* oom: the task failed, and the kernel has killed something for lack of memory. */
    void (*exited) (void *ctx, uint32_t task, int status, bool oom);
    /* After tasks_kill(): no process is left, all tasks have been reported. */
    void (*killed) (void *ctx);
};

/* NULL without memory. launch and events must outlive it. */
struct tasks *tasks_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                            const struct task_events *events, void *ctx);
void tasks_destroy (struct tasks *tasks);
/* Number of tasks that this rank runs. */
uint32_t tasks_count (const struct launch *launch, uint32_t rank);
/* Find the working directory. *ret_fell_back: it is not there, / is used. */
int tasks_enter_cwd (struct tasks *tasks, bool *ret_fell_back, struct error *err);
/* Start all. A program that cannot be executed is not an error here but a task that ends
 * with 127 (no such file) or 126. On error some may run: call tasks_kill(). */
int tasks_start (struct tasks *tasks, uint64_t end_time, struct error *err);
void tasks_reap (struct tasks *tasks);
void tasks_resume (struct tasks *tasks);
/* To all processes that descend from the agent. */
void tasks_signal (struct tasks *tasks, int sig);
void tasks_kill (struct tasks *tasks);

#endif
