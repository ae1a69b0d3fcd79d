/* upper_vertices.c - the walk above the nodes: by the indexes, never node by node
 *
 * At a vertex with nodes below it, a request for a node or something in nodes asks the
 * index for the next node that may serve, in the policy's order. The walk looks only into
 * that node, and continues until it has enough. A request for a vertex above nodes (a
 * rack) visits those vertices, except the ones that a bound excludes.
 */
#include <stdlib.h>
#include <string.h>

#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/search/walk_private.h"

/* -- the next node -- */

/* Free amount of a type below v in the window; 0 if v has an owner. */
static int64_t free_below (const struct walker *k, uint32_t v, uint16_t type)
{
    const struct graph_vertex *x = graph_vertex (k->g, v);
    int64_t sum = 0;

    if (x->first == GRAPH_NONE)
        return x->type != type              ? 0
               : x->flags & GRAPH_DIVISIBLE ? claims_free_amount (k->p, v, k->w)
                                            : claims_free_count (k->p, v, k->w) * x->size;
    if (x->nclaims > 0 && claims_taken (k->p, v, k->w))
        return 0;
    GRAPH_CHILDREN (k->g, v, c)
    {
        sum += free_below (k, c, type);
    }
    return sum;
}

/* True if the node has too little of some type left in a later window. */
static bool too_little (const struct walker *k, uint32_t node,
                        const struct index_need *need)
{
    for (unsigned d = 1; d < k->p->ntypes; d++)
        if (need->dim[d] > 0 && free_below (k, node, k->p->dims[d]) < need->dim[d])
            return true;
    return false;
}

/* Returns the first place >= from with its bit set in a and not in b; -1. */
static ptrdiff_t next_open (const uint64_t *a, const uint64_t *b, size_t from, size_t n)
{
    for (size_t i = from / 64; i < (n + 63) / 64; i++) {
        uint64_t word = a[i] & ~b[i];
        if (i == from / 64)
            word &= ~UINT64_C (0) << from % 64;
        if (word)
            return (ptrdiff_t)(64 * i + (size_t)__builtin_ctzll (word));
    }
    return -1;
}

/* Returns the next place >= from of the root's index that may serve in a later window,
 * whose bookings are known from window_nodes.c. -1: none. */
static ptrdiff_t next_ahead (const struct walker *k, const struct upper *a, size_t from,
                             const struct index_need *need)
{
    const uint64_t *closed = need->dim[0] > 0 ? k->w->touched : k->w->taken;
    ptrdiff_t i;

    while ((i = next_open (k->w->up, closed, from, a->places)) >= 0) {
        from = (size_t)i + 1;
        bool touched = k->w->touched[i / 64] >> i % 64 & 1;
        if (touched || k->properties) { /* the index is faster than bit by bit */
            ptrdiff_t next = index_next (a->index, (size_t)i, need);
            if (next < 0)
                return -1;
            if (next != i) {
                from = (size_t)next;
                continue;
            }
        }
        if (!touched || !too_little (k, a->nodes[i], need))
            return i;
    }
    return -1;
}

/* True if nothing in v can be given, or v serves a sibling. */
static bool is_closed (const struct walker *k, uint32_t v, uint16_t head)
{
    uint16_t r;

    return walk_closed (k, v) || walk_sibling_of_type (k, v, head, 0, &r) >= 0;
}

/* True if a vertex between the node and u is closed. */
static bool way_is_closed (const struct walker *k, uint32_t node, uint32_t u,
                           uint16_t head)
{
    for (uint32_t v = graph_vertex (k->g, node)->parent; v != u && v != GRAPH_NONE;
         v = graph_vertex (k->g, v)->parent)
        if (is_closed (k, v, head)
            || (k->has_ways && !walk_way_is_open (k, v, graph_vertex (k->g, v)->parent)))
            return true;
    return false;
}

/* Notes that something was found in the node, below u in the tree. */
static void take_way (struct walker *k, uint32_t node, uint32_t u)
{
    for (uint32_t v = graph_vertex (k->g, node)->parent; v != u && v != GRAPH_NONE;
         v = graph_vertex (k->g, v)->parent)
        walk_way_take (k, v, graph_vertex (k->g, v)->parent);
}

