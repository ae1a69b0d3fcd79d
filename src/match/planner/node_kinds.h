/* node_kinds.h - nodes that are alike */
#pragma once

#include "match/planner/planner_state.h"

/* Sets the kind of a node that was measured. */
void node_kinds_note (struct planner *p, struct level_node *node);
/* True if nodes a and b have the same things in the same order below, and all of them are
 * up. */
bool node_kinds_equal (const struct planner *p, uint32_t a, uint32_t b);
