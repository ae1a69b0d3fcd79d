/* graph.c - adds, moves and removes vertices
 *
 * Steps that can fail come first (texts, room in all tables). Then the vertex is linked,
 * which cannot fail: so an error leaves the graph unchanged.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

/* -- create, destroy -- */

struct graph *graph_create (void)
{
    static const char *const known[GRAPH_TYPE_FIRST] = {
        [GRAPH_CLUSTER] = "cluster", [GRAPH_NODE] = "node",     [GRAPH_CORE] = "core",
        [GRAPH_GPU] = "gpu",         [GRAPH_MEMORY] = "memory",
    };
    struct graph *g = calloc (1, sizeof (*g));
    if (!g || !(g->p = calloc (1, sizeof (*g->p)))) {
        free (g);
        return NULL;
    }
    g->root = GRAPH_NONE;
    g->p->vacant = GRAPH_NONE;
    g->p->seed = (uint64_t)(uintptr_t)g->p * UINT64_C (0x9e3779b97f4a7c15);
    for (size_t i = 0; i < ARRAY_SIZE (known); i++) {
        if (type_make (g->p, known[i]) < 0) {
            graph_destroy (g);
            return NULL;
        }
    }
    return g;
}

void graph_destroy (struct graph *g)
{
    if (!g)
        return;
    struct graph_private *p = g->p;
    for (uint32_t v = 0; v < g->nv; v++) {
        own_drop (g, v);
        map_release (&g->v[v]);
    }
    for (size_t i = 0; i < p->ntypes; i++)
        free (p->types[i].name);
    free (p->types);
    table_release (&p->type_names);
    table_release (&p->kids);
    roster_release (&p->nodes);
    roster_release (&p->ranks);
    edges_release (p);
    further_release (p);
    shared_release (p);
    free (p);
    free (g->v);
    free (g);
}

/* -- a new vertex -- */

/* True if the parent's last child is a leaf, or a group of leaves, that the new units
 * continue. */
static bool joins (const struct graph *g, uint32_t parent, const struct draft *d)
{
    const struct graph_spec *s = d->spec;
    uint32_t last = parent == GRAPH_NONE ? GRAPH_NONE : graph_vertex (g, parent)->last;
    if (!s->leaf || last == GRAPH_NONE || d->type == GRAPH_NODE || d->title.id < 0
        || (d->flags & GRAPH_DIVISIBLE))
        return false;
    const struct graph_vertex *x = graph_vertex (g, last);
    int64_t uniq = s->uniq < 0 ? g->p->next_uniq : s->uniq;
    uint8_t asked = GRAPH_SPEC_FLAGS | GRAPH_OWN_LEAF;
    const struct own *own = own_find (g, last);
    if (own && own->want) /* it is about to shrink */
        return false;
    return x->type == d->type && x->extra == d->extra && x->size == d->size
           && x->rank == s->rank && (x->flags & asked) == (d->flags | GRAPH_OWN_LEAF)
           && x->id >= 0 && s->id == (int64_t)x->id + x->n && uniq == x->uniq + x->n
           && d->count <= GRAPH_UNITS_MAX - x->n;
}

int vertex_reserve (struct graph *g)
{
    size_t alloc = g->alloc;
    if (g->p->vacant != GRAPH_NONE || g->nv < g->alloc)
        return 0;
    if (array_reserve (&g->v, &alloc, g->nv + 1, sizeof (*g->v)) < 0)
        return -ENOMEM;
    g->alloc = (uint32_t)MIN (alloc, GRAPH_VERTICES_MAX);
    return 0;
}

uint32_t vertex_take (struct graph *g)
{
    uint32_t v = g->p->vacant;
    if (v == GRAPH_NONE)
        return g->nv++;
    g->p->vacant = graph_vertex (g, v)->next;
    return v;
}

void vertex_renumber (struct graph *g, uint32_t parent)
{
    uint32_t order = 0;
    GRAPH_CHILDREN (g, parent, c)
    {
        graph_vertex (g, c)->order = order++;
    }
}

