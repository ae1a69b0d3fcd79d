/* inspect.h - queries of tests on planners, selections and RSets (libmatch_test.a) */
#pragma once

#include "match/machine/rset.h"
#include "match/planner/planner.h"

/* Returns the job's claims, and the ways to them, as a selection; the caller owns it.
 * NULL: the job has no booking, or no memory. */
struct selection *planner_selection (const struct planner *p, uint64_t job);
/* Appends the bookings as text, by job: equal texts mean equal bookings. */
void planner_dump (const struct planner *p, struct strbuf *sb);
/* Replaces *p by a new planner over the same graph, policy and options, with the same
 * bookings. Returns 0, or the negative errno of the first booking that is refused. */
int planner_remake (struct planner **p, struct error *err);
/* Returns the units of the type at or below v that are allocated at that time. */
int64_t planner_used (const struct planner *p, uint32_t v, uint16_t type, int64_t at);
/* Returns the units of the type among the picks that are claimed, or below one that is.
 * s is complete. */
int64_t selection_count (const struct selection *s, const struct graph *g, uint16_t type);
bool rset_equal (const struct rset *a, const struct rset *b);
