/* profile.h - sums of what is free, over time
 *
 *     struct profile *f = profile_create (3, total);
 *     profile_add (f, start, end, used, -1);                 // a booking takes `used`
 *     t = profile_first (f, from, duration, need);          // earliest t >= from, or -1
 *
 * A balanced tree of the times at which a sum changes; each point holds the sums from
 * there to the next point, each subtree the least and the most of them by dimension, and
 * what is to be added to all below it. The earliest time at which the sums suffice for all
 * of a duration is found in O(log points) where one dimension decides, without stepping
 * through the times. That they suffice is necessary, not sufficient, for a match.
 */
#ifndef FLUXQ_MATCH_PROFILE_H
#define FLUXQ_MATCH_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "match/index.h"

struct profile;

struct profile *profile_create (unsigned dims);
void profile_destroy (struct profile *f);
/* Add sign * amount to every sum in [start, end); end INT64_MAX: for ever. -ENOMEM: as
 * before. Points at which nothing changes any more are dropped. */
int profile_add (struct profile *f, int64_t start, int64_t end, const int64_t *amount,
                 int sign);
/* Earliest time >= from, from itself or a point, such that over [t, t + duration) every
 * sum is at least need's. -1: none. */
int64_t profile_first (const struct profile *f, int64_t from, int64_t duration,
                       const int64_t *need);
/* The first point after t; INT64_MAX: none. */
int64_t profile_next_point (const struct profile *f, int64_t t);
void profile_at (const struct profile *f, int64_t t, int64_t *ret);
size_t profile_points (const struct profile *f);
size_t profile_memory (const struct profile *f);

#endif
