/* rebuild.c - rebuilds indexes, nodes' entries and the profile from graph and claims
 *
 *     count      the number of nodes and vertices above nodes; types and amounts
 *     set_up     dimensions and memory
 *     enter      each vertex into `upper`, each node into `nodes`, in the graph's order
 *     lay_out    lists and indexes of the upper vertices
 *     list       their children into these lists
 *     order      nodes into the order of the policy: is it the graph's?
 *     sort       ... if not
 *     place      nodes into the indexes in that order
 *     measure    the contents of each node, and what is booked in it
 *     total      the totals
 *     book       the profile: what is up, less what each booking takes
 *     key        the nodes' keys
 *     settle     the indexes over these
 *     inner      nodes in nodes
 *     catch_up   keys that changed meanwhile
 *
 * A rebuild takes as long as many matches, so it is done piece by piece; any operation
 * may happen in between. Until the rebuild is complete the planner is stale. A change
 * meets one of three cases:
 *
 *   - a node that is not measured yet (its number is p->measured or more), or a booking
 *     that is not booked yet (b->made is not p->made): the change is ignored, as the
 *     rebuild will come to it;
 *   - one that is: its entry, its sums and the profile are updated as usual, and its key
 *     is marked dirty, or the node changed, for later;
 *   - not a change in one node: levels_spoil(), and the rebuild starts over.
 *
 * The results before "measure" depend only on the graph's layout and the policy. If the
 * layout always changed before the rebuild is complete, it would never end: so pieces
 * grow, see levels_rebuild_some().
 */
#include <errno.h>
#include <string.h>

#include "match/index/profile.h"
#include "match/planner/levels.h"
#include "match/planner/nested_nodes.h"
#include "match/planner/properties.h"
#include "match/planner/rebuild_private.h"
#include "match/planner/sums.h"
#include "match/planner/window_nodes.h"

#define PATIENCE 8 /* restarts before the pieces grow */

/* NULL: v is the root. */
static struct upper *upper_of (const struct planner *p, uint32_t v)
{
    uint32_t parent = graph_vertex (p->g, v)->parent;

    return parent == GRAPH_NONE ? NULL : &p->upper[graph_vertex (p->g, parent)->place];
}

/* -- memory -- */

/* The nodes are by far the largest array, and usually as large as the last time: so it is
 * kept. */
static int nodes_reserve (struct planner *p, size_t n)
{
    if (n <= p->nodes_room)
        return 0;
    free (p->nodes);
    p->nodes_room = 0;
    p->nodes = malloc ((n + n / 8) * sizeof (*p->nodes));
    if (!p->nodes)
        return -ENOMEM;
    p->nodes_room = n + n / 8;
    return 0;
}

static int set_up (struct rebuild *m)
{
    struct planner *p = m->p;
    size_t nodes = m->nnodes + 1;

    rebuild_dims (m);
    if (nodes_reserve (p, nodes) < 0)
        return -ENOMEM;
    p->upper = calloc (m->nupper + 1, sizeof (*p->upper));
    p->dirty = malloc (nodes * sizeof (*p->dirty));
    p->changed = malloc (nodes * sizeof (*p->changed));
    p->place = malloc (nodes * (p->levels + 1) * sizeof (*p->place));
    p->lists = malloc ((m->nlists + 1) * sizeof (*p->lists));
    m->order = malloc (nodes * sizeof (*m->order));
    p->profile = profile_create (p->ndims);
    if (!p->upper || !p->dirty || !p->changed || !p->place || !p->lists || !m->order
        || !p->profile)
        return -ENOMEM;
    memset (p->place, 0xff, nodes * (p->levels + 1) * sizeof (*p->place));
    m->v = p->g->root;
    return 0;
}

/* -- enter -- */

static void enter_node (struct rebuild *m, uint32_t v)
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

static void enter_upper (struct rebuild *m, uint32_t v)
{
    struct planner *p = m->p;
    struct graph_vertex *x = graph_vertex (p->g, v);

    x->place = (uint32_t)p->nupper++;
    p->upper[x->place].v = v;
    if (v != p->g->root)
        p->type_upper[x->type] = true;
}

