/* locality.c - as close together as possible, on nodes already in use: fewest racks, then
 * fewest nodes, and of the nodes with room for everything the one with the fewest free
 * cores
 */
#include "match/policies/policy.h"

static int64_t few_free_cores (const struct match_policy *p, const int64_t *free,
                               const int64_t *ever, unsigned dims)
{
    bool had = false, has = false;

    (void)p;
    for (unsigned d = 1; d < dims; d++) {
        had = had || ever[d] > 0;
        has = has || free[d] > 0;
    }
    if (had && !has)
        return INT64_MIN; /* full nodes would all come first */
    return dims > 1 ? -free[1] : 0;
}

const struct match_policy match_policy_locality = {
    .name = "locality",
    .summary = "fewest racks, then fewest nodes, then the nodes with the fewest free cores "
               "that suffice",
    .node_centric = true,
    .measure = few_free_cores,
    .together = true,
};
