/* gather.c - gathers candidates: walks down the graph, with one function for each step
 *
 *     walk_find_parts   the parts requested in a vertex: gather, then choose (choose.c)
 *      walk_gather      vertex u: of a requested type -> take, else look below it
 *       take            u itself: is it free, does it have the parts -> a candidate
 *       walk_collect    slots that form in u (slots.c), then its children, each by
 *                       walk_gather; above the nodes by the indexes instead
 *                       (upper_vertices.c)
 *
 * The walk passes through vertices of types that are not requested, at any depth. But if
 * a requested vertex has the vertices requested in it among its children, only these
 * children count. Among siblings of the request, a vertex serves the one of its type and
 * no other; what one sibling takes, the next ones do not get (sibling_holds.c). Parts of
 * exclusive vertices, and of slots, are exclusive too.
 */
#include <stdlib.h>
#include <string.h>

#include "match/planner/claims.h"
#include "match/planner/node_kinds.h"
#include "match/request/constraint.h"
#include "match/search/walk_private.h"

/* True if every active sibling has as much as it can use. */
static bool walk_enough (struct walker *k, uint16_t head, uint64_t active, uint32_t base)
{
    uint16_t i = 0;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, i++)
        if ((active >> i & 1)
            && walk_shares (k, base + i, walk_most (walk_req (k, r)), k->shares)
                   < k->shares)
            return false;
    return true;
}

/* -- a vertex or group of the requested type -- */

/* A node's own weight does not count in its own score. */
static int64_t score_of (const struct walker *k, uint32_t v, uint32_t unit)
{
    int64_t score = match_policy_score (k->policy, k->g, v, unit) + 1;
    return graph_vertex (k->g, v)->type == GRAPH_NODE ? score : k->node_score + score;
}

/* Scores of a group's units are consecutive if they are the ids. */
static uint32_t run_length (const struct walker *k, uint32_t n)
{
    return k->policy->score ? 1 : n;
}

/* Units of word i that r's `requires` allows: each unit may have properties of its
 * own. */
static uint64_t allowed (const struct walker *k, uint32_t v, uint16_t r, uint32_t i,
                         uint64_t word)
{
    const struct constraint *required = walk_req (k, r)->required;

    for (uint64_t rest = required ? word : 0; rest; rest &= rest - 1) {
        uint32_t unit = 64 * i + (uint32_t)__builtin_ctzll (rest);
        if (!constraint_allows_vertex (required, k->g, v, unit))
            word &= ~(rest & -rest);
    }
    return word;
}

/* Takes the free units of the group (or single leaf) v. */
static void take_leaf (struct walker *k, uint32_t v, uint16_t r, uint32_t found,
                       bool taken)
{
    const struct graph_vertex *x = graph_vertex (k->g, v);
    struct candidate c = { .v = v, .req = r, .parts = WALK_NONE, .taken = taken };

    if (x->flags & GRAPH_DIVISIBLE) {
        c.amount = claims_free_amount (k->p, v, k->w) - walk_held_amount (k, v);
        c.count = 1;
        c.score = score_of (k, v, 0);
        if (c.amount > 0)
            walk_add (k, found, &c);
        return;
    }
    c.amount = x->size;
    for (uint32_t i = 0; i < (x->n + 63) / 64 && !k->failed; i++) {
        uint64_t free = claims_free_word (k->p, v, i, k->w) & ~walk_held_word (k, v, i);
        free = allowed (k, v, r, i, free);
        while (free) {
            uint32_t first = (uint32_t)__builtin_ctzll (free);
            uint64_t ones = ~(free >> first);
            uint32_t n = ones ? (uint32_t)__builtin_ctzll (ones) : 64 - first;
            n = run_length (k, n);
            c.unit = 64 * i + first;
            c.count = n;
            c.score = score_of (k, v, c.unit);
            if (!walk_add (k, found, &c))
                return;
            free &= first + n >= 64 ? 0 : ~UINT64_C (0) << (first + n);
        }
    }
}

