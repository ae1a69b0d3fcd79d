/* lonodex.c - whole nodes, lowest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_lonodex = {
    .name = "lonodex",
    .summary = "whole nodes, lowest ids first",
    .high = false,
    .node_centric = true,
    .node_exclusive = true,
};
