/* job.h - the job record and its life: states and events (RFC 21), one table of edges
 *
 *     struct job *job = job_create (id);
 *     unsigned actions;
 *     job_apply (job, event, &actions, &err);     // pure: (job, event) -> job', actions
 *     if (actions & JOB_ACT_START) ...
 *
 *   NEW --validate--> DEPEND --depend--> PRIORITY --priority--> SCHED --alloc--> RUN
 *    |                  |                 ^  |                    |        finish |
 *    |                  |                 |  |                    |       requeue |
 *    +---- exception ---+-----------------|--+--------------------+     exception |
 *                       |                 |                                       |
 *                       v     clean, when |  requeue was seen                     |
 *                    CLEANUP -------------+   <-----------------------------------+
 *                       |
 *                       +----- clean -----> INACTIVE
 *
 * `requeue` (ours; a start that failed and is tried again, or a lost node) goes from RUN
 * to CLEANUP with the mark that `clean` then leads back to PRIORITY instead of INACTIVE
 * (RFC 21 has no such edge; Flux resubmits, Slurm users expect the same id). Every event
 * is either an edge, allowed in the state without changing it, or refused (-EPROTO). A
 * log that replays gives the same record, always. The whole table is in edges.c;
 * contexts:
 *
 *     submit     {userid, urgency; flags, version: 1, groupid, user, name, queue,
 *                 duration, nnodes, ntasks, ncores, cpu_milli, begin, deadline, nice; nodes: "4-16", if
 *                 several numbers will do; array: "1-9%2"; array_task: {job, task;
 *                 submitted, eligible, age}; adopted: {name, key}: others made it, and it
 *                 is run where it is}                the log's first event
 *     validate, depend, start, free, clean  {}
 *     priority   {priority}
 *     urgency    {urgency, userid; note}             0 holds, more releases; a userid that is
 *                                                    not the job's own is an operator's
 *     alloc      {R: object; nodelist, nnodes, ntasks, ncores, cpu_milli, duration}  as granted;
 *                                                    size: {reason, text} of an elastic job;
 *                                                    namespace: its queue's, or template
 *     finish     {status}                            as of wait(2)
 *     exception  {type, severity; note, userid}      severity 0 ends the job
 *     requeue    {reason; begin, order, turn, setback, avoid, uncounted}
 *                                                    not to start before that unix time;
 *                                                    order "end": its age counts from now,
 *                                                    its turn is that of this id, and
 *                                                    setback is taken off its priority;
 *                                                    avoid: nodes (RFC 29), all that it
 *                                                    is to avoid until a good start;
 *                                                    uncounted: no failed start (a prolog)
 *     jobspec-update   {"attributes.system.duration"; userid}   another time limit, while it
 *                                                    waits (RFC 21)
 *     resource-update  {expiration, duration; userid}  the same while it runs: unix time at
 *                                                    which R ends, 0: never (RFC 21), and
 *                                                    the limit (ours)
 *     resize     {generation, nnodes, from, reason; by, userid, R, nodelist, ntasks, ncores,
 *                 cpu_milli}                     a malleable job is to have another number
 *                                                    of nodes. With R it gets those that
 *                                                    are new in it at once; else it keeps
 *                                                    all until `resized`. generation counts
 *                                                    them. One at a time; but what cannot be
 *                                                    done may be taken back by another
 *     resized    {generation; R, nodelist, nnodes, ntasks, ncores, cpu_milli}   done; with R
 *                                                    it has only these nodes now
 *     release    {ranks: "all", final}
 *     task-start, task-end, task-cancel              of an array, see array.h
 *     usage      {attempt, steps, steps_not_kept}    what an attempt's steps used: ignored
 *                                                    here, for people and accounting
 *     memo, fluxq-restart, debug.*  any: ignored, in every state
 */
#ifndef FLUXQ_JOB_JOB_H
#define FLUXQ_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "job/array.h"
#include "job/event.h"

enum job_state {
    JOB_NEW,
    JOB_DEPEND,
    JOB_PRIORITY,
    JOB_SCHED,
    JOB_RUN,
    JOB_CLEANUP,
    JOB_INACTIVE,
};

