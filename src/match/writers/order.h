/* order.h - the picks of a selection in the order of all formats: children before parents
 *
 *     struct order o;
 *     struct order_step at;
 *     order_begin (&o, selection);
 *     while (order_next (&o, &at))
 *         if (at.leave) ...                    // all that lies below it was given
 *
 * Each pick is met twice: when it is entered, and when it is left. Siblings keep their
 * order. Borrows the selection; no memory of its own. O(1) a step on average.
 */
#ifndef FLUXQ_MATCH_WRITERS_ORDER_H
#define FLUXQ_MATCH_WRITERS_ORDER_H

#include "match/selection.h"

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
    unsigned depth;                     /* picks that are entered and not left */
    unsigned cover;                     /* their number down to a claimed one; 0 */
    uint32_t open[GRAPH_DEPTH_MAX + 1]; /* these, outermost first */
};

void order_begin (struct order *o, const struct selection *s);
/* false: no more. */
bool order_next (struct order *o, struct order_step *ret);

#endif
