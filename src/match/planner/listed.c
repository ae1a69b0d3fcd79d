/* listed.c - what selections named on each node, for the order of policy first
 *
 * Policy first prefers the node on which running jobs named the fewest cores (if a job
 * has a whole socket for some of its cores, only these count), and the rack with the most
 * nodes that are not taken as a whole. This affects the order only.
 */
#include <stdlib.h>

#include "match/planner/levels.h"
#include "match/planner/listed.h"

/* The caller must mark the node, too. */
static struct level_node *count (struct planner *p, const struct listed *l, int sign)
{
    struct level_node *node = levels_node (p, l->node);

    if (!node)
        return NULL;
    node->listed += sign * (int64_t)l->cores;
    for (uint32_t v = node->parent; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent)
        p->above[graph_vertex (p->g, v)->place].listed += l->whole ? sign : 0;
    return node;
}

/* The same between levels_hold() and levels_settle(), or during a rebuild. */
static void recount (struct planner *p, const struct listed *l, int sign)
{
    struct level_node *node = count (p, l, sign);

    if (node)
        levels_mark (p, node);
}

/* Returns the entry of the node, new or the last one. NULL: no memory. */
static struct listed *listed_of (struct booking *b, size_t *alloc, uint32_t node)
{
    if (b->nlisted > 0 && b->listed[b->nlisted - 1].node == node)
        return &b->listed[b->nlisted - 1];
    if (b->nlisted == *alloc) {
        size_t more = 2 * *alloc + 4;
        struct listed *again = realloc (b->listed, more * sizeof (*again));
        if (!again)
            return NULL; /* only the order suffers */
        b->listed = again;
        *alloc = more;
    }
    b->listed[b->nlisted] = (struct listed){ .node = node };
    return &b->listed[b->nlisted++];
}

void listed_add (struct planner *p, struct booking *b, const struct selection *s)
{
    size_t alloc = 0;

    if (!p->policy.first || b->reserved)
        return;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *pick = &s->picks[i];
        uint16_t type = graph_vertex (p->g, pick->v)->type;
        uint32_t node;
        struct listed *l;
        if ((type != GRAPH_CORE && type != GRAPH_NODE) || !pick->exclusive)
            continue;
        if ((node = levels_node_of (p, pick->v)) == GRAPH_NONE
            || !(l = listed_of (b, &alloc, node)))
            continue;
        if (type == GRAPH_NODE)
            l->whole = true;
        else
            l->cores += pick->count;
    }
    for (size_t i = 0; i < b->nlisted && b->made == p->made; i++)
        count (p, &b->listed[i], 1);
}

void listed_drop (struct planner *p, struct booking *b)
{
    for (size_t i = 0; i < b->nlisted && b->made == p->made; i++)
        recount (p, &b->listed[i], -1); /* its claims there may be gone already */
    free (b->listed);
    b->listed = NULL;
    b->nlisted = 0;
}

void listed_again (struct planner *p, const struct booking *b)
{
    for (size_t i = 0; i < b->nlisted; i++)
        recount (p, &b->listed[i], 1);
}
