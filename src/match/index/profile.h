/* profile.h - sums of what is free, over time
 *
 *     struct profile *f = profile_create (3);
 *     profile_add (f, 0, INT64_MAX, total, 1);              // what there is
 *     profile_add (f, start, end, used, -1);                // a booking takes `used`
 *     t = profile_first (f, from, duration, need, &until);  // earliest t >= from, or -1
 *
 * Before the first point all sums are 0. The profile is a balanced tree of the times at
 * which a sum changes. Each point holds the change; each subtree holds the total change
 * over it, and the least and the greatest sum in it relative to the sum before it. So an
 * addition changes two points, whatever is between them. The earliest time at which the
 * sums suffice for a whole duration is found in one pass in the order of time. The pass
 * skips subtrees in which nothing suffices, and, within a candidate window, those in
 * which everything does: O(log points) if one dimension decides, and as much for each gap
 * that is too short. Sufficient sums are necessary, not sufficient, for a match.
 *
 * Sums and amounts must stay within +-2^60; the caller ensures that. Source:
 * Adelson-Velsky and Landis, An algorithm for the organization of information, 1962.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "match/index/index.h"

struct profile;

/* dims: 1 .. INDEX_DIMS. NULL: no memory. */
struct profile *profile_create (unsigned dims);
void profile_destroy (struct profile *f);
/* Makes room for so many points: additions within that room do not fail. 0 or -ENOMEM. */
int profile_reserve (struct profile *f, size_t points);
/* Adds sign (1, -1) * amount to every sum in [start, end); end INT64_MAX: forever.
 * -ENOMEM leaves the profile unchanged; it does not happen if there is room for two more
 * points. Drops points without a change. O(log points). */
int profile_add (struct profile *f, int64_t start, int64_t end, const int64_t *amount,
                 int sign);
/* Returns the earliest time t >= from, which is from or a point, such that every sum is
 * at least need's (0: any) over [t, t + duration). from >= 0, duration > 0. -1: none.
 * *ret_until (may be NULL): the last time such that every time from t to it is a
 * solution, too. */
int64_t profile_first (const struct profile *f, int64_t from, int64_t duration,
                       const int64_t *need, int64_t *ret_until);
/* Returns the first point after t; INT64_MAX: none. */
int64_t profile_next_point (const struct profile *f, int64_t t);
void profile_at (const struct profile *f, int64_t t, int64_t *ret);
size_t profile_points (const struct profile *f);
size_t profile_memory (const struct profile *f);
