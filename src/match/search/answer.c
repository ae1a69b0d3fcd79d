/* answer.c - turns the chosen tree into a selection */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/search/walk_private.h"

static int add_below (struct walker *k, struct selection *s, uint32_t parent);

/* Adds further children, which no claim covers, unless they have another owner. */
static int add_further (struct walker *k, struct selection *s, uint32_t parent)
{
    uint32_t v = s->picks[parent].v;
    int rc = 0;

    GRAPH_FURTHER (k->g, v, c)
    {
        struct pick *p;
        if (rc < 0 || !walk_way_is_open (k, c, v) || !claims_untouched (k->p, c, k->w))
            continue;
        walk_way_take (k, c, v);
        if (k->failed || selection_add_way (s, c, v) < 0
            || !(p = selection_add (s, k->g, c, 0, 1, parent)))
            return -ENOMEM;
        p->exclusive = p->claimed = true;
        rc = add_below (k, s, (uint32_t)s->n - 1);
    }
    return rc;
}

/* Adds everything below pick `parent`: exclusive, and covered by its claim. */
static int add_below (struct walker *k, struct selection *s, uint32_t parent)
{
    GRAPH_CHILDREN (k->g, s->picks[parent].v, c)
    {
        struct pick *p = selection_add (s, k->g, c, 0, graph_vertex (k->g, c)->n, parent);
        if (!p)
            return -ENOMEM;
        p->exclusive = true;
        if (!graph_is_leaf (k->g, c)) {
            int rc = add_below (k, s, (uint32_t)s->n - 1);
            if (rc < 0)
                return rc;
        }
    }
    return k->has_ways ? add_further (k, s, parent) : 0;
}

/* Counts one more slot on the node. */
static int add_slot (struct walker *k, struct selection *s, uint32_t node)
{
    struct pick *p = k->node_pick < s->n ? &s->picks[k->node_pick] : NULL;

    if (!p || p->v != node) {
        k->node_pick = (uint32_t)s->n;
        p = selection_add (s, k->g, node, 0, 1, GRAPH_NONE);
    }
    if (!p)
        return -ENOMEM;
    p->slots++;
    return 0;
}

/* Returns the node whose pick counts a slot: the node that contains the slot, else the
 * first in it. */
static uint32_t slot_node (const struct walker *k, uint32_t i)
{
    uint32_t node = graph_node_of (k->g, k->c[i].v);

    if (node == GRAPH_NONE && walk_req (k, k->c[i].req)->kind == SHAPE_RESOURCE)
        return GRAPH_NONE;
    for (uint32_t j = k->c[i].parts; j != WALK_NONE && node == GRAPH_NONE;
         j = k->c[j].next)
        node = walk_req (k, k->c[j].req)->kind == SHAPE_RESOURCE
                   ? graph_node_of (k->g, k->c[j].v)
                   : slot_node (k, j);
    return node;
}

enum {
    COVERED = 1, /* a claim above covers it */
    LISTED = 2
}; /* the selection has all below it already */

static int add_candidates (struct walker *k, struct selection *s, uint32_t list,
                           unsigned above);

/* Adds a vertex on the way to a chosen one, with its label from the request. */
static int add_label (struct walker *k, struct selection *s, const struct candidate *c)
{
    struct pick *p = selection_add (s, k->g, c->v, 0, 1, GRAPH_NONE);

    if (!p)
        return -ENOMEM;
    p->label = (uint16_t)(c->req + 1);
    return 0;
}

