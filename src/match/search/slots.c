/* slots.c - makes slots out of parts
 *
 * A slot forms in the vertex that has all its parts as children: cores and gpus of one
 * socket, or of one node; or in the node if its parts are in different vertices (cores in
 * sockets, gpus beside these). Only if a request does not fit in this way, a second walk
 * lets a slot take parts from several vertices of one node ("span"). A slot never spans
 * nodes unless it consists of nodes. Parts go to slots whole, in the order of the policy.
 */
#include <stdlib.h>
#include <string.h>

#include "match/planner/levels.h"
#include "match/search/walk_private.h"

static bool has_further_child (const struct walker *k, uint32_t u, int32_t type)
{
    GRAPH_FURTHER (k->g, u, c)
    {
        if (graph_vertex (k->g, c)->type == type)
            return true;
    }
    return false;
}

static bool has_own_child (const struct walker *k, uint32_t u, int32_t type)
{
    GRAPH_CHILDREN (k->g, u, c)
    {
        if (graph_vertex (k->g, c)->type == type)
            return true;
    }
    return false;
}

/* A function of its own, so that the check for most vertices stays short. */
static __attribute__ ((noinline)) bool has_indexed_child (const struct walker *k,
                                                          uint32_t u, int32_t type)
{
    const struct upper *a = NULL;

    if (has_further_child (k, u, type))
        return true;
    if (graph_vertex (k->g, u)->flags & GRAPH_UPPER)
        a = levels_upper (k->p, u);
    if (!a)
        return has_own_child (k, u, type);
    if (type == GRAPH_NODE)
        return a->nown > 0;
    for (size_t i = 0; i < a->nkids && k->p->type_upper[type]; i++)
        if (graph_vertex (k->g, a->kids[i])->type == type)
            return true;
    for (size_t i = 0; i < a->nloose; i++)
        if (graph_vertex (k->g, a->loose[i])->type == type)
            return true;
    return false;
}

bool walk_has_child (const struct walker *k, uint32_t u, int32_t type)
{
    if (type < 0)
        return false;
    if (graph_vertex (k->g, u)->flags & (GRAPH_UPPER | GRAPH_FURTHER_CHILDREN))
        return has_indexed_child (k, u, type);
    return has_own_child (k, u, type);
}

/* True if parts of several vertices may form a slot in u: inside a node, or for nodes
 * above them. */
static bool may_span (const struct walker *k, uint32_t u, uint16_t slot)
{
    if (!k->span)
        return false;
    if (graph_vertex (k->g, u)->flags & GRAPH_UPPER)
        return walk_has_type (k, slot, GRAPH_NODE);
    return graph_node_of (k->g, u) == u;
}

static bool has_all (const struct walker *k, uint32_t u, uint16_t slot)
{
    const struct shape_vertex *s = walk_req (k, slot);

    for (uint16_t c = s->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (walk_req (k, c)->kind != SHAPE_RESOURCE ? !has_all (k, u, c)
                                                    : !walk_has_child (k, u, k->type[c]))
            return false;
    return s->first != SHAPE_NONE;
}

static bool below_has_all (const struct walker *k, uint32_t u, uint16_t slot)
{
    GRAPH_CHILDREN (k->g, u, c)
    {
        if (!graph_is_leaf (k->g, c)
            && (has_all (k, c, slot) || below_has_all (k, c, slot)))
            return true;
    }
    GRAPH_FURTHER (k->g, u, c)
    {
        if (has_all (k, c, slot) || below_has_all (k, c, slot))
            return true;
    }
    return false;
}

bool walk_slot_here (const struct walker *k, uint32_t u, uint16_t slot)
{
    if (may_span (k, u, slot) || has_all (k, u, slot))
        return true;
    /* If no vertex in a node has all kinds of parts, slots form in the node itself. */
    return !k->p->opt.together_slots && graph_vertex (k->g, u)->type == GRAPH_NODE
           && !below_has_all (k, u, slot);
}

/* Amount of a part for each slot: the largest that still allows so many slots, given that
 * the least does. */
static int64_t part_amount (struct walker *k, uint16_t part, uint32_t found,
                            int64_t slots)
{
    const struct shape_vertex *r = walk_req (k, part);
    int64_t low = shape_count_least (r);
    int64_t high = k->modest ? low : shape_count_fit (r, k->f[found].total / slots);

    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        int64_t amount = shape_count_fit (r, middle);
        if (walk_shares (k, found, amount, slots) >= slots)
            low = middle;
        else
            high = amount - 1;
    }
    return shape_count_fit (r, low);
}

