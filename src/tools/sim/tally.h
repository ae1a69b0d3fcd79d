/* tally.h - the figures of a run
 *
 *     struct tally t = { 0 };
 *     tally_start (&t, &start);             // each job
 *     tally_figures (&t, cluster, &f);      // once, at the end
 *     tally_release (&t);
 */
#pragma once

#include "tools/sim/sim.h"

/* Jobs shorter than this count as that long in the bounded slowdown (Feitelson, Metrics for
 * Parallel Job Scheduling and Their Convergence, JSSPP 2001). */
#define TALLY_SHORT 10.0 /* seconds */

struct tally {
    double *waits;
    size_t n, alloc;
    bool no_memory;          /* waits are incomplete */
    double last_end, latest; /* latest: of submit + shortest run time */
    double slowdowns;        /* sum */
    double core_seconds;     /* used; all cores of nodes taken as a whole */
    double work[4];          /* requested: core, GPU, MiB and exclusive node seconds */
    uint64_t smaller, killed;
};

struct figures {     /* seconds */
    double makespan; /* first submit to last end */
    /* No schedule of this work is shorter: the larger of work over capacity (the longest
     * of cores, GPUs, memory and nodes), and the latest submit + run time. */
    double lower_bound;
    double utilization; /* of the cores, 0 to 1 */
    double wait_mean, wait_p95, wait_max;
    double bounded_slowdown; /* mean */
};

void tally_start (struct tally *t, const struct sim_start *s);
/* Sorts the waits. */
void tally_figures (struct tally *t, const struct cluster *c, struct figures *ret);
void tally_release (struct tally *t);
