/* spread.c - the emptiest nodes first: jobs disturb each other least */
#include "match/policies/policy.h"

static int64_t free_share (const struct match_policy *p, const int64_t *free,
                           const int64_t *ever, unsigned dims)
{
    int64_t sum = 0;

    (void)p;
    for (unsigned d = 1; d < dims; d++)
        if (ever[d] > 0)
            sum += free[d] * 4096 / ever[d];
    return sum;
}

const struct match_policy match_policy_spread = {
    .name = "spread",
    .summary = "the emptiest nodes first, slots over as many nodes as there are",
    .node_centric = true,
    .measure = free_share,
    .spread = true,
};
