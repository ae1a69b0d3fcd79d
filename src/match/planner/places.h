/* places.h - places of nodes in the indexes */
#pragma once

#include "match/planner/planner_state.h"

/* Makes room for so many places. 0 or -ENOMEM. */
int places_reserve (struct upper *a, size_t n);
/* Gives a node its place in each index above it; everything there is in order. -ENOMEM:
 * it has only some places. O(log n), or O(log^2 n) amortised if nodes have to move. */
int places_enter (struct planner *p, uint32_t number);
/* Vacates its places. O(log n) */
void places_leave (struct planner *p, uint32_t number);
