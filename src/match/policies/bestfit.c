/* bestfit.c - the fullest nodes that still fit: large holes stay whole for large jobs */
#include "match/policies/policy.h"

static int64_t used_share (const struct match_policy *p, const int64_t *free,
                           const int64_t *ever, unsigned dims)
{
    int64_t sum = 0;
    bool had = false, has = false;

    (void)p;
    for (unsigned d = 1; d < dims; d++) {
        if (ever[d] > 0)
            sum -= free[d] * 4096 / ever[d];
        had = had || ever[d] > 0;
        has = has || free[d] > 0;
    }
    return has || !had ? sum : INT64_MIN; /* full nodes would all come first */
}

const struct match_policy match_policy_bestfit = {
    .name = "bestfit",
    .summary = "the fullest nodes that fit, so that large gaps stay free",
    .node_centric = true,
    .measure = used_share,
};