/* Enters v: it counts with its parent, and a node with all vertices above it. */
static void enter_vertex (struct rebuild *m, uint32_t v)
{
    struct planner *p = m->p;
    const struct graph_vertex *x = graph_vertex (p->g, v);
    struct upper *parent = upper_of (p, v);

    if (x->type == GRAPH_NODE) {
        enter_node (m, v);
        rebuild_spend (m, 3);
        if (parent)
            parent->nown++;
        for (uint32_t u = x->parent; u != GRAPH_NONE; u = graph_vertex (p->g, u)->parent)
            p->upper[graph_vertex (p->g, u)->place].nnodes++;
    } else if (rebuild_is_upper (x)) {
        enter_upper (m, v);
        if (parent)
            parent->nkids++;
    } else if (parent) {
        parent->nloose++;
        p->any_loose = true;
    }
}

static int enter (struct rebuild *m)
{
    const struct graph *g = m->p->g;

    for (; m->v != GRAPH_NONE && m->work > 0;
         m->v =
             rebuild_next_vertex (g, m->v, rebuild_is_upper (graph_vertex (g, m->v)))) {
        enter_vertex (m, m->v);
        rebuild_spend (m, 1);
    }
    return m->v == GRAPH_NONE ? 0 : -EAGAIN;
}

/* -- lay_out, list -- */

static uint32_t *take_list (struct rebuild *m, size_t *n)
{
    uint32_t *list = &m->p->lists[m->lists_used];

    m->lists_used += *n;
    *n = 0;
    return list;
}

/* Makes all places of its index vacant; no place is used until all are known. */
static int lay_out_index (struct rebuild *m, struct upper *a)
{
    size_t work = m->work;

    if (!a->index && !(a->index = index_create (m->p->ndims)))
        return -ENOMEM;
    rebuild_spend (m, a->nnodes + 1);
    int rc = index_reserve_some (a->index, a->nnodes, &m->vacated, work);
    if (rc < 0)
        return rc;
    m->vacated = 0;
    index_hold (a->index);
    return 0;
}

/* Places its lists one behind the other, still empty. */
static int lay_out (struct rebuild *m)
{
    struct planner *p = m->p;

    for (; m->at < p->nupper && m->work > 0; m->at++) {
        struct upper *a = &p->upper[m->at];
        int rc = lay_out_index (m, a);
        if (rc < 0)
            return rc;
        a->loose = take_list (m, &a->nloose);
        a->kids = take_list (m, &a->nkids);
        a->nodes = take_list (m, &a->nnodes);
    }
    m->v = p->g->root;
    return m->at == p->nupper ? 0 : -EAGAIN;
}

static int list (struct rebuild *m)
{
    const struct graph *g = m->p->g;

    for (; m->v != GRAPH_NONE && m->work > 0;
         m->v =
             rebuild_next_vertex (g, m->v, rebuild_is_upper (graph_vertex (g, m->v)))) {
        const struct graph_vertex *x = graph_vertex (g, m->v);
        struct upper *parent = upper_of (m->p, m->v);
        rebuild_spend (m, 1);
        if (!parent || x->type == GRAPH_NODE)
            continue;
        if (rebuild_is_upper (x))
            parent->kids[parent->nkids++] = m->v;
        else
            parent->loose[parent->nloose++] = m->v;
    }
    return m->v == GRAPH_NONE ? 0 : -EAGAIN;
}

/* -- order, sort, place -- */

static bool in_order (const struct rebuild *m, uint32_t a, uint32_t b)
{
    int64_t x = m->p->nodes[a].score, y = m->p->nodes[b].score;

    return m->p->policy.high ? x >= y : x <= y;
}

static int order (struct rebuild *m)
{
    for (; m->at < m->p->nnodes && m->work > 0; m->at++) {
        uint32_t k = (uint32_t)m->at;
        m->order[k] = k;
        if (k > 0 && !in_order (m, k - 1, k))
            m->unsorted = true;
        rebuild_spend (m, 1);
    }
    m->from = m->order;
    m->to = m->p->dirty; /* not in use yet */
    m->width = 1;
    m->p->graph_order = true;
    return m->at == m->p->nnodes ? 0 : -EAGAIN;
}

/* Returns the lower head of two runs of `from`; between equals the first. */
static uint32_t merge_next (struct rebuild *m)
{
    bool first = m->j >= m->end
                 || (m->i < m->middle && in_order (m, m->from[m->i], m->from[m->j]));

    return first ? m->from[m->i++] : m->from[m->j++];
}

