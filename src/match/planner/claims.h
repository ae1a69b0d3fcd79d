/* claims.h - which units are free in a window of time */
#pragma once

#include "match/planner/planner_state.h"

/* Units of word i (64 i ...) of v that are free in the window; bits past n are 0. Ignores
 * vertices above v. Not for divisible vertices. */
uint64_t claims_free_word (const struct planner *p, uint32_t v, uint32_t i,
                           const struct window *w);
/* The amount of a divisible vertex that is free during the whole window. */
int64_t claims_free_amount (const struct planner *p, uint32_t v, const struct window *w);
/* The number of free units; of a divisible vertex 1 if some of it is free. */
int64_t claims_free_count (const struct planner *p, uint32_t v, const struct window *w);
/* True if no claim on v or below it, by any way, overlaps the window. */
bool claims_untouched (const struct planner *p, uint32_t v, const struct window *w);
/* True if an exclusive claim on v itself overlaps the window (nothing below a vertex with
 * children is free then). */
bool claims_taken (const struct planner *p, uint32_t v, const struct window *w);

/* As claims_taken(), on a vertex above v in the tree. For further children, which a walk
 * reaches from elsewhere. */
bool claims_covered (const struct planner *p, uint32_t v, const struct window *w);

/* True if the claim counts in the window. */
bool claims_counts (const struct planner *p, const struct claim *c,
                    const struct window *w);
/* Bits of word i that are in the run of units. */
uint64_t claims_run_word (uint32_t unit, uint32_t count, uint32_t i);
/* The largest amount of a divisible vertex that is taken at any one time of the
 * window. */
int64_t claims_most_used (const struct planner *p, uint32_t v, const struct window *w);
/* Returns a claim on v or below it that counts in the window and is not of booking number
 * `but`; GRAPH_NONE: none. */
uint32_t claims_below (const struct planner *p, uint32_t v, const struct window *w,
                       uint32_t but);
/* Returns a claim that counts in the window and conflicts with `c`: a claim of another
 * booking on c's units, covering them from above, or, if c is exclusive, below c's
 * vertex. GRAPH_NONE: none. Ignores amounts. */
uint32_t claims_in_way (const struct planner *p, const struct claim *c,
                        const struct window *w);
/* True if an exclusive claim of the booking on a vertex above v covers v. */
bool claims_covered_by (const struct planner *p, uint32_t v, uint32_t booking);
