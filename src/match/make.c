/* make.c - the indexes, the nodes' entries and the profile, anew from graph and claims
 *
 *     count      how many nodes and vertices above nodes there are; types and amounts
 *     allocate
 *     enter      each vertex into `above`, each node into `nodes`, in the graph's order
 *     sort       nodes into the order of the policy, and so into the indexes above them
 *     measure    what each node has, and what is booked in it
 *     book       the profile: what is up, less what each booking takes
 */
#include <errno.h>
#include <string.h>

#include "match/planner_private.h"
#include "match/profile.h"

#define NOWHERE GRAPH_NONE

__extension__ typedef __int128 wide;

struct counted { /* of a type */
    wide amount;
    bool in_nodes; /* as a leaf */
};

struct make {
    struct planner *p;
    struct counted *types;
    size_t nnodes, nabove, nlists; /* nlists: entries of all their lists */
    size_t lists_used;
    uint32_t *order; /* nodes in the order of the policy */
};

/* -- count -- */

static bool is_above (const struct graph_vertex *x)
{
    return (x->flags & GRAPH_ABOVE) && x->type != GRAPH_NODE;
}

static void count_type (struct make *m, const struct graph_vertex *x)
{
    m->types[x->type].amount += (wide)x->n * x->size;
    if (x->first != GRAPH_NONE)
        m->p->type_inner[x->type] = true;
    if (x->first != GRAPH_NONE && x->size > 1)
        m->p->big[x->type] = true;
}

/* What has no nodes below it, or is in one. */
static void count_in (struct make *m, uint32_t v, bool in_node)
{
    struct graph_vertex *x = graph_vertex (m->p->g, v);

    count_type (m, x);
    x->place = NOWHERE;
    if (!in_node)
        m->p->type_loose[x->type] = true;
    if (in_node && x->type == GRAPH_NODE)
        m->p->nested = true;
    if (in_node && x->first == GRAPH_NONE)
        m->types[x->type].in_nodes = true;
    GRAPH_CHILDREN (m->p->g, v, child)
    {
        count_in (m, child, in_node);
    }
}

static void count (struct make *m, uint32_t v, size_t above)
{
    struct graph_vertex *x = graph_vertex (m->p->g, v);

    m->nlists += above > 0; /* as a child of one */
    if (x->type == GRAPH_NODE) {
        count_type (m, x);
        x->place = NOWHERE;
        GRAPH_CHILDREN (m->p->g, v, child)
        {
            count_in (m, child, true);
        }
        m->nnodes++;
        m->nlists += above; /* in their indexes */
        return;
    }
    if (!is_above (x)) {
        count_in (m, v, false);
        return;
    }
    count_type (m, x);
    m->nabove++;
    m->p->levels = MAX (m->p->levels, (size_t)x->depth + 1);
    GRAPH_CHILDREN (m->p->g, v, child)
    {
        count (m, child, above + 1);
    }
}

/* Several ways lead to v: so to all below it, too. */
static void count_shared (struct make *m, uint32_t v)
{
    m->p->type_shared[graph_vertex (m->p->g, v)->type] = true;
    GRAPH_CHILDREN (m->p->g, v, child)
    {
        count_shared (m, child);
    }
}