/* Returns the first of the siblings in `rest`; or_slots count as one. */
static uint64_t next_sibling (const struct walker *k, uint16_t head, uint64_t rest)
{
    uint64_t first = rest & -rest, or_slots = 0, bit = 1;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, bit <<= 1)
        if (walk_req (k, r)->kind == SHAPE_OR_SLOT)
            or_slots |= bit;
    return first & or_slots ? or_slots : first;
}

bool walk_find_active (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                       bool excl, uint32_t *parts)
{
    uint32_t base = walk_push (k, head), ways = k->nways;
    bool found = false;

    *parts = WALK_NONE;
    if (base == WALK_NONE)
        return false;
    if (head == k->s->top)
        k->gather_top (k, u, head, active, base, excl);
    else
        walk_collect (k, u, head, active, base, excl);
    if (!k->failed)
        found = walk_choose (k, head, active, base, u, parts);
    walk_ways_keep (k, ways, found ? *parts : WALK_NONE);
    walk_pop (k, base);
    return found;
}

/* Siblings that may compete for the same units: one after the other. */
static bool find_tangled (struct walker *k, uint32_t u, uint16_t head, bool excl,
                          uint32_t *parts)
{
    uint64_t rest = ~UINT64_C (0) >> (64 - walk_siblings (k, head));
    uint32_t held = k->nheld, ways = k->nways, more;
    bool found = true;

    *parts = WALK_NONE;
    while (rest && found) {
        uint64_t active = next_sibling (k, head, rest);
        rest &= ~active;
        found = walk_find_active (k, u, head, active, excl, &more);
        if (found)
            walk_hold (k, more);
        walk_join (k, parts, more);
    }
    k->nheld = held;
    if (!found)
        walk_ways_back (k, ways);
    return found && !k->failed;
}

bool walk_find_parts (struct walker *k, uint32_t u, uint16_t head, bool excl,
                      uint32_t *parts)
{
    bool modest = k->modest;

    if (k->s->apart && head == k->s->top)
        return walk_find_apart (k, u, head, excl, parts);
    if (!walk_tangled (k, head))
        return walk_find_active (k, u, head, ~UINT64_C (0), excl, parts);
    bool found = find_tangled (k, u, head, excl, parts);
    if (found || k->failed || modest || !k->s->elastic)
        return found;
    k->modest = true;
    found = find_tangled (k, u, head, excl, parts);
    k->modest = modest;
    return found;
}

/* -- whole nodes: equals of the last one that fitted -- */

/* True if vertices below r differ only in type and number. */
static bool is_plain (const struct walker *k, uint16_t r)
{
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (walk_req (k, c)->required || !is_plain (k, c)
            || (walk_req (k, c)->label && walk_req (k, c)->kind == SHAPE_RESOURCE))
            return false;
    return true;
}

/* For a v without bookings that goes as a whole: if the last such node had the parts and
 * v has equal contents, v has the parts, too. */
static bool is_twin (const struct walker *k, uint32_t v, uint16_t r)
{
    return k->twin_req == r && k->twin != GRAPH_NONE
           && node_kinds_equal (k->p, k->twin, v);
}

static void note_twin (struct walker *k, uint32_t v, uint16_t r, uint32_t parts)
{
    if (k->twin_req != r)
        k->twin_req = is_plain (k, r) ? r : SHAPE_NONE;
    k->twin = k->twin_req == r ? v : GRAPH_NONE;
    k->twin_slots = k->twin_req == r ? walk_count_slots (k, parts) : 0;
}

