/* easy.c - the first job has a reservation that no other job delays */
#include "sched/policy.h"

const struct queue_policy queue_policy_easy = {
    .name = "easy",
    .summary = "the first job has a reservation, others start if they do not delay it",
    .depth = 1,
    .rank = queue_rank_priority,
    .plan = queue_plan_reserved,
    .pass = queue_pass_any,
};
