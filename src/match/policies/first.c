/* first.c - the first that fit: the freest rack, in it the freest node
 *
 * Spreads jobs over the nodes as long as there are unused ones, and visits no more nodes
 * than the request needs.
 */
#include "match/index/index.h"
#include "match/policies/policy.h"

static int64_t free_cores (const struct match_policy *p, const int64_t *free,
                           const int64_t *ever, unsigned dims)
{
    (void)p;
    (void)ever;
    return dims > 1 ? free[1] : free[0];
}

const struct match_policy match_policy_first = {
    .name = "first",
    .summary =
        "the freest node of the freest rack, visiting no more vertices than needed",
    .high = true,
    .node_centric = true,
    .first = true,
    .measure = free_cores,
};
