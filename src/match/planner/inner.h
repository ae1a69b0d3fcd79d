/* inner.h - nodes in nodes */
#ifndef FLUXQ_MATCH_PLANNER_INNER_H
#define FLUXQ_MATCH_PLANNER_INNER_H

#include "match/planner/planner_state.h"

struct inner_make {
    size_t at;             /* number of the next node */
    size_t above, entries; /* entries of planner.inner and inner_lists */
    size_t used;           /* entries of inner_lists in use */
};

/* Do a piece of *work vertices: first count everything, then enter it. 0: done; -EAGAIN;
 * -ENOMEM. */
int inner_count (struct planner *p, struct inner_make *k, size_t *work);
int inner_enter (struct planner *p, struct inner_make *k, size_t *work);
/* Updates the total amounts inside a node that has changed. */
void inner_mend (struct planner *p, const struct level_node *node);
void inner_destroy (struct planner *p);

#endif
