/* job.h - the job record and its life: states and events (RFC 21), one table of transitions
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
 * The event `requeue` (fluxq's own: a failed start is tried again, or a node was lost)
 * leads from RUN to CLEANUP and sets a mark; with the mark, `clean` leads back to
 * PRIORITY instead of INACTIVE. RFC 21 has no such transition: Flux resubmits, but Slurm
 * users expect the job to keep its id. Every event either is a transition, or is allowed
 * without a change of state, or is refused (-EPROTO). Replaying a log always gives the
 * same record. The whole table is in transitions.c. Contexts of the events:
 *
 *     submit     {userid, urgency; flags, version: 1, groupid, user, name, queue,
 *                 duration, nnodes, ntasks, ncores, cpu_milli, begin, deadline, nice,
 *                 fixed_priority;
 *                 nodes: "4-16" of an elastic job; array: "1-9%2"; attributes that
 *                 listings show; details: {cwd, ...}, other values that they show;
 *                 array_task: {job, task; submitted, eligible, age};
 *                 adopted: {name, key}: object that another program created, which fluxq
 *                 runs in place}                     the log's first event
 *     validate, depend, start, free, clean  {}
 *     priority   {priority}
 *     urgency    {urgency, userid; note, fixed_priority}
 *                                                    0 holds the job, more releases it;
 *                                                    a userid other than the job's is
 *                                                    an operator's; without
 *                                                    fixed_priority the priority is
 *                                                    computed
 *     alloc      {R: object; nodelist, nnodes, ntasks, ncores, cpu_milli, duration}
 *                                                    as granted;
 *                                                    size: {reason, text} of an elastic
 *                                                    job; places: "2 racks: r1, r2";
 *                                                    namespace: its queue's, or template
 *     finish     {status; text}                      wait status, see wait(2)
 *     exception  {type, severity; note, userid}      severity 0 ends the job
 *     requeue    {reason; begin, order, turn, setback, avoid, uncounted, hold, userid,
 *                 expedited}
 *                                                    begin: unix time of the earliest
 *                                                    next start;
 *                                                    order "end": the job's age counts
 *                                                    from now, its turn becomes turn, and
 *                                                    its priority is lowered by setback;
 *                                                    avoid: all nodes (RFC 29) that the
 *                                                    job avoids until a good start;
 *                                                    uncounted: the attempt does not
 *                                                    count as failed (a prolog failed, a
 *                                                    user asked for it);
 *                                                    hold: the job is held then, by userid;
 *                                                    expedited: until its next start the
 *                                                    job goes before all others
 *     jobspec-update   {"attributes.system.duration"; userid}   a new time limit of a
 *                                                    pending job (RFC 21)
 *     resource-update  {expiration, duration; userid}  a new time limit of a running job:
 *                                                    unix time at which R expires, 0:
 *                                                    never (RFC 21), and the limit
 *                                                    (fluxq's own)
 *     resize     {generation, nnodes, from, reason; by, userid, R, nodelist, ntasks,
 *                 ncores, cpu_milli}                 a malleable job begins to change its
 *                                                    number of nodes. To grow: R has all
 *                                                    nodes, and the job holds the new
 *                                                    ones at once. To shrink: no R; the
 *                                                    job keeps its nodes until `resized`.
 *                                                    generation numbers the changes. One
 *                                                    change at a time, but another
 *                                                    `resize` can take back a growth that
 *                                                    fails
 *     resized    {generation; R, nodelist, nnodes, ntasks, ncores, cpu_milli}
 *                                                    the change is done; after a shrink,
 *                                                    R has the nodes that are left
 *     release    {ranks: "all", final}
 *     task-start, task-end, task-cancel              of an array, see array.h
 *     usage      {attempt, steps, steps_not_kept}    resources that the steps of an
 *                                                    attempt used; ignored here, for
 *                                                    people and accounting
 *     memo       {comment, wckey, ...; userid}       new texts of attributes that are
 *                                                    only shown (RFC 21), in every state;
 *                                                    other keys are ignored
 *     fluxq-restart, debug.*  any: ignored, in every state
 */
#pragma once

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

/* The state that users see, in Slurm's words. */
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

