/* plan_private.h - what the files of a search over time share */
#ifndef FLUXQ_MATCH_SEARCH_PLAN_PRIVATE_H
#define FLUXQ_MATCH_SEARCH_PLAN_PRIVATE_H

#include "match/search/walk.h"

/* -- miss.c: why it did not fit, a sentence for its user. -EBUSY, or -ENODEV for never -- */
int planner_why (const struct planner *p, const struct shape *s,
                 const struct walk_miss *miss, bool never, struct error *why);

/* -- plan.c -- */

/* As planner_match() with WITHOUT_ALLOCATING_FUTURE; *ret NULL: the job keeps its place.
 * lost: the place is not free any more. -EINPROGRESS as with
 * planner_search_in_pieces(). */
int planner_match_again (struct planner *p, uint64_t job, const struct freed_look *look,
                         bool lost, const struct shape *shape, struct selection **ret);

/* -- release.c: ends of bookings -- */

/* Cores in a node that are free during the whole window. */
int64_t release_free_cores (const struct planner *p, uint32_t v, const struct window *w);

struct release_search {
    struct planner *p;
    const struct overlap_need *need;
    int64_t duration; /* of the windows that begin at the ends */
    /* so many nodes must be given back, in part or whole, after `counted` */
    int64_t missing;
    int64_t counted;
};
/* Returns the first end of a booking in from .. until, both >= 0 and < INT64_MAX, at
 * which something useful for the request becomes free, and no nodes are missing any more;
 * -1: none. */
int64_t release_next (struct release_search *k, int64_t from, int64_t until);

#endif