/* Cuts part r of a slot from what is in u and not held. */
static bool cut_part (struct walker *k, uint32_t u, uint16_t head, uint16_t r, unsigned i,
                      uint32_t *ret_list, int64_t *score)
{
    int64_t least = shape_count_least (walk_req (k, r));
    uint32_t base = walk_push (k, head);

    if (base == WALK_NONE)
        return false;
    k->collect (k, u, head, UINT64_C (1) << i, base, true);
    bool cut = !k->failed && walk_sort (k, base + i)
               && walk_shares (k, base + i, least, 1) == 1
               && walk_cut (k, base + i, least, ret_list, score);
    walk_pop (k, base);
    return cut;
}

bool walk_make_tangled (struct walker *k, uint32_t u, uint16_t slot, struct candidate *c)
{
    uint16_t head = walk_req (k, slot)->first;
    uint32_t held = k->nheld, ways = k->nways, list;
    int64_t shares = k->shares;
    bool made = true, modest = k->modest;
    unsigned i = 0;

    c->req = slot;
    c->parts = WALK_NONE;
    c->score = 1;
    k->shares = 1;
    k->modest = true;
    for (uint16_t r = head; r != SHAPE_NONE && made; r = walk_req (k, r)->next, i++) {
        made = cut_part (k, u, head, r, i, &list, &c->score);
        if (made) {
            walk_hold (k, list);
            walk_join (k, &c->parts, list);
        }
    }
    walk_ways_keep (k, ways, made ? c->parts : WALK_NONE);
    k->shares = shares;
    k->modest = modest;
    if (!made)
        k->nheld = held;
    return made;
}

/* Makes one slot after the other. */
static void make_all_tangled (struct walker *k, uint32_t u, uint16_t slot, int64_t most,
                              uint32_t found)
{
    struct candidate c = { .v = u, .count = 1, .amount = 1 };
    uint32_t held = k->nheld;

    while (most-- > 0 && walk_make_tangled (k, u, slot, &c) && walk_add (k, found, &c))
        ;
    k->nheld = held;
}

/* Makes as many slots as are useful, each as large as possible. */
static void make_slots (struct walker *k, uint32_t u, uint16_t slot, int64_t slots,
                        uint32_t found)
{
    const struct shape_vertex *s = walk_req (k, slot);
    struct candidate c = { .v = u, .count = 1, .req = slot, .amount = 1 };
    int64_t amount[SHAPE_SIBLINGS_MAX], shares = k->shares;
    uint32_t base = walk_push (k, s->first), i = 0, lists[SHAPE_SIBLINGS_MAX];

    if (base == WALK_NONE)
        return;
    k->shares = slots;
    k->collect (k, u, s->first, ~UINT64_C (0), base, true);
    k->shares = shares;
    for (uint16_t r = s->first; r != SHAPE_NONE && slots > 0; r = walk_req (k, r)->next) {
        lists[i] = base + i;
        if (k->failed || !walk_sort (k, base + i))
            slots = 0;
        slots = walk_shares (k, base + i++, shape_count_least (walk_req (k, r)), slots);
    }
    i = 0;
    for (uint16_t r = s->first; r != SHAPE_NONE && slots > 0; r = walk_req (k, r)->next) {
        amount[i] = part_amount (k, r, base + i, slots);
        i++;
    }
    for (; slots > 0; slots--)
        if (!walk_make_slot (k, slot, lists, amount, &c) || !walk_add (k, found, &c))
            break;
    walk_pop (k, base);
}

void walk_slots (struct walker *k, uint32_t u, uint16_t slot, uint32_t found)
{
    const struct shape_vertex *s = walk_req (k, slot);
    int64_t slots = walk_goal (k, slot);
    uint32_t n = k->f[found].n;

    bool outer = s->parent == SHAPE_NONE || walk_req (k, s->parent)->slot == SHAPE_NONE;
    bool capped = k->cap > 0 && outer && !walk_has_type (k, slot, GRAPH_NODE);
    if (capped && slots > k->cap - k->given)
        slots = k->cap - k->given;
    if (slots > 0 && walk_tangled (k, s->first))
        make_all_tangled (k, u, slot, slots, found);
    else if (slots > 0)
        make_slots (k, u, slot, slots, found);
    if (capped)
        k->given += k->f[found].n - n;
}
