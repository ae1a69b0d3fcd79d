/* further_parents.c - vertices to which several ways lead (graph_associate())
 *
 * A walk reaches such a vertex below its parent in the tree and below each further
 * parent, but finds something there only below one of them: the first. That parent is
 * noted in the vertex (graph_way()) and here, in a list, so that the note can be dropped
 * if nothing found there is chosen. So nothing is found twice, and the answer knows the
 * way.
 *
 * Above the nodes, an index has what is below its vertex in the tree. What further
 * parents have in addition is visited after that, vertex by vertex.
 */
#include <errno.h>

#include "match/planner/claims.h"
#include "match/search/walk_private.h"

static bool has_ways (const struct walker *k, uint32_t v)
{
    return (graph_vertex (k->g, v)->flags & GRAPH_FURTHER_PARENTS) != 0;
}

static struct graph_way *way_of (const struct walker *k, uint32_t v)
{
    return graph_way (k->p->g, v);
}

static uint32_t tree_parent (const struct walker *k, uint32_t v)
{
    return graph_vertex (k->g, v)->parent;
}

/* True if a vertex above v in the tree, where no walk has passed, covers v or is held. */
static bool is_covered (const struct walker *k, uint32_t v)
{
    if (claims_covered (k->p, v, k->w))
        return true;
    for (v = tree_parent (k, v); v != GRAPH_NONE && k->nheld > 0; v = tree_parent (k, v))
        if (walk_is_held (k, v))
            return true;
    return false;
}

bool walk_way_is_open (const struct walker *k, uint32_t v, uint32_t via)
{
    if (!has_ways (k, v))
        return true;
    uint32_t way = way_of (k, v)->parent;
    return (way == GRAPH_NONE || way == via)
           && (via == tree_parent (k, v) || !is_covered (k, v));
}

uint64_t walk_found (const struct walker *k, uint16_t head, uint32_t base)
{
    uint64_t n = 0;

    for (uint16_t r = head; r != SHAPE_NONE && k->has_ways; r = walk_req (k, r)->next)
        n += k->f[base++].n;
    return n;
}

void walk_way_take (struct walker *k, uint32_t v, uint32_t via)
{
    struct graph_way *way;

    if (!has_ways (k, v) || (way = way_of (k, v))->parent != GRAPH_NONE)
        return;
    if (array_reserve (&k->ways, &k->aways, k->nways + 1, sizeof (*k->ways)) < 0) {
        k->failed = true;
        return;
    }
    way->parent = via;
    way->number = k->nways;
    k->ways[k->nways++] = v;
}

void walk_ways_back (struct walker *k, uint32_t n)
{
    while (k->nways > n)
        way_of (k, k->ways[--k->nways])->parent = GRAPH_NONE;
}

/* -- recording the way of a selection -- */

/* If v is behind number n of the list, swaps it with that; returns the next n. */
static uint32_t put_at (struct walker *k, uint32_t v, uint32_t n)
{
    struct graph_way *way = way_of (k, v);

    if (way->parent == GRAPH_NONE || way->number < n)
        return n;
    way_of (k, k->ways[n])->number = way->number;
    k->ways[way->number] = k->ways[n];
    k->ways[n] = v;
    way->number = n;
    return n + 1;
}

static uint32_t put_way_to (struct walker *k, uint32_t v, uint32_t n)
{
    while (v != GRAPH_NONE) {
        uint32_t up = tree_parent (k, v);
        if (has_ways (k, v)) {
            n = put_at (k, v, n);
            if (way_of (k, v)->parent != GRAPH_NONE)
                up = way_of (k, v)->parent;
        }
        v = up;
    }
    return n;
}

static uint32_t put_ways_of (struct walker *k, uint32_t list, uint32_t n)
{
    for (uint32_t i = list; i != WALK_NONE; i = k->c[i].next) {
        if (walk_req (k, k->c[i].req)->kind == SHAPE_RESOURCE)
            n = put_way_to (k, k->c[i].v, n);
        n = put_ways_of (k, k->c[i].parts, n);
    }
    return n;
}

void walk_ways_keep (struct walker *k, uint32_t n, uint32_t list)
{
    if (k->nways > n)
        walk_ways_back (k, put_ways_of (k, list, n));
}

/* -- in the answer -- */

int walk_ways_add (struct walker *k, struct selection *s)
{
    for (uint32_t i = 0; i < k->nways; i++) {
        uint32_t v = k->ways[i], via = way_of (k, v)->parent;
        if (via != tree_parent (k, v) && selection_add_way (s, v, via) < 0)
            return -ENOMEM;
    }
    return 0;
}
