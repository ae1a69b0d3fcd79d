/* profile.h - sums of what is free, over time
 *
 *     struct profile *f = profile_create (3);
 *     profile_add (f, 0, INT64_MAX, total, 1);              // what there is
 *     profile_add (f, start, end, used, -1);                // a booking takes `used`
 *     t = profile_first (f, from, duration, need, &until);  // earliest t >= from, or -1
 *
 * Before the first point all sums are 0. A balanced tree of the times at which a sum
 * changes; each point holds the change, each subtree the whole change over it and the
 * least and the most that the sums are in it, against what they were before: so an add is
 * a change of two points, whatever lies between. The earliest time at which the sums
 * suffice for all of a duration is found in one pass in the order of time, which leaves
 * out where nothing suffices, and, while it holds, where all does: O(log points) where one
 * dimension decides, and as much for each gap that is too short. That they suffice is
 * necessary, not sufficient, for a match.
 *
 * Sums and amounts stay within +-2^60; the caller sees to it.
 * Source: Adelson-Velsky and Landis, An algorithm for the organization of information,
 * 1962.
 */
#ifndef FLUXQ_MATCH_PROFILE_H
#define FLUXQ_MATCH_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "match/index.h"

struct profile;

/* dims: 1 .. INDEX_DIMS. NULL: no memory. */
struct profile *profile_create (unsigned dims);
void profile_destroy (struct profile *f);
/* Room for so many points: adds that need no more do not fail. 0 or -ENOMEM. */
int profile_reserve (struct profile *f, size_t points);
/* Add sign (1, -1) * amount to every sum in [start, end); end INT64_MAX: for ever.
 * -ENOMEM: as before; not where two more points than there are have room. Points at which
 * nothing changes any more are dropped. O(log points). */
int profile_add (struct profile *f, int64_t start, int64_t end, const int64_t *amount,
                 int sign);
/* Earliest time >= from, from itself or a point, such that over [t, t + duration) every
 * sum is at least need's (0: any). from >= 0, duration > 0. -1: none. *ret_until (may be
 * NULL): the last time such that the same is true of every t from the earliest to it. */
int64_t profile_first (const struct profile *f, int64_t from, int64_t duration,
                       const int64_t *need, int64_t *ret_until);
/* The first point after t; INT64_MAX: none. */
int64_t profile_next_point (const struct profile *f, int64_t t);
void profile_at (const struct profile *f, int64_t t, int64_t *ret);
size_t profile_points (const struct profile *f);
size_t profile_memory (const struct profile *f);

#endif
