/* policy.c - policies by name, and the decisions that several policies share */
#include "sched/policy.h"

#include <string.h>

#include "sched/sched.h"

const struct queue_policy *queue_policy_find (const char *name)
{
    for (size_t i = 0; queue_policies[i]; i++)
        if (!strcmp (queue_policies[i]->name, name))
            return queue_policies[i];
    return NULL;
}

int64_t queue_rank_priority (const struct sched_entry *job)
{
    return job->priority;
}

bool queue_plan_reserved (const struct queue_plan *plan, const struct sched_entry *job)
{
    (void)job;
    return plan->reserved < plan->depth;
}

enum queue_pass queue_pass_any (const struct queue_plan *plan,
                                const struct sched_entry *job)
{
    (void)plan;
    (void)job;
    return QUEUE_PASS;
}
