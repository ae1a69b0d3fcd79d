/* locality.c - as close together as can be: fewest racks, then fewest nodes */
#include "match/policy.h"

static int64_t free_cores (const struct match_policy *p, const int64_t *free,
                           const int64_t *ever, unsigned dims)
{
    (void)p;
    (void)ever;
    return dims > 1 ? free[1] : free[0];
}

const struct match_policy match_policy_locality = {
    .name = "locality",
    .summary = "fewest racks, then fewest nodes",
    .node_centric = true,
    .measure = free_cores,
    .together = true,
};