/* Groups of phases, for users who wait for a job. Each phase is in exactly one group. */
enum job_group {
    JOB_GROUP_PENDING, /* also REQUEUED: the job starts again */
    JOB_GROUP_RUNNING,
    JOB_GROUP_FINISHED,
};

/* Bits: actions that the caller must take next. */
enum job_action {
    JOB_ACT_VALIDATE = 1 << 0,  /* emit validate (after checks) */
    JOB_ACT_DEPEND = 1 << 1,    /* emit depend as soon as the dependencies are met */
    JOB_ACT_PRIORITY = 1 << 2,  /* compute and emit priority */
    JOB_ACT_ENQUEUE = 1 << 3,   /* give the job to the scheduler, or update its order */
    JOB_ACT_DEQUEUE = 1 << 4,   /* remove the job from the scheduler, if it is there */
    JOB_ACT_START = 1 << 5,     /* tell the executor to start the job */
    JOB_ACT_KILL = 1 << 6,      /* tell the executor to terminate it, then emit finish */
    JOB_ACT_CLEANUP = 1 << 7,   /* tell the executor to clean up, then emit release */
    JOB_ACT_FREE = 1 << 8,      /* give the resources back to the matcher, emit free */
    JOB_ACT_CLEAN = 1 << 9,     /* nothing of the job is left: emit clean */
    JOB_ACT_INACTIVE = 1 << 10, /* the job is over: tell waiters */
    JOB_ACT_LIMIT = 1 << 11,    /* tell the executor the new time limit */
    JOB_ACT_RESIZE = 1 << 12,   /* tell the executor to resize the job */
};

/* Changes of the size of a malleable job. */
struct job_resize {
    uint32_t generation;  /* of the last change that was begun; 0: none */
    bool active;          /* a change is under way: */
    int64_t nnodes, from; /* ... new and old number of nodes */
    bool by_user;         /* the user has asked for a size, now or in an earlier change */
    bool failed;          /* the last change took back a growth that failed */
    double at;            /* unix time of the last event of a change, 0: none */
};

struct job {
    /* what selects and orders the rows of a listing, together in memory */
    uint64_t id;
    enum job_state state;
    uint32_t userid, groupid;
    struct job_array *array; /* of a job array (array.h); or NULL */
    int64_t priority; /* orders the queue: of the last priority event, or as the caller
                       * has computed it since */
    uint64_t turn;    /* of equal priorities the smaller goes first; 0: job's id */
    /* submit (strings are never NULL) */
    char *user, *name, *queue; /* owned; "" when the submit event has none */
    json_t *shown; /* attributes that listings show, by their key in the submit event; or
                    * NULL: it has none (jobspec/options/attributes.h) */
    char *details; /* other values of the request that listings show (details.h); or
                    * NULL */
    double duration;        /* seconds, 0: unlimited; asked, from alloc on granted */
    int64_t nnodes, ntasks; /* asked (min) until alloc, then granted */
    int64_t ncores;         /* in all; asked until alloc, then granted */
    int64_t cpu_milli; /* ncores in thousandths, if the job has parts of CPUs; else 0 */
    struct {
        int64_t nnodes, ntasks, ncores, cpu_milli;
        double duration;
    } asked;                /* as submitted; a requeue copies it to the fields above */
    char *adopted;          /* object of another program, "Job team-a/train", or NULL */
    char *adopted_key;      /* ... the executor's key for it, or NULL */
    char *asked_nodes;      /* "4-16" of an elastic job, else NULL */
    char *size_reason;      /* of an elastic job that was allocated: "largest"; or NULL */
    char *size_text;        /* sentence: why the job was granted its size; or NULL */
    char *namespace_;       /* its queue's at alloc, see exec/namespaces.h; or NULL */
    char *places;           /* "2 racks: r1, r2" if the job asked for places; or NULL */
    int urgency;            /* 0 (held) .. 31, default 16 */
    bool heterogeneous;     /* has components, which details have */
    bool held_by_operator;  /* urgency 0 was set by an operator, not by the job's user */
    char *hold_note;        /* note of the user or operator who holds the job, or NULL */
    int64_t priority_told;  /* of the last priority event */
    bool reprioritize;      /* the urgency changed since the last priority event */
    unsigned restarts;      /* requeued attempts, in all */
    unsigned failed_starts; /* in a row, since the last good start: sets the back-off */
    unsigned reruns;        /* counted ones of the restarts whose tasks had started */
    /* nodes on which the job failed to start (RFC 29), until a good start; or NULL */
    char *avoid;
    int64_t nice;         /* points by which the user lowered the job's priority */
    int64_t fixed;        /* priority in place of the computed one; 0: none */
    int64_t setback;      /* points of priority lost by a requeue to the end */
    char *requeue_reason; /* of the last requeue, or NULL; kept until the next start */
    /* running */
    char *r;        /* R text from alloc on, after free only for display; or NULL */
    char *nodelist; /* RFC 29 or NULL */
    bool allocated; /* resources are held (alloc without free) */
    bool started;   /* start was seen: all ranks ready */
    struct job_resize resize;
    double t_cores;         /* unix time since which the job holds ncores */
    bool limit_changed;     /* since alloc: the agent may have the old limit */
    bool kill_sent;         /* an exception told the executor to terminate the job */
    bool requeue;           /* clean leads back to PRIORITY */
    bool expedited;         /* the job goes before all others until its next start */
    bool requeue_uncounted; /* ... and this attempt does not count as a failed one */
    bool released;          /* a final release was seen */
    /* end */
    bool finished;
    int status;        /* wait status of finish */
    char *finish_text; /* the executor's words for the end, or NULL */
    bool has_exception;
    int exception_severity;
    char *exception_type; /* "cancel" "timeout" "exec" "node-lost" "alloc" ... */
    char *exception_note;
    /* times, unix, 0: not yet */
    double t_submit, t_eligible, t_alloc, t_start, t_finish, t_inactive;
    double t_begin; /* earliest start (submitted, then back-off of a requeue), 0: any */
    double t_deadline; /* the job must have ended by then, or never starts; 0: none */
    double t_age;      /* time from which the job's age counts: eligible and not held;
                     * 0: the age does not count. See job_age_since() */
    uint64_t nevents;
    uint64_t array_job;      /* the job is a task of that array; 0: of none */
    uint32_t array_task;     /* ... number of the task */
    void *aux;               /* the caller's; neither used nor freed here */
};

