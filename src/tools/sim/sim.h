/* sim.h - a trace through the queue and the matcher, in virtual time
 *
 *     struct sim_counts counts;
 *     rc = sim_run (&setup, trace, &observer, &counts, &err);
 *
 * Time jumps from one event to the next. At each: what ends gives back what it has, what is
 * submitted joins the queue, then the scheduler decides until it has nothing more to start.
 * The same setup and trace give the same run. The scheduler knows of a job's end only its
 * time limit; one that runs longer is ended by that.
 *
 * Times are seconds since the first submit.
 */
#ifndef FLUXQ_TOOLS_SIM_SIM_H
#define FLUXQ_TOOLS_SIM_SIM_H

#include "match/policy.h"
#include "match/rset.h"
#include "sched/policy.h"
#include "tools/sim/cluster.h"
#include "tools/sim/trace.h"

struct sim_setup {
    struct cluster *cluster;
    const struct match_policy *match_policy;
    const struct queue_policy *policy;
    unsigned depth; /* of the plan, 0: the policy's own */
    /* An elastic job that gets a part of its largest size runs that much longer; else as
     * long as at its largest. */
    bool linear;
    /* 1 to 99: jobs that are not elastic take that many percent of their size, too. Their
     * time limit is for the smallest size then. 0: as the trace has it. */
    unsigned elastic;
    /* Jobs that may have several numbers of nodes get more while they run, when nobody waits,
     * and give them back when somebody does. The observer hears of a job at its end then. */
    bool malleable;
};

struct sim_start { /* a job starts */
    uint64_t id;   /* from 1, in the order of submits */
    const struct trace_job *job;
    double submit; /* or when it may start, if that is later */
    double start, end;
    double shortest; /* seconds that it would run at its largest size */
    bool killed;     /* by its limit, at end */
    bool smaller;    /* than its largest size */
    uint32_t slots;
    uint64_t cores;
    double core_seconds; /* of a malleable job, in all; else 0: cores for all its time */
    const struct rset *r;
};

struct sim_observer {
    void *arg;
    void (*start) (void *arg, const struct sim_start *s);
    /* All that happens now has happened. */
    void (*now) (void *arg, double now, size_t pending, uint64_t cores_used);
};

struct sim_counts {
    uint64_t jobs;                              /* of the trace */
    uint64_t started;                           /* all of them have ended */
    uint64_t resizes;                           /* of running jobs */
    uint64_t refused;                           /* fit on no such machine */
    uint64_t first_refused, first_refused_line; /* its id, its line */
    char why[ERROR_TEXT_MAX];                   /* it was */
    double seconds;                             /* of real time */
};

#define SIM_TIME_MAX 1e11 /* seconds; no run lasts longer */

/* 0; -ERANGE: it would last longer than SIM_TIME_MAX; -EDEADLK: jobs wait that the scheduler does not start though all is free (err names
 * one); -ENOMEM. */
int sim_run (const struct sim_setup *setup, struct trace *trace,
             const struct sim_observer *observer, struct sim_counts *ret,
             struct error *err);

#endif
