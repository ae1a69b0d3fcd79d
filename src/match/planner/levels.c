/* levels.c - the indexes above the nodes, kept consistent with graph and claims
 *
 * Each vertex above nodes has an index of all nodes below it. The key of a node there is
 * computed from the contents of the node, as rarely as possible: the node's entry has its
 * totals and its number of claims, so that an empty node, and one taken as a whole, get
 * their keys from the entry. Between levels_hold() and levels_settle() a changed node is
 * in a list, once.
 *
 * levels_update() does nothing without changes. After planner_changed() of nodes it
 * updates these nodes, also those that came (node_entry.c); after levels_spoil() and
 * other changes it rebuilds everything (rebuild.c).
 */
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/nested_nodes.h"
#include "match/planner/node_entry.h"
#include "match/planner/node_kinds.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"

/* -- keys -- */

static void find_soonest (const struct planner *p, uint32_t v, int64_t *soonest)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if (x->nclaims > x->nreserved) {
        CLAIMS (p, v, c)
        {
            if (!p->claims[c].reserved)
                *soonest = MIN (*soonest, claims_booking (p, &p->claims[c])->end);
        }
    }
    GRAPH_CHILDREN (p->g, v, child)
    {
        find_soonest (p, child, soonest);
    }
}

/* True if something above v is allocated exclusively, whose end may be the soonest. */
static bool is_covered (const struct planner *p, uint32_t v, int64_t *soonest)
{
    bool covered = false;

    while ((v = graph_vertex (p->g, v)->parent) != GRAPH_NONE) {
        if (graph_vertex (p->g, v)->nclaims == graph_vertex (p->g, v)->nreserved)
            continue;
        CLAIMS (p, v, c)
        {
            const struct claim *claim = &p->claims[c];
            if (claim->reserved || !claim->exclusive)
                continue;
            covered = true;
            *soonest = MIN (*soonest, claims_booking (p, claim)->end);
        }
    }
    return covered;
}

/* The measure of the policy. If the policy does not take the node in its present state,
 * the node comes last, since the order is also that of later times. */
static int64_t measure_of (const struct planner *p, const struct index_key *key)
{
    int64_t free[INDEX_DIMS], measure;

    if (!p->policy.measure)
        return 0;
    for (unsigned d = 0; d < p->ntypes; d++)
        free[d] = MAX (key->free[d], 0);
    measure = p->policy.measure (&p->policy, free, key->ever, p->ntypes);
    if (measure != INT64_MIN)
        return measure;
    measure = p->policy.measure (&p->policy, key->ever, key->ever, p->ntypes);
    return measure == INT64_MIN ? INT64_MIN : INT64_MIN + 1;
}

/* Makes the key of the node in its present state; also what it ever has, if requested. */
static void make_key (const struct planner *p, const struct level_node *node,
                      struct index_key *ret)
{
    size_t bytes = p->ndims * sizeof (ret->free[0]);

    ret->soonest = node->soonest;
    bool covered = is_covered (p, node->v, &ret->soonest);
    if (!node->entered || p->policy.measure)
        memcpy (ret->ever, node->ever, bytes);
    if (node->down) {
        memset (ret->free, 0xff, bytes); /* -1 */
    } else if (!covered && node->nclaims == node->nreserved) {
        memcpy (ret->free, node->up, bytes);
    } else {
        memset (ret->free, 0, bytes);
        if (!covered) {
            sums_add (p, node->v, SUMS_FREE, ret->free);
            properties_spread (p, node->properties, ret->free[CORES], ret->free);
        }
    }
    ret->measure = measure_of (p, ret);
    if (p->policy.first) /* unused nodes first */
        ret->measure = graph_vertex (p->g, node->v)->flags & GRAPH_SEEN
                           ? node->ever[CORES] - node->load
                           : INT64_MAX;
}

/* -- nodes that were touched -- */

/* Unused ones first, then by nodes that are not taken as a whole; between equals the last
 * added first. */
static uint64_t kid_key (const struct planner *p, const struct upper *a)
{
    const struct graph_vertex *x = graph_vertex (p->g, a->v);
    int64_t most = UINT32_MAX, free = most;

    if (x->flags & GRAPH_SEEN)
        free = MIN (MAX ((int64_t)a->nnodes - a->whole, 0), most - 1);
    return (uint64_t)(most - free) << 32 | (UINT32_MAX - x->order);
}

void levels_kid (struct planner *p, struct upper *a)
{
    uint32_t parent = graph_vertex (p->g, a->v)->parent;

    if (p->stale || !p->policy.first || parent == GRAPH_NONE)
        return;
    struct upper *up = &p->upper[graph_vertex (p->g, parent)->place];
    if (a->in_order)
        ordered_remove (&up->by_free, &a->in_parent);
    ordered_insert (&up->by_free, &a->in_parent, kid_key (p, a));
    a->in_order = true;
}

