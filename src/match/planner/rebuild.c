/* rebuild.c - rebuilds indexes, entries of nodes and the profile from graph and claims
 *
 *     rebuild_count   the number of nodes and of vertices above nodes; types and amounts
 *     set_up          memory
 *     enter           each vertex into `upper`, each node into `nodes`, in the graph's
 *                     order
 *     lay_out         lists and indexes of the upper vertices, still empty
 *     list            their children into these lists
 *     sort            nodes into the order of the policy
 *     place           nodes into the indexes in that order
 *     measure         the contents of each node, and what is booked in it; the totals
 *     book            the profile: what is up, less what each booking takes
 *     nested_make     nodes in nodes
 *
 * This takes as long as many matches: O(nodes log nodes). It is done when a match needs
 * it: at first, and after changes that are not within one node and not a node that comes
 * or goes (node_entry.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/index/profile.h"
#include "match/planner/levels.h"
#include "match/planner/nested_nodes.h"
#include "match/planner/node_entry.h"
#include "match/planner/places.h"
#include "match/planner/properties.h"
#include "match/planner/rebuild_private.h"
#include "match/planner/sums.h"
#include "match/planner/window_nodes.h"

/* NULL: v is the root. */
static struct upper *upper_of (const struct planner *p, uint32_t v)
{
    uint32_t parent = graph_vertex (p->g, v)->parent;

    return parent == GRAPH_NONE ? NULL : &p->upper[graph_vertex (p->g, parent)->place];
}

/* The vertex after v in the graph's order, except in nodes. */
static uint32_t next_outside (const struct graph *g, uint32_t v)
{
    return rebuild_next_vertex (g, v, levels_is_upper (graph_vertex (g, v)));
}

static int set_up (struct rebuild *m)
{
    struct planner *p = m->p;

    p->upper = calloc (m->nupper + 1, sizeof (*p->upper));
    p->lists = malloc ((m->nlists + 1) * sizeof (*p->lists));
    p->profile = profile_create (p->ndims);
    if (!p->upper || !p->lists || !p->profile)
        return -ENOMEM;
    return node_entry_reserve (p, m->nnodes + 1);
}

/* -- enter -- */

