/* easy.c - the first has a time that nobody delays */
#include "sched/policy.h"

const struct queue_policy queue_policy_easy = {
    .name = "easy",
    .summary = "the first has a reservation, others start if they do not delay it",
    .backfill = true,
    .depth = 1,
};
