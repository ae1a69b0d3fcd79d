/* selection.h - which units a match chose: the answer, in terms of the graph
 *
 *     for (size_t i = 0; i < s->n; i++) {
 *         const struct pick *p = &s->picks[i];
 *         // units p->unit .. p->unit + p->count - 1 of vertex p->v, p->amount of each
 *     }
 *
 * Picks stand in depth-first order of the graph (parents before children, siblings as
 * they were added, units ascending); s->picks[0] is the root. Vertices on the way to
 * something chosen are picks too: not exclusive, not claimed. Units of one group that
 * follow each other and are alike are one pick.
 *
 * A vertex with further parents (graph_associate()) stands, with all below it, behind the
 * children of one of these if selection_add_way() said so. What covers that one does not
 * cover it: exclusive, it is claimed by itself.
 */
#ifndef FLUXQ_MATCH_SELECTION_H
#define FLUXQ_MATCH_SELECTION_H

#include "match/graph.h"

struct pick {
    uint32_t v;
    uint32_t parent; /* index of its parent's pick; GRAPH_NONE for the first */
    uint32_t unit;   /* first unit */
    uint32_t count;  /* units */
    int64_t amount;  /* of each: its size, or a part of a divisible one */
    uint32_t slots;  /* of a node: slots of the request that are on it (0 elsewhere) */
    uint16_t label;  /* of the request's vertex: its number there + 1, see shape.h; 0 */
    bool exclusive;  /* nobody else may have a part of it */
    bool claimed;    /* books these units; false: below a claimed one (which has it all),
                        * or on the way only */
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
    int64_t granted;    /* the outermost elastic count's size (in several vertices: in the
                         * first of them), 0 without one */
};

struct selection *selection_create (void);
void selection_destroy (struct selection *s);
/* Append; the new pick, zeroed but for v, unit, count, parent and amount (the unit's
 * size), or NULL: no memory. */
struct pick *selection_add (struct selection *s, const struct graph *g, uint32_t v,
                            uint32_t unit, uint32_t count, uint32_t parent);
/* Picks at and below v are to stand below its further parent `via`. Of several ways of one
 * vertex the first counts; where `via` is none of its parents it has no effect. 0, -ENOMEM. */
int selection_add_way (struct selection *s, uint32_t v, uint32_t via);
/* Bring what was appended in any order, ways to the root missing or doubled, into the
 * order above, and join runs; parents are found anew. Doubled picks are united: exclusive
 * and claimed if one was, slots and claimed amounts of a divisible vertex are summed, of two
 * labels the lower stays; an amount that is not claimed gives way to one that is. -ENOMEM: s
 * is as it was. O(n log n), O(n) when the picks come in order (ways may be missing or
 * repeated); where there are ways by further parents, times the depth. */
int selection_complete (struct selection *s, const struct graph *g);
/* The same into `out`, empty: its own picks; s keeps the memory of its picks, and none of them,
 * and its ways become out's. */
int selection_complete_to (struct selection *s, const struct graph *g,
                           struct selection *out);

/* Of a complete one: the pick is below a further parent of its vertex. */
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

#endif
