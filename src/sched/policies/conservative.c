/* conservative.c - all have a time that nobody delays */
#include "sched/policy.h"

const struct queue_policy queue_policy_conservative = {
    .name = "conservative",
    .summary = "all have reservations, others start if they delay none",
    .backfill = true,
    .depth = QUEUE_DEPTH_MAX,
};
