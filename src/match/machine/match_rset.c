/* match_rset.c - converts selections to R, and R to selections
 *
 * A job's ranks are the nodes in the order of the graph, those of each component of a
 * heterogeneous job together. On a node that is taken whole
 * the job has all units except withheld ones; the node is booked as one claim. The CPU
 * thousandths of a job with cores follow from its cores and are not in its R.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/machine/match_private.h"

/* -- R out of a selection -- */

static bool is_node (const struct machine *g, const struct pick *p)
{
    return graph_vertex (g->graph, p->v)->type == GRAPH_NODE;
}

static int add_units (struct idset *ids, const struct graph_vertex *x, uint32_t unit,
                      uint32_t count)
{
    uint32_t first = (uint32_t)x->id + unit;
    return idset_add_range (ids, first, first + count - 1);
}

/* Adds all units of the group (GRAPH_NONE: none) that are up. */
static int add_whole (struct idset *ids, const struct graph *g, uint32_t v)
{
    if (v == GRAPH_NONE)
        return 0;
    const struct graph_vertex *x = graph_vertex (g, v);
    for (uint32_t i = 0; i < (x->n + 63) / 64; i++) {
        uint64_t up = graph_ever_word (g, v, i) & ~graph_down_word (g, v, i);
        while (up) {
            uint32_t first = (uint32_t)__builtin_ctzll (up);
            uint64_t ones = ~(up >> first);
            uint32_t n = ones ? (uint32_t)__builtin_ctzll (ones) : 64 - first;
            n = MIN (n, 64 - first);
            int rc = add_units (ids, x, 64 * i + first, n);
            if (rc < 0)
                return rc;
            up &= first + n == 64 ? 0 : ~UINT64_C (0) << (first + n);
        }
    }
    return 0;
}

static int fill_whole (const struct machine *g, const struct machine_node *n,
                       struct rset_rank *rank)
{
    struct node_leaves l;
    int rc = 0;

    rank->exclusive = true;
    rank->memory_mib = node_left (g, n).memory;
    for (size_t i = 0; rc == 0 && node_leaves_at (n, i, &l); i++) {
        rc = add_whole (rank->cores, g->graph, l.core);
        if (rc == 0)
            rc = add_whole (rank->gpus, g->graph, l.gpu);
    }
    for (size_t i = 0; i < n->npools && rc == 0; i++)
        if (strcmp (n->pools[i].name, GRES_CPU_MILLI) != 0)
            rc = gres_set (&rank->gres, n->pools[i].name,
                           pool_free (g->graph, n->pools[i].v));
    return rc < 0 ? -ENOMEM : 0;
}

static bool is_cpu_pool (const struct machine *g, const struct graph_vertex *x)
{
    return strcmp (graph_type_name (g->graph, x->type), GRES_CPU_MILLI) == 0;
}

static int add_gres (struct rset_rank *rank, const char *name, int64_t amount)
{
    return gres_set (&rank->gres, name, gres_get (&rank->gres, name) + amount);
}

/* Adds the pick's CPU thousandths to *milli. */
static int fill_units (const struct machine *g, const struct pick *p,
                       struct rset_rank *rank, int64_t *milli)
{
    const struct graph_vertex *x = graph_vertex (g->graph, p->v);

    if (!p->claimed)
        return 0;
    if (x->type == GRAPH_CORE)
        return add_units (rank->cores, x, p->unit, p->count);
    if (x->type == GRAPH_GPU)
        return add_units (rank->gpus, x, p->unit, p->count);
    if (x->type == GRAPH_MEMORY)
        rank->memory_mib += p->amount;
    else if ((x->flags & GRAPH_DIVISIBLE) && is_cpu_pool (g, x))
        *milli += p->amount;
    else if (x->flags & GRAPH_DIVISIBLE)
        return add_gres (rank, graph_type_name (g->graph, x->type), p->amount);
    return 0;
}

/* Reads the pick of a node, number *i, and all below it; moves *i behind them. */
static int fill_rank (const struct machine *g, const struct selection *s, size_t *i,
                      struct rset_rank *rank)
{
    const struct pick *node = &s->picks[(*i)++];
    const struct machine_node *n = machine_node_of (g, node->v);
    int64_t milli = 0;
    int rc = 0;

    rank->node_index = n->index;
    rank->slots = node->slots;
    if (!(rank->node = strdup (n->name)))
        return -ENOMEM;
    if (node->exclusive)
        rc = fill_whole (g, n, rank);
    for (; *i < s->n && !is_node (g, &s->picks[*i])
           && graph_vertex (g->graph, s->picks[*i].v)->depth
                  > graph_vertex (g->graph, node->v)->depth;
         ++*i)
        if (rc == 0 && !node->exclusive)
            rc = fill_units (g, &s->picks[*i], rank, &milli);
    if (rc == 0 && milli > 0 && idset_count (rank->cores) == 0)
        rc = gres_set (&rank->gres, GRES_CPU_MILLI, milli);
    if (rc == 0 && n->gpu_type && idset_count (rank->gpus) > 0
        && !(rank->gpu_type = strdup (n->gpu_type)))
        rc = -ENOMEM;
    return rc;
}