/* True if nothing found later can be better: nodes come in the order of comparison. */
static bool in_final_order (const struct walker *k, uint16_t r)
{
    return k->type[r] == GRAPH_NODE || k->policy->node_centric || k->policy->first
           || k->policy->measure;
}

/* True if there is as much of r as is useful: in total, and when divided among slots. */
static bool is_enough (struct walker *k, uint16_t r, uint32_t found)
{
    if (k->f[found].total < walk_goal (k, r))
        return false;
    return k->shares == 1
           || walk_shares (k, found, walk_most (walk_req (k, r)), k->shares) == k->shares;
}

/* -- policies that compare the slots of all nodes -- */

/* Returns the best possible score of a slot: with the lowest (or highest) ids that exist.
 * 0: unknown. Of the slots with that score, the first ones in the graph win. */
static int64_t ideal_score (const struct walker *k, uint16_t slot)
{
    int64_t sum = 1;

    if (walk_req (k, slot)->kind != SHAPE_SLOT || k->policy->score || k->p->deep
        || k->has_ways || !k->p->graph_order)
        return 0;
    for (uint16_t c = walk_req (k, slot)->first; c != SHAPE_NONE;
         c = walk_req (k, c)->next) {
        const struct shape_vertex *part = walk_req (k, c);
        int64_t n = part->count.min, type = k->type[c];
        if (part->first != SHAPE_NONE || type < 0 || part->count.max != n
            || k->p->type_inner[type] || k->p->sized[type] || n > UINT16_MAX)
            return 0;
        int64_t first =
            k->policy->high ? k->p->most_id[type] - n + 1 : k->p->least_id[type];
        sum += n * (first + 2) + n * (n - 1) / 2;
    }
    return sum;
}

/* True if the candidate found after `before` has that score. */
static bool is_ideal (const struct walker *k, uint32_t found, uint32_t before,
                      int64_t ideal)
{
    uint32_t i = before == WALK_NONE ? k->f[found].head : k->c[before].next;
    return ideal > 0 && i != WALK_NONE && k->c[i].score == ideal;
}

/* Returns the place after that one, SIZE_MAX: the first; -1: none. backwards: from last
 * to first. */
static ptrdiff_t next_place (const struct walker *k, const struct upper *a, size_t place,
                             const struct index_need *need, struct index_walk *w,
                             bool backwards)
{
    if (backwards)
        return place == 0 ? -1 : index_prev (a->index, place - 1, need);
    if (k->w->touched && a->v == k->g->root)
        return next_ahead (k, a, place + 1, need);
    return index_walk_next (w);
}

/* Gathers from one node below u; own: if it is a child of u. */
static void gather_node (struct walker *k, uint32_t node, uint32_t u, uint16_t head,
                         unsigned i, uint32_t base, bool excl, bool own)
{
    k->given = 0;
    if (!way_is_closed (k, node, u, head)
        && (!own || graph_vertex (k->g, node)->parent == u))
        walk_gather (k, node, head, UINT64_C (1) << i, UINT64_C (1) << i, base, excl);
}

/* Gathers from nodes below u, by its index; own: only children of u. */
static void nodes_of (struct walker *k, uint32_t u, const struct upper *a, uint16_t head,
                      uint16_t r, unsigned i, uint32_t base, bool excl, bool own)
{
    /* Candidates found beside the nodes may precede better ones. */
    bool stop = k->policy->first || (in_final_order (k, r) && k->f[base + i].n == 0);
    bool all = k->cap > 1; /* the best part of it is chosen at the end */
    struct index_need need;
    struct index_walk w;
    ptrdiff_t place = -1;
    int64_t ideal = stop || k->f[base + i].n > 0 ? 0 : ideal_score (k, r), nideal = 0;
    /* In the order of the graph, which decides between equals. */
    bool backwards = ideal > 0 && k->policy->high;

    walk_need (k, r, &need);
    if (excl && k->type[r] == GRAPH_NODE)
        need.dim[0] = 1;
    index_walk_start (&w, a->index, &need);
    while (!k->failed && !(stop && !all && is_enough (k, r, base + i))
           && !(ideal > 0 && nideal >= walk_goal (k, r))
           && (place = next_place (k, a, (size_t)place, &need, &w, backwards)) >= 0) {
        uint32_t node = a->nodes[place], n = k->f[base + i].n, tail = k->f[base + i].tail;
        gather_node (k, node, u, head, i, base, excl, own);
        nideal += is_ideal (k, base + i, tail, ideal);
        if (k->has_ways && k->f[base + i].n > n)
            take_way (k, node, u);
    }
    if (w.failed)
        k->failed = true;
    index_walk_end (&w);
    if (walk_by_measure (k) && !k->policy->first && k->type[r] == GRAPH_NODE)
        k->f[base + i].sorted = true; /* the measure decided, not the score */
}

