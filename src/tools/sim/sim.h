/* sim.h - a trace through the queue and the matcher, in virtual time
 *
 *     struct sim_counts counts;
 *     rc = sim_run (&setup, trace, &observer, &counts, &err);
 *
 * Time jumps from one event to the next. At each event, ending jobs give back their
 * resources, submitted jobs join the queue, and then the scheduler runs until it has no
 * more jobs to start. Equal setup and trace give an equal run. The scheduler knows only
 * the time limit of a job, not its end; a job that runs longer is ended by its limit.
 *
 * Times are seconds since the first submit.
 */
#pragma once

#include "match/machine/rset.h"
#include "match/policies/policy.h"
#include "sched/policy.h"
#include "tools/sim/cluster.h"
#include "tools/sim/trace.h"

struct sim_setup {
    struct cluster *cluster;
    const struct match_policy *match_policy;
    const struct queue_policy *policy;
    unsigned depth; /* of the plan, 0: the policy's own */
    /* An elastic job with a part of its largest size runs longer in proportion; otherwise
     * as long as at its largest size. */
    bool linear;
    /* 1 to 99: jobs that are not elastic also accept that many percent of their size. The
     * time limit is for the smallest size then. 0: as in the trace. */
    unsigned elastic;
    /* Jobs that allow several numbers of nodes get more nodes while no job waits, and
     * give them back when one does. The observer is called at the end of a job then. */
    bool malleable;
};

struct sim_start { /* a job starts */
    uint64_t id;   /* from 1, in the order of submits */
    const struct trace_job *job;
    double submit; /* or the begin time, if that is later */
    double start, end;
    double shortest; /* seconds that the job would run at its largest size */
    bool killed;     /* by its limit, at end */
    bool smaller;    /* smaller than its largest size */
    uint32_t slots;
    uint64_t cores;
    double core_seconds; /* of a malleable job, in total; else 0: cores for the whole
                          * run */
    const struct rset *r;
};

struct sim_observer {
    void *arg;
    void (*start) (void *arg, const struct sim_start *s);
    /* Called when all events of this time are done. */
    void (*now) (void *arg, double now, size_t pending, uint64_t cores_used);
};

struct sim_counts {
    uint64_t jobs;                              /* of the trace */
    uint64_t started;                           /* all of these have ended */
    uint64_t resizes;                           /* of running jobs */
    uint64_t refused;                           /* fit on no machine like this */
    uint64_t first_refused, first_refused_line; /* id and line of the first refused job */
    char why[ERROR_TEXT_MAX];                   /* why it was refused */
    double seconds;                             /* of real time */
};

#define SIM_TIME_MAX 1e11 /* seconds; no run lasts longer */

/* 0; -ERANGE: the run would last longer than SIM_TIME_MAX; -EDEADLK: the scheduler starts
 * no pending job though everything is free (err names one); -ENOMEM. */
int sim_run (const struct sim_setup *setup, struct trace *trace,
             const struct sim_observer *observer, struct sim_counts *ret,
             struct error *err);
