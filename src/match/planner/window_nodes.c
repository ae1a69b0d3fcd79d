/* window_nodes.c - which nodes have a booking in a later window of time
 *
 *     window_nodes_find      for a window: nodes with any booking, and nodes that are
 *                            taken whole
 *     window_nodes_missing   how many nodes a request lacks; if any, no walk is necessary
 *
 * The indexes know only what is free now. Each booking has a "reach", made at first use:
 * the set of the nodes it uses, and of those it takes as a whole, as bits by place of the
 * node in the root's index. The union over the bookings that overlap a window tells, in a
 * few words of memory, which nodes a walk can skip.
 */
#include <utlist.h>

#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"
#include "match/planner/window_nodes.h"

/* -- the reach of a booking -- */

struct span {
    uint32_t least, most; /* places of nodes */
};

/* Returns the place of a node in the root's index. */
static uint32_t place_of (const struct planner *p, uint32_t node)
{
    return p->place[(size_t)graph_vertex (p->g, node)->place * p->levels];
}

static void each_node (struct planner *p, const struct booking *b,
                       void (*fn) (void *arg, uint32_t place, bool whole), void *arg)
{
    CLAIMS_OF_JOB (p, b, c)
    {
        const struct claim *claim = &p->claims[c];
        uint32_t node = levels_node_of (p, claim->v);
        const struct upper *a;

        if (node != GRAPH_NONE)
            fn (arg, place_of (p, node), claim->exclusive && claim->v == node);
        else if (claim->exclusive && (a = levels_upper (p, claim->v)))
            for (size_t i = 0; i < a->places; i++)
                if (a->nodes[i] != NOWHERE)
                    fn (arg, place_of (p, a->nodes[i]), true);
    }
}

static void widen (void *arg, uint32_t place, bool whole)
{
    struct span *s = arg;

    (void)whole;
    s->least = place < s->least ? place : s->least;
    s->most = place > s->most ? place : s->most;
}

static void set_bit (void *arg, uint32_t place, bool whole)
{
    struct reach *r = arg;
    uint32_t word = place / 64 - r->first;
    uint64_t bit = UINT64_C (1) << place % 64;

    r->bits[word] |= bit;
    if (whole)
        r->bits[r->words + word] |= bit;
    r->any_whole |= whole;
}

void reach_forget (struct planner *p, struct booking *b)
{
    p->runs += !b->reserved;
    free (b->reach);
    b->reach = NULL;
}

size_t reach_memory (const struct booking *b)
{
    const struct reach *r = b->reach;

    return r ? sizeof (*r) + 2 * (size_t)r->words * sizeof (r->bits[0]) : 0;
}

static const struct reach *reach_of (struct planner *p, struct booking *b)
{
    struct span s = { UINT32_MAX, 0 };

    if (b->reach && b->reach->placed == p->placed)
        return b->reach;
    free (b->reach);
    b->reach = NULL;
    each_node (p, b, widen, &s);
    uint32_t first = s.least == UINT32_MAX ? 0 : s.least / 64;
    uint32_t words = s.least == UINT32_MAX ? 0 : s.most / 64 - first + 1;
    struct reach *r = calloc (1, sizeof (*r) + 2 * (size_t)words * sizeof (r->bits[0]));
    if (!r)
        return NULL;
    r->placed = p->placed;
    r->shown = UINT64_MAX;
    r->first = first;
    r->words = words;
    each_node (p, b, set_bit, r);
    b->reach = r;
    return r;
}

void reach_renew (struct planner *p, struct booking *b)
{
    if (b->reach)
        reach_of (p, b);
}

bool bookings_share_node (struct planner *p, struct booking *a, struct booking *b)
{
    const struct reach *x, *y;

    if (p->stale || p->nested || p->any_upper || p->any_loose
        || !levels_upper (p, p->g->root) || !(x = reach_of (p, a))
        || !(y = reach_of (p, b)))
        return true;
    uint32_t from = MAX (x->first, y->first);
    uint32_t to = MIN (x->first + x->words, y->first + y->words);
    for (uint32_t i = from; i < to; i++)
        if (x->bits[i - x->first] & y->bits[i - y->first])
            return true;
    return false;
}

