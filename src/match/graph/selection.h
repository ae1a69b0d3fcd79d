/* selection.h - the units that a match chose, in terms of the graph
 *
 *     for (size_t i = 0; i < s->n; i++) {
 *         const struct pick *p = &s->picks[i];
 *         // units p->unit .. p->unit + p->count - 1 of vertex p->v, p->amount of each
 *     }
 *
 * Picks are in depth-first order of the graph (parents before children, siblings as they
 * were added, units ascending); s->picks[0] is the root. Vertices on the way to a chosen
 * unit are picks, too: not exclusive, not claimed. Consecutive units of one group that
 * are alike are one pick.
 *
 * A vertex with further parents (graph_associate()) comes, with all below it, after the
 * children of a further parent if selection_add_way() said so. A claim that covers the
 * further parent does not cover the vertex: if exclusive, the vertex is claimed by
 * itself.
 */
#pragma once

#include "match/graph/graph.h"

struct pick {
    uint32_t v;
    uint32_t parent; /* index of its parent's pick; GRAPH_NONE for the first */
    uint32_t unit;   /* first unit */
    uint32_t count;  /* units */
    int64_t amount;  /* of each unit: its size, or a part of a divisible one */
    uint32_t slots;  /* of a node: slots of the request on it (0 elsewhere) */
    uint16_t label;  /* number of the request's vertex + 1, see shape.h; 0: none */
    bool exclusive;  /* no other job may have a part of it */
    bool claimed;    /* books these units; false: below a claimed pick (which includes
                      * it), or only on the way to a chosen unit */
};

struct selection_way {
    uint32_t v, via; /* a vertex, and its further parent */
};

struct selection {
    struct pick *picks;
    size_t n, alloc;
    struct selection_way *ways;
    size_t nways, ways_alloc;
    int64_t start, end; /* ticks; end INT64_MAX: none */
    int64_t granted;    /* size of the outermost elastic count (of the first vertex that
                         * has it), 0: no elastic count */
};

struct selection *selection_create (void);
void selection_destroy (struct selection *s);
/* Appends a pick and returns it, zeroed except for v, unit, count, parent and amount (the
 * unit's size); NULL: no memory. */
struct pick *selection_add (struct selection *s, const struct graph *g, uint32_t v,
                            uint32_t unit, uint32_t count, uint32_t parent);
/* Puts the picks at and below v below its further parent `via`. If v has several such
 * ways, the first counts; if `via` is not a parent of v, there is no effect. 0,
 * -ENOMEM. */
int selection_add_way (struct selection *s, uint32_t v, uint32_t via);
/* Completes a selection whose picks were added in any order, with vertices on the way to
 * the root missing or doubled: sorts the picks, joins runs and sets the parents. Doubled
 * picks are merged: exclusive and claimed if one was; slots and claimed amounts of a
 * divisible vertex are summed; the lower of two labels stays; a claimed amount replaces
 * one that is not. -ENOMEM: s is unchanged. O(n log n), O(n) if the picks are in order
 * (ways may be missing or repeated); with ways by further parents, times the depth. */
int selection_complete (struct selection *s, const struct graph *g);
/* As selection_complete(), into `out`, which is empty. s keeps the memory of its picks,
 * but none of them; its ways become those of out. */
int selection_complete_to (struct selection *s, const struct graph *g,
                           struct selection *out);

/* True if the pick of a complete selection is below a further parent of its vertex. */
static inline bool selection_is_further (const struct selection *s, const struct graph *g,
                                         const struct pick *p)
{
    const struct graph_vertex *x = graph_vertex (g, p->v);
    return (x->flags & GRAPH_FURTHER_PARENTS) && p->parent != GRAPH_NONE
           && s->picks[p->parent].v != x->parent;
}

static inline void selection_destroyp (struct selection **p)
{
    selection_destroy (*p);
}
#define autoselection __attribute__ ((cleanup (selection_destroyp)))
