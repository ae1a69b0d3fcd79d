/* conservative.c - nobody is delayed by who is behind
 *
 * Each who waits has a time that nobody delays. There is an end to that, as the whole plan may
 * move when something changes: behind the first so many nobody starts.
 */
#include "sched/policy.h"

const struct queue_policy queue_policy_conservative = {
    .name = "conservative",
    .summary = "nobody is delayed: reservation-depth have reservations, no others start",
    .backfill = true,
    .closed = true,
    .depth = 256,
    .takes_depth = true,
};