/* held: indexes that are held; those of the node join them. kids: updates dependent data
 * at once. */
static void set_key (struct planner *p, struct level_node *node, struct upper **held,
                     bool kids)
{
    const uint32_t *place = &p->place[(size_t)(node - p->nodes) * p->levels];
    struct index_key key;

    if (node->soonest_gone) {
        node->soonest = INT64_MAX;
        if (node->nclaims > node->nreserved)
            find_soonest (p, node->v, &node->soonest);
        node->soonest_gone = false;
    }
    node->dirty = false;
    make_key (p, node, &key);
    for (uint32_t v = node->parent; v != GRAPH_NONE; v = graph_vertex (p->g, v)->parent) {
        const struct graph_vertex *x = graph_vertex (p->g, v);
        struct upper *a = &p->upper[x->place];
        if (held && !a->next_held) {
            index_hold (a->index);
            a->next_held = *held ? *held : a;
            *held = a;
        }
        if (node->entered)
            index_set_free (a->index, place[x->depth], &key);
        else
            index_set (a->index, place[x->depth], &key);
        if (kids)
            levels_kid (p, a);
    }
    node->entered = true;
}

void levels_hold (struct planner *p)
{
    if (p->g->layout != p->told)
        levels_spoil (p); /* the data about nodes may be outdated */
    p->held++;
}

void levels_settle (struct planner *p)
{
    struct upper *held = NULL;
    bool many = p->ndirty > 2;

    if (--p->held > 0 || p->stale)
        return;
    for (size_t i = 0; i < p->ndirty; i++)
        set_key (p, &p->nodes[p->dirty[i]], many ? &held : NULL, !many);
    p->ndirty = 0;
    while (held) {
        struct upper *a = held;
        held = a->next_held == a ? NULL : a->next_held;
        a->next_held = NULL;
        index_settle (a->index);
        levels_kid (p, a);
    }
}

void levels_touch (struct planner *p, uint32_t v)
{
    struct level_node *node = levels_node (p, v);

    if (!node)
        return;
    levels_hold (p);
    levels_mark (p, node);
    levels_settle (p);
}

/* Handles a claim above nodes: nodes that it covers have nothing left. */
static void mark_below (struct planner *p, const struct claim *c)
{
    const struct upper *a = levels_upper (p, c->v);

    if (!a || c->reserved || !c->exclusive)
        return;
    for (size_t i = 0; i < a->places; i++)
        if (a->nodes[i] != NOWHERE)
            levels_mark (p, &p->nodes[graph_vertex (p->g, a->nodes[i])->place]);
}

void levels_claim (struct planner *p, const struct claim *c, int64_t end, bool more)
{
    uint32_t v;
    struct level_node *node;

    if (p->stale)
        return;
    if ((v = levels_node_of (p, c->v)) == GRAPH_NONE) {
        mark_below (p, c);
        return;
    }
    if (!(node = levels_node (p, v)))
        return;
    node->nclaims += more ? 1u : -1u;
    if (c->reserved) {
        node->nreserved += more ? 1u : -1u;
        return;
    }
    if (more)
        node->soonest = MIN (node->soonest, end);
    else if (end <= node->soonest)
        node->soonest_gone = true;
    levels_mark (p, node);
}

void levels_loose (struct planner *p, uint32_t v, int sign)
{
    int64_t sums[INDEX_DIMS] = { 0 };

    if (p->stale || !sums_is_up (p, v))
        return;
    for (uint32_t up = graph_vertex (p->g, v)->parent; up != GRAPH_NONE;
         up = graph_vertex (p->g, up)->parent)
        if (sums_is_taken (p, up))
            return;
    sums_add_loose (p, v, SUMS_FREE, sums);
    for (unsigned d = 1; d < p->ndims; d++)
        p->loose_free[d] += sign * sums[d];
}

/* -- changes of the graph -- */

static bool is_live (const struct planner *p, const struct level_node *node)
{
    if (node->v >= p->g->nv)
        return false;
    const struct graph_vertex *x = graph_vertex (p->g, node->v);
    return x->n > 0 && x->parent == node->parent && levels_node (p, node->v) == node;
}

/* Corrects the bookings with claims on v, each once per round. */
static void rebook_at (struct planner *p, uint32_t v, uint64_t round)
{
    CLAIMS (p, v, c)
    {
        struct booking *b = claims_booking (p, &p->claims[c]);
        if (b->stamp != round)
            sums_rebook (p, b);
        b->stamp = round;
    }
}

/* Corrects those with claims on v and below it. */
static void rebook_below (struct planner *p, uint32_t v, uint64_t round)
{
    rebook_at (p, v, round);
    GRAPH_CHILDREN (p->g, v, child)
    {
        rebook_below (p, child, round);
    }
}

