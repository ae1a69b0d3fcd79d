/* hybrid.c - the first `depth` jobs have reservations that no other job delays */
#include "sched/policy.h"

const struct queue_policy queue_policy_hybrid = {
    .name = "hybrid",
    .summary =
        "the first reservation-depth jobs have reservations, others start if they delay "
        "none",
    .depth = 64,
    .takes_depth = true,
    .rank = queue_rank_priority,
    .plan = queue_plan_reserved,
    .pass = queue_pass_any,
};
