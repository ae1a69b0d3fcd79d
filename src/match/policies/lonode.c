/* lonode.c - node by node, lowest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_lonode = {
    .name = "lonode",
    .summary = "node by node, lowest ids first",
    .high = false,
    .node_centric = true,
};