static void take_vertex (struct walker *k, uint32_t v, uint16_t r, uint32_t found,
                         bool excl)
{
    const struct shape_vertex *req = walk_req (k, r);
    struct candidate c = { .v = v, .count = 1, .req = r, .parts = WALK_NONE };
    int64_t shares = k->shares;

    c.whole = req->exclusive == JOBSPEC_TRUE;
    c.taken = excl || c.whole;
    bool twins = graph_vertex (k->g, v)->type == GRAPH_NODE && !k->has_ways
                 && (c.whole || k->policy->node_exclusive);
    if (twins && is_twin (k, v, r)) {
        c.slots = k->twin_slots;
    } else if (req->first != SHAPE_NONE) {
        k->shares = 1;
        bool fits = walk_is_zoned (k, v)
                        ? walk_parts_in_zone (k, v, walk_find_parts, req->first, c.taken,
                                              &c.parts)
                        : walk_find_parts (k, v, req->first, c.taken, &c.parts);
        k->shares = shares;
        if (!fits)
            return;
        if (twins)
            note_twin (k, v, r, c.parts);
    }
    c.score = score_of (k, v, 0);
    c.amount = graph_vertex (k->g, v)->size;
    walk_add (k, found, &c);
}

static void take (struct walker *k, uint32_t v, uint16_t r, uint32_t found, bool excl)
{
    const struct shape_vertex *req = walk_req (k, r);
    const struct graph_vertex *x = graph_vertex (k->g, v);
    bool whole_node = x->type == GRAPH_NODE && k->policy->node_exclusive;

    if (req->required && x->n == 1
        && !constraint_allows_vertex (req->required, k->g, v, 0))
        return;
    if (graph_is_leaf (k->g, v)) {
        if (req->first == SHAPE_NONE)
            take_leaf (k, v, r, found, excl || req->taken);
        return;
    }
    excl = excl || req->taken;
    if ((excl || whole_node) && !claims_untouched (k->p, v, k->w))
        return;
    if (excl && walk_holds_below (k, v))
        return;
    if ((excl || whole_node || req->exclusive == JOBSPEC_TRUE) && walk_spans_zones (k, v))
        return;
    take_vertex (k, v, r, found, excl);
}

/* -- a vertex of any type -- */

int walk_sibling_of_type (const struct walker *k, uint32_t u, uint16_t head,
                          uint64_t active, uint16_t *ret_req)
{
    int32_t type = graph_vertex (k->g, u)->type;
    bool apart = k->s->apart && head == k->s->top;
    int i = 0;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, i++) {
        if (k->type[r] == type && walk_req (k, r)->kind == SHAPE_RESOURCE
            && (!apart || (active >> i & 1))) {
            *ret_req = r;
            return i;
        }
    }
    return -1;
}

static bool refuses (const struct walker *k, const struct constraint *c, uint32_t u)
{
    return c && !constraint_allows_vertex (c, k->g, u, 0);
}

bool walk_closed (const struct walker *k, uint32_t u)
{
    const struct graph_vertex *x = graph_vertex (k->g, u);

    if (graph_is_leaf (k->g, u) && x->type != GRAPH_NODE
        && (int32_t)x->type != k->storage_node)
        return false; /* leaves are checked unit by unit */
    if (walk_is_shut (k, u) || walk_is_held (k, u))
        return true;
    if (x->type == GRAPH_NODE && k->policy->node_exclusive
        && !claims_untouched (k->p, u, k->w))
        return true;
    if (x->type == GRAPH_NODE && k->s->node_memory > 0
        && walk_free_memory (k, u) < k->s->node_memory)
        return true;
    if (x->type == GRAPH_NODE && k->policy->node_exclusive && walk_spans_zones (k, u))
        return true;
    return (x->type == GRAPH_NODE || (int32_t)x->type == k->storage_node)
           && (refuses (k, k->s->constraint, u) || refuses (k, k->sibling_constraint, u));
}

static void look_below (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                        uint32_t base, bool excl);

