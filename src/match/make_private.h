/* make_private.h - what is shared by the files that make all indexes anew: see make.c */
#ifndef FLUXQ_MATCH_MAKE_PRIVATE_H
#define FLUXQ_MATCH_MAKE_PRIVATE_H

#include "match/planner_private.h"

#define NOWHERE GRAPH_NONE

__extension__ typedef __int128 wide;

struct counted { /* of a type */
    wide amount;
    bool in_nodes; /* as a leaf */
};

struct make {
    struct planner *p;
    size_t phase, work; /* work: what is left of the piece */
    size_t at;          /* of the phase: number of what is next */
    uint32_t v;    /* ... or the vertex that is, of a walk over the graph; GRAPH_NONE */
    uint32_t node; /* where that is in, the outermost; GRAPH_NONE */
    struct counted types[GRAPH_TYPES_MAX];
    size_t nnodes, nabove, nlists; /* nlists: entries of all their lists */
    size_t lists_used;
    size_t vacated;      /* of the index that is laid out */
    uint32_t *order;     /* nodes in the order of the policy */
    bool unsorted;       /* ... which is not the graph's */
    uint32_t *from, *to; /* sort: runs of `width`, two of which become one of `to` */
    size_t width, i, middle, j, end; /* that are merged: i .. middle, j .. end */
    int64_t sums[INDEX_DIMS];        /* of what is up in the nodes */
    bool begun;                      /* bookings were looked at up to this one */
    uint64_t job;
    struct inner_make inner;
};

/* A piece of work of so many vertices is done. */
static inline void make_spend (struct make *m, size_t work)
{
    m->work -= MIN (m->work, work);
}

/* The next vertex in the graph's order: below v when down, else behind it. */
static inline uint32_t make_next_vertex (const struct graph *g, uint32_t v, bool down)
{
    if (down && graph_vertex (g, v)->first != GRAPH_NONE)
        return graph_vertex (g, v)->first;
    while (v != GRAPH_NONE && graph_vertex (g, v)->next == GRAPH_NONE)
        v = graph_vertex (g, v)->parent;
    return v == GRAPH_NONE ? v : graph_vertex (g, v)->next;
}

static inline bool make_is_above (const struct graph_vertex *x)
{
    return (x->flags & GRAPH_ABOVE) && x->type != GRAPH_NODE;
}

/* -- make_count.c -- */

/* Phases, as those of make.c: 0: done; -EAGAIN: there is more. */
int make_count (struct make *m);
int make_count_further (struct make *m);
/* After them: which types have dimensions, and how many there are. */
void make_dims (struct make *m);

#endif