static int add_candidate (struct walker *k, struct selection *s, uint32_t i,
                          unsigned above)
{
    const struct candidate *c = &k->c[i];
    uint32_t node;
    int rc = 0;

    if (walk_req (k, c->req)->kind != SHAPE_RESOURCE) {
        if (walk_is_outermost_slot (k, c->req) && (node = slot_node (k, i)) != GRAPH_NONE)
            rc = add_slot (k, s, node);
        return rc < 0 ? rc : add_candidates (k, s, c->parts, above);
    }
    bool whole =
        c->whole
        || (k->policy->node_exclusive && graph_vertex (k->g, c->v)->type == GRAPH_NODE);
    const char *label = walk_req (k, c->req)->label;
    if ((c->taken || whole) && (label || !(above & LISTED))) {
        if (graph_vertex (k->g, c->v)->type == GRAPH_NODE)
            k->node_pick = (uint32_t)s->n;
        struct pick *p = selection_add (s, k->g, c->v, c->unit, c->count, GRAPH_NONE);
        if (!p)
            return -ENOMEM;
        p->amount = c->amount;
        p->exclusive = true;
        p->slots = c->slots;
        p->claimed = !(above & COVERED);
        p->label = (uint16_t)(c->req + 1);
        if (whole && !(above & LISTED) && (rc = add_below (k, s, (uint32_t)s->n - 1)) < 0)
            return rc;
    }
    size_t before = s->n;
    if (c->taken || whole)
        above |= COVERED | (whole ? LISTED : 0);
    rc = add_candidates (k, s, c->parts, above);
    if (rc == 0 && !c->taken && !whole && s->n > before && label)
        rc = add_label (k, s, c);
    return rc;
}

/* Reverses a list of one kind: the last choice of the policy usually comes first in the
 * graph, and then no sorting is necessary. */
static uint32_t turned (struct walker *k, uint32_t list)
{
    uint32_t back = WALK_NONE;

    for (uint32_t i = list; i != WALK_NONE; i = k->c[i].next)
        if (k->c[i].req != k->c[list].req)
            return list;
    for (uint32_t i = list, next; i != WALK_NONE; i = next) {
        next = k->c[i].next;
        k->c[i].next = back;
        back = i;
    }
    return back;
}

static int add_candidates (struct walker *k, struct selection *s, uint32_t list,
                           unsigned above)
{
    int rc = 0;

    if (k->policy->high)
        list = turned (k, list);
    for (uint32_t i = list; i != WALK_NONE && rc == 0; i = k->c[i].next)
        rc = add_candidate (k, s, i, above);
    return rc;
}

/* Claims nodes as a whole, including those on the way to a choice inside them. */
static int claim_nodes (struct walker *k, struct selection *s)
{
    size_t n = s->n;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        if (graph_vertex (k->g, s->picks[i].v)->type != GRAPH_NODE
            || s->picks[i].exclusive)
            continue;
        s->picks[i].exclusive = s->picks[i].claimed = true;
        rc = add_below (k, s, (uint32_t)i);
    }
    return rc == 0 ? selection_complete (s, k->g) : rc;
}

/* Everything below an exclusive vertex, also on a way in it, belongs to the job and is
 * covered; but further children are not covered. */
static void cover (const struct walker *k, struct selection *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pick *p = &s->picks[i];
        bool covered = p->parent != GRAPH_NONE && s->picks[p->parent].exclusive
                       && !(s->nways > 0 && selection_is_further (s, k->g, p));
        p->exclusive = p->exclusive || covered;
        p->claimed = p->exclusive && !covered;
    }
}

/* Further children are covered if all above them in the tree is claimed, too: one of its
 * boxes by a rack and by a pool that both go as a whole. */
static int cover_further (const struct walker *k, struct selection *s)
{
    autofree uint32_t *claimed = malloc (s->n * sizeof (*claimed));
    size_t n = 0;

    if (!claimed)
        return -ENOMEM;
    for (size_t i = 0; i < s->n; i++)
        if (s->picks[i].claimed
            && graph_vertex (k->g, s->picks[i].v)->first != GRAPH_NONE)
            claimed[n++] = s->picks[i].v;
    qsort (claimed, n, sizeof (*claimed), compare_u32);
    for (size_t i = 0; i < s->n && n > 0; i++) {
        struct pick *p = &s->picks[i];
        uint32_t v = selection_is_further (s, k->g, p) ? p->v : GRAPH_NONE;
        while (p->claimed && v != GRAPH_NONE) {
            v = graph_vertex (k->g, v)->parent;
            if (bsearch (&v, claimed, n, sizeof (*claimed), compare_u32))
                p->claimed = false;
        }
    }
    return 0;
}

