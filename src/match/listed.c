/* listed.c - what answers named on each node, for the order of policy first
 *
 * That policy turns to the node of which the fewest cores were named by what runs there (of
 * a socket that is taken whole for some of its cores only these count), and to the rack in
 * which the most nodes were not taken as a whole. It is about the order alone.
 */
#include <stdlib.h>

#include "match/planner_private.h"

/* The node is to be touched, too. */
static void count (struct planner *p, const struct listed *l, int sign)
{
    struct level_node *node = p->stale ? NULL : levels_node (p, l->node);

    if (!node)
        return;
    node->listed += sign * (int64_t)l->cores;
    for (uint32_t v = node->parent; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent)
        p->above[graph_vertex (p->g, v)->place].listed += l->whole ? sign : 0;
}

static bool is_listed (const struct planner *p, const struct pick *pick)
{
    uint16_t type = graph_vertex (p->g, pick->v)->type;

    return pick->exclusive && (type == GRAPH_CORE || type == GRAPH_NODE)
           && levels_node_of (p, pick->v) != GRAPH_NONE;
}

void listed_add (struct planner *p, struct booking *b, const struct selection *s)
{
    size_t n = 0;

    if (!p->policy.first || b->reserved)
        return;
    for (size_t i = 0; i < s->n; i++)
        n += is_listed (p, &s->picks[i]);
    b->listed = calloc (n + 1, sizeof (*b->listed));
    if (!b->listed)
        return; /* the order suffers, nothing else */
    for (size_t i = 0; i < s->n; i++) {
        if (!is_listed (p, &s->picks[i]))
            continue;
        struct listed *l = &b->listed[b->nlisted++];
        l->node = levels_node_of (p, s->picks[i].v);
        l->whole = graph_vertex (p->g, s->picks[i].v)->type == GRAPH_NODE;
        l->cores = l->whole ? 0 : s->picks[i].count;
        count (p, l, 1);
    }
}

void listed_drop (struct planner *p, struct booking *b)
{
    for (size_t i = 0; i < b->nlisted; i++) {
        count (p, &b->listed[i], -1);
        levels_touch (p, b->listed[i].node); /* its claims there may have gone before */
    }
    free (b->listed);
    b->listed = NULL;
    b->nlisted = 0;
}

void listed_again (struct planner *p)
{
    for (struct booking *b = p->by_job; b; b = b->hh.next)
        for (size_t i = 0; i < b->nlisted; i++) {
            count (p, &b->listed[i], 1);
            levels_touch (p, b->listed[i].node);
        }
}
