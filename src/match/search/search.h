/* search.h - finds where and when a request fits, and books it
 *
 *     autoselection struct selection *s = NULL;
 *     int rc = search_match (p, SEARCH_ALLOCATE, job, shape, now, duration, &s, &why);
 *     // 0: booked, the caller owns s;  -EBUSY: not now;  -ENODEV: never on this graph;
 *     // -EEXIST: the job has a booking;  -EINVAL, -ENOMEM.  why: a sentence for its user
 *
 * This folder answers two questions about a request (request/shape.h): at which time it
 * fits (plan.c), and with which units (walk.h). It reads the graph, and the bookings and
 * indexes of the planner; the result is a selection, which becomes a booking of the
 * planner. Nothing else changes.
 *
 * A walk goes by the indexes, see walk.h. A later time is tried only if a booking ends
 * then and the sums suffice (profile.h).
 */
#pragma once

#include "match/planner/planner.h"
#include "match/request/shape.h"

enum search_op {
    SEARCH_ALLOCATE,                     /* now, or not at all */
    SEARCH_ALLOCATE_WITH_SATISFIABILITY, /* the same, but tells "never" apart with -ENODEV
                                          * and the reason of SEARCH_SATISFIABILITY */
    SEARCH_ALLOCATE_ORELSE_RESERVE,      /* now, else at the earliest time, else never */
    SEARCH_SATISFIABILITY,               /* could it ever fit, on an empty graph with all
                                          * vertices up? books nothing, no selection */
    SEARCH_WITHOUT_ALLOCATING,           /* as ALLOCATE, books nothing */
    SEARCH_WITHOUT_ALLOCATING_FUTURE,    /* as ORELSE_RESERVE, books nothing */
};

int search_match (struct planner *p, enum search_op op, uint64_t job,
                  const struct shape *shape, int64_t now, int64_t duration,
                  struct selection **ret, struct error *why);
/* Limits the search for a later time in SEARCH_ALLOCATE_ORELSE_RESERVE: it ends with
 * -EINPROGRESS after about `work` visited nodes (10 million take a third of a second). An
 * equal call continues the search where it stopped, or, if something became free
 * meanwhile, starts over with twice the work. 0: searches are not limited. */
void search_in_pieces (struct planner *p, size_t work);
/* True if the next call continues a search for this job. O(1) */
bool search_goes_on (const struct planner *p, uint64_t job, int64_t now);
/* Drops the unfinished search of the job, which asks for something else now, or for
 * nothing. */
void search_forget (struct planner *p, uint64_t job);
