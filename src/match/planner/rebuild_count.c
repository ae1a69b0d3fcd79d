/* rebuild_count.c - what the planner knows of the vertices as a whole
 *
 *     rebuild_count   first pass of a rebuild: nodes, vertices above them, and amounts of
 *                     each type: the sizes of memory and lists, and which types get a
 *                     dimension of the indexes
 *     rebuild_knows   the same for a node that comes, or whose contents changed
 */
#include <string.h>

#include "match/planner/levels.h"
#include "match/planner/rebuild_private.h"
#include "match/planner/sums.h"

/* -- count -- */

/* Notes what types are like, and the least and greatest id of each, see ideal_score() in
 * upper_vertices.c. */
static void note_type (struct planner *p, const struct graph_vertex *x)
{
    bool inner = x->first != GRAPH_NONE;

    p->least_id[x->type] = MIN (p->least_id[x->type], x->id);
    p->most_id[x->type] = MAX (p->most_id[x->type], (int64_t)x->id + x->n - 1);
    p->type_inner[x->type] |= inner;
    p->big[x->type] |= inner && x->size > 1;
    p->sized[x->type] |= x->size != 1 || (x->flags & GRAPH_DIVISIBLE);
    p->deep |= inner && x->type != GRAPH_NODE && !(x->flags & GRAPH_UPPER);
}

/* Counts a vertex that is in no node, but may be a node. Others have an entry in a list
 * of their parent. */
static void count_outside (struct rebuild *m, const struct graph_vertex *x)
{
    if (x->type == GRAPH_NODE) {
        m->nnodes++;
        return;
    }
    m->nlists += x->depth > 0;
    if (levels_is_upper (x)) {
        m->nupper++;
        m->p->levels = MAX (m->p->levels, (size_t)x->depth + 1);
    } else {
        m->p->type_loose[x->type] = true;
    }
}

static void count_vertices (struct rebuild *m)
{
    const struct graph *g = m->p->g;
    uint32_t node = GRAPH_NONE; /* the outermost node that v is in */

    for (uint32_t v = g->root; v != GRAPH_NONE; v = rebuild_next_vertex (g, v, true)) {
        struct graph_vertex *x = graph_vertex (g, v);
        if (node != GRAPH_NONE && x->depth <= graph_vertex (g, node)->depth)
            node = GRAPH_NONE;
        x->place = NOWHERE;
        m->types[x->type].amount += (wide)x->n * x->size;
        note_type (m->p, x);
        if (node == GRAPH_NONE) {
            count_outside (m, x);
            node = x->type == GRAPH_NODE ? v : GRAPH_NONE;
        } else {
            m->p->nested |= x->type == GRAPH_NODE;
        }
        if (node != GRAPH_NONE && x->first == GRAPH_NONE)
            m->types[x->type].in_nodes = true;
    }
}

/* Several ways lead to v, and so to all below it. */
static void count_shared (struct planner *p, uint32_t v)
{
    p->type_shared[graph_vertex (p->g, v)->type] = true;
    GRAPH_CHILDREN (p->g, v, child)
    {
        count_shared (p, child);
    }
}

/* Children of further parents are loose there: no index has them. */
static void count_further (struct planner *p)
{
    struct graph_edge e;

    for (size_t i = 0; graph_edge_at (p->g, graph_subsystem (p->g), i, &e); i++) {
        p->any_loose = true;
        p->type_inner[graph_vertex (p->g, e.from)->type] = true;
        count_shared (p, e.to);
    }
}

/* -- dimensions -- */

static bool has_dim (const struct planner *p, int type)
{
    for (unsigned d = 0; d < p->ntypes; d++)
        if (p->dims[d] == type)
            return true;
    return false;
}

static void add_dim (struct planner *p, int type)
{
    if (type >= 0 && p->ntypes < TYPE_DIMS && !has_dim (p, type))
        p->dims[p->ntypes++] = (uint16_t)type;
}

/* Returns the most frequent type of leaves in nodes without a dimension; -1. */
static int frequent_type (const struct rebuild *m)
{
    int best = -1;

    for (int t = 0; t < GRAPH_TYPES_MAX; t++) {
        if (!m->types[t].in_nodes || has_dim (m->p, t))
            continue;
        if (best < 0
            || graph_type_count (m->p->g, (uint16_t)t)
                   > graph_type_count (m->p->g, (uint16_t)best))
            best = t;
    }
    return best;
}

/* Types with an amount too large for a number keep their dimension, but are not
 * summed. */
static void choose_dims (struct rebuild *m)
{
    static const uint16_t first[] = { GRAPH_NODE, GRAPH_CORE, GRAPH_GPU, GRAPH_MEMORY };
    struct planner *p = m->p;
    int type;

    p->ntypes = 0;
    for (size_t i = 0; i < ARRAY_SIZE (first); i++)
        add_dim (p, first[i]);
    for (size_t i = 0; i < p->ntracked; i++)
        add_dim (p, graph_type_find (p->g, p->tracked[i]));
    while (p->ntypes < TYPE_DIMS && (type = frequent_type (m)) >= 0)
        add_dim (p, type);
    memset (p->dim_of, -1, sizeof (p->dim_of));
    p->ndims = p->ntypes + p->nproperties;
    for (unsigned d = 0; d < p->ntypes; d++)
        if (m->types[p->dims[d]].amount < SUMS_MAX)
            p->dim_of[p->dims[d]] = (int8_t)d;
    p->dim_of[GRAPH_NODE] = 0;
}

void rebuild_count (struct rebuild *m)
{
    count_vertices (m);
    count_further (m->p);
    choose_dims (m);
}

/* -- one node -- */

static bool is_tracked (const struct planner *p, int type)
{
    for (size_t i = 0; i < p->ntracked; i++)
        if (graph_type_find (p->g, p->tracked[i]) == type)
            return true;
    return false;
}

/* True if the type would have a dimension after a rebuild. */
static bool lacks_dim (const struct planner *p, const struct graph_vertex *x)
{
    return p->ntypes < TYPE_DIMS && !has_dim (p, x->type)
           && (x->first == GRAPH_NONE || is_tracked (p, x->type));
}

bool rebuild_knows (struct planner *p, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (lacks_dim (p, x))
        return false;
    note_type (p, x);
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (graph_vertex (p->g, child)->type == GRAPH_NODE || !rebuild_knows (p, child))
            return false;
    }
    return true;
}