/* -- slots in as few nodes as can be -- */

/* Takes everything still missing from one node, the first in the order of the measure. */
static bool rest_in_one (struct walker *k, uint32_t u, const struct upper *a,
                         uint16_t head, uint16_t r, unsigned i, uint32_t base, bool excl,
                         bool own, const uint64_t *taken)
{
    const struct found was = k->f[base + i];
    int64_t left = walk_goal (k, r) - was.total;
    struct index_need need;
    struct index_walk w;
    ptrdiff_t place;
    bool done = false;

    walk_need (k, r, &need);
    for (unsigned d = 1; d < k->p->ndims; d++) {
        int64_t all;
        if (__builtin_mul_overflow (k->bound[r].dim[d], left, &all))
            return false;
        need.dim[d] = MAX (need.dim[d], all);
    }
    index_walk_start (&w, a->index, &need);
    while (!done && !k->failed && (place = index_walk_next (&w)) >= 0) {
        if (taken[place / 64] >> place % 64 & 1)
            continue;
        gather_node (k, a->nodes[place], u, head, i, base, excl, own);
        done = is_enough (k, r, base + i);
        if (!done)
            walk_forget (k, base + i, &was);
    }
    k->failed = k->failed || w.failed;
    index_walk_end (&w);
    return done;
}

/* Returns the first node that is not taken and has at least so many free cores; -1. */
static ptrdiff_t next_freest (const struct walker *k, const struct upper *a, uint16_t r,
                              const uint64_t *taken, int64_t cores, size_t from)
{
    struct index_need need;
    ptrdiff_t place;

    walk_need (k, r, &need);
    need.dim[CORES] = MAX (need.dim[CORES], cores);
    for (; (place = index_next (a->index, from, &need)) >= 0; from = (size_t)place + 1)
        if (!(taken[place / 64] >> place % 64 & 1))
            return place;
    return -1;
}

/* Takes nodes one by one: if one has room for everything left, the one with the fewest
 * free cores; else the one with the most, so that as few nodes as possible are used. */
static void fewest_nodes (struct walker *k, uint32_t u, const struct upper *a,
                          uint16_t head, uint16_t r, unsigned i, uint32_t base, bool excl,
                          bool own)
{
    autofree uint64_t *taken = calloc (a->places / 64 + 1, sizeof (*taken));
    int64_t cores = index_most_free (a->index, CORES);
    size_t from = 0;

    k->failed = k->failed || !taken;
    while (!k->failed && cores > 0 && !is_enough (k, r, base + i)
           && !rest_in_one (k, u, a, head, r, i, base, excl, own, taken)) {
        ptrdiff_t place = next_freest (k, a, r, taken, cores, from);
        if (place < 0) {
            cores--; /* no node has as many */
            from = 0;
            continue;
        }
        taken[place / 64] |= UINT64_C (1) << place % 64;
        from = (size_t)place + 1;
        gather_node (k, a->nodes[place], u, head, i, base, excl, own);
    }
}

/* True if the policy wants that for r: slots of parts of nodes, all alike. */
static bool wants_fewest_nodes (const struct walker *k, uint16_t r)
{
    return k->policy->together && walk_by_measure (k)
           && walk_req (k, r)->kind == SHAPE_SLOT && !walk_has_type (k, r, GRAPH_NODE)
           && !k->p->any_loose && !k->has_ways && k->shares == 1 && k->p->ndims > 1
           && k->bound[r].dim[CORES] > 0;
}