static void enter_node (struct planner *p, uint32_t v)
{
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

static void enter_upper (struct planner *p, uint32_t v)
{
    struct graph_vertex *x = graph_vertex (p->g, v);

    x->place = (uint32_t)p->nupper++;
    p->upper[x->place].v = v;
    if (v != p->g->root)
        p->type_upper[x->type] = true;
}

/* Enters v: it counts with its parent, and a node with all vertices above it. */
static void enter_vertex (struct planner *p, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    struct upper *parent = upper_of (p, v);

    if (x->type == GRAPH_NODE) {
        enter_node (p, v);
        if (parent)
            parent->nown++;
        for (uint32_t u = x->parent; u != GRAPH_NONE; u = graph_vertex (p->g, u)->parent)
            p->upper[graph_vertex (p->g, u)->place].nnodes++;
    } else if (levels_is_upper (x)) {
        enter_upper (p, v);
        if (parent)
            parent->nkids++;
    } else if (parent) {
        parent->nloose++;
        p->any_loose = true;
    }
}

static void enter (struct planner *p)
{
    for (uint32_t v = p->g->root; v != GRAPH_NONE; v = next_outside (p->g, v))
        enter_vertex (p, v);
    node_entry_order_all (p);
}

/* -- lay_out, list -- */

static uint32_t *take_list (struct rebuild *m, size_t *n)
{
    uint32_t *list = &m->p->lists[m->lists_used];

    m->lists_used += *n;
    *n = 0;
    return list;
}

static int lay_out (struct rebuild *m)
{
    struct planner *p = m->p;

    for (size_t i = 0; i < p->nupper; i++) {
        struct upper *a = &p->upper[i];
        a->index = index_create (p->ndims);
        if (!a->index || places_reserve (a, a->nnodes) < 0)
            return -ENOMEM;
        a->loose = take_list (m, &a->nloose);
        a->kids = take_list (m, &a->nkids);
    }
    return 0;
}

static void list (struct planner *p)
{
    for (uint32_t v = p->g->root; v != GRAPH_NONE; v = next_outside (p->g, v)) {
        const struct graph_vertex *x = graph_vertex (p->g, v);
        struct upper *parent = upper_of (p, v);
        if (!parent || x->type == GRAPH_NODE)
            continue;
        if (levels_is_upper (x))
            parent->kids[parent->nkids++] = v;
        else
            parent->loose[parent->nloose++] = v;
    }
}

/* -- sort, place -- */

/* Between equals the order of the graph decides. */
static int compare (const void *a, const void *b, void *arg)
{
    const struct planner *p = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int64_t x = p->nodes[i].score, y = p->nodes[j].score;

    if (x != y)
        return (x < y) == p->policy.high ? 1 : -1;
    return i < j ? -1 : i > j;
}

/* Often everything is in order from the start. */
static void sort (struct planner *p, uint32_t *order)
{
    bool sorted = true;

    for (uint32_t k = 0; k < p->nnodes; k++) {
        order[k] = k;
        sorted = sorted && (k == 0 || compare (&order[k - 1], &order[k], p) < 0);
    }
    if (!sorted)
        qsort_r (order, p->nnodes, sizeof (*order), compare, p);
}

static void place (struct planner *p)
{
    uint32_t *order = p->dirty; /* not in use yet */

    sort (p, order);
    p->graph_order = true;
    for (size_t k = 0; k < p->nnodes; k++) {
        uint32_t node = order[k];
        size_t natural = p->policy.high ? p->nnodes - 1 - k : k;
        p->graph_order = p->graph_order && node == natural;
        for (uint32_t v = p->nodes[node].parent; v != GRAPH_NONE;
             v = graph_vertex (p->g, v)->parent) {
            struct upper *a = &p->upper[graph_vertex (p->g, v)->place];
            p->place[node * p->levels + graph_vertex (p->g, v)->depth] =
                (uint32_t)a->places;
            a->nodes[a->places++] = p->nodes[node].v;
        }
    }
}

/* -- measure, book -- */

/* Also adds what is outside nodes, which completes the total. */
static void measure (struct planner *p)
{
    int64_t sums[INDEX_DIMS] = { 0 };

    for (uint32_t k = 0; k < p->nnodes; k++) {
        struct level_node *node = &p->nodes[k];
        node_entry_count (p, node);
        levels_measure (p, node);
        for (unsigned d = 0; d < p->ndims; d++)
            sums[d] += node->up[d];
        levels_mark (p, node);
    }
    if (p->g->root != GRAPH_NONE) {
        sums_add_loose (p, p->g->root, SUMS_UP, sums);
        sums_add_loose (p, p->g->root, SUMS_FREE, p->loose_free);
    }
    sums_grow (p, sums);
}

static void book (struct planner *p)
{
    struct ordered_link *l;

    for (l = ordered_first (&p->ids); l; l = ordered_above (&p->ids, l->key)) {
        struct booking *b = CONTAINER_OF (l, struct booking, by_id);
        sums_book (p, b);
        reach_renew (p, b);
    }
}

/* -- top level -- */

void levels_destroy (struct planner *p)
{
    levels_spoil (p);
    for (size_t i = 0; i < p->nupper; i++) {
        index_destroy (p->upper[i].index);
        free (p->upper[i].nodes);
    }
    nested_destroy (p);
    profile_destroy (p->profile);
    free (p->upper);
    free (p->nodes);
    free (p->dirty);
    free (p->changed);
    free (p->order);
    free (p->place);
    free (p->lists);
    p->upper = NULL;
    p->nodes = NULL;
    p->dirty = p->changed = p->order = p->place = p->lists = NULL;
    p->profile = NULL;
    p->nupper = p->nnodes = p->room_nodes = p->levels = p->ndirty = p->nchanged = 0;
    p->vacant = NOWHERE;
    p->any_loose = p->nested = p->deep = false;
    memset (p->type_upper, 0, sizeof (p->type_upper));
    memset (p->type_inner, 0, sizeof (p->type_inner));
    memset (p->type_loose, 0, sizeof (p->type_loose));
    memset (p->type_shared, 0, sizeof (p->type_shared));
    memset (p->sized, 0, sizeof (p->sized));
    memset (p->big, 0, sizeof (p->big));
    memset (p->total, 0, sizeof (p->total));
    memset (p->loose_free, 0, sizeof (p->loose_free));
    for (size_t t = 0; t < GRAPH_TYPES_MAX; t++) {
        p->least_id[t] = INT32_MAX;
        p->most_id[t] = -1;
    }
}

static void begin (struct planner *p)
{
    levels_destroy (p);
    p->made++;
    p->placed++;
    p->window_nodes.told = UINT64_MAX;
    p->told = p->g->layout;
    p->units = graph_unit_count (p->g);
    p->nkinds = 0;
    properties_take_up (p);
    properties_forget (p);
}

int levels_rebuild (struct planner *p)
{
    autofree struct rebuild *m = calloc (1, sizeof (*m));

    if (!m)
        return -ENOMEM;
    m->p = p;
    begin (p);
    rebuild_count (m);
    if (set_up (m) < 0)
        goto fail;
    enter (p);
    if (lay_out (m) < 0)
        goto fail;
    list (p);
    place (p);
    p->stale = false; /* what follows looks at nodes and indexes */
    levels_hold (p);
    measure (p);
    book (p);
    levels_settle (p);
    if (!p->stale && (!p->nested || nested_make (p) == 0))
        return 0;
fail:
    levels_destroy (p);
    return -ENOMEM;
}
