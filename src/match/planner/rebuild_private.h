/* rebuild_private.h - shared by the files that rebuild all indexes: see rebuild.c */
#pragma once

#include "match/planner/planner_state.h"

__extension__ typedef __int128 wide;

struct counted { /* of a type */
    wide amount;
    bool in_nodes; /* as a leaf */
};

struct rebuild {
    struct planner *p;
    struct counted types[GRAPH_TYPES_MAX];
    size_t nnodes, nupper;
    size_t nlists; /* entries of the lists of vertices above nodes */
    size_t lists_used;
};

/* The next vertex in the graph's order: below v if `down`, else after all below v. */
static inline uint32_t rebuild_next_vertex (const struct graph *g, uint32_t v, bool down)
{
    if (down && graph_vertex (g, v)->first != GRAPH_NONE)
        return graph_vertex (g, v)->first;
    while (v != GRAPH_NONE && graph_vertex (g, v)->next == GRAPH_NONE)
        v = graph_vertex (g, v)->parent;
    return v == GRAPH_NONE ? v : graph_vertex (g, v)->next;
}

/* -- rebuild_count.c -- */

/* Counts all vertices, and chooses the types that have dimensions. */
void rebuild_count (struct rebuild *m);
