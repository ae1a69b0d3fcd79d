/* sibling_holds.c - holds units chosen for a sibling of the request
 *
 * Siblings cannot compete if their parts have different types and no type is inside
 * another; these are gathered at once. Other siblings are "tangled": two slots of cores
 * side by side, a slot of nodes beside one of cores, parts with several ways to them.
 * These are gathered one after the other, and what was chosen for one is held during the
 * search for the next ones, as if it were booked.
 */
#include "match/planner/claims.h"
#include "match/search/walk_private.h"

/* -- siblings that can meet -- */

/* True if part r, or a part of slot r, may be of type t, contain t or be inside t. */
static bool may_meet (const struct walker *k, uint16_t r, int32_t t)
{
    const bool *inner = k->p->type_inner;

    if (walk_req (k, r)->kind == SHAPE_RESOURCE)
        return k->type[r] == t || (k->type[r] >= 0 && inner[k->type[r]])
               || (t >= 0 && inner[t]);
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (may_meet (k, c, t))
            return true;
    return false;
}

static bool meet (const struct walker *k, uint16_t a, uint16_t b)
{
    if (walk_req (k, b)->kind == SHAPE_RESOURCE)
        return may_meet (k, a, k->type[b]);
    for (uint16_t c = walk_req (k, b)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (meet (k, a, c))
            return true;
    return false;
}

/* True if a and b do not compete: two vertices that are no slots each keep to their own
 * type, and or_slots share what there is among them. */
static bool apart (const struct walker *k, uint16_t a, uint16_t b)
{
    enum shape_kind x = walk_req (k, a)->kind, y = walk_req (k, b)->kind;

    return x == y && x != SHAPE_SLOT;
}

/* True if r, or a part of it, is taken with everything below it. */
static bool any_whole (const struct walker *k, uint16_t r)
{
    const struct shape_vertex *req = walk_req (k, r);
    bool node = k->type[r] == GRAPH_NODE && k->policy->node_exclusive;

    if (k->type[r] >= 0 && k->p->type_inner[k->type[r]]
        && (node || req->exclusive == JOBSPEC_TRUE))
        return true;
    for (uint16_t c = req->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (any_whole (k, c))
            return true;
    return false;
}

/* True if a and b, or parts of them, have types with several ways to them. */
static bool any_shared (const struct walker *k, uint16_t a, uint16_t b)
{
    if (k->type[a] >= 0 && k->p->type_shared[k->type[a]]
        && walk_has_type (k, b, k->type[a]))
        return true;
    for (uint16_t c = walk_req (k, a)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (any_shared (k, c, b))
            return true;
    return false;
}

/* If vertices have several parents, two siblings may reach the same vertex below
 * different ones. */
static bool meet_by_ways (const struct walker *k, uint16_t a, uint16_t b)
{
    bool x = any_whole (k, a), y = any_whole (k, b);

    return (x && y) || (x && any_shared (k, b, b)) || (y && any_shared (k, a, a))
           || any_shared (k, a, b);
}

bool walk_tangled (const struct walker *k, uint16_t head)
{
    for (uint16_t a = head; a != SHAPE_NONE; a = walk_req (k, a)->next)
        for (uint16_t b = walk_req (k, a)->next; b != SHAPE_NONE;
             b = walk_req (k, b)->next)
            if ((!apart (k, a, b) && meet (k, a, b))
                || (k->has_ways && meet_by_ways (k, a, b)))
                return true;
    return false;
}

/* -- amounts held -- */

void walk_hold_unit (struct walker *k, const struct unit_hold *h)
{
    if (array_reserve (&k->held, &k->aheld, k->nheld + 1, sizeof (*k->held)) < 0)
        k->failed = true;
    else
        k->held[k->nheld++] = *h;
}

/* Holds the further children at and below v, which was taken with everything below it. */
static void hold_further (struct walker *k, uint32_t v)
{
    GRAPH_FURTHER (k->g, v, c)
    {
        const struct graph_vertex *x = graph_vertex (k->g, c);
        if (!k->failed)
            walk_hold_unit (k, &(struct unit_hold){ c, 0, x->n, x->size });
        hold_further (k, c);
    }
    GRAPH_CHILDREN (k->g, v, c)
    {
        hold_further (k, c);
    }
}

void walk_hold (struct walker *k, uint32_t list)
{
    for (uint32_t i = list; i != WALK_NONE && !k->failed; i = k->c[i].next) {
        const struct candidate *c = &k->c[i];
        bool resource = walk_req (k, c->req)->kind == SHAPE_RESOURCE;
        bool node = resource && graph_vertex (k->g, c->v)->type == GRAPH_NODE;
        bool whole = c->whole || (node && k->policy->node_exclusive);
        if (!resource || !(c->taken || whole)) {
            walk_hold (k, c->parts);
            continue;
        }
        walk_hold_unit (k, &(struct unit_hold){ c->v, c->unit, c->count, c->amount });
        if (whole && k->has_ways)
            hold_further (k, c->v);
    }
}

uint64_t walk_held_word (const struct walker *k, uint32_t v, uint32_t word)
{
    uint64_t held = 0;

    for (uint32_t i = 0; i < k->nheld; i++)
        if (k->held[i].v == v)
            held |= claims_run_word (k->held[i].unit, k->held[i].count, word);
    return held;
}

int64_t walk_held_amount (const struct walker *k, uint32_t v)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < k->nheld; i++)
        sum += k->held[i].v == v ? k->held[i].amount : 0;
    return sum;
}

bool walk_is_held (const struct walker *k, uint32_t v)
{
    for (uint32_t i = 0; i < k->nheld; i++)
        if (k->held[i].v == v)
            return true;
    return false;
}

bool walk_holds_below (const struct walker *k, uint32_t v)
{
    for (uint32_t i = 0; i < k->nheld; i++)
        if (graph_is_below (k->g, k->held[i].v, v))
            return true;
    return false;
}