/* -- the union -- */

/* Words of a set of nodes: for all places of the root's index. */
static size_t words_of (const struct planner *p)
{
    return p->nupper > 0 ? (p->upper[0].room + 63) / 64 : 0;
}

void window_nodes_destroy (struct planner *p)
{
    free (p->window_nodes.running);
    free (p->window_nodes.after);
    free (p->window_nodes.any);
    p->window_nodes = (struct window_nodes){ 0 };
}

static int make_room (struct planner *p)
{
    struct window_nodes *o = &p->window_nodes;
    size_t words = words_of (p);

    if (words <= o->room)
        return 0;
    window_nodes_destroy (p);
    o->any = calloc (3 * words, sizeof (*o->any));
    if (!o->any)
        return -ENOMEM;
    o->whole = o->any + words;
    o->up = o->whole + words;
    o->room = words;
    o->told = UINT64_MAX;
    return 0;
}

/* Notes which nodes are up, which changes only with the layout. */
static void note_up (struct planner *p)
{
    struct window_nodes *o = &p->window_nodes;

    if (o->told == p->told)
        return;
    memset (o->up, 0, words_of (p) * sizeof (*o->up));
    for (size_t i = 0; i < p->nnodes; i++) {
        const struct level_node *node = &p->nodes[i];
        if (node->v == GRAPH_NONE || node->down)
            continue;
        uint32_t place = p->place[i * p->levels];
        o->up[place / 64] |= UINT64_C (1) << place % 64;
    }
    o->told = p->told;
}

/* Two words at a time. */
static void unite (uint64_t *restrict to, const uint64_t *restrict from, size_t n)
{
    typedef uint64_t pair __attribute__ ((vector_size (16), aligned (8), may_alias));
    size_t i = 0;

    for (; i + 2 <= n; i += 2)
        *(pair *)(to + i) |= *(const pair *)(from + i);
    if (i < n)
        to[i] |= from[i];
}

/* A union of some bookings, of so many words. */
struct uniting {
    struct planner *p;
    uint64_t *any, *whole;
    bool failed;
};

static void add_reach (struct uniting *u, struct booking *b)
{
    const struct reach *r = u->failed ? NULL : reach_of (u->p, b);

    u->failed = !r;
    if (!r)
        return;
    unite (u->any + r->first, r->bits, r->words);
    if (r->any_whole)
        unite (u->whole + r->first, r->bits + r->words, r->words);
}

/* -- allocations by end, in blocks, with the union of each block and all behind -- */

#define BLOCKS 128
#define FEW 64 /* bookings without blocks; and the least size of a block */

static bool collect (struct ordered_link *l, void *arg)
{
    struct window_nodes *o = arg;
    struct booking *b = (struct booking *)((char *)l - offsetof (struct booking, by_end));

    if (b->reserved)
        return false;
    o->running[o->nrunning++] = b;
    o->latest = MAX (o->latest, b->start);
    return false;
}

static bool make_blocks (struct planner *p, size_t words)
{
    struct window_nodes *o = &p->window_nodes;
    struct uniting u = { .p = p };

    o->runs = UINT64_MAX;
    o->nrunning = 0;
    o->latest = INT64_MIN;
    if (array_reserve (&o->running, &o->running_room, p->ids.n, sizeof (struct booking *))
        < 0)
        return false;
    ordered_from (&p->ends, 0, collect, o);
    o->block = MAX (o->nrunning / BLOCKS + 1, FEW);
    size_t n = (o->nrunning + o->block - 1) / o->block;
    if (array_reserve (&o->after, &o->after_room, 2 * words * (n + 1), sizeof (*o->after))
        < 0)
        return false;
    memset (o->after + 2 * words * n, 0, 2 * words * sizeof (*o->after));
    for (size_t k = n; k-- > 0;) {
        uint64_t *block = o->after + 2 * words * k;
        memcpy (block, block + 2 * words, 2 * words * sizeof (*block));
        u.any = block;
        u.whole = block + words;
        for (size_t i = k * o->block; i < MIN ((k + 1) * o->block, o->nrunning); i++)
            add_reach (&u, o->running[i]);
    }
    if (u.failed)
        return false;
    o->runs = p->runs;
    o->placed = p->placed;
    return true;
}

