/* replan.h - plans a request again that has, or had, a place in the plan
 *
 * Usually nothing that became free since the plan was made helps the request, and its
 * place stays without a search.
 */
#pragma once

#include "match/planner/window_nodes.h"

/* A search for a new place, and the windows that the search can skip: nothing was found
 * there before. */
struct replan {
    struct planner *p;
    struct node_need need;
    int64_t now, duration;
    /* of the present place; INT64_MAX: none, no window fitted */
    int64_t start;
    bool all;  /* nothing is known */
    int64_t from, until; /* else only windows that begin in this range can fit */
};
/* True if the request could fit before `start` now, or at `start` with other parts. The
 * request's own reservation and those behind it are suspended. The levels must be up to
 * date. */
bool replan_is_useful (struct replan *k, struct planner *p, const struct shape *s,
                       int64_t now, int64_t duration, int64_t start);
/* True if the request could fit in the window that begins at that time, <= start. */
bool replan_is_useful_at (const struct replan *k, int64_t at);

/* -- plan.c -- */

/* As search_match() with WITHOUT_ALLOCATING_FUTURE; *ret NULL: the job keeps its place.
 * lost: the place is not free any more. -EINPROGRESS as with search_in_pieces(). */
int search_again (struct planner *p, uint64_t job, const struct replan *replan,
                  bool lost, const struct shape *shape, struct selection **ret);