/* The outermost vertex of the request, counted from 0, that the labelled pick serves. */
static uint16_t component_of (const struct shape *shape, const struct pick *p)
{
    uint16_t r = (uint16_t)(p->label - 1), n = 0;

    while (shape->v[r].parent != SHAPE_NONE)
        r = shape->v[r].parent;
    for (uint16_t top = shape->top; top != r; top = shape->v[top].next)
        n++;
    return n;
}

/* No two components are on one node, so any label on the node tells its component. */
static void set_components (const struct machine *g, const struct selection *s,
                            const struct shape *shape, struct rset *r)
{
    struct rset_rank *rank = NULL;
    unsigned depth = 0;
    size_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct graph_vertex *x = graph_vertex (g->graph, s->picks[i].v);

        if (x->type == GRAPH_NODE) {
            rank = &r->ranks[k++];
            depth = x->depth;
        } else if (x->depth <= depth) {
            rank = NULL;
        }
        if (rank && s->picks[i].label > 0)
            rank->component = component_of (shape, &s->picks[i]);
    }
}

/* Puts the ranks of each component together; those of one keep their order. */
static int sort_by_component (struct rset *r)
{
    struct rset_rank *sorted = calloc (MAX (r->nranks, 1), sizeof (*sorted));
    size_t n = 0;

    if (!sorted)
        return -ENOMEM;
    for (uint16_t c = 0; n < r->nranks; c++)
        for (size_t i = 0; i < r->nranks; i++)
            if (r->ranks[i].component == c)
                sorted[n++] = r->ranks[i];
    free (r->ranks);
    r->ranks = sorted;
    return 0;
}

struct rset *rset_of_selection (const struct machine *g, const struct selection *s,
                                const struct shape *shape)
{
    size_t nranks = 0, k = 0;

    for (size_t i = 0; i < s->n; i++)
        nranks += is_node (g, &s->picks[i]);
    struct rset *r = rset_create (nranks);
    for (size_t i = 0; r && i < s->n;) {
        if (!is_node (g, &s->picks[i])) {
            i++;
        } else if (fill_rank (g, s, &i, &r->ranks[k++]) < 0) {
            rset_destroy (r);
            r = NULL;
        }
    }
    if (r && shape->apart) {
        set_components (g, s, shape, r);
        if (sort_by_component (r) < 0) {
            rset_destroy (r);
            return NULL;
        }
    }
    return r;
}

/* -- a selection out of R -- */

struct booking_of {
    const struct machine *g;
    struct selection *s;
    struct error *why;
};

static int claim (struct booking_of *b, uint32_t v, uint32_t unit, uint32_t count,
                  int64_t amount)
{
    struct pick *p = selection_add (b->s, b->g->graph, v, unit, count, GRAPH_NONE);
    if (!p)
        return error_set (b->why, ENOMEM, "out of memory");
    if (amount > 0)
        p->amount = amount;
    p->exclusive = p->claimed = true;
    return 0;
}

/* Claims the runs of ids that are in the group v (GRAPH_NONE: none are). */
static int claim_group (struct booking_of *b, const struct idset *ids, uint32_t v)
{
    uint32_t first = 0, count = 0, from = 0, until = 0;
    int rc = 0;

    if (v != GRAPH_NONE) {
        from = (uint32_t)graph_vertex (b->g->graph, v)->id;
        until = from + graph_vertex (b->g->graph, v)->n;
    }
    IDSET_FOREACH (ids, id)
    {
        if (id < from || id >= until)
            continue;
        if (count > 0 && id == first + count) {
            count++;
            continue;
        }
        if (count > 0 && (rc = claim (b, v, first - from, count, 0)) < 0)
            return rc;
        first = id;
        count = 1;
    }
    return count > 0 ? claim (b, v, first - from, count, 0) : rc;
}

/* of: the number that exists. */
static int check_ids (struct booking_of *b, const struct machine_node *n,
                      const struct idset *ids, uint32_t of, const char *what)
{
    IDSET_FOREACH (ids, id)
    {
        if (id >= of)
            return error_set (b->why, ENOENT, "%s: %s %u is gone (it has %u)", n->name,
                              what, id, of);
    }
    return 0;
}

/* Claims as much of *left as the pool has room for, and subtracts it from *left. */
static int claim_amount (struct booking_of *b, uint32_t v, int64_t *left)
{
    const struct graph_vertex *x = v == GRAPH_NONE ? NULL : graph_vertex (b->g->graph, v);
    int64_t part = x ? MIN (*left, x->size - x->used) : 0;

    if (part <= 0)
        return 0;
    *left -= part;
    return claim (b, v, 0, 1, part);
}