/* Marks vertices as seen, for policies that prefer unused ones. */
static void note_seen (struct walker *k, const struct selection *s)
{
    for (size_t i = 1; i < s->n; i++) {
        struct graph_vertex *x = graph_vertex (k->g, s->picks[i].v);
        if (x->first == GRAPH_NONE || (x->flags & GRAPH_SEEN))
            continue;
        x->flags |= GRAPH_SEEN;
        if (x->type == GRAPH_NODE)
            levels_touch (k->p, s->picks[i].v);
        else if (x->place < k->p->nupper && k->p->upper[x->place].v == s->picks[i].v)
            levels_kid (k->p, &k->p->upper[x->place]);
    }
}

/* -- memory that each node gives at least -- */

/* All memory at or below v. */
static int64_t memory_below (const struct walker *k, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (k->g, v);
    int64_t sum = x->type == GRAPH_MEMORY ? x->size * (int64_t)x->n : 0;

    GRAPH_CHILDREN (k->g, v, c)
    {
        sum += memory_below (k, c);
    }
    return sum;
}

/* Memory claimed below pick i, a node, by the first n picks. */
static int64_t memory_of (const struct walker *k, const struct selection *s, size_t n,
                          size_t i)
{
    unsigned depth = graph_vertex (k->g, s->picks[i].v)->depth;
    int64_t sum = 0;

    while (++i < n && graph_vertex (k->g, s->picks[i].v)->depth > depth) {
        const struct pick *p = &s->picks[i];
        const struct graph_vertex *x = graph_vertex (k->g, p->v);
        if (p->claimed && x->first != GRAPH_NONE)
            sum += memory_below (k, p->v);
        else if (p->claimed && x->type == GRAPH_MEMORY)
            sum += p->amount * (int64_t)p->count;
    }
    return sum;
}

/* The pick of v, which is in pick i, among the first n; NULL. */
static const struct pick *pick_of (const struct walker *k, const struct selection *s,
                                   size_t n, size_t i, uint32_t v)
{
    unsigned depth = graph_vertex (k->g, s->picks[i].v)->depth;

    while (++i < n && graph_vertex (k->g, s->picks[i].v)->depth > depth)
        if (s->picks[i].v == v)
            return &s->picks[i];
    return NULL;
}

/* Adds `need` more of the free memory below v, which is pick i or in it. */
static int add_memory (struct walker *k, struct selection *s, size_t n, size_t i,
                       uint32_t v, int64_t *need)
{
    int rc = 0;

    GRAPH_CHILDREN (k->g, v, c)
    {
        const struct graph_vertex *x = graph_vertex (k->g, c);
        const struct pick *had = pick_of (k, s, n, i, c);
        if (x->first != GRAPH_NONE && !walk_is_shut (k, c) && !(had && had->exclusive)
            && (rc = add_memory (k, s, n, i, c, need)) < 0)
            return rc;
        if (*need <= 0 || x->type != GRAPH_MEMORY || !(x->flags & GRAPH_DIVISIBLE))
            continue;
        int64_t left = claims_free_amount (k->p, c, k->w);
        if (had && had->claimed)
            left -= had->amount;
        if (left <= 0)
            continue;
        struct pick *p = selection_add (s, k->g, c, 0, 1, GRAPH_NONE);
        if (!p)
            return -ENOMEM;
        p->amount = left < *need ? left : *need;
        p->exclusive = p->claimed = true;
        *need -= p->amount;
    }
    return 0;
}

