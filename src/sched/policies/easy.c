/* easy.c - the first job has a reservation that no other job delays */
#include "sched/policy.h"

const struct queue_policy queue_policy_easy = {
    .name = "easy",
    .summary = "the first has a reservation, others start if they do not delay it",
    .backfill = true,
    .depth = 1,
};
