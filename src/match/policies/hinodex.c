/* hinodex.c - whole nodes, highest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_hinodex = {
    .name = "hinodex",
    .summary = "whole nodes, highest ids first",
    .high = true,
    .node_centric = true,
    .node_exclusive = true,
};
