/* nested_nodes.h - nodes in nodes */
#pragma once

#include "match/planner/planner_state.h"

/* The state of a rebuild between its pieces. */
struct nested_rebuild {
    size_t at;             /* number of the next node */
    size_t upper, entries; /* entries of planner.inner and inner_lists */
    size_t used;           /* entries of inner_lists in use */
};

/* Do a piece of *work vertices: first count everything, then enter it. 0: done; -EAGAIN;
 * -ENOMEM. */
int nested_count (struct planner *p, struct nested_rebuild *k, size_t *work);
int nested_enter (struct planner *p, struct nested_rebuild *k, size_t *work);
/* Updates the total amounts inside a node that has changed. */
void nested_mend (struct planner *p, const struct level_node *node);
void nested_destroy (struct planner *p);
