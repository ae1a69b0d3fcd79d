/* nested_nodes.h - nodes in nodes */
#pragma once

#include "match/planner/planner_state.h"

/* Makes planner.inner, at the end of a rebuild. 0 or -ENOMEM. */
int nested_make (struct planner *p);
/* Updates the total amounts inside a node that has changed. */
void nested_mend (struct planner *p, const struct level_node *node);
void nested_destroy (struct planner *p);
