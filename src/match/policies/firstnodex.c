/* firstnodex.c - whole nodes, the first that fit */
#include "match/policies/policy.h"

const struct match_policy match_policy_firstnodex = {
    .name = "firstnodex",
    .summary = "whole nodes, the first that fit, highest ids first",
    .high = true,
    .node_centric = true,
    .node_exclusive = true,
    .first = true,
};
