/* node_kinds.c - nodes with equal contents
 *
 * A machine has thousands of nodes of a few kinds. A node that is up with everything in
 * it gets the number of a kind when it is measured: it has the same things in the same
 * order as an example of that kind. So a comparison of two numbers tells whether two
 * nodes are alike.
 */
#include "match/planner/levels.h"
#include "match/planner/node_kinds.h"

static bool all_up (const struct graph *g, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (g, v);

    if (x->flags & (GRAPH_DOWN | GRAPH_DRAINED))
        return false;
    for (uint32_t i = 0; i < (x->n + 63) / 64; i++)
        if (graph_down_word (g, v, i))
            return false;
    return true;
}

/* True if both have the same things in the same order below, and all of them are up. */
static bool same_below (const struct graph *g, uint32_t a, uint32_t b)
{
    uint32_t x = graph_vertex (g, a)->first, y = graph_vertex (g, b)->first;

    while (x != GRAPH_NONE && y != GRAPH_NONE) {
        const struct graph_vertex *p = graph_vertex (g, x), *q = graph_vertex (g, y);
        if (p->type != q->type || p->n != q->n || p->size != q->size
            || ((p->flags ^ q->flags) & ~GRAPH_SEEN) || !all_up (g, x) || !all_up (g, y)
            || !same_below (g, x, y))
            return false;
        x = p->next;
        y = q->next;
    }
    return x == y;
}

/* False if the example has changed since. */
static bool is_valid (const struct planner *p, const struct kind *k)
{
    return p->nodes[k->example].kind == k->kind;
}

void node_kinds_note (struct planner *p, struct level_node *node)
{
    struct kind *vacant = p->nkinds < NODE_KINDS_MAX ? &p->kinds[p->nkinds] : NULL;

    node->kind = 0;
    for (size_t i = 0; i < p->nkinds; i++) {
        struct kind *k = &p->kinds[i];
        if (!is_valid (p, k)) {
            vacant = k;
            continue;
        }
        if (same_below (p->g, p->nodes[k->example].v, node->v)) {
            node->kind = k->kind;
            return;
        }
    }
    if (!vacant || !same_below (p->g, node->v, node->v))
        return;
    p->nkinds += vacant == &p->kinds[p->nkinds];
    node->kind = ++p->last_kind;
    *vacant = (struct kind){ .example = (uint32_t)(node - p->nodes), .kind = node->kind };
}

bool node_kinds_equal (const struct planner *p, uint32_t a, uint32_t b)
{
    const struct level_node *x = levels_node (p, a), *y = levels_node (p, b);

    if (x && y && x->kind > 0 && y->kind > 0)
        return x->kind == y->kind;
    return same_below (p->g, a, b);
}
