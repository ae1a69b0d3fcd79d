/* task_private.h - the tasks of a rank: tasks.c (the rank), task.c (a set and its tasks),
 * birth.c (a task's beginning, up to its program)
 */
#ifndef FLUXQ_SHELL_TASK_PRIVATE_H
#define FLUXQ_SHELL_TASK_PRIVATE_H

#include <sys/resource.h>

#include "common/frame.h"
#include "common/idset.h"
#include "common/rlimits.h"
#include "shell/task.h"
#include "shell/wire.h"

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

/* -- task.c -- */

/* It is dead: its output to the end, then the report. */
void task_died (struct task *task, int status);
/* Look again at those that are dead and whose output is not at its end. */
void taskset_look (struct taskset *set, double now);
/* Nothing lives any more: what has not been reported is. The last report may be the end of
 * the set. */
void taskset_end (struct taskset *set);

/* -- birth.c -- */

/* A new process that becomes the task: its pid, and our ends of its standard streams, -1
 * where there is none (a terminal has no err); or negative errno. */
struct birth_streams {
    int in, out, err;
};
pid_t birth (const struct tasks *tasks, const struct task_start *how,
             struct birth_streams *ours);

#endif
