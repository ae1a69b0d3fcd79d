/* apart.c - serves outermost siblings that get nodes of their own: the components of a
 * heterogeneous job
 *
 * They are served one after the other, and the nodes of one are closed to the next ones:
 * first the sibling with the fewest nodes that it could use. So an answer is found, if
 * there is one, when of any two siblings the nodes of one are among those of the other, or
 * are different ones. For other cases, a sibling that finds too few nodes is served first
 * in the next attempt; if it was the first, the request does not fit. The number of
 * attempts is limited, so that a rare request can miss an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "match/planner/levels.h"
#include "match/request/constraint.h"
#include "match/search/walk_private.h"

struct turn {
    unsigned sibling;
    size_t nodes; /* that it could use; 0: unknown */
};

/* Number of nodes with enough for one of the sibling, or for one of its slots. */
static size_t count_nodes (struct walker *k, uint16_t r)
{
    const struct upper *a = levels_upper (k->p, k->g->root);
    struct index_need need;
    size_t n = 0;

    walk_need (k, r, &need);
    for (ptrdiff_t i = index_next (a->index, 0, &need); i >= 0;
         i = index_next (a->index, (size_t)i + 1, &need))
        n +=
            !walk_req (k, r)->required
            || constraint_allows_vertex (walk_req (k, r)->required, k->g, a->nodes[i], 0);
    return n;
}

static int by_nodes (const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    return (x->sibling > y->sibling) - (x->sibling < y->sibling);
}

static unsigned set_turns (struct walker *k, uint16_t head, struct turn *turns)
{
    bool known = graph_vertex (k->g, k->g->root)->flags & GRAPH_UPPER;
    unsigned n = 0;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next, n++)
        turns[n] = (struct turn){ n, known ? count_nodes (k, r) : 0 };
    qsort (turns, n, sizeof (*turns), by_nodes);
    return n;
}

/* Holds the nodes that were chosen, whatever was chosen of them. */
static void hold_nodes (struct walker *k, uint32_t list)
{
    for (uint32_t i = list; i != WALK_NONE && !k->failed; i = k->c[i].next) {
        const struct candidate *c = &k->c[i];
        uint32_t node = walk_req (k, c->req)->kind == SHAPE_RESOURCE
                            ? graph_node_of (k->g, c->v)
                            : GRAPH_NONE;
        if (node == GRAPH_NONE)
            hold_nodes (k, c->parts);
        else if (k->nheld == 0 || k->held[k->nheld - 1].v != node)
            walk_hold_unit (k, &(struct unit_hold){ node, 0, 1, 0 });
    }
}

static bool find_one (struct walker *k, uint32_t u, uint16_t head, unsigned sibling,
                      bool excl, uint32_t *parts)
{
    uint16_t r = head;

    for (unsigned i = 0; i < sibling; i++)
        r = walk_req (k, r)->next;
    k->sibling_constraint = walk_req (k, r)->required;
    bool found = walk_find_active (k, u, head, UINT64_C (1) << sibling, excl, parts);
    k->sibling_constraint = NULL;
    if (found)
        hold_nodes (k, *parts);
    return found && !k->failed;
}

/* Returns the number of siblings served. */
static unsigned find_in_turn (struct walker *k, uint32_t u, uint16_t head,
                              const struct turn *turns, unsigned n, bool excl,
                              uint32_t *parts)
{
    uint32_t more;
    unsigned i = 0;

    *parts = WALK_NONE;
    while (i < n && find_one (k, u, head, turns[i].sibling, excl, &more)) {
        walk_join (k, parts, more);
        i++;
    }
    return i;
}

bool walk_find_apart (struct walker *k, uint32_t u, uint16_t head, bool excl,
                      uint32_t *parts)
{
    struct turn turns[SHAPE_SIBLINGS_MAX];
    unsigned n = set_turns (k, head, turns), served = 0;
    uint32_t held = k->nheld, ways = k->nways;

    for (unsigned attempt = 0; attempt <= n && !k->failed; attempt++) {
        served = find_in_turn (k, u, head, turns, n, excl, parts);
        k->nheld = held;
        if (served == n)
            return true;
        walk_ways_back (k, ways);
        if (served == 0)
            return false;
        struct turn scarce = turns[served];
        memmove (turns + 1, turns, served * sizeof (*turns));
        turns[0] = scarce;
    }
    return false;
}
