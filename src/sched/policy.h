/* policy.h - queue policies: who is tried next, who gets a reservation, who passes whom
 *
 *     const struct queue_policy *p = queue_policy_find ("easy");
 *     struct sched *s = sched_create (matcher, p, 0);
 *
 * The scheduler (sched.h) knows what fits, and asks the policy for three decisions:
 *
 *     rank   The place of a job in the order. A pass tries the jobs in this order.
 *     plan   Whether the next job belongs to the plan. The plan has the first jobs that
 *            do not fit now, each with a reservation at its earliest start, if known.
 *     pass   Whether a job behind the plan may start before the jobs of the plan. It
 *            never delays them: it starts only if it fits beside all reservations.
 *
 * Each policy has a file in policies/ that ends with `const struct queue_policy
 * queue_policy_NAME`; the build makes the table of policies. A policy has no state: its
 * answers depend on the arguments alone, so that a plan made piece by piece equals a plan
 * made at once. The functions are called for each try: O(1), no allocation.
 *
 * doc/developer.md has an example.
 *
 * Sources: Lifka, The ANL/IBM SP scheduling system, 1995 (EASY); Mu'alem, Feitelson,
 * Utilization, predictability, workloads, and user runtime estimates in scheduling the
 * IBM SP2 with backfilling, 2001 (conservative).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_DEPTH_MAX 10000

struct sched_entry; /* a job as queued: sched.h */

/* The plan: the first waiting jobs, in order. */
struct queue_plan {
    unsigned depth;  /* as configured, else of the policy: 1 .. QUEUE_DEPTH_MAX */
    size_t jobs;     /* number of jobs in the plan */
    size_t reserved; /* of these, jobs with a reservation; others have no known start */
};

enum queue_pass {
    QUEUE_PASS,   /* the job may start */
    QUEUE_WAIT,   /* neither this job nor one of its shape with an equal or longer
                   * duration starts before the plan changes */
    QUEUE_CLOSED, /* no job behind the plan starts before the plan changes */
};

struct queue_policy {
    const char *name;
    const char *summary; /* one line for help */
    unsigned depth;      /* 1 .. QUEUE_DEPTH_MAX: for struct queue_plan */
    bool takes_depth;    /* the configuration may set another depth */
    /* Returns the rank of a job: larger ranks are tried first; jobs of equal rank by
     * turn, then by id. */
    int64_t (*rank) (const struct sched_entry *job);
    /* Tells whether the job that is next in the order belongs to the plan. false: neither
     * this job nor any job behind it. The scheduler ends a plan of depth + 100 jobs. */
    bool (*plan) (const struct queue_plan *plan, const struct sched_entry *job);
    /* Tells whether a job behind the plan may start before the jobs of the plan. */
    enum queue_pass (*pass) (const struct queue_plan *plan,
                             const struct sched_entry *job);
};

extern const struct queue_policy *const queue_policies[]; /* NULL-terminated, by name */

const struct queue_policy *
queue_policy_find (const char *name); /* NULL: no such policy */

/* Decisions that several policies share. */

/* rank: the priority of the job. */
int64_t queue_rank_priority (const struct sched_entry *job);
/* plan: jobs until `depth` of them have a reservation. */
bool queue_plan_reserved (const struct queue_plan *plan, const struct sched_entry *job);
/* pass: each job. */
enum queue_pass queue_pass_any (const struct queue_plan *plan,
                                const struct sched_entry *job);
