/* order.h - the picks of a selection in the order of all formats: children before parents
 *
 *     struct order o;
 *     struct order_step at;
 *     order_begin (&o, selection);
 *     while (order_next (&o, &at))
 *         if (at.leave) ...                    // all below it has been visited
 *
 * Each pick is visited twice: on entering and on leaving. Siblings keep their order.
 * Borrows the selection; no memory of its own. O(1) a step on average.
 */
#pragma once

#include "match/graph/selection.h"

#define ORDER_NAME_SIZE 1024 /* room for the name of a vertex */

struct order_step {
    const struct pick *pick;
    unsigned depth; /* the first pick: 0 */
    bool leave;
    bool covered; /* below a pick that is claimed as a whole */
};

struct order {
    const struct selection *s;
    size_t next;                        /* the next pick to enter */
    unsigned depth;                     /* number of picks entered and not left */
    unsigned cover;                     /* number of these down to a claimed one; 0:
                                         * none */
    uint32_t open[GRAPH_DEPTH_MAX + 1]; /* these picks, outermost first */
};

void order_begin (struct order *o, const struct selection *s);
/* false: no more. */
bool order_next (struct order *o, struct order_step *ret);
