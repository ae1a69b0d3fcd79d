/* fcfs.c - first come, first served: no job starts before the first one */
#include "sched/policy.h"

static bool plan_first (const struct queue_plan *plan, const struct sched_entry *job)
{
    (void)job;
    return plan->jobs == 0;
}

static enum queue_pass pass_none (const struct queue_plan *plan,
                                  const struct sched_entry *job)
{
    (void)plan;
    (void)job;
    return QUEUE_CLOSED;
}

const struct queue_policy queue_policy_fcfs = {
    .name = "fcfs",
    .summary = "strictly in order: no job starts before the first",
    .depth = 1,
    .rank = queue_rank_priority,
    .plan = plan_first,
    .pass = pass_none,
};