/* A walk spends most of its time here. */
static inline __attribute__ ((always_inline)) void gather (struct walker *k, uint32_t u,
                                                           uint16_t head, uint64_t active,
                                                           uint64_t deeper, uint32_t base,
                                                           bool excl)
{
    const struct graph_vertex *x = graph_vertex (k->g, u);
    int64_t node_score = k->node_score;
    uint32_t node = k->node;
    uint16_t r;

    if (k->failed || ((x->flags & GRAPH_ZONE) && u != k->zone) || walk_closed (k, u))
        return;
    int i = walk_sibling_of_type (k, u, head, active, &r);
    if (i >= 0 && !(active >> i & 1))
        return; /* it serves that sibling */
    if (x->type == GRAPH_NODE)
        k->node = k->node_order ? k->node_order[x->place] : x->place;
    if (x->type == GRAPH_NODE && k->policy->node_centric)
        k->node_score =
            (match_policy_score (k->policy, k->g, u, 0) + 1) * WALK_NODE_WEIGHT;
    if (i >= 0)
        take (k, u, r, base + (uint32_t)i, excl);
    else if (deeper && !graph_is_leaf (k->g, u) && walk_is_zoned (k, u))
        walk_below_in_zone (k, u, look_below, head, deeper, base, excl);
    else if (deeper && !graph_is_leaf (k->g, u))
        look_below (k, u, head, deeper, base, excl);
    k->node_score = node_score;
    k->node = node;
}

/* walk_gather() in u and its further parent `via`. */
static void walk_gather_by (struct walker *k, uint32_t u, uint32_t via, uint16_t head,
                            uint64_t active, uint64_t deeper, uint32_t base, bool excl)
{
    if (!walk_way_is_open (k, u, via))
        return;
    uint64_t before = walk_found (k, head, base);
    gather (k, u, head, active, deeper, base, excl);
    if (walk_found (k, head, base) > before)
        walk_way_take (k, u, via);
}

void walk_gather (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                  uint64_t deeper, uint32_t base, bool excl)
{
    const struct graph_vertex *x = graph_vertex (k->g, u);

    if (x->flags & GRAPH_FURTHER_PARENTS)
        walk_gather_by (k, u, x->parent, head, active, deeper, base, excl);
    else
        gather (k, u, head, active, deeper, base, excl);
}

void walk_collect_further (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                           uint64_t deeper, uint32_t base, bool excl)
{
    GRAPH_FURTHER (k->g, u, c)
    {
        if (!k->failed)
            walk_gather_by (k, c, u, head, active, deeper, base, excl);
    }
}

uint64_t walk_deeper (const struct walker *k, uint32_t u, uint16_t head, uint64_t active)
{
    unsigned i = 0;

    if (u != k->asked)
        return active;
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, i++)
        if ((active >> i & 1) && walk_req (k, r)->kind == SHAPE_RESOURCE
            && !(k->p->opt.any_depth && k->type[r] == GRAPH_NODE)
            && walk_has_child (k, u, k->type[r]))
            active &= ~(UINT64_C (1) << i);
    return active;
}

struct kid {
    int64_t free;
    uint64_t order;
    uint32_t v;
};

struct kids {
    struct kid fixed[64], *kid; /* fixed, or allocated */
    size_t n, alloc;
};

/* Children by what is free in them, most first; between equals the last added first. */
static int by_free (const void *a, const void *b)
{
    const struct kid *x = a, *y = b;
    if (x->free != y->free)
        return x->free > y->free ? -1 : 1;
    return x->order > y->order ? -1 : 1;
}

/* Free cores below v, a child with children; leaves come after these. */
static int64_t free_below (const struct walker *k, uint32_t v)
{
    int64_t sum = 0;

    if (walk_is_shut (k, v))
        return 0;
    GRAPH_CHILDREN (k->g, v, c)
    {
        if (graph_vertex (k->g, c)->first != GRAPH_NONE)
            sum += free_below (k, c);
        else if (graph_vertex (k->g, c)->type == GRAPH_CORE)
            sum += claims_free_count (k->p, c, k->w);
    }
    return sum;
}

static bool add_kid (struct walker *k, struct kids *l, uint32_t v, uint64_t order)
{
    bool leaf = graph_vertex (k->g, v)->first == GRAPH_NONE;

    if (l->n == l->alloc) {
        struct kid *again = malloc (2 * l->alloc * sizeof (*again));
        if (!again) {
            k->failed = true;
            return false;
        }
        memcpy (again, l->kid, l->n * sizeof (*again));
        if (l->kid != l->fixed)
            free (l->kid);
        l->kid = again;
        l->alloc *= 2;
    }
    l->kid[l->n++] =
        (struct kid){ .free = leaf ? -1 : free_below (k, v), .order = order, .v = v };
    return true;
}