static int raise_memory (struct walker *k, struct selection *s)
{
    size_t n = s->n;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        if (graph_vertex (k->g, s->picks[i].v)->type != GRAPH_NODE
            || s->picks[i].exclusive) /* then it has all of the memory */
            continue;
        int64_t need = k->s->node_memory - memory_of (k, s, n, i);
        uint32_t zone =
            walk_is_zoned (k, s->picks[i].v) ? walk_zone_of (k, s, n, i) : GRAPH_NONE;
        if (need > 0)
            rc = add_memory (
                k, s, n, i, walk_zone_has_memory (k, zone) ? zone : s->picks[i].v, &need);
    }
    return rc == 0 && s->n > n ? selection_complete (s, k->g) : rc;
}

/* -- sizes of elastic counts -- */

/* Returns the outermost vertex with an elastic count, the first of several;
 * SHAPE_NONE. */
static uint16_t outermost_elastic (const struct walker *k)
{
    uint16_t best = SHAPE_NONE;
    unsigned least = UINT_MAX;

    for (uint16_t r = 0; r < k->s->nv; r++) {
        const struct shape_vertex *req = walk_req (k, r);
        unsigned depth = 0;
        for (uint16_t up = req->parent; up != SHAPE_NONE; up = walk_req (k, up)->parent)
            depth++;
        if (req->count.min != req->count.max && depth < least) {
            best = r;
            least = depth;
        }
    }
    return best;
}

/* The size that r got where it is first requested, 0: not in the list. or_slots count
 * together. */
static int64_t granted_in (const struct walker *k, uint32_t list, uint16_t r)
{
    bool or_slot = walk_req (k, r)->kind == SHAPE_OR_SLOT;
    int64_t sum = 0;

    for (uint32_t i = list; i != WALK_NONE; i = k->c[i].next) {
        const struct candidate *c = &k->c[i];
        if (c->req == r || (or_slot && walk_req (k, c->req)->kind == SHAPE_OR_SLOT))
            sum += c->amount * (int64_t)c->count;
    }
    for (uint32_t i = list; i != WALK_NONE && sum == 0; i = k->c[i].next)
        sum = granted_in (k, k->c[i].parts, r);
    return sum;
}

static int64_t granted (const struct walker *k, uint32_t parts)
{
    uint16_t r = k->s->elastic ? outermost_elastic (k) : SHAPE_NONE;

    return r == SHAPE_NONE ? 0 : granted_in (k, parts, r);
}

/* Adds the chosen tree, in the order of the graph. */
static int gather (struct walker *k, uint32_t parts, struct selection *s)
{
    struct walk_room *room = &k->p->room;
    struct selection first = { .picks = room->picks, .alloc = room->npicks };

    k->node_pick = WALK_NONE;
    int rc = add_candidates (k, &first, parts, 0);
    if (rc == 0)
        rc = walk_ways_add (k, &first);
    if (rc == 0)
        rc = selection_complete_to (&first, k->g, s);
    room->picks = first.picks;
    room->npicks = first.alloc;
    free (first.ways);
    return rc;
}

int walk_answer (struct walker *k, uint32_t parts, struct selection **ret)
{
    struct selection *s = selection_create ();

    if (!s)
        return -ENOMEM;
    int rc = gather (k, parts, s);
    if (rc == 0 && k->policy->node_exclusive)
        rc = claim_nodes (k, s);
    if (rc == 0 && k->s->node_memory > 0)
        rc = raise_memory (k, s);
    if (rc == 0) {
        cover (k, s);
        rc = s->nways > 0 ? cover_further (k, s) : 0;
    }
    if (rc < 0) {
        selection_destroy (s);
        return rc;
    }
    if (k->policy->first && !k->w->ever)
        note_seen (k, s);
    s->start = k->w->at;
    s->end = k->w->end;
    s->granted = granted (k, parts);
    *ret = s;
    return 0;
}