static void link_last (struct graph *g, uint32_t parent, uint32_t v)
{
    struct graph_vertex *x = graph_vertex (g, v);
    if (parent == GRAPH_NONE) {
        g->root = v;
        return;
    }
    struct graph_vertex *up = graph_vertex (g, parent);
    x->depth = (uint8_t)(up->depth + 1);
    x->prev = up->last;
    up->flags &= (uint16_t)~GRAPH_OWN_LEAF;
    up->last = v;
    if (x->prev == GRAPH_NONE) {
        up->first = v;
        return;
    }
    struct graph_vertex *before = graph_vertex (g, x->prev);
    before->next = v;
    if (before->order >= UINT32_MAX - 1) /* close to the end of the range */
        vertex_renumber (g, parent);
    x->order = before->order + 1;
}

static void mark_upper (struct graph *g, uint32_t v)
{
    while (v != GRAPH_NONE && !(graph_vertex (g, v)->flags & GRAPH_UPPER)) {
        graph_vertex (g, v)->flags |= GRAPH_UPPER;
        v = graph_vertex (g, v)->parent;
    }
}

static uint32_t vertex_add (struct graph *g, uint32_t parent, const struct draft *d,
                            uint64_t *map)
{
    struct graph_private *p = g->p;
    uint32_t v = vertex_take (g);
    struct graph_vertex *x = graph_vertex (g, v);
    *x = (struct graph_vertex){
        .parent = parent,
        .next = GRAPH_NONE,
        .prev = GRAPH_NONE,
        .first = GRAPH_NONE,
        .last = GRAPH_NONE,
        .n = d->count,
        .id = (int32_t)d->spec->id,
        .rank = d->spec->rank,
        .type = d->type,
        .flags = d->flags,
        .extra = d->extra,
        .size = d->size,
        .uniq = d->spec->uniq < 0 ? p->next_uniq : d->spec->uniq,
        .claims = GRAPH_NONE,
        .place = GRAPH_NONE,
    };
    if (d->spec->leaf || d->count > 1)
        x->flags |= GRAPH_OWN_LEAF;
    if (map)
        x->busy.map = map;
    p->next_uniq = MAX (p->next_uniq, x->uniq + x->n);
    link_last (g, parent, v);
    names_add (g, v);
    units_count (g, d->type, d->count);
    if (d->type == GRAPH_NODE)
        mark_upper (g, parent);
    return v;
}

/* Several execution targets on one host are nodes with equal names and different
 * ranks. */
static bool may_share_name (const struct graph *g, uint32_t parent, const struct draft *d)
{
    uint32_t other = names_clash (g, parent, &d->title);
    int32_t rank = d->spec->rank;
    char name[GRAPH_NAME_SIZE], own[GRAPH_NAME_SIZE];

    if (d->type != GRAPH_NODE || rank < 0 || graph_vertex (g, other)->type != GRAPH_NODE
        || graph_vertex (g, other)->rank < 0)
        return false;
    graph_name (g, other, 0, name, sizeof (name));
    other = graph_find_rank (g, rank);
    if (other == GRAPH_NONE || graph_vertex (g, other)->parent != parent)
        return true;
    return strcmp (name, graph_name (g, other, 0, own, sizeof (own))) != 0;
}

static int refuse_name (const struct graph *g, uint32_t parent, const struct draft *d,
                        struct error *err)
{
    autostrbuf struct strbuf sb = { 0 };
    const char *path = names_path (g, parent, &sb);
    if (d->title.id < 0)
        return error_set (err, EEXIST, "%s/%s is there already", path, d->title.text);
    if (d->count == 1)
        return error_set (err, EEXIST, "%s/%s%jd is there already", path, d->title.text,
                          (intmax_t)d->title.id);
    return error_set (err, EEXIST, "%s: one of %s%jd to %jd is there already", path,
                      d->title.text, (intmax_t)d->title.id,
                      (intmax_t)(d->title.id + d->count - 1));
}

