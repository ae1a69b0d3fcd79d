/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "match/policies/policy.h"

#include <stddef.h>

extern const struct match_policy match_policy_bestfit;
extern const struct match_policy match_policy_first;
extern const struct match_policy match_policy_firstnodex;
extern const struct match_policy match_policy_high;
extern const struct match_policy match_policy_hinode;
extern const struct match_policy match_policy_hinodex;
extern const struct match_policy match_policy_locality;
extern const struct match_policy match_policy_lonode;
extern const struct match_policy match_policy_lonodex;
extern const struct match_policy match_policy_low;
extern const struct match_policy match_policy_spread;
extern const struct match_policy match_policy_variation;

const struct match_policy *const match_policies[] = {
    &match_policy_bestfit,
    &match_policy_first,
    &match_policy_firstnodex,
    &match_policy_high,
    &match_policy_hinode,
    &match_policy_hinodex,
    &match_policy_locality,
    &match_policy_lonode,
    &match_policy_lonodex,
    &match_policy_low,
    &match_policy_spread,
    &match_policy_variation,
    NULL,
};
