/* node_load.c - the load of nodes by running jobs, for the order of policy first
 *
 * Policy first prefers the node on which running jobs named the fewest cores (if a job
 * has a whole socket for some of its cores, only these count), and the rack with the most
 * nodes that are not taken as a whole. This affects the order only.
 */
#include "match/planner/levels.h"
#include "match/planner/node_load.h"

/* Adds the entry to the node and the vertices above it, or subtracts it. Returns the
 * node; NULL: there is none. */
static struct level_node *count (struct planner *p, const struct node_load *l, int sign)
{
    struct level_node *node = levels_node (p, l->node);

    if (!node)
        return NULL;
    node->load += sign * (int64_t)l->cores;
    for (uint32_t v = node->parent; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent)
        p->upper[graph_vertex (p->g, v)->place].whole += l->whole ? sign : 0;
    return node;
}

/* The same between levels_hold() and levels_settle(). */
static void recount (struct planner *p, const struct node_load *l, int sign)
{
    struct level_node *node = count (p, l, sign);

    if (node)
        levels_mark (p, node);
}

/* Returns the entry of the node, new or the last one. NULL: no memory. */
static struct node_load *load_of (struct booking *b, size_t *alloc, uint32_t node)
{
    if (b->nload > 0 && b->load[b->nload - 1].node == node)
        return &b->load[b->nload - 1];
    if (array_reserve (&b->load, alloc, b->nload + 1, sizeof (*b->load)) < 0)
        return NULL; /* only the order suffers */
    b->load[b->nload] = (struct node_load){ .node = node };
    return &b->load[b->nload++];
}

void node_load_add (struct planner *p, struct booking *b, const struct selection *s)
{
    size_t alloc = 0;

    if (!p->policy.first || b->reserved)
        return;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *pick = &s->picks[i];
        uint16_t type = graph_vertex (p->g, pick->v)->type;
        uint32_t node;
        struct node_load *l;
        if ((type != GRAPH_CORE && type != GRAPH_NODE) || !pick->exclusive)
            continue;
        if ((node = levels_node_of (p, pick->v)) == GRAPH_NONE
            || !(l = load_of (b, &alloc, node)))
            continue;
        if (type == GRAPH_NODE)
            l->whole = true;
        else
            l->cores += pick->count;
    }
    for (size_t i = 0; i < b->nload && b->made == p->made; i++)
        count (p, &b->load[i], 1);
}

void node_load_drop (struct planner *p, struct booking *b)
{
    for (size_t i = 0; i < b->nload && b->made == p->made; i++)
        recount (p, &b->load[i], -1); /* its claims there may be gone already */
    free (b->load);
    b->load = NULL;
    b->nload = 0;
}

void node_load_again (struct planner *p, const struct booking *b)
{
    for (size_t i = 0; i < b->nload; i++)
        recount (p, &b->load[i], 1);
}