static uint32_t draft_add (struct graph *g, uint32_t parent, struct draft *d,
                           struct error *err)
{
    uint64_t *map = NULL;
    if (units_check (g, d->count, err) < 0)
        return GRAPH_NONE;
    if (parent != GRAPH_NONE && names_clash (g, parent, &d->title) != GRAPH_NONE
        && !may_share_name (g, parent, d)) {
        refuse_name (g, parent, d, err);
        return GRAPH_NONE;
    }
    if (joins (g, parent, d)) {
        uint32_t last = graph_vertex (g, parent)->last;
        struct graph_vertex *x = graph_vertex (g, last);
        if (group_grow (g, last, x->n + d->count, x->uniq) < 0) {
            error_set (err, ENOMEM, "out of memory");
            return GRAPH_NONE;
        }
        extra_put (g->p, d->extra); /* the group has one */
        return last;
    }
    int rc = vertex_reserve (g);
    if (rc == 0)
        rc = names_reserve (g, parent, &d->title, d->type, d->spec->rank);
    if (rc == 0 && d->count > 64 && !(map = map_create (g, d->count)))
        rc = -ENOMEM;
    if (rc < 0) {
        error_set (err, ENOMEM, "out of memory");
        return GRAPH_NONE;
    }
    return vertex_add (g, parent, d, map);
}

uint32_t graph_add (struct graph *g, uint32_t parent, const struct graph_spec *spec,
                    struct error *err)
{
    struct draft d;
    if (draft_make (g, spec, parent, &d, err) < 0)
        return GRAPH_NONE;
    uint32_t v = draft_add (g, parent, &d, err);
    if (v == GRAPH_NONE)
        draft_drop (g, &d);
    return v;
}

/* -- removal -- */

/* Returns the vertex after v in depth-first order below top; GRAPH_NONE: none. */
static uint32_t after (const struct graph *g, uint32_t top, uint32_t v)
{
    if (graph_vertex (g, v)->first != GRAPH_NONE)
        return graph_vertex (g, v)->first;
    while (v != top && graph_vertex (g, v)->next == GRAPH_NONE)
        v = graph_vertex (g, v)->parent;
    return v == top ? GRAPH_NONE : graph_vertex (g, v)->next;
}

static void unlink_vertex (struct graph *g, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (g, v);
    if (x->parent == GRAPH_NONE) {
        g->root = GRAPH_NONE;
        return;
    }
    struct graph_vertex *up = graph_vertex (g, x->parent);
    if (x->prev != GRAPH_NONE)
        graph_vertex (g, x->prev)->next = x->next;
    else
        up->first = x->next;
    if (x->next != GRAPH_NONE)
        graph_vertex (g, x->next)->prev = x->prev;
    else
        up->last = x->prev;
    if (up->first == GRAPH_NONE)
        up->flags &= (uint16_t)~GRAPH_OWN_INDEX;
}

void vertex_remove (struct graph *g, uint32_t v)
{
    struct graph_vertex *x = graph_vertex (g, v);
    names_remove (g, v);
    unlink_vertex (g, v);
    own_drop (g, v);
    extra_put (g->p, x->extra);
    units_count (g, x->type, -(int64_t)x->n);
    map_cut (g, v, 1);
    *x = (struct graph_vertex){ .next = g->p->vacant };
    g->p->vacant = v;
}

/* Updates v and the vertices above it, which lost nodes: do they have others? */
static void unmark_upper (struct graph *g, uint32_t v)
{
    for (; v != GRAPH_NONE; v = graph_vertex (g, v)->parent) {
        GRAPH_CHILDREN (g, v, c)
        {
            const struct graph_vertex *x = graph_vertex (g, c);
            if (x->type == GRAPH_NODE || (x->flags & GRAPH_UPPER))
                return;
        }
        graph_vertex (g, v)->flags &= (uint16_t)~GRAPH_UPPER;
    }
}

int graph_remove (struct graph *g, uint32_t v, struct error *err)
{
    if (!graph_is_live (g, v))
        return error_set (err, EINVAL, "there is no vertex %u", v);
    autostrbuf struct strbuf sb = { 0 };
    bool edges = false, nodes = false;
    for (uint32_t u = v; u != GRAPH_NONE; u = after (g, v, u)) {
        const struct graph_vertex *x = graph_vertex (g, u);
        if (x->claims != GRAPH_NONE || x->nclaims > 0)
            return error_set (err, EBUSY, "%s is in use", names_path (g, u, &sb));
        edges = edges || (x->flags & GRAPH_OWN_EDGES);
        nodes = nodes || x->type == GRAPH_NODE;
    }
    uint32_t parent = graph_vertex (g, v)->parent, gone = GRAPH_NONE;
    for (uint32_t u = v; gone != v;) { /* the deepest and last ones first */
        while (graph_vertex (g, u)->last != GRAPH_NONE)
            u = graph_vertex (g, u)->last;
        gone = u;
        u = graph_vertex (g, gone)->parent;
        vertex_remove (g, gone);
    }
    if (nodes)
        unmark_upper (g, parent);
    if (edges)
        edges_cut (g);
    return 0;
}

