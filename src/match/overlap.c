/* overlap.c - the nodes on which anything is booked in a window of time
 *
 * For a time ahead the indexes know only what is free now. A pass over the bookings that
 * overlap the window tells which nodes are not wholly free in it: O(bookings + claims of
 * those that overlap), so that a walk for whole nodes looks at no node in vain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/planner_private.h"

static void touch (struct planner *p, uint32_t node)
{
    uint32_t i = graph_vertex (p->g, node)->place;
    p->touched[i / 64] |= UINT64_C (1) << i % 64;
}

static void touch_claim (struct planner *p, const struct claim *c)
{
    uint32_t node = levels_node_of (p, c->v);
    const struct above *a;

    if (node != GRAPH_NONE)
        touch (p, node);
    else if (c->exclusive && (a = levels_above (p, c->v)))
        for (size_t i = 0; i < a->nnodes; i++)
            touch (p, a->nodes[i]);
}

int overlap_mark (struct planner *p, struct window *w)
{
    size_t words = (p->nnodes + 63) / 64;

    w->touched = NULL;
    if (words > p->touched_words) {
        uint64_t *again = realloc (p->touched, words * sizeof (*again));
        if (!again)
            return -ENOMEM;
        p->touched = again;
        p->touched_words = words;
    }
    if (words == 0)
        return 0;
    memset (p->touched, 0, words * sizeof (*p->touched));
    for (struct booking *b = p->by_job; b; b = b->hh.next) {
        if (b->start >= w->end || b->end <= w->at)
            continue;
        CLAIMS_OF_JOB (p, b, c)
        {
            touch_claim (p, &p->claims[c]);
        }
    }
    w->touched = p->touched;
    return 0;
}