/* Sets the runs that begin at m->at. */
static void merge_begin (struct rebuild *m)
{
    size_t n = m->p->nnodes;

    m->i = m->at;
    m->middle = m->j = MIN (m->at + m->width, n);
    m->end = MIN (m->at + 2 * m->width, n);
}

/* Bottom-up merge sort, stable. Often everything is in order from the start. */
static int sort (struct rebuild *m)
{
    size_t n = m->p->nnodes;

    while (m->unsorted && m->width < n) {
        for (; m->at < n && m->work > 0; m->at++) {
            if (m->at == m->end || m->at == 0)
                merge_begin (m);
            m->to[m->at] = merge_next (m);
            rebuild_spend (m, 1);
        }
        if (m->at < n)
            return -EAGAIN;
        uint32_t *t = m->from;
        m->from = m->to;
        m->to = t;
        m->width *= 2;
        m->at = 0;
    }
    return 0;
}

static int place (struct rebuild *m)
{
    struct planner *p = m->p;

    for (; m->at < p->nnodes && m->work > 0; m->at++) {
        uint32_t node = m->from[m->at];
        size_t natural = p->policy.high ? p->nnodes - 1 - m->at : m->at;
        p->graph_order = p->graph_order && node == natural;
        for (uint32_t v = p->nodes[node].parent; v != GRAPH_NONE;
             v = graph_vertex (p->g, v)->parent) {
            struct upper *a = &p->upper[graph_vertex (p->g, v)->place];
            p->place[node * p->levels + graph_vertex (p->g, v)->depth] =
                (uint32_t)a->nnodes;
            a->nodes[a->nnodes++] = p->nodes[node].v;
        }
        rebuild_spend (m, 1);
    }
    return m->at == p->nnodes ? 0 : -EAGAIN;
}

/* -- measure, total -- */

static void count_claims (struct rebuild *m, uint32_t v, struct level_node *node)
{
    const struct graph_vertex *x = graph_vertex (m->p->g, v);

    rebuild_spend (m, 1);
    node->nclaims += x->nclaims;
    node->nreserved += x->nreserved;
    GRAPH_CHILDREN (m->p->g, v, child)
    {
        count_claims (m, child, node);
    }
}

/* Measures a node, which may have changed since it was entered: false if everything must
 * be rebuilt. */
static bool measure_node (struct rebuild *m, struct level_node *node)
{
    struct planner *p = m->p;

    if (match_policy_score (&p->policy, p->g, node->v, 0) != node->score)
        return false;
    count_claims (m, node->v, node);
    node->soonest_gone = node->nclaims > node->nreserved;
    levels_measure (p, node);
    for (unsigned d = 0; d < p->ndims; d++) {
        m->sums[d] += node->up[d];
        if (node->ever[d] >= SUMS_MAX || m->sums[d] >= SUMS_MAX)
            return false;
    }
    p->measured++;
    levels_touch (p, node->v);
    return true;
}

static int measure (struct rebuild *m)
{
    struct planner *p = m->p;

    while (p->measured < p->nnodes && m->work > 0)
        if (!measure_node (m, &p->nodes[p->measured])) {
            levels_spoil (p);
            return -EAGAIN;
        }
    return p->measured == p->nnodes ? 0 : -EAGAIN;
}

/* Adds what is outside nodes, which completes the total; from here on it is kept up to
 * date. */
static int total (struct rebuild *m)
{
    struct planner *p = m->p;

    if (p->g->root != GRAPH_NONE) {
        sums_add_loose (p, p->g->root, SUMS_UP, m->sums);
        sums_add_loose (p, p->g->root, SUMS_FREE, p->loose_free);
    }
    p->totalled = true;
    sums_grow (p, m->sums);
    return 0;
}

/* -- book -- */

/* Returns the next booking by id; NULL: none left. A booking made meanwhile enters
 * itself. */
static struct booking *next_booking (struct rebuild *m)
{
    struct ordered_link *l =
        m->begun ? ordered_above (&m->p->ids, m->job) : ordered_first (&m->p->ids);

    return l ? CONTAINER_OF (l, struct booking, by_id) : NULL;
}

static int book (struct rebuild *m)
{
    struct planner *p = m->p;
    struct booking *b;

    while ((b = next_booking (m))) {
        if (m->work == 0)
            return -EAGAIN;
        rebuild_spend (m, b->nclaims + 1);
        if (b->made != p->made)
            sums_book (p, b);
        reach_renew (p, b);
        m->begun = true;
        m->job = b->job;
    }
    return 0;
}

