/* policy.h - how the queue plans: how many of those that wait get a time, may others go first
 *
 *     const struct queue_policy *p = queue_policy_find ("easy");
 *     struct sched *s = sched_create (matcher, p, 0);
 *
 * The jobs in front get reservations, as many as `depth` says; with `backfill` whatever is
 * behind them starts when that delays none of these; or, where the policy is closed, nobody, so
 * that none who has no time yet is delayed either. One file each in policies/, which ends
 * in `const struct queue_policy queue_policy_NAME`; the build makes the table of them.
 * Sources: Lifka, The ANL/IBM SP scheduling system, 1995 (EASY); Mu'alem, Feitelson,
 * Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
 * SP2 with backfilling, 2001 (conservative).
 */
#ifndef FLUXQ_SCHED_POLICY_H
#define FLUXQ_SCHED_POLICY_H

#include <stdbool.h>

#define QUEUE_DEPTH_MAX 10000

struct queue_policy {
    const char *name;
    const char *summary; /* one line for help */
    bool backfill;
    bool closed; /* once `depth` jobs have a reservation, nobody behind them starts */
    unsigned depth;   /* 1 .. QUEUE_DEPTH_MAX jobs in front get a reservation */
    bool takes_depth; /* the configuration may say another one */
};

extern const struct queue_policy *const queue_policies[]; /* NULL-terminated, by name */

const struct queue_policy *
queue_policy_find (const char *name); /* NULL: no such policy */

#endif