static bool has_some (const struct graph *g, const struct idset *ids, uint32_t v)
{
    const struct graph_vertex *x = v == GRAPH_NONE ? NULL : graph_vertex (g, v);

    IDSET_FOREACH (ids, id)
    {
        if (x && id >= (uint32_t)x->id && id < (uint32_t)x->id + x->n)
            return true;
    }
    return false;
}

/* Claims memory where the cores or gpus are, and the rest elsewhere. */
static int claim_parts (struct booking_of *b, const struct machine_node *n,
                        const struct rset_rank *rank)
{
    const struct graph *g = b->g->graph;
    int64_t memory = rank->memory_mib;
    struct node_leaves l;
    int rc = 0;

    if (n->memory != GRAPH_NONE && memory > 0) {
        rc = claim (b, n->memory, 0, 1, memory);
        memory = 0;
    }
    for (size_t i = 0; rc == 0 && node_leaves_at (n, i, &l); i++) {
        rc = claim_group (b, rank->cores, l.core);
        if (rc == 0)
            rc = claim_group (b, rank->gpus, l.gpu);
        if (rc == 0
            && (has_some (g, rank->cores, l.core) || has_some (g, rank->gpus, l.gpu)))
            rc = claim_amount (b, l.memory, &memory);
    }
    for (size_t i = 0; rc == 0 && memory > 0 && node_leaves_at (n, i, &l); i++)
        if (!has_some (g, rank->cores, l.core) && !has_some (g, rank->gpus, l.gpu))
            rc = claim_amount (b, l.memory, &memory);
    if (rc == 0 && memory > 0)
        rc = error_set (b->why, EBUSY, "%s: %lld MiB of memory are in use", n->name,
                        (long long)memory);
    return rc;
}

/* Claims the CPU thousandths of its cores. */
static int claim_cpus (struct booking_of *b, const struct machine_node *n,
                       const struct idset *cores)
{
    int64_t left = CPU_MILLI * (int64_t)idset_count (cores);
    uint32_t pool = node_pool (n, GRES_CPU_MILLI);

    int rc = pool == GRAPH_NONE ? 0 : claim_amount (b, pool, &left);
    if (rc == 0 && pool != GRAPH_NONE && left > 0)
        rc = error_set (b->why, EBUSY, "%s: parts of its cores are in use", n->name);
    return rc;
}

/* look: only checks that they exist. */
static int claim_gres (struct booking_of *b, const struct machine_node *n,
                       const struct gres_list *gres, bool look)
{
    int rc = 0;

    for (size_t i = 0; i < gres->n && rc == 0; i++) {
        const struct gres *x = &gres->v[i];
        int64_t has = gres_get (&n->gres, x->name);
        if (x->count > has)
            return error_set (b->why, ENOENT, "%s: %lld %s are gone (it has %lld)",
                              n->name, (long long)x->count, x->name, (long long)has);
        if (!look)
            rc = claim (b, node_pool (n, x->name), 0, 1, x->count);
    }
    return rc;
}

static int claim_rank (struct booking_of *b, const struct rset_rank *rank)
{
    int index = machine_node_find (b->g, rank->node), rc;
    if (index < 0)
        return error_set (b->why, ENOENT, "node %s is not known", rank->node);
    const struct machine_node *n = b->g->nodes[index];
    if (rank->memory_mib > n->size.memory)
        return error_set (b->why, ENOENT, "%s: %lld MiB of memory are gone (it has %lld)",
                          n->name, (long long)rank->memory_mib,
                          (long long)n->size.memory);
    if ((rc = check_ids (b, n, rank->cores, n->size.cores, "core")) < 0
        || (rc = check_ids (b, n, rank->gpus, n->size.gpus, "gpu")) < 0
        || (rc = claim_gres (b, n, &rank->gres, rank->exclusive)) < 0)
        return rc;
    if (rank->exclusive)
        return claim (b, n->v, 0, 1, 0);
    rc = claim_parts (b, n, rank);
    return rc < 0 ? rc : claim_cpus (b, n, rank->cores);
}

int rset_to_selection (const struct machine *g, const struct rset *r,
                       struct selection **ret, struct error *why)
{
    struct booking_of b = { g, selection_create (), why };
    int rc = b.s ? 0 : error_set (why, ENOMEM, "out of memory");

    for (size_t i = 0; i < r->nranks && rc == 0; i++)
        rc = claim_rank (&b, &r->ranks[i]);
    if (rc == 0 && (rc = selection_complete (b.s, g->graph)) < 0)
        error_set (why, ENOMEM, "out of memory");
    if (rc < 0) {
        selection_destroy (b.s);
        return rc;
    }
    *ret = b.s;
    return 0;
}

struct machine_amounts rset_rank_amounts (const struct rset_rank *rank)
{
    return (struct machine_amounts){ idset_count (rank->cores), idset_count (rank->gpus),
                                     rank->memory_mib };
}