/* Spreads slots over as many nodes as possible: at most one on each, then at most two on
 * each if that is too little, and so on; then one of each node before a second of any. */
static void spread_over (struct walker *k, uint32_t u, const struct upper *a,
                         uint16_t head, uint16_t r, unsigned i, uint32_t base, bool excl,
                         bool own)
{
    int64_t goal = walk_goal (k, r), before = -1;
    const struct found was = k->f[base + i];

    for (k->cap = 1;
         !k->failed && k->f[base + i].total < goal && k->f[base + i].total > before;
         k->cap *= 2) {
        before = k->f[base + i].total;
        walk_forget (k, base + i, &was);
        nodes_of (k, u, a, head, r, i, base, excl, own);
    }
    k->cap = 0;
    walk_by_turns (k, base + i, &was);
}

/* Gathers from children that are not nodes and have none in them; kids: also from those
 * of its kids. */
static void loose_of (struct walker *k, const struct upper *a, uint16_t head,
                      uint64_t active, uint64_t deeper, bool kids, uint32_t base,
                      bool excl)
{
    for (size_t i = 0; i < a->nloose && !k->failed; i++)
        walk_gather (k, a->loose[i], head, active, deeper, base, excl);
    for (size_t i = 0; i < a->nkids && kids && !k->failed; i++)
        if (!is_closed (k, a->kids[i], head))
            loose_of (k, levels_upper (k->p, a->kids[i]), head, deeper, deeper, kids,
                      base, excl);
}

/* As loose_of() in the order of the graph: of several ways the first counts. */
static void loose_in_order (struct walker *k, const struct upper *a, uint16_t head,
                            uint64_t active, uint64_t deeper, bool kids, uint32_t base,
                            bool excl)
{
    GRAPH_CHILDREN (k->g, a->v, c)
    {
        const struct graph_vertex *x = graph_vertex (k->g, c);
        uint64_t before = walk_found (k, head, base);
        if (x->type == GRAPH_NODE || k->failed)
            continue;
        if (!(x->flags & GRAPH_UPPER)) {
            walk_gather (k, c, head, active, deeper, base, excl);
            continue;
        }
        if (!kids || is_closed (k, c, head) || !walk_way_is_open (k, c, a->v))
            continue;
        loose_in_order (k, levels_upper (k->p, c), head, deeper, deeper, kids, base,
                        excl);
        if (walk_found (k, head, base) > before)
            walk_way_take (k, c, a->v);
    }
}

/* Gathers from the further children as well. */
static void further_of (struct walker *k, const struct upper *a, uint16_t head,
                        uint64_t active, uint64_t deeper, bool kids, uint32_t base,
                        bool excl)
{
    walk_collect_further (k, a->v, head, active, deeper, base, excl);
    for (size_t i = 0; i < a->nkids && kids && !k->failed; i++) {
        uint64_t before = walk_found (k, head, base);
        if (is_closed (k, a->kids[i], head) || !walk_way_is_open (k, a->kids[i], a->v))
            continue;
        further_of (k, levels_upper (k->p, a->kids[i]), head, deeper, deeper, kids, base,
                    excl);
        if (walk_found (k, head, base) > before)
            walk_way_take (k, a->kids[i], a->v);
    }
}

/* -- children above nodes -- */

struct kid { /* a child with nodes below it */
    int64_t key;
    uint32_t v, order;
};