/* -- key, settle, catch_up -- */

static int key (struct rebuild *m)
{
    size_t before = m->p->ndirty;

    levels_key (m->p, m->work / 2 + 1, false);
    rebuild_spend (m, 2 * (before - m->p->ndirty));
    if (m->p->nupper > 0) { /* the largest index, not all at once */
        index_settle (m->p->upper[0].index);
        index_hold (m->p->upper[0].index);
    }
    return m->p->ndirty == 0 ? 0 : -EAGAIN;
}

static int settle (struct rebuild *m)
{
    struct planner *p = m->p;

    for (; m->at < p->nupper && m->work > 0; m->at++) {
        struct upper *a = &p->upper[m->at];
        index_settle (a->index);
        levels_order_kid (p, a);
        rebuild_spend (m, a->nnodes / 8 + 1);
    }
    return m->at == p->nupper ? 0 : -EAGAIN;
}

static int inner (struct rebuild *m)
{
    return m->p->nested ? nested_count (m->p, &m->inner, &m->work) : 0;
}

static int nested_rest (struct rebuild *m)
{
    return m->p->nested ? nested_enter (m->p, &m->inner, &m->work) : 0;
}

static int catch_up (struct rebuild *m)
{
    levels_key (m->p, m->work, true);
    if (m->p->ndirty > 0)
        return -EAGAIN;
    m->p->stale = false;
    return 0;
}

/* -- top level -- */

static int (*const phases[]) (struct rebuild *m) = {
    rebuild_count, rebuild_count_further,
    set_up,     enter,
    lay_out,    list,
    order,      sort,
    place,      measure,
    total,      book,
    key,        settle,
    inner,      nested_rest,
    catch_up,
};

static void forget_make (struct planner *p)
{
    if (p->rebuild)
        free (p->rebuild->order);
    free (p->rebuild);
    p->rebuild = NULL;
}

void levels_destroy (struct planner *p)
{
    levels_spoil (p);
    forget_make (p);
    for (size_t i = 0; i < p->nupper; i++)
        index_destroy (p->upper[i].index);
    nested_destroy (p);
    profile_destroy (p->profile);
    free (p->upper);
    free (p->dirty);
    free (p->changed);
    free (p->place);
    free (p->lists);
    p->upper = NULL;
    p->dirty = p->changed = p->place = p->lists = NULL;
    p->profile = NULL;
    p->nupper = p->nnodes = p->levels = p->ndirty = p->nchanged = 0;
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

/* Starts over, with the present graph. */
static int begin (struct planner *p)
{
    levels_destroy (p);
    p->rebuild = calloc (1, sizeof (*p->rebuild));
    if (!p->rebuild)
        return -ENOMEM;
    p->rebuild->p = p;
    p->rebuild->v = p->g->root;
    p->rebuild->node = GRAPH_NONE;
    p->rebuilding = true;
    p->begun++;
    p->made++;
    p->window_nodes.told = UINT64_MAX;
    p->told = p->layout = p->g->layout;
    p->units = graph_unit_count (p->g);
    p->nkinds = 0;
    properties_take_up (p);
    properties_forget (p);
    return 0;
}

static int work_on (struct rebuild *m)
{
    int rc = 0;

    while (rc == 0 && m->p->stale) {
        rc = phases[m->phase](m);
        if (!m->p->rebuilding)
            return rc < 0 ? rc : -ENOMEM; /* memory for the profile */
        if (rc == 0) {
            m->phase++;
            m->at = 0;
        }
    }
    return rc;
}

int levels_rebuild_some (struct planner *p, size_t *work)
{
    unsigned often = p->begun > PATIENCE ? MIN (p->begun - PATIENCE, 30u) : 0;
    size_t more = *work > SIZE_MAX >> often ? SIZE_MAX : *work << often;

    if (!p->rebuilding && begin (p) < 0)
        return -ENOMEM;
    p->rebuild->work = more;
    int rc = work_on (p->rebuild);
    *work = MIN (*work, p->rebuild->work);
    if (rc == -EAGAIN)
        return rc;
    p->rebuilding = false;
    forget_make (p);
    if (rc < 0)
        levels_destroy (p);
    else
        p->begun = 0;
    return rc;
}