/* Makes blocks for the second window requested while the running jobs are unchanged. */
static bool has_blocks (struct planner *p, const struct window *w, size_t words)
{
    struct window_nodes *o = &p->window_nodes;
    bool again = o->asked == p->runs;

    o->asked = p->runs;
    if (p->ids.n <= FEW || p->any_upper)
        return false;
    if ((o->runs != p->runs || o->placed != p->placed)
        && (!again || !make_blocks (p, words)))
        return false;
    return o->latest < w->end; /* else not all bookings that end after w->at overlap it */
}

static size_t first_behind (const struct window_nodes *o, int64_t at)
{
    size_t low = 0, high = o->nrunning;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->running[middle]->end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void unite_by_blocks (struct uniting *u, const struct window *w, size_t words)
{
    struct window_nodes *o = &u->p->window_nodes;
    size_t i = first_behind (o, w->at), k = (i + o->block - 1) / o->block;
    const uint64_t *block = o->after + 2 * words * k;
    struct booking *b;

    memcpy (o->any, block, words * sizeof (*o->any));
    memcpy (o->whole, block + words, words * sizeof (*o->whole));
    for (; i < MIN (k * o->block, o->nrunning); i++)
        add_reach (u, o->running[i]);
    DL_FOREACH (u->p->reserved, b) {
        if (b->start < w->end && b->end > w->at)
            add_reach (u, b);
    }
}

static void unite_all (struct uniting *u, const struct window *w, size_t words)
{
    struct window_nodes *o = &u->p->window_nodes;

    memset (o->any, 0, words * sizeof (*o->any));
    memset (o->whole, 0, words * sizeof (*o->whole));
    for (struct booking *b = u->p->by_job; b; b = b->hh.next)
        if (b->start < w->end && b->end > w->at)
            add_reach (u, b);
}

int window_nodes_find (struct planner *p, struct window *w)
{
    struct window_nodes *o = &p->window_nodes;
    size_t words = words_of (p);
    int rc = 0;

    if (p->nested || !levels_upper (p, p->g->root) || (rc = make_room (p)) < 0
        || words == 0)
        return rc;
    note_up (p);
    struct uniting u = { .p = p, .any = o->any, .whole = o->whole };
    if (has_blocks (p, w, words))
        unite_by_blocks (&u, w, words);
    else
        unite_all (&u, w, words);
    if (u.failed)
        return -ENOMEM;
    w->touched = o->any;
    w->taken = o->whole;
    w->up = o->up;
    return 0;
}

/* -- is there enough for a request? -- */

static int64_t count_free (const struct planner *p, const uint64_t *bits)
{
    int64_t n = 0;

    for (size_t i = 0; i < words_of (p); i++)
        n += __builtin_popcountll (p->window_nodes.up[i] & ~bits[i]);
    return n;
}

static bool is_type (const struct planner *p, const struct shape_vertex *v, uint16_t type)
{
    return v->kind == SHAPE_RESOURCE && !strcmp (v->type, graph_type_name (p->g, type));
}

/* Returns the least number of different nodes that the siblings need. */
static int64_t nodes_of (const struct planner *p, const struct shape *s, uint16_t head)
{
    int64_t most = 0;

    for (uint16_t r = head; r != SHAPE_NONE; r = s->v[r].next) {
        int64_t below, n = shape_count_least (&s->v[r]);
        if (s->v[r].kind == SHAPE_OR_SLOT)
            continue;
        below = is_type (p, &s->v[r], GRAPH_NODE) ? 1 : nodes_of (p, s, s->v[r].first);
        if (below > 0 && !__builtin_mul_overflow (n, below, &n) && n > most)
            most = n;
    }
    return most;
}

/* Cores of one r, which is all in one node. */
static int64_t cores_of (const struct planner *p, const struct shape *s, uint16_t r)
{
    const struct shape_vertex *v = &s->v[r];
    int64_t sum = 0;

    if (is_type (p, v, GRAPH_CORE))
        return v->taken && !p->big[GRAPH_CORE];
    for (uint16_t c = v->first; c != SHAPE_NONE; c = s->v[c].next) {
        int64_t n = s->v[c].kind == SHAPE_OR_SLOT ? 0 : shape_count_least (&s->v[c]), all;
        if (__builtin_mul_overflow (n, cores_of (p, s, c), &all))
            return 0;
        sum += all;
    }
    return sum;
}

/* Returns the least cores that one of the siblings takes in its node: the minimum over
 * them. */
static int64_t cores_in_node (const struct planner *p, const struct shape *s,
                              uint16_t head)
{
    int64_t least = INT64_MAX;

    for (uint16_t r = head; r != SHAPE_NONE; r = s->v[r].next) {
        const struct shape_vertex *v = &s->v[r];
        bool slot = v->kind != SHAPE_RESOURCE && nodes_of (p, s, v->first) == 0;
        int64_t cores;
        if (v->kind == SHAPE_OR_SLOT)
            return 0;
        if (is_type (p, v, GRAPH_NODE) || slot || v->first == SHAPE_NONE)
            cores = cores_of (p, s, r);
        else /* its parts may be on several nodes; a whole may be taken for a part of
              * it */
            cores = v->taken && v->kind == SHAPE_RESOURCE
                        ? 0
                        : cores_in_node (p, s, v->first);
        least = cores < least ? cores : least;
    }
    return least == INT64_MAX ? 0 : least;
}

/* True if everything requested is in nodes that no other job may share. */
static bool only_whole (const struct planner *p, const struct shape *s, uint16_t head)
{
    for (uint16_t r = head; r != SHAPE_NONE; r = s->v[r].next) {
        const struct shape_vertex *v = &s->v[r];
        if (is_type (p, v, GRAPH_NODE)
                ? !v->taken && !p->policy.node_exclusive
                : v->first == SHAPE_NONE || !only_whole (p, s, v->first))
            return false;
    }
    return true;
}

/* True if a vertex that may be above nodes is taken as a whole, with nodes of any kind
 * below it. */
static bool takes_above (const struct planner *p, const struct shape *s, uint16_t head)
{
    for (uint16_t r = head; r != SHAPE_NONE; r = s->v[r].next) {
        const struct shape_vertex *v = &s->v[r];
        if (is_type (p, v, GRAPH_NODE) || v->first == SHAPE_NONE)
            continue;
        if ((v->taken && v->kind == SHAPE_RESOURCE) || takes_above (p, s, v->first))
            return true;
    }
    return false;
}

void node_need_of (struct planner *p, const struct shape *s, struct node_need *ret)
{
    int64_t need[INDEX_DIMS];

    *ret = (struct node_need){ .shape = s };
    if (s->other || p->nested)
        return;
    sums_need (p, s, need);
    if (!takes_above (p, s, s->top))
        ret->properties = properties_needed (p, s->constraint);
    ret->whole = need[0];
    ret->nodes = nodes_of (p, s, s->top);
    ret->cores = cores_in_node (p, s, s->top);
    ret->only_whole = need[0] > 0 && only_whole (p, s, s->top);
}

int64_t window_nodes_missing (const struct planner *p, const struct window *w,
                              const struct node_need *need)
{
    int64_t whole = 0, nodes = 0;

    if (!w->touched)
        return 0;
    if (need->whole > 0)
        whole = need->whole - count_free (p, w->touched);
    if (need->nodes > 0)
        nodes = need->nodes - count_free (p, w->taken);
    whole = whole > nodes ? whole : nodes;
    return whole > 0 ? whole : 0;
}
