/* high.c - highest ids first */
#include "match/policies/policy.h"

const struct match_policy match_policy_high = {
    .name = "high",
    .summary = "highest ids first, slots of all nodes compared",
    .high = true,
};