static int by_key (const void *x, const void *y)
{
    const struct kid *a = x, *b = y;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* True if one r could be in the nodes below a, by the least that it needs. */
static bool kid_may (const struct walker *k, const struct upper *a, uint16_t r)
{
    for (unsigned d = 1; d < k->p->ndims; d++) {
        int64_t one = k->bound[r].dim[d];
        if (one > 0 && walk_sum (k, a->index, d) < one && !k->p->any_loose)
            return false;
    }
    return true;
}

/* Key of a kid in the order of visits. */
static int64_t kid_key (const struct walker *k, uint32_t v)
{
    int64_t score = match_policy_score (k->policy, k->g, v, 0);
    return k->policy->high ? score : -score;
}

/* For policies that take the first that fit: visits the kids, which are sorted, the
 * freest first. */
static void freest_kids (struct walker *k, const struct upper *a, uint16_t head,
                         uint16_t r, unsigned i, uint64_t deeper, uint32_t base,
                         bool excl)
{
    for (const struct upper *b = levels_next_kid (a, NULL);
         b && !k->failed && !is_enough (k, r, base + i); b = levels_next_kid (a, b))
        if (kid_may (k, b, r))
            walk_gather (k, b->v, head, UINT64_C (1) << i, deeper, base, excl);
}

static void kids_of (struct walker *k, const struct upper *a, uint16_t head, uint16_t r,
                     unsigned i, uint64_t deeper, uint32_t base, bool excl)
{
    struct kid *kids = calloc (a->nkids + 1, sizeof (*kids));
    size_t n = 0;

    if (!kids) {
        k->failed = true;
        return;
    }
    for (size_t j = 0; j < a->nkids; j++) {
        const struct upper *b = levels_upper (k->p, a->kids[j]);
        if (kid_may (k, b, r))
            kids[n++] = (struct kid){ .key = kid_key (k, a->kids[j]),
                                      .v = a->kids[j],
                                      .order = (uint32_t)j };
    }
    qsort (kids, n, sizeof (*kids), by_key);
    /* All kids that may have something better are visited. */
    bool stop = k->f[base + i].n == 0;
    for (size_t j = 0; j < n; j++)
        stop = stop && graph_vertex (k->g, kids[j].v)->type == k->type[r];
    stop = stop || k->policy->first;
    for (size_t j = 0; j < n && !k->failed && !(stop && is_enough (k, r, base + i)); j++)
        walk_gather (k, kids[j].v, head, UINT64_C (1) << i, deeper, base, excl);
    free (kids);
}

/* -- close together -- */

/* The most of r that the nodes below a can have, counted up to `most`. */
static int64_t capacity (struct walker *k, const struct upper *a, uint16_t r,
                         int64_t most)
{
    struct index_need need;
    int64_t n = 0, fit = INT64_MAX;

    walk_need (k, r, &need);
    if (k->type[r] == GRAPH_NODE && need.dim[0] > 0 && k->p->nkinds == 1
        && !k->properties)
        return MIN (walk_sum (k, a->index, 0),
                    most); /* all free nodes are equally good */
    if (k->type[r] == GRAPH_NODE) {
        for (ptrdiff_t i = index_next (a->index, 0, &need); i >= 0 && n < most; n++)
            i = index_next (a->index, (size_t)i + 1, &need);
        return n;
    }
    for (unsigned d = 1; d < k->p->ndims; d++) {
        int64_t one = k->bound[r].dim[d];
        if (one > 0 && walk_sum (k, a->index, d) / one < fit)
            fit = walk_sum (k, a->index, d) / one;
    }
    return fit < most ? fit : most;
}

/* Fewest racks: one with room for everything, else the ones with the most room. */
static void together_in (struct walker *k, const struct upper *a, uint16_t head,
                         uint16_t r, unsigned i, uint64_t deeper, uint32_t base,
                         bool excl)
{
    struct kid *kids = calloc (a->nkids, sizeof (*kids));
    int64_t goal = walk_goal (k, r);
    const struct found was = k->f[base + i];
    bool done = false;

    if (!kids) {
        k->failed = true;
        return;
    }
    for (size_t j = 0; j < a->nkids && !done && !k->failed; j++) {
        const struct upper *b = levels_upper (k->p, a->kids[j]);
        kids[j] = (struct kid){ .key = capacity (k, b, r, goal),
                                .v = a->kids[j],
                                .order = (uint32_t)j };
        if (kids[j].key < goal)
            continue;
        walk_gather (k, kids[j].v, head, UINT64_C (1) << i, deeper, base, excl);
        done = k->f[base + i].total >= goal;
        if (!done)
            walk_forget (k, base + i, &was);
    }
    if (!done)
        qsort (kids, a->nkids, sizeof (*kids), by_key);
    for (size_t j = 0; j < a->nkids && !k->failed && k->f[base + i].total < goal; j++)
        walk_gather (k, kids[j].v, head, UINT64_C (1) << i, deeper, base, excl);
    free (kids);
}

/* True if r stands for vertices above nodes, or contains some. */
static bool any_upper (const struct walker *k, uint16_t r)
{
    if (k->type[r] >= 0 && k->p->type_upper[k->type[r]])
        return true;
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (walk_req (k, r)->kind != SHAPE_RESOURCE && any_upper (k, c))
            return true;
    return false;
}

/* True if slots r may form beside the nodes. */
static bool all_loose (const struct walker *k, uint16_t r)
{
    if (walk_req (k, r)->kind == SHAPE_RESOURCE)
        return k->type[r] >= 0 && k->p->type_loose[k->type[r]];
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (!all_loose (k, c))
            return false;
    return true;
}

/* True if r is searched child by child: racks, slots of nodes or of vertices beside nodes
 * (which form where their parts are children), and everything for policy `first`. */
static bool goes_by_kids (const struct walker *k, uint16_t r)
{
    bool slot = walk_req (k, r)->kind != SHAPE_RESOURCE;

    return (k->policy->first && k->w->now) || any_upper (k, r)
           || (slot && (walk_has_type (k, r, GRAPH_NODE) || all_loose (k, r)));
}

static void above_one (struct walker *k, uint32_t u, uint16_t head, uint16_t r,
                       unsigned i, uint32_t base, bool excl)
{
    const struct upper *a = levels_upper (k->p, u);
    uint64_t active = UINT64_C (1) << i, deeper = walk_deeper (k, u, head, active);
    bool slot = walk_req (k, r)->kind != SHAPE_RESOURCE;
    bool by_kids = a->nkids > 0 && goes_by_kids (k, r);
    bool together = a->nkids > 0 && !by_kids && k->policy->together && !k->p->any_loose;
    bool own = by_kids || together || !deeper;

    if (k->p->any_loose && !k->has_ways && (slot || k->type[r] != GRAPH_NODE))
        loose_of (k, a, head, active, deeper, !own, base, excl);
    /* Inside a node no such order is kept. */
    bool kept = a >= k->p->upper && a < k->p->upper + k->p->nupper;
    if (by_kids && kept && k->policy->first && k->w->now)
        freest_kids (k, a, head, r, i, deeper, base, excl);
    else if (by_kids)
        kids_of (k, a, head, r, i, deeper, base, excl);
    else if (together)
        together_in (k, a, head, r, i, deeper, base, excl);
    if (own && (a->nown == 0 || (!deeper && k->type[r] != GRAPH_NODE)))
        return;
    if (k->policy->spread && walk_req (k, r)->kind == SHAPE_SLOT && !k->p->any_loose)
        spread_over (k, u, a, head, r, i, base, excl, own);
    else if (wants_fewest_nodes (k, r))
        fewest_nodes (k, u, a, head, r, i, base, excl, own);
    else
        nodes_of (k, u, a, head, r, i, base, excl, own);
}

/* For graphs with further parents: gathers from vertices beside the nodes, and from those
 * below u by other ways than the tree's. The index of u does not have these, so they come
 * last. */
static void further_one (struct walker *k, uint32_t u, uint16_t head, uint16_t r,
                         unsigned i, uint32_t base, bool excl)
{
    const struct upper *a = levels_upper (k->p, u);
    uint64_t active = UINT64_C (1) << i, deeper = walk_deeper (k, u, head, active);
    bool own = (a->nkids > 0 && goes_by_kids (k, r)) || !deeper;
    bool measured = walk_by_measure (k) && !k->policy->first && k->type[r] == GRAPH_NODE;

    if ((measured || k->policy->first) && is_enough (k, r, base + i))
        return;
    loose_in_order (k, a, head, active, deeper, !own, base, excl);
    further_of (k, a, head, active, deeper, !own, base, excl);
    if (measured)
        k->f[base + i].sorted = true; /* in the order of finding */
}

void walk_upper (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                 uint32_t base, bool excl)
{
    unsigned i = 0;

    for (uint16_t r = head; r != SHAPE_NONE && !k->failed;
         r = walk_req (k, r)->next, i++) {
        if (!(active >> i & 1))
            continue;
        above_one (k, u, head, r, i, base, excl);
        if (k->has_ways && !k->failed)
            further_one (k, u, head, r, i, base, excl);
    }
}
