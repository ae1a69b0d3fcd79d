/* task_private.h - the tasks of a rank: tasks.c (the rank), task.c (a set and its tasks),
 * task_spawn.c (a new process until it executes its program) */
#pragma once

#include "common/idset.h"
#include "common/rlimits.h"
#include "protocol/frame.h"
#include "shell/io/wire.h"
#include "shell/step/task.h"

struct task_pipe {
    struct loop_io io; /* fd -1: the pipe is at its end */
    struct task *task;
    int stream;
};

struct task {
    struct taskset *set;
    pid_t pid;
    uint32_t id;
    int status;
    struct use use; /* including the processes that it left behind */
    bool dead;
    bool reported;
    double died;
    double heard; /* time of its last output */
    struct task_pipe pipes[2];
    struct task_pipe input; /* fd -1: none, or closed */
    struct outbuf waiting;  /* bytes for the input pipe */
    bool input_ends;        /* end of file follows the waiting bytes */
    bool pty;               /* both pipes and the input are its terminal */
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
    struct taskset *sets;             /* all sets */
    struct taskset *own;              /* the set of the job's own tasks, also in `sets` */
    const struct task_events *events; /* events of the job's own tasks */
    void *ctx;
    int cwd_fd;
    const char *cwd;
    uint64_t start_time, end_time; /* see env.h */
    bool killing;
    struct use ended; /* used by sets that are destroyed, and by processes of no task */
    struct loop_timer tick;
    struct loop_timer again;
    struct rlimit nofile;
    struct rlimits rlimits;       /* from the launch file */
    struct idset *cpus, *allowed; /* CPUs of own tasks, of the agent; NULL: any */
    char buf[FRAME_DATA_MAX];
};

/* -- task.c -- */

/* The task is dead: reads its output to the end, then reports it. */
void task_died (struct task *task, int status);
/* Checks the dead tasks whose output is not at its end again. */
void taskset_look (struct taskset *set, double now);
/* No process lives any more: reports the tasks that are not reported yet. The last report
 * may destroy the set. */
void taskset_end (struct taskset *set);

/* -- task_spawn.c -- */

/* Forks a process that becomes the task. Returns its pid, or negative errno; *ours gets
 * the agent's ends of its standard streams, -1 where there is none (a terminal has no
 * err). */
struct task_streams {
    int in, out, err;
};
pid_t task_spawn (const struct tasks *tasks, const struct task_start *how,
                  struct task_streams *ours);
