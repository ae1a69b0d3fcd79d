/* giveback.h - nodes that malleable jobs give back so that a waiting job can start
 *
 *     struct growth *x = growth_create (machine, matcher, policy, NULL, 0, true, now);
 *     growth_run (x, id, r);                                  // for each job that runs
 *     rc = giveback_plan (x, jobs, n, &wanted, now);          // the first ones give first
 *     if (rc == 1) ... jobs[i].nodes < jobs[i].r->nranks      // these jobs shrink
 *
 * Jobs give nodes back only if that lets the waiting job start. The plan takes nodes from
 * one job after another, size by size, until the waiting job fits; then each job gets
 * back the nodes that it need not have given. So as few jobs as possible give, the first
 * jobs of the list before others, and each gives no more than necessary. The answer is 0
 * if the waiting job fits already, or does not fit even when all jobs have their least
 * size. A job gives its last nodes first, and never shrinks below its least size.
 *
 * The caller asks for the waiting jobs one after another, in their order. After a plan
 * that returns 0, the model (growth.h) has the waiting job at the earliest time at which
 * it can start, so that a later job gets nothing that would delay it. After a plan that
 * returns 1, the model is used up. No clock, no input or output. Cost: at most two
 * matches for each size of each job, and never more than GIVEBACK_TRIES.
 */
#pragma once

#include "sched/growth.h"

#define GIVEBACK_TRIES 512

struct giveback_job {
    uint64_t id;
    const struct rset *r;                 /* resources of the job; borrowed */
    const struct jobspec_resource *sizes; /* the count of the job's nodes; borrowed */
    int64_t nodes;                        /* out: how many nodes the job keeps */
};

/* Return the next allowed size below (smaller) or above (larger) n, which may be any
 * number; 0: there is none. */
int64_t giveback_smaller (const struct jobspec_resource *sizes, int64_t n);
int64_t giveback_larger (const struct jobspec_resource *sizes, int64_t n);
/* 1: jobs[].nodes is set, and some jobs keep fewer nodes; 0: no job has to give nodes;
 * -ENOMEM. */
int giveback_plan (struct growth *x, struct giveback_job *jobs, size_t n,
                   const struct growth_job *wanted, double now);
