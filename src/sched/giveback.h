/* giveback.h - which nodes malleable jobs are to give back so that a job that waits can start
 *
 *     struct growth *x = growth_create (machine, matcher, policy, NULL, 0, true, now);
 *     growth_run (x, id, r);                                  // for each job that runs
 *     rc = giveback_plan (x, jobs, n, &wanted, now);          // the first ones give first
 *     if (rc == 1) ... jobs[i].nodes < jobs[i].r->nranks      // these are to shrink
 *
 * Nodes are only asked back where that lets the job start: from one job after the other, size by
 * size, until it fits; then those get theirs again that need not have given any. So it is as few
 * jobs as possible that give, the first ones of the list before others, and each no more than it
 * must. What is asked of nobody (it fits as things are, or not even when all have their least) is
 * 0. The last nodes of a job are those that go; it never gives what is below its least size.
 *
 * Jobs that wait are asked about one after another, in their order: after a plan that comes to
 * nothing the job has its place in the model (growth.h), the soonest it can start, and who
 * comes behind it is given nothing that would delay it. After one that does not the model is used
 * up. No clock, no input or output. Costs: at most one match for each size of each job, twice,
 * and never more than GIVEBACK_TRIES.
 */
#ifndef FLUXQ_SCHED_GIVEBACK_H
#define FLUXQ_SCHED_GIVEBACK_H

#include "sched/growth.h"

#define GIVEBACK_TRIES 512

struct giveback_job {
    uint64_t id;
    const struct rset *r;                 /* what it holds; borrowed */
    const struct jobspec_resource *sizes; /* the count of its nodes; borrowed */
    int64_t nodes;                        /* out: how many it keeps */
};

/* The next size of these below n (any number); 0: there is none. The next one above; 0. */
int64_t giveback_smaller (const struct jobspec_resource *sizes, int64_t n);
int64_t giveback_larger (const struct jobspec_resource *sizes, int64_t n);
/* 1: jobs[].nodes is set, and some are fewer; 0: nothing is to be asked of anybody; -ENOMEM. */
int giveback_plan (struct growth *x, struct giveback_job *jobs, size_t n,
                   const struct growth_job *wanted, double now);

#endif
