/* budget.c - see budget.h */
#include "kube/budget.h"

#include "common/macros.h"

/* A token counts as whole up to this deficit, for a wait that was rounded. */
#define SLACK 1e-6

void budget_init (struct kube_budget *b, double rate, double burst)
{
    *b = (struct kube_budget){ .rate = rate, .burst = burst, .tokens = burst, .at = -1 };
}

static double tokens_at (const struct kube_budget *b, double now)
{
    double passed = b->at < 0 || now < b->at ? 0 : now - b->at;

    return MIN (b->burst, b->tokens + passed * b->rate);
}

bool budget_take (struct kube_budget *b, double now)
{
    double have = tokens_at (b, now);

    if (have < 1 - SLACK)
        return false;
    b->tokens = MAX (have - 1, 0);
    b->at = now;
    return true;
}

double budget_wait (const struct kube_budget *b, double now)
{
    double have = tokens_at (b, now);

    return have >= 1 - SLACK ? 0 : (1 - have) / b->rate;
}