/* What the user sees, Slurm's words. */
enum job_phase {
    JOB_PENDING,
    JOB_CONFIGURING,
    JOB_RUNNING,
    JOB_COMPLETING,
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_TIMEOUT,
    JOB_NODE_FAIL,
    JOB_OUT_OF_MEMORY,
    JOB_PREEMPTED,
    JOB_DEADLINE,
    JOB_REQUEUED,
};

/* What a state means to who waits for the job: each is of exactly one of these. */
enum job_group {
    JOB_GROUP_PENDING, /* also REQUEUED: it starts again */
    JOB_GROUP_RUNNING,
    JOB_GROUP_FINISHED,
};

/* Bits: what the caller must do next. */
enum job_action {
    JOB_ACT_VALIDATE = 1 << 0,  /* emit validate (after checks) */
    JOB_ACT_DEPEND = 1 << 1,    /* emit depend as soon as its dependencies are met */
    JOB_ACT_PRIORITY = 1 << 2,  /* compute and emit priority */
    JOB_ACT_ENQUEUE = 1 << 3,   /* give it to the scheduler (or its order changed) */
    JOB_ACT_DEQUEUE = 1 << 4,   /* take it from the scheduler, if it is there */
    JOB_ACT_START = 1 << 5,     /* executor start */
    JOB_ACT_KILL = 1 << 6,      /* executor terminate, then emit finish */
    JOB_ACT_CLEANUP = 1 << 7,   /* executor end and clean up all, then emit release */
    JOB_ACT_FREE = 1 << 8,      /* give the resources back to the matcher, emit free */
    JOB_ACT_CLEAN = 1 << 9,     /* all is gone: emit clean */
    JOB_ACT_INACTIVE = 1 << 10, /* the end: tell waiters */
    JOB_ACT_LIMIT = 1 << 11,    /* executor: the time limit is another one */
    JOB_ACT_RESIZE = 1 << 12,   /* executor: resize */
};

/* How a malleable job becomes another size. */
struct job_resize {
    uint32_t generation;  /* of the last change that was begun; 0: none */
    bool active;          /* it is under way: */
    int64_t nnodes, from; /* ... to that many nodes, of so many */
    bool by_user;         /* its user has said how large it is to be, at some time */
    bool failed;          /* the last time that it was to grow its nodes did not come */
    double at;            /* unix time of the last event of it, 0: none */
};

