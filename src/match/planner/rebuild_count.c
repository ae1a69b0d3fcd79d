/* rebuild_count.c - the first pass over the graph: counts everything
 *
 *     rebuild_count          nodes, vertices above them, and amounts of each type: the
 *                            sizes of memory and lists
 *     rebuild_count_further  the same for vertices with several parents
 *     rebuild_dims           which types get a dimension of the indexes
 */
#include <errno.h>
#include <string.h>

#include "match/planner/rebuild_private.h"
#include "match/planner/sums.h"

/* -- count -- */

static void count_type (struct rebuild *m, const struct graph_vertex *x)
{
    m->types[x->type].amount += (wide)x->n * x->size;
    if (x->first != GRAPH_NONE)
        m->p->type_inner[x->type] = true;
    if (x->first != GRAPH_NONE && x->size > 1)
        m->p->big[x->type] = true;
}

/* Updates the least and greatest id of each type, see ideal_score() in
 * upper_vertices.c. */
static void count_ids (struct planner *p, const struct graph_vertex *x)
{
    p->least_id[x->type] = MIN (p->least_id[x->type], x->id);
    p->most_id[x->type] = MAX (p->most_id[x->type], (int64_t)x->id + x->n - 1);
    if (x->size != 1 || (x->flags & GRAPH_DIVISIBLE))
        p->sized[x->type] = true;
    p->deep =
        p->deep
        || (x->first != GRAPH_NONE && x->type != GRAPH_NODE && !(x->flags & GRAPH_UPPER));
}

static void count_in_node (struct rebuild *m, const struct graph_vertex *x)
{
    if (x->type == GRAPH_NODE)
        m->p->nested = true;
    if (x->first == GRAPH_NONE)
        m->types[x->type].in_nodes = true;
}

/* Counts a vertex that is in no node, but may be a node: it has an entry with its parent,
 * and as a node an entry in the index of each vertex above it. */
static void count_outside (struct rebuild *m, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (m->p->g, v);

    m->nlists += x->depth > 0;
    if (x->type == GRAPH_NODE) {
        m->nnodes++;
        m->nlists += x->depth;
        m->node = v;
    } else if (rebuild_is_upper (x)) {
        m->nupper++;
        m->p->levels = MAX (m->p->levels, (size_t)x->depth + 1);
    } else {
        m->p->type_loose[x->type] = true;
    }
}

int rebuild_count (struct rebuild *m)
{
    const struct graph *g = m->p->g;

    for (; m->v != GRAPH_NONE && m->work > 0;
         m->v = rebuild_next_vertex (g, m->v, true)) {
        struct graph_vertex *x = graph_vertex (g, m->v);
        if (m->node != GRAPH_NONE && x->depth <= graph_vertex (g, m->node)->depth)
            m->node = GRAPH_NONE;
        x->place = NOWHERE;
        count_type (m, x);
        count_ids (m->p, x);
        if (m->node != GRAPH_NONE)
            count_in_node (m, x);
        else
            count_outside (m, m->v);
        rebuild_spend (m, 1);
    }
    return m->v == GRAPH_NONE ? 0 : -EAGAIN;
}

/* Several ways lead to v, and so to all below it. */
static void count_shared (struct rebuild *m, uint32_t v)
{
    rebuild_spend (m, 1);
    m->p->type_shared[graph_vertex (m->p->g, v)->type] = true;
    GRAPH_CHILDREN (m->p->g, v, child)
    {
        count_shared (m, child);
    }
}

/* Children of further parents are loose there: no index has them. */
int rebuild_count_further (struct rebuild *m)
{
    const struct graph *g = m->p->g;
    struct graph_edge e;

    for (; graph_edge_at (g, graph_subsystem (g), m->at, &e); m->at++) {
        if (m->work == 0)
            return -EAGAIN;
        rebuild_spend (m, 1);
        m->p->any_loose = true;
        m->p->type_inner[graph_vertex (g, e.from)->type] = true;
        uint32_t edge = GRAPH_NONE;
        graph_further_parent (g, e.to, &edge);
        if (edge == m->at) /* the first edge of it */
            count_shared (m, e.to);
    }
    return 0;
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
void rebuild_dims (struct rebuild *m)
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
