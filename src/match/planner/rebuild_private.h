/* rebuild_private.h - shared by the files that rebuild all indexes: see rebuild.c */
#pragma once

#include "match/planner/nested_nodes.h"

#define NOWHERE GRAPH_NONE

__extension__ typedef __int128 wide;

struct counted { /* of a type */
    wide amount;
    bool in_nodes; /* as a leaf */
};

struct rebuild {
    struct planner *p;
    size_t phase, work; /* work: what is left of the piece */
    size_t at;          /* number of the next element in the phase */
    uint32_t v;    /* ... or the next vertex, in a walk over the graph; GRAPH_NONE */
    uint32_t node; /* the outermost node that v is in; GRAPH_NONE */
    struct counted types[GRAPH_TYPES_MAX];
    size_t nnodes, nupper, nlists; /* nlists: entries of all lists of vertices above
                                    * nodes */
    size_t lists_used;
    size_t vacated;      /* places made vacant in the index that is laid out */
    uint32_t *order;     /* nodes in the order of the policy */
    bool unsorted;       /* ... which differs from the graph's order */
    uint32_t *from, *to; /* sort: runs of `width`; two of them become one run in `to` */
    size_t width, i, middle, j, end; /* the runs being merged: i .. middle, j .. end */
    int64_t sums[INDEX_DIMS];        /* of what is up in nodes */
    bool begun;                      /* bookings up to `job` are entered */
    uint64_t job;
    struct nested_rebuild inner;
};

/* Accounts for a piece of work of so many vertices. */
static inline void rebuild_spend (struct rebuild *m, size_t work)
{
    m->work -= MIN (m->work, work);
}

/* The next vertex in the graph's order: below v if `down`, else after all below v. */
static inline uint32_t rebuild_next_vertex (const struct graph *g, uint32_t v, bool down)
{
    if (down && graph_vertex (g, v)->first != GRAPH_NONE)
        return graph_vertex (g, v)->first;
    while (v != GRAPH_NONE && graph_vertex (g, v)->next == GRAPH_NONE)
        v = graph_vertex (g, v)->parent;
    return v == GRAPH_NONE ? v : graph_vertex (g, v)->next;
}

static inline bool rebuild_is_upper (const struct graph_vertex *x)
{
    return (x->flags & GRAPH_UPPER) && x->type != GRAPH_NODE;
}

/* -- rebuild_count.c -- */

/* Phases, as in rebuild.c: 0: done; -EAGAIN: there is more. */
int rebuild_count (struct rebuild *m);
int rebuild_count_further (struct rebuild *m);
/* After the phases: chooses the types that have dimensions, and counts them. */
void rebuild_dims (struct rebuild *m);
