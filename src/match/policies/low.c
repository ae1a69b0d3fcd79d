/* low.c - lowest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_low = {
    .name = "low",
    .summary = "lowest ids first, slots of all nodes compared",
    .high = false,
};