/* What further parents have is loose there: no index has it. */
static void count_further (struct make *m)
{
    const struct graph *g = m->p->g;
    struct graph_edge e;

    for (size_t i = 0; graph_edge_at (g, graph_subsystem (g), i, &e); i++) {
        m->p->any_loose = true;
        m->p->type_inner[graph_vertex (g, e.from)->type] = true;
        uint32_t edge = GRAPH_NONE;
        graph_further_parent (g, e.to, &edge);
        if (edge == i) /* its first one */
            count_shared (m, e.to);
    }
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

/* The most frequent type of leaves in nodes that has no dimension; -1. */
static int frequent_type (const struct make *m)
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

/* Types of which there is more than fits a number keep their place but are not summed. */
static void set_dims (struct make *m)
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

/* -- allocate -- */

static int allocate (struct make *m)
{
    struct planner *p = m->p;
    size_t nodes = m->nnodes + 1;

    p->above = calloc (m->nabove + 1, sizeof (*p->above));
    p->nodes = calloc (nodes, sizeof (*p->nodes));
    p->dirty = malloc (nodes * sizeof (*p->dirty));
    p->changed = malloc (nodes * sizeof (*p->changed));
    p->place = malloc (nodes * (p->levels + 1) * sizeof (*p->place));
    p->lists = malloc ((m->nlists + 1) * sizeof (*p->lists));
    m->order = malloc (nodes * sizeof (*m->order));
    p->profile = profile_create (p->ndims);
    if (!p->above || !p->nodes || !p->dirty || !p->changed || !p->place || !p->lists
        || !m->order || !p->profile)
        return -ENOMEM;
    memset (p->place, 0xff, nodes * (p->levels + 1) * sizeof (*p->place));
    return 0;
}

/* -- enter -- */

static void enter_node (struct make *m, uint32_t v)
{
    struct planner *p = m->p;
    struct graph_vertex *x = graph_vertex (p->g, v);

    x->place = (uint32_t)p->nnodes++;
    p->nodes[x->place] = (struct level_node){
        .v = v,
        .parent = x->parent,
        .soonest = INT64_MAX,
        .inner = NOWHERE,
        .score = match_policy_score (&p->policy, p->g, v, 0),
    };
}

/* Its lists lie one behind the other: loose, kids, and room for its nodes. */
static void enter_above (struct make *m, uint32_t v)
{
    struct planner *p = m->p;
    struct graph_vertex *x = graph_vertex (p->g, v);
    struct above *a = &p->above[x->place];
    size_t before = p->nnodes;

    a->loose = &p->lists[m->lists_used];
    GRAPH_CHILDREN (p->g, v, child)
    {
        const struct graph_vertex *y = graph_vertex (p->g, child);
        if (y->type == GRAPH_NODE)
            a->nown++;
        else if (!is_above (y))
            a->loose[a->nloose++] = child;
    }
    m->lists_used += a->nloose;
    a->kids = &p->lists[m->lists_used];
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (is_above (graph_vertex (p->g, child)))
            a->kids[a->nkids++] = child;
    }
    m->lists_used += a->nkids;
    p->any_loose = p->any_loose || a->nloose > 0;
    GRAPH_CHILDREN (p->g, v, child)
    {
        struct graph_vertex *y = graph_vertex (p->g, child);
        if (y->type == GRAPH_NODE) {
            enter_node (m, child);
        } else if (is_above (y)) {
            y->place = (uint32_t)p->nabove++;
            p->above[y->place].v = child;
            p->type_above[y->type] = true;
            enter_above (m, child);
        }
    }
    a->nnodes = p->nnodes - before;
}

static void enter (struct make *m)
{
    struct planner *p = m->p;
    struct graph_vertex *x = graph_vertex (p->g, p->g->root);

    if (x->type == GRAPH_NODE) {
        enter_node (m, p->g->root);
    } else if (is_above (x)) {
        x->place = (uint32_t)p->nabove++;
        p->above[0].v = p->g->root;
        enter_above (m, p->g->root);
    }
}

/* -- sort -- */

static bool in_order (const struct make *m, uint32_t a, uint32_t b)
{
    int64_t x = m->p->nodes[a].score, y = m->p->nodes[b].score;

    return m->p->policy.high ? x >= y : x <= y;
}

/* Stable, from below, with `room` of the same size. Often all is in order from the start. */
static void merge_sort (const struct make *m, uint32_t *room)
{
    uint32_t *from = m->order, *to = room;
    size_t n = m->p->nnodes, sorted = 1;

    while (sorted < n && in_order (m, from[sorted - 1], from[sorted]))
        sorted++;
    for (size_t width = sorted < n ? 1 : n; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = MIN (lo + width, n), end = MIN (lo + 2 * width, n);
            size_t i = lo, j = mid;
            for (size_t k = lo; k < end; k++) {
                bool first = j >= end || (i < mid && in_order (m, from[i], from[j]));
                to[k] = first ? from[i++] : from[j++];
            }
        }
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from != m->order)
        memcpy (m->order, from, n * sizeof (*from));
}

