/* hinode.c - node by node, highest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_hinode = {
    .name = "hinode",
    .summary = "node by node, highest ids first",
    .high = true,
    .node_centric = true,
};
