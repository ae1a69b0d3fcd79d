/* policy.h - how the queue plans: number of reservations, and backfill
 *
 *     const struct queue_policy *p = queue_policy_find ("easy");
 *     struct sched *s = sched_create (matcher, p, 0);
 *
 * The first `depth` jobs that do not fit get reservations. With `backfill`, a job behind
 * them starts if that delays none of the reservations. If the policy is closed, no job
 * behind them starts, so that jobs without a planned start are not delayed either. Each
 * policy has a file in policies/ that ends with `const struct queue_policy
 * queue_policy_NAME`; the build makes the table of policies. Sources: Lifka, The ANL/IBM
 * SP scheduling system, 1995 (EASY); Mu'alem, Feitelson, Utilization, predictability,
 * workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling, 2001
 * (conservative).
 */
#ifndef FLUXQ_SCHED_POLICY_H
#define FLUXQ_SCHED_POLICY_H

#include <stdbool.h>

#define QUEUE_DEPTH_MAX 10000

struct queue_policy {
    const char *name;
    const char *summary; /* one line for help */
    bool backfill;
    bool closed; /* once `depth` jobs have a reservation, no job behind them starts */
    unsigned depth;   /* 1 .. QUEUE_DEPTH_MAX: number of first jobs with a reservation */
    bool takes_depth; /* the configuration may set another depth */
};

extern const struct queue_policy *const queue_policies[]; /* NULL-terminated, by name */

const struct queue_policy *
queue_policy_find (const char *name); /* NULL: no such policy */

#endif
