/* conservative.c - no job delays a job ahead of it
 *
 * Each waiting job has a reservation that no other job delays. The depth is limited, as
 * the whole plan may move after a change: behind the first `depth` jobs no job starts.
 */
#include "sched/policy.h"

static enum queue_pass pass_short_plan (const struct queue_plan *plan,
                                        const struct sched_entry *job)
{
    (void)job;
    return plan->reserved < plan->depth ? QUEUE_PASS : QUEUE_CLOSED;
}

const struct queue_policy queue_policy_conservative = {
    .name = "conservative",
    .summary = "no job is delayed: reservation-depth jobs have reservations, other jobs "
               "do not start",
    .depth = 256,
    .takes_depth = true,
    .rank = queue_rank_priority,
    .plan = queue_plan_reserved,
    .pass = pass_short_plan,
};