struct job *job_create (uint64_t id);
void job_destroy (struct job *job);
/* Apply one event. *actions gets enum job_action bits. Returns 0, -EPROTO (the event is
 * not allowed in this state), -EINVAL (bad context) or -ENOMEM; an error leaves the job
 * unchanged. */
int job_apply (struct job *job, const struct event *e, unsigned *actions,
               struct error *err);

const char *job_state_name (enum job_state state); /* "SCHED" */
enum job_phase job_phase (const struct job *job);
/* The result of a job that has finished or ended: known from the finish event on, while
 * job_phase() returns COMPLETING until the clean-up is done. */
enum job_phase job_result_phase (const struct job *job);
const char *job_phase_name (enum job_phase phase); /* "PENDING" */
enum job_group job_phase_group (enum job_phase phase);
/* "PD" "CF" "R" "CG" "CD" "F" "CA" "TO" ... */
const char *job_phase_letter (enum job_phase phase);
int job_phase_from_name (const char *name); /* either form, any case; -EINVAL */
/* Why a pending job takes no part in the queue's order: "JobHeldUser", "JobHeldAdmin",
 * "BeginTime"; NULL: it takes part, and sched_reason() has the reason why it is
 * pending. */
const char *job_hold_reason (const struct job *job, double now);
/* Unix time from which a job's age counts: when the job could first start. Time held and
 * time before its begin time do not count; time between starts does. 0: the age does not
 * count now. */
double job_age_since (const struct job *job);
/* Seconds until the next try after the n-th failed start in a row: base * 2^(n-1), at
 * most max; 0 for n = 0. base, max >= 0. */
double job_backoff (unsigned n, double base, double max);
/* The exit status of `--wait`: exit code, 128+signal, or 1 if the job was cancelled or
 * failed otherwise; after a time-out, as the tasks ended (143 after SIGTERM). 0 only for
 * COMPLETED. */
int job_exit_code (const struct job *job);
/* One line for people that says why the job ended as it did ("exited with status 3",
 * "time limit of 1:00 reached", ...); "" until it has ended. */
void job_result_text (const struct job *job, char *buf, size_t size);