static int make_indexes (struct make *m)
{
    struct planner *p = m->p;

    for (size_t i = 0; i < p->nabove; i++) {
        struct above *a = &p->above[i];
        a->nodes = &p->lists[m->lists_used];
        m->lists_used += a->nnodes;
        a->index = index_create (p->ndims);
        if (!a->index || index_reserve (a->index, a->nnodes) < 0)
            return -ENOMEM;
        a->nnodes = 0;
        index_hold (a->index);
    }
    for (uint32_t k = 0; k < p->nnodes; k++)
        m->order[k] = k;
    merge_sort (m, p->dirty);
    p->graph_order = true;
    for (uint32_t k = 0; k < p->nnodes; k++)
        p->graph_order =
            p->graph_order
            && m->order[k] == (p->policy.high ? (uint32_t)p->nnodes - 1 - k : k);
    for (size_t k = 0; k < p->nnodes; k++) {
        uint32_t node = m->order[k];
        for (uint32_t v = p->nodes[node].parent; v != GRAPH_NONE;
             v = graph_vertex (p->g, v)->parent) {
            struct above *a = &p->above[graph_vertex (p->g, v)->place];
            p->place[node * p->levels + graph_vertex (p->g, v)->depth] =
                (uint32_t)a->nnodes;
            a->nodes[a->nnodes++] = p->nodes[node].v;
        }
    }
    return 0;
}

/* -- measure -- */

static void count_claims (const struct planner *p, uint32_t v, struct level_node *node)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    node->nclaims += x->nclaims;
    node->nreserved += x->nreserved;
    GRAPH_CHILDREN (p->g, v, child)
    {
        count_claims (p, child, node);
    }
}

static void measure (struct make *m)
{
    struct planner *p = m->p;
    int64_t sums[INDEX_DIMS] = { 0 };

    properties_forget (p);
    p->nkinds = 0;
    p->stale = false; /* the entries may be used from here on */
    for (size_t k = 0; k < p->nnodes; k++) {
        struct level_node *node = &p->nodes[k];
        count_claims (p, node->v, node);
        node->soonest_gone = node->nclaims > node->nreserved;
        levels_measure (p, node);
        for (unsigned d = 0; d < p->ndims; d++)
            sums[d] += node->up[d];
    }
    sums_add_loose (p, p->g->root, SUMS_UP, sums);
    sums_grow (p, sums);
    sums_add_loose (p, p->g->root, SUMS_FREE, p->loose_free);
    levels_hold (p);
    for (size_t k = 0; k < p->nnodes; k++)
        levels_touch (p, p->nodes[k].v);
    levels_settle (p);
    for (size_t i = 0; i < p->nabove; i++) {
        index_settle (p->above[i].index);
        levels_kid (p, &p->above[i]);
    }
}

static void book (struct make *m)
{
    struct planner *p = m->p;

    for (struct booking *b = p->by_job; b; b = b->hh.next)
        sums_book (p, b);
    levels_hold (p);
    listed_again (p);
    levels_settle (p);
}

/* -- nodes in nodes --
 *
 * A node in a node counts as a part of the outer one. So that a walk may go on in there as
 * it does above the nodes, each vertex in an outer node that has nodes below it (the outer
 * node itself, too) has a struct above of its own. These are rare and small: their keys say
 * that all there ever is was free, which rules nothing out that fits, and are never touched.
 */

static bool has_nodes (const struct planner *p, uint32_t v)
{
    return (graph_vertex (p->g, v)->flags & GRAPH_ABOVE) != 0;
}

/* Vertices with nodes below them at or below v, and entries of their lists; `up`: how many
 * of them have what is at v in their indexes. */
