/* levels_lookup.c - finds nodes and the vertices above them by handle, and marks outdated
 * data about nodes
 */
#include <stddef.h>

#include "match/planner/levels.h"

const struct upper *levels_upper (const struct planner *p, uint32_t v)
{
    uint32_t i = graph_vertex (p->g, v)->place;

    if (i < p->nupper && p->upper[i].v == v)
        return &p->upper[i];
    if (!p->nested)
        return NULL;
    if (i < p->nnodes && p->nodes[i].v == v)
        i = p->nodes[i].inner;
    return i < p->ninner && p->inner[i].v == v ? &p->inner[i] : NULL;
}

int levels_dim (const struct planner *p, uint16_t type)
{
    return p->dim_of[type];
}

uint32_t levels_node_of (const struct planner *p, uint32_t v)
{
    uint32_t node = GRAPH_NONE;

    for (; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent) {
        if (graph_vertex (p->g, v)->type != GRAPH_NODE)
            continue;
        node = v;
        if (!p->stale && !p->nested)
            break;
    }
    return node;
}

struct level_node *levels_node (const struct planner *p, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (p->stale || x->type != GRAPH_NODE || x->place >= p->nnodes
        || p->nodes[x->place].v != v)
        return NULL;
    return &p->nodes[x->place];
}

uint32_t levels_first (const struct planner *p)
{
    uint32_t v = p->nnodes > 0 ? p->g->root : GRAPH_NONE;

    while (v != GRAPH_NONE && graph_vertex (p->g, v)->type != GRAPH_NODE)
        v = levels_is_upper (graph_vertex (p->g, v)) ? graph_vertex (p->g, v)->first
                                                     : graph_vertex (p->g, v)->next;
    return v;
}

struct upper *levels_next_kid (const struct upper *a, const struct upper *kid)
{
    struct ordered_link *l = kid ? ordered_above (&a->by_free, kid->in_parent.key)
                                 : ordered_first (&a->by_free);
    return l ? (struct upper *)((char *)l - offsetof (struct upper, in_parent)) : NULL;
}

/* -- outdated data -- */

void levels_mark (struct planner *p, struct level_node *node)
{
    size_t number = (size_t)(node - p->nodes);

    if (node->dirty || p->stale)
        return;
    node->dirty = true;
    p->dirty[p->ndirty++] = (uint32_t)number;
}

void levels_note (struct planner *p, struct level_node *node)
{
    if (!node->changed)
        p->changed[p->nchanged++] = (uint32_t)(node - p->nodes);
    node->changed = true;
}

void levels_spoil (struct planner *p)
{
    p->stale = true;
    p->ndirty = p->nchanged = 0;
}