/* Corrects those, and the ones above it. */
static void rebook (struct planner *p, uint32_t node, uint64_t round)
{
    rebook_below (p, node, round);
    for (uint32_t v = graph_vertex (p->g, node)->parent; v != GRAPH_NONE;
         v = graph_vertex (p->g, v)->parent)
        rebook_at (p, v, round);
}

/* Updates a node that has changed in itself; its bookings are not corrected yet. false:
 * everything must be rebuilt. */
static bool mend (struct planner *p, struct level_node *node)
{
    int64_t more[INDEX_DIMS];

    node->entered = false;
    if (!is_live (p, node) || node_entry_score (p, (uint32_t)(node - p->nodes)) < 0)
        return false;
    memcpy (more, node->up, sizeof (more));
    levels_measure (p, node);
    for (unsigned d = 0; d < INDEX_DIMS; d++) {
        more[d] = node->up[d] - more[d];
        if (node->ever[d] >= SUMS_MAX || p->total[d] + more[d] >= SUMS_MAX)
            return false;
    }
    sums_grow (p, more);
    nested_mend (p, node);
    levels_mark (p, node);
    return !p->stale;
}

/* Notes that something is smaller than its bookings, after it shrank or was withheld. */
static void note_overbooked (struct planner *p, uint32_t v)
{
    const struct window w = { .end = INT64_MAX, .now = true };
    const struct graph_vertex *x = graph_vertex (p->g, v);

    if ((x->flags & GRAPH_DIVISIBLE) && x->nclaims > 0
        && claims_most_used (p, v, &w) > x->size - graph_withheld (p->g, v))
        p->overbooked[x->type] = true;
    GRAPH_CHILDREN (p->g, v, child)
    {
        note_overbooked (p, child);
    }
}

void levels_measure (struct planner *p, struct level_node *node)
{
    memset (node->ever, 0, sizeof (node->ever));
    memset (node->up, 0, sizeof (node->up));
    sums_add (p, node->v, SUMS_EVER, node->ever);
    node->ever[0] = 1;
    for (unsigned d = 0; d < INDEX_DIMS && graph_is_leaving (p->g, node->v); d++)
        node->ever[d] = -1; /* as if the node did not exist */
    node->down = !sums_is_up (p, node->v);
    if (!node->down) {
        sums_add (p, node->v, SUMS_UP, node->up);
        note_overbooked (p, node->v);
        node->up[0] = 1;
    }
    node_kinds_note (p, node);
    properties_note (p, node);
    properties_spread (p, node->properties, node->up[CORES], node->up);
    if (node->ever[CORES] > 0)
        properties_spread (p, node->properties, node->ever[CORES], node->ever);
}

/* True if all units that came or went are in the node. */
static bool has_all_units (struct planner *p, struct level_node *node)
{
    uint64_t before = p->units - node->units;

    if (graph_unit_count (p->g) == p->units)
        return true;
    node_entry_count (p, node);
    p->units = before + node->units;
    return graph_unit_count (p->g) == p->units && rebuild_knows (p, node->v);
}

void planner_changed (struct planner *p, uint32_t v)
{
    uint32_t top = GRAPH_NONE;
    struct level_node *node = NULL;

    p->generation++;
    p->shown++;
    p->changes++;
    if (p->changing)
        return;
    if (v < p->g->nv && graph_vertex (p->g, v)->n > 0)
        top = levels_node_of (p, v);
    if (top != GRAPH_NONE)
        node = levels_node (p, top);
    /* After several changes, or units that came or went elsewhere, other places may have
     * changed, too. A group that grows is two changes. */
    if (!node || p->g->layout - p->told > 2
        || (p->g->layout - p->told > 1 && graph_unit_count (p->g) == p->units)
        || (graph_unit_count (p->g) != p->units && p->nested)
        || !has_all_units (p, node)) {
        levels_spoil (p);
        return;
    }
    p->told = p->g->layout;
    levels_note (p, node);
}

/* Updates the reported nodes. A booking is corrected once for all of them, as it may be
 * as large as the machine. */
static void mend_all (struct planner *p)
{
    uint64_t round = ++p->stamp;

    levels_hold (p);
    p->sums_changed = true; /* also of suspended bookings */
    for (size_t i = 0; i < p->nchanged && !p->stale; i++) {
        struct level_node *node = &p->nodes[p->changed[i]];
        node->changed = false;
        if (!mend (p, node))
            levels_spoil (p);
    }
    for (size_t i = 0; i < p->nchanged && !p->stale; i++)
        rebook (p, p->nodes[p->changed[i]].v, round);
    p->nchanged = 0;
    levels_settle (p);
}

int levels_update (struct planner *p)
{
    int rc = 0;

    if (p->g->layout != p->told)
        levels_spoil (p);
    if (!p->stale && p->nchanged > 0)
        mend_all (p);
    if (p->stale && (rc = levels_rebuild (p)) < 0)
        return rc;
    p->layout = p->told;
    return 0;
}