/* -- another place -- */

static int refuse_move (const struct graph *g, uint32_t v, uint32_t parent, int errnum,
                        const char *why, struct error *err)
{
    autostrbuf struct strbuf from = { 0 }, to = { 0 };
    return error_set (err, errnum, "%s cannot move below %s: %s",
                      names_path (g, v, &from), names_path (g, parent, &to), why);
}

/* Returns a booked vertex at or above v, but not above `other`; GRAPH_NONE. */
static uint32_t booked_above (const struct graph *g, uint32_t v, uint32_t other)
{
    for (; v != GRAPH_NONE; v = graph_vertex (g, v)->parent) {
        if (graph_is_in (g, other, v))
            return GRAPH_NONE;
        if (graph_vertex (g, v)->nclaims > 0)
            return v;
    }
    return GRAPH_NONE;
}

/* Ranks below a node are found by the node (see graph_find_rank()), so their depth does
 * not matter. */
static int check_move (const struct graph *g, uint32_t v, uint32_t parent,
                       struct error *err)
{
    if (!graph_is_live (g, v) || !graph_is_live (g, parent))
        return error_set (err, EINVAL, "there is no vertex %u",
                          graph_is_live (g, v) ? parent : v);
    if (graph_vertex (g, v)->type != GRAPH_NODE)
        return refuse_move (g, v, parent, EINVAL, "it is not a node", err);
    if (graph_vertex (g, parent)->n > 1)
        return refuse_move (g, v, parent, EINVAL, "that is a group of leaves", err);
    int deeper = (int)further_depth (g, parent) + 1 - graph_vertex (g, v)->depth;
    for (uint32_t u = v; u != GRAPH_NONE; u = after (g, v, u)) {
        const struct graph_vertex *x = graph_vertex (g, u);
        if (u == parent)
            return refuse_move (g, v, parent, EINVAL, "that is in it", err);
        if (u != v && x->type != GRAPH_NODE && x->rank >= 0
            && x->rank != graph_vertex (g, x->parent)->rank)
            return refuse_move (g, v, parent, EINVAL, "it has other ranks in it", err);
        if (x->flags & (GRAPH_FURTHER_CHILDREN | GRAPH_FURTHER_PARENTS))
            return refuse_move (g, v, parent, EINVAL,
                                "it has further parents or children in it", err);
        if (x->depth + deeper >= GRAPH_DEPTH_MAX)
            return refuse_move (g, v, parent, E2BIG, "that is too deep", err);
    }
    uint32_t old = graph_vertex (g, v)->parent;
    if (old != GRAPH_NONE
        && (booked_above (g, old, parent) != GRAPH_NONE
            || booked_above (g, parent, old) != GRAPH_NONE))
        return refuse_move (g, v, parent, EBUSY,
                            "the new or the present parent is booked as a whole", err);
    struct title t = title_of (g, v);
    uint32_t other = names_clash (g, parent, &t);
    return other == GRAPH_NONE || other == v
               ? 0
               : refuse_move (g, v, parent, EEXIST, "that name is there already", err);
}

int graph_move (struct graph *g, uint32_t v, uint32_t parent, struct error *err)
{
    int rc = check_move (g, v, parent, err);
    if (rc < 0)
        return rc;
    struct graph_vertex *x = graph_vertex (g, v);
    uint32_t old = x->parent;
    if (old == parent)
        return 0;
    if (names_reserve_child (g, parent) < 0)
        return error_set (err, ENOMEM, "out of memory");
    names_unlist (g, v);
    unlink_vertex (g, v);
    x->parent = parent;
    x->next = GRAPH_NONE;
    x->order = 0;
    link_last (g, parent, v);
    for (uint32_t u = after (g, v, v); u != GRAPH_NONE; u = after (g, v, u))
        graph_vertex (g, u)->depth =
            (uint8_t)(graph_vertex (g, graph_vertex (g, u)->parent)->depth + 1);
    names_add_child (g, v);
    mark_upper (g, parent);
    unmark_upper (g, old);
    g->layout += 2; /* old and new place: planner_changed() cannot name both */
    return 0;
}
