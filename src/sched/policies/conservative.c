/* conservative.c - no job delays a job ahead of it
 *
 * Each waiting job has a reservation that no other job delays. The depth is limited, as
 * the whole plan may move after a change: behind the first `depth` jobs no job starts.
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
