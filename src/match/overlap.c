/* overlap.c - which nodes have something booked in a window of time ahead
 *
 *     overlap_make      for a window: nodes with anything booked, and nodes that are taken
 *                       whole
 *     overlap_missing   how many nodes a request lacks; if any, no walk need be tried
 *
 * For a time ahead the indexes know only what is free now. Each booking keeps the set of the
 * nodes that it has a part of, and of those that it takes as a whole, as bits by place of
 * the node in the root's index (a reach), made when first asked for. The union over the bookings that overlap a
 * window tells in a few words of memory which nodes a walk may leave out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/planner_private.h"

#define USELESS 6

struct useless {
    int64_t cores;  /* that are needed in one node; -1: whole nodes */
    int64_t length; /* of a window that begins at the end of the booking, or more */
};

struct reach {
    uint64_t made;       /* p->made when it was: places of nodes are of that time */
    uint64_t generation; /* p->generation for which `useless` holds */
    unsigned nuseless;   /* ever; the last USELESS of them are kept */
    struct useless useless[USELESS]; /* needs to which what it gives back is of no use */
    uint32_t first, words;           /* of the bits below */
    uint64_t bits[];                 /* words of any part, then as many of whole nodes */
};

/* -- the reach of a booking -- */

struct span {
    uint32_t least, most; /* places of nodes */
};

/* Of a node in the root's index. */
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
        const struct above *a;

        if (node != GRAPH_NONE)
            fn (arg, place_of (p, node), claim->exclusive && claim->v == node);
        else if (claim->exclusive && (a = levels_above (p, claim->v)))
            for (size_t i = 0; i < a->nnodes; i++)
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
}

void overlap_forget (struct booking *b)
{
    free (b->reach);
    b->reach = NULL;
}

static const struct reach *reach_of (struct planner *p, struct booking *b)
{
    struct span s = { UINT32_MAX, 0 };

    if (b->reach && b->reach->made == p->made)
        return b->reach;
    overlap_forget (b);
    each_node (p, b, widen, &s);
    uint32_t first = s.least == UINT32_MAX ? 0 : s.least / 64;
    uint32_t words = s.least == UINT32_MAX ? 0 : s.most / 64 - first + 1;
    struct reach *r = calloc (1, sizeof (*r) + 2 * (size_t)words * sizeof (r->bits[0]));
    if (!r)
        return NULL;
    r->made = p->made;
    r->generation = UINT64_MAX;
    r->first = first;
    r->words = words;
    each_node (p, b, set_bit, r);
    b->reach = r;
    return r;
}

/* -- the union -- */

void overlap_destroy (struct planner *p)
{
    free (p->overlap.any);
    p->overlap = (struct overlap){ 0 };
}

static int make_room (struct planner *p)
{
    struct overlap *o = &p->overlap;
    size_t words = (p->nnodes + 63) / 64;

    if (words <= o->room)
        return 0;
    overlap_destroy (p);
    o->any = calloc (3 * words, sizeof (*o->any));
    if (!o->any)
        return -ENOMEM;
    o->whole = o->any + words;
    o->up = o->whole + words;
    o->room = words;
    o->told = UINT64_MAX;
    return 0;
}

/* Which nodes are up changes with the layout only. */
static void note_up (struct planner *p)
{
    struct overlap *o = &p->overlap;

    if (o->told == p->told)
        return;
    memset (o->up, 0, (p->nnodes + 63) / 64 * sizeof (*o->up));
    for (size_t i = 0; i < p->nnodes; i++) {
        const struct level_node *node = &p->nodes[i];
        if (node->down)
            continue;
        uint32_t place = p->place[i * p->levels];
        o->up[place / 64] |= UINT64_C (1) << place % 64;
    }
    o->told = p->told;
}

