/* node_entry.c - a node comes or goes: its entry, without a rebuild
 *
 *     planner_begin_change   the node as it is leaves lists, indexes and totals
 *     planner_end_change     the node as it is now enters them: as a node that is down;
 *                            levels_update() then measures it, as after any change in it
 *
 * A node goes in O(log nodes), and comes in the same time if it is behind all others or
 * finds a vacant place (places.c). A rebuild is necessary if more than this node changes:
 * a vertex above nodes gets its first node or loses its last one, a type gets its first
 * leaf, nodes are in nodes, vertices have several parents, or a vertex above the node is
 * booked.
 */
#include "match/planner/levels.h"
#include "match/planner/node_entry.h"
#include "match/planner/places.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"

/* -- numbers -- */

static bool grow (uint32_t **list, size_t n)
{
    uint32_t *more = realloc (*list, n * sizeof (**list));

    if (more)
        *list = more;
    return more != NULL;
}

int node_entry_reserve (struct planner *p, size_t n)
{
    struct level_node *nodes;

    if (n <= p->room_nodes)
        return 0;
    n += n / 8;
    if (!(nodes = realloc (p->nodes, n * sizeof (*nodes))))
        return -ENOMEM;
    p->nodes = nodes;
    if (!grow (&p->dirty, n) || !grow (&p->changed, n) || !grow (&p->order, n)
        || !grow (&p->place, n * (p->levels + 1)))
        return -ENOMEM;
    p->room_nodes = n;
    return 0;
}

static uint32_t take_number (struct planner *p)
{
    uint32_t number = p->vacant;

    if (number != NOWHERE) {
        p->vacant = p->nodes[number].parent;
        return number;
    }
    if (node_entry_reserve (p, p->nnodes + 1) < 0)
        return NOWHERE;
    return (uint32_t)p->nnodes++;
}

static void give_number (struct planner *p, uint32_t number)
{
    p->nodes[number] = (struct level_node){ .v = GRAPH_NONE, .parent = p->vacant };
    p->vacant = number;
}

/* -- the order of the graph -- */

#define STEP 4096 /* between neighbours, if there are not too many */

void node_entry_order_all (struct planner *p)
{
    uint32_t step = (uint32_t)MIN (UINT32_MAX / (p->nnodes + 1), STEP);

    for (uint32_t k = 0; k < p->nnodes; k++)
        p->order[k] = k * step;
}

static bool has_nodes (const struct graph_vertex *x)
{
    return x->type == GRAPH_NODE || (x->flags & GRAPH_UPPER);
}

/* The first of these siblings that is a node or has nodes, in this direction. */
static uint32_t seek (const struct graph *g, uint32_t v, bool back)
{
    while (v != GRAPH_NONE && !has_nodes (graph_vertex (g, v)))
        v = back ? graph_vertex (g, v)->prev : graph_vertex (g, v)->next;
    return v;
}

/* Returns the node before v in the graph, or the one after it; NULL: none. */
static const struct level_node *neighbour (const struct planner *p, uint32_t v, bool back)
{
    const struct graph *g = p->g;
    uint32_t u = GRAPH_NONE;

    for (; v != GRAPH_NONE && u == GRAPH_NONE; v = graph_vertex (g, v)->parent)
        u = seek (g, back ? graph_vertex (g, v)->prev : graph_vertex (g, v)->next, back);
    while (u != GRAPH_NONE && graph_vertex (g, u)->type != GRAPH_NODE)
        u = seek (g, back ? graph_vertex (g, u)->last : graph_vertex (g, u)->first, back);
    return u == GRAPH_NONE ? NULL : levels_node (p, u);
}

/* Nodes usually come behind their last sibling: most of the room is left behind them. */
static bool set_order (struct planner *p, uint32_t number)
{
    uint32_t v = p->nodes[number].v;
    const struct level_node *before = neighbour (p, v, true);
    const struct level_node *behind = neighbour (p, v, false);
    uint32_t from, room;

    if (!before)
        return false;
    from = p->order[before - p->nodes];
    room = (behind ? p->order[behind - p->nodes] : UINT32_MAX) - from;
    p->order[number] = from + MIN (room / 16 + 1, STEP);
    return room > 1;
}

/* -- coming -- */

/* True if the indexes above v are there, and only nodes in these depend on v. */
static bool is_simple (const struct planner *p, uint32_t v)
{
    struct graph_edge e;

    if (graph_vertex (p->g, v)->type != GRAPH_NODE || p->nested
        || graph_edge_at (p->g, graph_subsystem (p->g), 0, &e))
        return false;
    while ((v = graph_vertex (p->g, v)->parent) != GRAPH_NONE)
        if (!levels_upper (p, v) || graph_vertex (p->g, v)->nclaims > 0)
            return false;
    return true;
}