struct job {
    uint64_t id;
    enum job_state state;
    /* submit (strings are never NULL) */
    uint32_t userid, groupid;
    char *user, *name, *queue; /* owned; "" when the submit event has none */
    double duration;           /* seconds, 0: unlimited; asked, after alloc granted */
    int64_t nnodes, ntasks;    /* asked (min) until alloc, then granted */
    int64_t ncores;            /* in all; granted after alloc, else asked */
    int64_t cpu_milli; /* the same in thousandths, of who has parts of CPUs; else 0 */
    struct {
        int64_t nnodes, ntasks, ncores, cpu_milli;
        double duration;
    } asked;                /* again after a requeue */
    char *adopted;          /* what others made, "Job team-a/train"; NULL: it is ours */
    char *adopted_key;      /* ... by which the executor knows it; NULL likewise */
    char *asked_nodes;      /* "4-16" where several numbers will do, else NULL */
    char *size_reason;      /* of an elastic job that was allocated: "largest"; or NULL */
    char *size_text;        /* why it has the size that was granted; or NULL */
    char *namespace_;       /* its queue's at alloc, see exec/namespaces.h; or NULL */
    char *places;           /* "2 racks: r1, r2", where it was asked for some; or NULL */
    int urgency;            /* 0 (held) .. 31, default 16 */
    bool held_by_operator;  /* urgency 0 is not its user's own doing */
    char *hold_note;        /* the words of who holds it, or NULL */
    int64_t priority;       /* what it is ordered by: as of the last priority event, or as
                            * the caller has computed it since */
    int64_t priority_told;  /* of the last priority event */
    bool reprioritize;      /* the urgency changed since the last priority event */
    unsigned restarts;      /* starts that were given up and queued again, in all */
    unsigned failed_starts; /* in a row, without a good start: sets the back-off */
    unsigned reruns;        /* of the restarts: those after which tasks had started */
    /* nodes on which it failed to start (RFC 29), until a good start; or NULL */
    char *avoid;
    uint64_t turn;        /* of equal priorities the smaller goes first; 0: as its id */
    int64_t nice;         /* points of priority that its user lets it be behind */
    int64_t setback;      /* points of priority that a requeue at the end cost it */
    char *requeue_reason; /* of the last requeue, or NULL; kept until the next start */
    /* running */
    char *r;        /* R text between alloc and free, then kept for show; or NULL */
    char *nodelist; /* RFC 29 or NULL */
    bool allocated; /* resources are held (alloc without free) */
    bool started;   /* start was seen: all ranks ready */
    struct job_resize resize;
    double t_cores;         /* unix time since which it holds ncores */
    bool limit_changed;     /* since alloc: its agent may know another limit */
    bool kill_sent;         /* an exception asked for the end */
    bool requeue;           /* clean leads back to PRIORITY */
    bool requeue_uncounted; /* ... and this start does not count as a failed one */
    bool released;          /* a final release was seen */
    /* end */
    bool finished;
    int status;        /* wait status of finish */
    char *finish_text; /* what the executor says of the end, or NULL */
    bool has_exception;
    int exception_severity;
    char *exception_type; /* "cancel" "timeout" "exec" "node-lost" "alloc" ... */
    char *exception_note;
    /* times, unix, 0: not yet */
    double t_submit, t_eligible, t_alloc, t_start, t_finish, t_inactive;
    double t_begin; /* not before (as submitted, then back-off of a requeue), 0: none */
    double t_deadline; /* must have ended by then, or not start at all, 0: none */
    double t_age;      /* since when it may start, as far as its user and operators are
                     * concerned, and is not held; 0: it may not */
    uint64_t nevents;
    struct job_array *array; /* it is an array (array.h); or NULL */
    uint64_t array_job;      /* it was a task of that array; 0: of none */
    uint32_t array_task;     /* ... which one */
    void *aux;               /* the caller's; not touched, freed by nobody here */
};

struct job *job_create (uint64_t id);
void job_destroy (struct job *job);
/* Apply one event. Returns 0, -EPROTO (that event may not come in this state), -EINVAL
 * (bad context) or -ENOMEM; the job is unchanged then. *actions gets enum job_action
 * bits. */
int job_apply (struct job *job, const struct event *e, unsigned *actions,
               struct error *err);

const char *job_state_name (enum job_state state); /* "SCHED" */
enum job_phase job_phase (const struct job *job);
/* The word for the end, as soon as finish was seen (job_phase() says COMPLETING until
 * all is cleaned up). Only for jobs that have finished or ended. */
enum job_phase job_result_phase (const struct job *job);
const char *job_phase_name (enum job_phase phase); /* "PENDING" */
enum job_group job_phase_group (enum job_phase phase);
/* "PD" "CF" "R" "CG" "CD" "F" "CA" "TO" ... */
const char *job_phase_letter (enum job_phase phase);
int job_phase_from_name (const char *name); /* either form, any case; -EINVAL */
/* "JobHeldUser", "JobHeldAdmin", "BeginTime", or NULL: why a pending job is not even in the queue's
 * order; the rest is sched_reason(). */
const char *job_hold_reason (const struct job *job, double now);
/* Unix time since which a job's age counts: when it could first start. Neither time in
 * which it was held nor time before its begin counts; time between starts does. 0: its
 * age does not count now. */
double job_age_since (const struct job *job);
/* Seconds until the next try after the n-th failed start in a row: base * 2^(n-1), at most
 * max; 0 for n = 0. base, max >= 0. */
double job_backoff (unsigned n, double base, double max);
/* What `--wait` returns: exit code, 128+signal, 1 for cancelled or failed otherwise;
 * timeout: as the tasks ended (143 after SIGTERM). 0 only for COMPLETED. */
int job_exit_code (const struct job *job);
/* One line for people why it ended as it did ("exited with status 3", "time limit of 1:00
 * reached", ...); "" while it has not. */
void job_result_text (const struct job *job, char *buf, size_t size);

#endif
