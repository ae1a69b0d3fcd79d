/* budget.h - the rate of requests: a token bucket
 *
 *     budget_init (&b, 1000, 200);
 *     if (budget_take (&b, now)) ...            // now: seconds of any clock that goes forward
 *     else ... again in budget_wait (&b, now)
 *
 * Up to burst at once, rate a second after that. Pure.
 */
#pragma once

#include <stdbool.h>

struct kube_budget {
    double rate, burst; /* a second; at once */
    double tokens;
    double at; /* time of tokens; < 0: never used */
};

/* Begins full. rate > 0, burst >= 1. */
void budget_init (struct kube_budget *b, double rate, double burst);
/* Whether a request may be sent now; if so, it is counted. */
bool budget_take (struct kube_budget *b, double now);
/* Seconds until the next request may be sent, 0: now. */
double budget_wait (const struct kube_budget *b, double now);
