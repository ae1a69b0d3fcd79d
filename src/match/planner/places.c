/* places.c - places of nodes in the indexes above them
 *
 * The nodes of an index are in the order of the policy: by score, between equals by the
 * order of the graph. After a rebuild they have all places from 0 on. A node that goes
 * leaves a vacant place, which no walk finds. A node that comes takes a vacant place where
 * it belongs, or the next place behind all. If there is no vacant place, nodes move: the
 * smallest window around the place that is not too dense is spread evenly. The larger the
 * window, the larger the part of it that must be vacant; so after a spread it takes many
 * nodes until the same window is spread again. Source: Itai, Konheim, Rodeh, A sparse
 * table implementation of priority queues, 1981.
 */
#include "match/planner/places.h"

#define LEAST_WINDOW 16
#define LEVELS 64 /* of windows; with each level, one more place of so many is vacant */

int places_reserve (struct upper *a, size_t n)
{
    uint32_t *nodes;

    if (n <= a->room)
        return 0;
    n += a->room > 0 ? n / 8 : 0;
    if (index_reserve (a->index, n) < 0
        || !(nodes = realloc (a->nodes, n * sizeof (*nodes))))
        return -ENOMEM;
    for (size_t i = a->room; i < n; i++)
        nodes[i] = NOWHERE;
    a->nodes = nodes;
    a->room = n;
    return 0;
}

static uint32_t number_of (const struct planner *p, uint32_t node)
{
    return graph_vertex (p->g, node)->place;
}

static uint32_t *place_of (struct planner *p, const struct upper *a, uint32_t number)
{
    return &p->place[number * p->levels + graph_vertex (p->g, a->v)->depth];
}

static bool goes_first (const struct planner *p, uint32_t number, uint32_t other)
{
    int64_t x = p->nodes[number].score, y = p->nodes[other].score;

    if (x != y)
        return p->policy.high ? x > y : x < y;
    return p->order[number] < p->order[other];
}

static size_t next_taken (const struct upper *a, size_t place, size_t end)
{
    while (place < end && a->nodes[place] == NOWHERE)
        place++;
    return place;
}

/* Returns the place such that nodes before it go before the node, all others behind. */
static size_t find_place (const struct planner *p, const struct upper *a, uint32_t number)
{
    size_t low = 0, high = a->places;

    while (low < high) {
        size_t middle = low + (high - low) / 2, i = next_taken (a, middle, high);
        if (i == high || goes_first (p, number, number_of (p, a->nodes[i])))
            high = middle;
        else
            low = i + 1;
    }
    return low;
}

/* -- making room -- */

static void move (struct planner *p, struct upper *a, size_t from, size_t to)
{
    uint32_t node = a->nodes[from];

    if (from == to)
        return;
    index_move (a->index, from, to);
    a->nodes[from] = NOWHERE;
    a->nodes[to] = node;
    *place_of (p, a, number_of (p, node)) = (uint32_t)to;
}

/* Spreads the n nodes in the window evenly, with a vacant place for one more before the
 * node at `at`. Returns that place. */
static size_t spread (struct planner *p, struct upper *a, size_t from, size_t to,
                      size_t n, size_t at)
{
    size_t packed = from, before = 0, vacant = from;

    index_hold (a->index);
    for (size_t i = from; i < MIN (to, a->places); i++) {
        if (a->nodes[i] == NOWHERE)
            continue;
        before += i < at;
        move (p, a, i, packed++);
    }
    for (size_t k = n + 1; k-- > 0;) {
        size_t place = from + k * (to - from) / (n + 1);
        if (k == before)
            vacant = place;
        else
            move (p, a, from + k - (k > before), place);
    }
    index_settle (a->index);
    a->places = MAX (a->places, to);
    while (a->places > 0 && a->nodes[a->places - 1] == NOWHERE)
        a->places--;
    if (a == p->upper)
        p->placed++;
    return vacant;
}

/* Returns a vacant place between those before `at` and the others; SIZE_MAX: no
 * memory. */
static size_t make_room (struct planner *p, struct upper *a, size_t at)
{
    for (size_t level = 0, size = LEAST_WINDOW;; level++, size *= 2) {
        size_t from = at / size * size, to = MIN (from + size, a->room), n = 0;
        size_t all = to - from;
        for (size_t i = from; i < MIN (to, a->places); i++)
            n += a->nodes[i] != NOWHERE;
        if (n + 1 + all * level / LEVELS <= all)
            return spread (p, a, from, to, n, at);
        if (n == a->nnodes)
            break;
    }
    size_t room = a->nnodes + a->nnodes / 4 + 2;
    if (places_reserve (a, room) < 0)
        return SIZE_MAX;
    return spread (p, a, 0, MAX (room, a->room), a->nnodes, at);
}

/* Returns a vacant place for the node; SIZE_MAX: no memory. */
static size_t take_place (struct planner *p, struct upper *a, uint32_t number)
{
    size_t at = find_place (p, a, number), end = next_taken (a, at, a->places), from = at;

    if (at == a->places)
        return places_reserve (a, at + 1) < 0 ? SIZE_MAX : at;
    while (from > 0 && a->nodes[from - 1] == NOWHERE)
        from--;
    return from < end ? from + (end - from) / 2 : make_room (p, a, at);
}

/* -- entering and leaving -- */

/* Notes whether the order of the policy is still that of the graph, or its reverse. */
static void check_order (struct planner *p, const struct upper *root, size_t place,
                         uint32_t number)
{
    size_t next = next_taken (root, place + 1, root->places), prev = place;
    uint32_t order = p->order[number];
    bool high = p->policy.high;

    while (prev > 0 && root->nodes[prev - 1] == NOWHERE)
        prev--;
    if (prev > 0 && (p->order[number_of (p, root->nodes[prev - 1])] < order) == high)
        p->graph_order = false;
    if (next < root->places
        && (order < p->order[number_of (p, root->nodes[next])]) == high)
        p->graph_order = false;
}

static int enter (struct planner *p, struct upper *a, uint32_t number)
{
    size_t place = take_place (p, a, number);

    if (place == SIZE_MAX)
        return -ENOMEM;
    a->nodes[place] = p->nodes[number].v;
    a->places = MAX (a->places, place + 1);
    a->nnodes++;
    *place_of (p, a, number) = (uint32_t)place;
    if (a == p->upper) {
        check_order (p, a, place, number);
        p->placed += p->nodes[number].nclaims > 0;
    }
    return 0;
}

int places_enter (struct planner *p, uint32_t number)
{
    int rc = 0;

    for (uint32_t v = p->nodes[number].parent; v != GRAPH_NONE && rc == 0;
         v = graph_vertex (p->g, v)->parent)
        rc = enter (p, &p->upper[graph_vertex (p->g, v)->place], number);
    p->nodes[number].entered = false;
    return rc;
}

static void leave (struct planner *p, struct upper *a, uint32_t number)
{
    size_t place = *place_of (p, a, number);

    index_vacate (a->index, place);
    a->nodes[place] = NOWHERE;
    a->nnodes--;
    while (a->places > 0 && a->nodes[a->places - 1] == NOWHERE)
        a->places--;
}

void places_leave (struct planner *p, uint32_t number)
{
    for (uint32_t v = p->nodes[number].parent; v != GRAPH_NONE;
         v = graph_vertex (p->g, v)->parent)
        leave (p, &p->upper[graph_vertex (p->g, v)->place], number);
}