int overlap_make (struct planner *p, struct window *w)
{
    struct overlap *o = &p->overlap;
    size_t words = (p->nnodes + 63) / 64;
    int rc = 0;

    if (p->nested || !levels_above (p, p->g->root) || (rc = make_room (p)) < 0
        || words == 0)
        return rc;
    note_up (p);
    memset (o->any, 0, words * sizeof (*o->any));
    memset (o->whole, 0, words * sizeof (*o->whole));
    for (struct booking *b = p->by_job; b; b = b->hh.next) {
        if (b->start >= w->end || b->end <= w->at)
            continue;
        const struct reach *r = reach_of (p, b);
        if (!r)
            return -ENOMEM;
        for (uint32_t i = 0; i < r->words; i++) {
            o->any[r->first + i] |= r->bits[i];
            o->whole[r->first + i] |= r->bits[r->words + i];
        }
    }
    w->touched = o->any;
    w->taken = o->whole;
    w->up = o->up;
    return 0;
}

/* -- what ends at a time -- */

struct release {
    struct planner *p;
    const struct window *w;
    const struct overlap_need *need;
    int64_t sum;
};

static int64_t free_cores (const struct release *r, uint32_t v)
{
    const struct graph_vertex *x = graph_vertex (r->p->g, v);
    int64_t sum = 0;

    if (x->first == GRAPH_NONE)
        return x->type == GRAPH_CORE ? claims_free_count (r->p, v, r->w) : 0;
    if (x->nclaims > 0 && claims_taken (r->p, v, r->w))
        return 0;
    GRAPH_CHILDREN (r->p->g, v, c)
    {
        sum += free_cores (r, c);
    }
    return sum;
}

/* When the first booking begins that has v, or (below) something in it, in the window;
 * INT64_MAX: none. One that begins by `soon` is as good as the first. */
static int64_t first_start (const struct release *r, uint32_t v, bool below, int64_t soon)
{
    int64_t first = INT64_MAX;

    CLAIMS (r->p, v, c)
    {
        const struct claim *claim = &r->p->claims[c];
        if ((below || claim->exclusive) && claims_counts (r->p, claim, r->w))
            first = MIN (first, claims_booking (r->p, claim)->start);
        if (first <= soon)
            return first;
    }
    if (!below)
        return first;
    GRAPH_CHILDREN (r->p->g, v, child)
    {
        int64_t start = first_start (r, child, below, soon);
        first = MIN (first, start);
        if (first <= soon)
            return first;
    }
    return first;
}

/* Something that the claim gives back is free, and enough in its node, all through windows
 * no longer than that; INT64_MAX: through this one. Where it is no more than `use`, that is
 * not told exactly. */
static int64_t use_of (const struct release *r, const struct claim *c, int64_t use)
{
    uint32_t node = levels_node_of (r->p, c->v);
    int64_t first;

    if (node == GRAPH_NONE)
        return INT64_MAX; /* what is not in one node is not looked at closely */
    first = first_start (r, node, r->need->only_whole, r->w->at + use);
    if (first != INT64_MAX)
        return MAX (first - r->w->at, 0);
    if (r->need->only_whole && graph_further_count (r->p->g) == 0)
        return INT64_MAX;
    if (r->need->only_whole
            ? claims_untouched (r->p, node, r->w)
            : (c->v == node || graph_vertex (r->p->g, c->v)->first != GRAPH_NONE
               || claims_free_count (r->p, c->v, r->w) > 0)
                  && (r->need->cores == 0 || free_cores (r, node) >= r->need->cores))
        return INT64_MAX;
    return r->w->end - r->w->at - 1;
}

/* -- what was of no use is not looked at again: until something else becomes free, what is
 * booked on it only becomes more -- */

static struct useless as_useless (const struct release *r)
{
    return (struct useless){ .cores = r->need->only_whole ? -1 : r->need->cores,
                             .length = r->w->end - r->w->at };
}

/* Of no use to a means of none to b. */
static bool covers (const struct useless *a, const struct useless *b)
{
    return (a->cores < 0) == (b->cores < 0) && a->cores <= b->cores
           && a->length <= b->length;
}