static void count_inner (const struct planner *p, uint32_t v, size_t up, size_t *above,
                         size_t *entries)
{
    bool node = graph_vertex (p->g, v)->type == GRAPH_NODE;

    *entries += 1 + (node ? up : 0);
    *above += has_nodes (p, v);
    up = !has_nodes (p, v) ? 0 : node ? 1 : up + 1;
    GRAPH_CHILDREN (p->g, v, child)
    {
        count_inner (p, child, up, above, entries);
    }
}

struct inner {
    struct planner *p;
    size_t used; /* of planner.inner_lists */
};

static void inner_nodes (struct inner *k, struct above *a, uint32_t v)
{
    GRAPH_CHILDREN (k->p->g, v, child)
    {
        if (graph_vertex (k->p->g, child)->type == GRAPH_NODE)
            a->nodes[a->nnodes++] = child;
        else if (has_nodes (k->p, child))
            inner_nodes (k, a, child);
    }
}

static int64_t score_of (const struct planner *p, uint32_t v)
{
    int64_t score = match_policy_score (&p->policy, p->g, v, 0);

    return p->policy.high ? -score : score;
}

/* Few: by insertion, stable. */
static void inner_sort (const struct planner *p, struct above *a)
{
    for (size_t i = 1; i < a->nnodes; i++) {
        uint32_t v = a->nodes[i];
        int64_t score = score_of (p, v);
        size_t j = i;
        for (; j > 0 && score_of (p, a->nodes[j - 1]) > score; j--)
            a->nodes[j] = a->nodes[j - 1];
        a->nodes[j] = v;
    }
}

static void inner_lists (struct inner *k, struct above *a)
{
    struct planner *p = k->p;

    a->loose = p->inner_lists + k->used;
    GRAPH_CHILDREN (p->g, a->v, child)
    {
        if (graph_vertex (p->g, child)->type == GRAPH_NODE)
            a->nown++;
        else if (!has_nodes (p, child))
            a->loose[a->nloose++] = child;
    }
    a->kids = a->loose + a->nloose;
    GRAPH_CHILDREN (p->g, a->v, child)
    {
        const struct graph_vertex *x = graph_vertex (p->g, child);
        if (x->type == GRAPH_NODE || !has_nodes (p, child))
            continue;
        a->kids[a->nkids++] = child;
        p->type_above[x->type] = true;
    }
    a->nodes = a->kids + a->nkids;
    inner_nodes (k, a, a->v);
    inner_sort (p, a);
    k->used += a->nloose + a->nkids + a->nnodes;
    p->any_loose = p->any_loose || a->nloose > 0;
}

static int inner_index (struct planner *p, struct above *a)
{
    a->index = index_create (p->ndims);
    if (!a->index || index_reserve (a->index, a->nnodes) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < a->nnodes; i++) {
        struct index_key key = { .soonest = 0 };
        sums_add (p, a->nodes[i], SUMS_EVER, key.ever);
        key.ever[0] = 1;
        memcpy (key.free, key.ever, sizeof (key.free));
        index_set (a->index, i, &key);
    }
    return 0;
}

static int enter_inner (struct inner *k, uint32_t v)
{
    struct planner *p = k->p;
    int rc = 0;

    if (!has_nodes (p, v))
        return 0;
    struct above *a = &p->inner[p->ninner];
    struct level_node *node = levels_node (p, v);
    if (node)
        node->inner = (uint32_t)p->ninner;
    else
        graph_vertex (p->g, v)->place = (uint32_t)p->ninner;
    p->ninner++;
    a->v = v;
    inner_lists (k, a);
    if (inner_index (p, a) < 0)
        return -ENOMEM;
    GRAPH_CHILDREN (p->g, v, child)
    {
        if (rc == 0)
            rc = enter_inner (k, child);
    }
    return rc;
}

static void inner_destroy (struct planner *p)
{
    for (size_t i = 0; i < p->ninner; i++)
        index_destroy (p->inner[i].index);
    free (p->inner);
    free (p->inner_lists);
    p->inner = NULL;
    p->inner_lists = NULL;
    p->ninner = 0;
}