/* Usually few. */
static void sort_kids (struct kids *l)
{
    if (l->n > ARRAY_SIZE (l->fixed)) {
        qsort (l->kid, l->n, sizeof (*l->kid), by_free);
        return;
    }
    for (size_t i = 1; i < l->n; i++) {
        struct kid kid = l->kid[i];
        size_t j = i;
        for (; j > 0 && by_free (&kid, &l->kid[j - 1]) < 0; j--)
            l->kid[j] = l->kid[j - 1];
        l->kid[j] = kid;
    }
}

/* For policies that take the first that fit: the freest child first, and only until there
 * is enough. */
static void collect_first (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                           uint32_t base, bool excl)
{
    uint64_t deeper = walk_deeper (k, u, head, active);
    struct kids l = { .kid = l.fixed, .alloc = ARRAY_SIZE (l.fixed) };

    GRAPH_CHILDREN (k->g, u, c)
    {
        if (!add_kid (k, &l, c, graph_vertex (k->g, c)->order))
            break;
    }
    GRAPH_FURTHER (k->g, u, c)
    {
        if (k->failed || !add_kid (k, &l, c, (UINT64_C (1) << 32) + c_at))
            break;
    }
    sort_kids (&l);
    for (uint64_t rest = active; rest && !k->failed; rest &= rest - 1) {
        uint64_t one = rest & -rest;
        for (size_t i = 0; i < l.n && !k->failed && !walk_enough (k, head, one, base);
             i++)
            walk_gather_by (k, l.kid[i].v, u, head, one, deeper & one, base, excl);
    }
    if (l.kid != l.fixed)
        free (l.kid);
}

/* Gathers candidates below u. */
static void look_below (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                        uint32_t base, bool excl)
{
    uint16_t i = 0;
    int or_list = -1; /* or_slots share the list of the first of them */
    bool or_here = false;

    for (uint16_t r = head; r != SHAPE_NONE && !k->failed;
         r = walk_req (k, r)->next, i++) {
        enum shape_kind kind = walk_req (k, r)->kind;
        if (!(active >> i & 1) || kind == SHAPE_RESOURCE)
            continue;
        if (kind == SHAPE_OR_SLOT && or_list < 0) {
            or_list = i;
            or_here = walk_or_slots_here (k, u, r);
            if (or_here)
                walk_or_slots (k, u, r, base + i);
        } else if (kind == SHAPE_SLOT && walk_slot_here (k, u, r)) {
            walk_slots (k, u, r, base + i);
            active &= ~(UINT64_C (1) << i);
        }
        if (kind == SHAPE_OR_SLOT && (or_here || or_list != (int)i))
            active &= ~(UINT64_C (1) << i);
    }
    if (i < 64)
        active &= (UINT64_C (1) << i) - 1;
    if (!active || k->failed)
        return;
    if (graph_vertex (k->g, u)->flags & GRAPH_UPPER) {
        walk_upper (k, u, head, active, base, excl);
        return;
    }
    if (k->policy->first) {
        collect_first (k, u, head, active, base, excl);
        return;
    }
    uint64_t deeper = walk_deeper (k, u, head, active);
    GRAPH_CHILDREN (k->g, u, c)
    {
        walk_gather (k, c, head, active, deeper, base, excl);
        if (k->failed)
            return;
    }
    if (graph_vertex (k->g, u)->flags & GRAPH_FURTHER_CHILDREN)
        walk_collect_further (k, u, head, active, deeper, base, excl);
}

void walk_collect (struct walker *k, uint32_t u, uint16_t head, uint64_t active,
                   uint32_t base, bool excl)
{
    uint32_t asked = k->asked;

    k->asked = u;
    look_below (k, u, head, active, base, excl);
    k->asked = asked;
}
