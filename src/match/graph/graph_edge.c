/* graph_edge.c - further subsystems: lists of edges over the vertices of the tree */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

const char *graph_subsystem (const struct graph *g)
{
    return g->p->subsystem ? text_of (g->p, g->p->subsystem) : "containment";
}

int graph_set_subsystem (struct graph *g, const char *name)
{
    int rc = check_word ("subsystem", name, NULL);
    uint32_t text = rc < 0 ? 0 : text_get (g->p, name);
    if (text == GRAPH_NONE)
        return -ENOMEM;
    if (rc < 0)
        return rc;
    text_put (g->p, g->p->subsystem);
    g->p->subsystem = text;
    return 0;
}

static struct edge_list *list_find (const struct graph_private *p, const char *subsystem)
{
    for (size_t i = 0; i < p->nsubsystems; i++) {
        struct edge_list *l = &p->subsystems[i];
        if (strcmp (text_of (p, l->subsystem), subsystem) == 0)
            return l;
    }
    return NULL;
}

static struct edge_list *list_get (struct graph_private *p, const char *subsystem)
{
    struct edge_list *l = list_find (p, subsystem);
    if (l)
        return l;
    struct edge_list *lists =
        realloc (p->subsystems, (p->nsubsystems + 1) * sizeof (*lists));
    if (!lists)
        return NULL;
    p->subsystems = lists;
    uint32_t text = text_get (p, subsystem);
    if (text == GRAPH_NONE)
        return NULL;
    l = &lists[p->nsubsystems++];
    *l = (struct edge_list){ .subsystem = text };
    return l;
}

static bool is_unit (const struct graph *g, uint32_t v, uint32_t unit)
{
    return graph_is_live (g, v) && unit < graph_vertex (g, v)->n;
}

int graph_edge_add (struct graph *g, const struct graph_edge *e)
{
    struct graph_private *p = g->p;
    if (!is_unit (g, e->from, e->from_unit) || !is_unit (g, e->to, e->to_unit)
        || check_word ("subsystem", e->subsystem, NULL) < 0
        || strcmp (e->subsystem, graph_subsystem (g)) == 0
        || (e->type && (e->type[0] == 0 || strlen (e->type) > GRAPH_NAME_MAX)))
        return -EINVAL;
    if (p->nsubsystems >= GRAPH_SUBSYSTEMS_MAX && !list_find (p, e->subsystem))
        return -E2BIG;
    struct edge_list *l = list_get (p, e->subsystem);
    if (!l)
        return -ENOMEM;
    if (l->n >= GRAPH_VERTICES_MAX)
        return -E2BIG;
    if (array_reserve (&l->edges, &l->alloc, l->n + 1, sizeof (*l->edges)) < 0)
        return -ENOMEM;
    uint32_t type = text_get (p, e->type);
    if (type == GRAPH_NONE)
        return -ENOMEM;
    l->edges[l->n++] = (struct edge){ type, e->from, e->from_unit, e->to, e->to_unit };
    graph_vertex (g, e->from)->flags |= GRAPH_OWN_EDGES;
    graph_vertex (g, e->to)->flags |= GRAPH_OWN_EDGES;
    return 0;
}

static bool further_at (const struct graph *g, size_t i, struct graph_edge *ret)
{
    if (i >= g->p->nfurther)
        return false;
    const struct further *f = &g->p->further[i];
    *ret = (struct graph_edge){
        .subsystem = graph_subsystem (g),
        .type = text_of (g->p, f->type),
        .from = f->parent,
        .to = f->v,
    };
    return true;
}

bool graph_edge_at (const struct graph *g, const char *subsystem, size_t i,
                    struct graph_edge *ret)
{
    if (strcmp (subsystem, graph_subsystem (g)) == 0)
        return further_at (g, i, ret);
    const struct edge_list *l = list_find (g->p, subsystem);
    if (!l || i >= l->n)
        return false;
    const struct edge *e = &l->edges[i];
    *ret = (struct graph_edge){
        .subsystem = text_of (g->p, l->subsystem),
        .type = text_of (g->p, e->type),
        .from = e->from,
        .from_unit = e->from_unit,
        .to = e->to,
        .to_unit = e->to_unit,
    };
    return true;
}

void edges_cut (struct graph *g)
{
    further_cut (g);
    for (size_t k = 0; k < g->p->nsubsystems; k++) {
        struct edge_list *l = &g->p->subsystems[k];
        size_t kept = 0;
        for (size_t i = 0; i < l->n; i++) {
            const struct edge *e = &l->edges[i];
            if (is_unit (g, e->from, e->from_unit) && is_unit (g, e->to, e->to_unit))
                l->edges[kept++] = *e;
            else
                text_put (g->p, e->type);
        }
        l->n = kept;
    }
}

void edges_move (struct graph *g, uint32_t v, uint32_t unit, uint32_t to)
{
    for (size_t k = 0; k < g->p->nsubsystems; k++) {
        struct edge_list *l = &g->p->subsystems[k];
        for (size_t i = 0; i < l->n; i++) {
            struct edge *e = &l->edges[i];
            if (e->from == v && e->from_unit >= unit) {
                e->from = to;
                e->from_unit -= unit;
            }
            if (e->to == v && e->to_unit >= unit) {
                e->to = to;
                e->to_unit -= unit;
            }
        }
    }
}

void edges_drop (struct graph *g, uint32_t v, uint32_t unit)
{
    for (size_t k = 0; k < g->p->nsubsystems; k++) {
        struct edge_list *l = &g->p->subsystems[k];
        for (size_t i = 0; i < l->n; i++) {
            struct edge *e = &l->edges[i];
            if ((e->from == v && e->from_unit == unit)
                || (e->to == v && e->to_unit == unit))
                e->from = GRAPH_NONE; /* no unit: edges_cut() drops it */
        }
    }
    edges_cut (g);
}

void edges_release (struct graph_private *p)
{
    for (size_t k = 0; k < p->nsubsystems; k++)
        free (p->subsystems[k].edges);
    free (p->subsystems);
}

size_t edges_memory (const struct graph_private *p)
{
    size_t sum = p->nsubsystems * sizeof (*p->subsystems);
    for (size_t k = 0; k < p->nsubsystems; k++)
        sum += p->subsystems[k].alloc * sizeof (struct edge);
    return sum;
}