static int inner_make (struct planner *p)
{
    struct inner k = { .p = p };
    size_t above = 0, entries = 0;
    int rc = 0;

    if (!p->nested)
        return 0;
    for (size_t i = 0; i < p->nnodes; i++)
        count_inner (p, p->nodes[i].v, 0, &above, &entries);
    p->inner = calloc (above + 1, sizeof (*p->inner));
    p->inner_lists = malloc ((entries + 1) * sizeof (*p->inner_lists));
    if (!p->inner || !p->inner_lists)
        return -ENOMEM;
    for (size_t i = 0; i < p->nnodes && rc == 0; i++)
        rc = enter_inner (&k, p->nodes[i].v);
    return rc;
}

/* -- the whole -- */

void levels_destroy (struct planner *p)
{
    for (size_t i = 0; i < p->nabove; i++)
        index_destroy (p->above[i].index);
    inner_destroy (p);
    profile_destroy (p->profile);
    free (p->above);
    free (p->nodes);
    free (p->dirty);
    free (p->changed);
    free (p->place);
    free (p->lists);
    p->above = NULL;
    p->nodes = NULL;
    p->dirty = p->changed = p->place = p->lists = NULL;
    p->profile = NULL;
    p->nabove = p->nnodes = p->levels = p->ndirty = p->nchanged = 0;
    p->any_loose = p->nested = false;
    memset (p->type_above, 0, sizeof (p->type_above));
    memset (p->type_inner, 0, sizeof (p->type_inner));
    memset (p->type_loose, 0, sizeof (p->type_loose));
    memset (p->type_shared, 0, sizeof (p->type_shared));
    memset (p->big, 0, sizeof (p->big));
    memset (p->total, 0, sizeof (p->total));
    memset (p->loose_free, 0, sizeof (p->loose_free));
    p->stale = true;
}

/* The ends of the ids of each type, see ideal_score() in above.c. */
static void note_ids (struct planner *p)
{
    const struct graph *g = p->g;

    p->deep = false;
    memset (p->sized, 0, sizeof (p->sized));
    for (size_t t = 0; t < GRAPH_TYPES_MAX; t++) {
        p->least_id[t] = INT32_MAX;
        p->most_id[t] = -1;
    }
    for (uint32_t v = 0; v < g->nv; v++) {
        const struct graph_vertex *x = graph_vertex (g, v);
        if (x->n == 0)
            continue;
        p->least_id[x->type] = MIN (p->least_id[x->type], x->id);
        p->most_id[x->type] = MAX (p->most_id[x->type], (int64_t)x->id + x->n - 1);
        if (x->size != 1 || (x->flags & GRAPH_DIVISIBLE))
            p->sized[x->type] = true;
        p->deep = p->deep
                  || (x->first != GRAPH_NONE && x->type != GRAPH_NODE
                      && !(x->flags & GRAPH_ABOVE));
    }
}

static int make (struct make *m)
{
    struct planner *p = m->p;

    m->types = calloc (GRAPH_TYPES_MAX, sizeof (*m->types));
    if (!m->types)
        return -ENOMEM;
    if (p->g->root != GRAPH_NONE)
        count (m, p->g->root, 0);
    count_further (m);
    set_dims (m);
    if (allocate (m) < 0)
        return -ENOMEM;
    p->made++;
    note_ids (p);
    p->told = p->layout = p->g->layout;
    p->units = graph_unit_count (p->g);
    if (p->g->root == GRAPH_NONE) {
        p->stale = false;
        return 0;
    }
    enter (m);
    if (make_indexes (m) < 0)
        return -ENOMEM;
    measure (m);
    book (m);
    return p->stale ? -ENOMEM : inner_make (p);
}

int levels_make (struct planner *p)
{
    struct make m = { .p = p };

    levels_destroy (p);
    int rc = make (&m);
    free (m.types);
    free (m.order);
    if (rc < 0)
        levels_destroy (p);
    return rc;
}