static void count (const struct planner *p, uint32_t v, struct level_node *node)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    node->units += x->n;
    node->nclaims += x->nclaims;
    node->nreserved += x->nreserved;
    GRAPH_CHILDREN (p->g, v, child)
    {
        count (p, child, node);
    }
}

void node_entry_count (const struct planner *p, struct level_node *node)
{
    node->units = node->nclaims = node->nreserved = 0;
    count (p, node->v, node);
    node->soonest_gone = node->nclaims > node->nreserved;
}

static void count_own (struct planner *p, const struct level_node *node, int more)
{
    p->upper[graph_vertex (p->g, node->parent)->place].nown += (size_t)more;
}

bool node_entry_add (struct planner *p, uint32_t v)
{
    uint32_t number;

    if (!is_simple (p, v) || !rebuild_knows (p, v)
        || (number = take_number (p)) == NOWHERE)
        return false;
    struct level_node *node = &p->nodes[number];
    *node = (struct level_node){
        .v = v,
        .parent = graph_vertex (p->g, v)->parent,
        .down = true,
        .soonest = INT64_MAX,
        .inner = NOWHERE,
        .score = match_policy_score (&p->policy, p->g, v, 0),
    };
    graph_vertex (p->g, v)->place = number;
    node_entry_count (p, node);
    p->units += node->units;
    if ((p->policy.first && node->nclaims > 0) || !set_order (p, number)
        || places_enter (p, number) < 0)
        return false;
    count_own (p, node, 1);
    levels_note (p, node);
    return true;
}

int node_entry_score (struct planner *p, uint32_t number)
{
    struct level_node *node = &p->nodes[number];
    int64_t score = match_policy_score (&p->policy, p->g, node->v, 0);

    if (score == node->score)
        return 0;
    places_leave (p, number);
    node->score = score;
    return places_enter (p, number);
}

/* -- going -- */

/* False if some vertex above it has no other node. */
static bool has_siblings (const struct planner *p, const struct level_node *node)
{
    for (uint32_t v = node->parent; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent)
        if (p->upper[graph_vertex (p->g, v)->place].nnodes == 1)
            return false;
    return true;
}

static void unlist (struct planner *p, uint32_t number)
{
    for (size_t i = 0; i < p->nchanged; i++)
        if (p->changed[i] == number) {
            p->changed[i] = p->changed[--p->nchanged];
            return;
        }
}

/* The order of the first node is 0, see walk.node. */
static void drop_order (struct planner *p, uint32_t number)
{
    const struct level_node *next = neighbour (p, p->nodes[number].v, false);

    if (p->order[number] == 0 && next)
        p->order[next - p->nodes] = 0;
}

bool node_entry_remove (struct planner *p, uint32_t v)
{
    struct level_node *node = levels_node (p, v);
    int64_t more[INDEX_DIMS];

    if (!node || !is_simple (p, v) || !has_siblings (p, node) || p->ndirty > 0
        || (p->policy.first && node->nclaims > 0))
        return false;
    uint32_t number = (uint32_t)(node - p->nodes);
    for (unsigned d = 0; d < INDEX_DIMS; d++)
        more[d] = -node->up[d];
    sums_grow (p, more);
    if (node->changed)
        unlist (p, number);
    properties_leave (p, node);
    drop_order (p, number);
    places_leave (p, number);
    count_own (p, node, -1);
    for (uint32_t u = node->parent; u != GRAPH_NONE; u = graph_vertex (p->g, u)->parent)
        levels_kid (p, &p->upper[graph_vertex (p->g, u)->place]);
    p->units -= node->units;
    graph_vertex (p->g, v)->place = NOWHERE;
    give_number (p, number);
    return !p->stale;
}

/* -- brackets -- */

void planner_begin_change (struct planner *p, uint32_t node)
{
    if (p->g->layout != p->told
        || (node != GRAPH_NONE && !p->stale && !node_entry_remove (p, node)))
        levels_spoil (p);
    p->changing = true;
}

void planner_end_change (struct planner *p, uint32_t node)
{
    p->generation++;
    p->shown++;
    p->changes++;
    p->changing = false;
    if (p->stale)
        return;
    p->told = p->g->layout;
    if ((node != GRAPH_NONE && !node_entry_add (p, node))
        || graph_unit_count (p->g) != p->units)
        levels_spoil (p);
}