static bool is_known_useless (const struct release *r, const struct booking *b)
{
    const struct useless now = as_useless (r);
    const struct reach *reach = b->reach;

    if (!reach || reach->generation != r->p->generation || reach->made != r->p->made)
        return false;
    for (unsigned i = 0; i < reach->nuseless && i < USELESS; i++)
        if (covers (&reach->useless[i], &now))
            return true;
    return false;
}

static void note_useless (const struct release *r, const struct booking *b, int64_t use)
{
    const struct useless now = { .cores = as_useless (r).cores, .length = use + 1 };
    struct reach *reach = b->reach;
    unsigned i = 0;

    if (!reach || reach->made != r->p->made)
        return;
    if (reach->generation != r->p->generation)
        reach->nuseless = 0;
    reach->generation = r->p->generation;
    while (i < reach->nuseless && i < USELESS && !covers (&now, &reach->useless[i]))
        i++;
    if (i == reach->nuseless || i == USELESS)
        i = reach->nuseless++ % USELESS;
    reach->useless[i] = now;
}

static bool releases (struct ordered_link *l, void *arg)
{
    const struct release *r = arg;
    const struct booking *b =
        (const struct booking *)((const char *)l - offsetof (struct booking, by_end));

    int64_t use = 0;

    if (is_known_useless (r, b))
        return false;
    CLAIMS_OF_JOB (r->p, b, c)
    {
        use = MAX (use, use_of (r, &r->p->claims[c], use));
        if (use == INT64_MAX)
            return true;
    }
    note_useless (r, b, use);
    return false;
}

bool overlap_released (struct planner *p, const struct window *w,
                       const struct overlap_need *need)
{
    struct release r = { .p = p, .w = w, .need = need };
    return ordered_any (&p->ends, planner_order (w->at), releases, &r);
}

/* At least as many claims as nodes that b has something on. */
static bool add_claims (struct ordered_link *l, void *arg)
{
    struct release *r = arg;
    const struct booking *b =
        (const struct booking *)((const char *)l - offsetof (struct booking, by_end));

    r->sum += b->nclaims;
    if (r->p->any_above) /* one claim may be of many nodes */
        r->sum = INT64_MAX / 2;
    return false;
}

int64_t overlap_most_released (struct planner *p, int64_t at)
{
    struct release r = { .p = p };
    ordered_any (&p->ends, planner_order (at), add_claims, &r);
    return r.sum;
}

/* -- is there enough for a request? -- */

static int64_t count_free (const struct planner *p, const uint64_t *bits)
{
    int64_t n = 0;

    for (size_t i = 0; i < (p->nnodes + 63) / 64; i++)
        n += __builtin_popcountll (p->overlap.up[i] & ~bits[i]);
    return n;
}

static bool is_type (const struct planner *p, const struct shape_vertex *v, uint16_t type)
{
    return v->kind == SHAPE_RESOURCE && !strcmp (v->type, graph_type_name (p->g, type));
}

/* Different nodes that the siblings need at least, each one's own. */
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

/* Of one of r, all of it in one node. */
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

/* Cores that one of the siblings takes in its node at least: the least of them all. */
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
        else /* its parts may lie on several nodes; all of it may be taken for some of it */
            cores = v->taken && v->kind == SHAPE_RESOURCE
                        ? 0
                        : cores_in_node (p, s, v->first);
        least = cores < least ? cores : least;
    }
    return least == INT64_MAX ? 0 : least;
}

/* Whatever is asked for is in nodes that nobody else may have a part of. */
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

void overlap_needs (struct planner *p, const struct shape *s, struct overlap_need *ret)
{
    int64_t need[INDEX_DIMS];

    *ret = (struct overlap_need){ .shape = s };
    if (s->other || p->nested)
        return;
    sums_need (p, s, need);
    ret->whole = need[0];
    ret->nodes = nodes_of (p, s, s->top);
    ret->cores = cores_in_node (p, s, s->top);
    ret->only_whole = need[0] > 0 && only_whole (p, s, s->top);
}

int64_t overlap_missing (const struct planner *p, const struct window *w,
                         const struct overlap_need *need)
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
