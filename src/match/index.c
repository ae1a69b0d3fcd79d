/* index.c - see index.h. How it lies in memory:
 *
 * The places are level 0; eight neighbours are a block, and number i of level l + 1 stands
 * for block i of level l. A block has one line of eight values, a cache line, for each
 * component: free, then ever by dimension, late, measure. So one question reads only the
 * lines of the amounts that it asks for, and gets its answer for eight neighbours at once.
 *
 * Of every component a point holds the greatest below it: the soonest end is kept as its
 * complement ("late"). Values that are not there (vacant places, the ends of levels) are
 * such that nothing fits.
 */
#include "match/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/macros.h"

#define SHIFT 3
#define WIDTH (1u << SHIFT)
#define LAST (WIDTH - 1)
#define ALL ((1u << WIDTH) - 1)
#define LINE_BYTES (WIDTH * sizeof (int64_t))
#define LEVELS_MAX 11 /* 8^11 > UINT32_MAX */
#define LINES_MAX (2 * INDEX_DIMS + 2)

struct level {
    int64_t *blocks;
    uint8_t *dirty; /* by block: it is in the list */
    size_t n;       /* values in each line of the level: 8 a block, but in the last one */
};

__extension__ typedef __int128 wide;

struct index {
    unsigned dims, lines;
    unsigned nlevels;
    size_t places, room;
    struct level level[LEVELS_MAX + 1]; /* level[nlevels].n is 1, the root */
    int64_t root[LINES_MAX];
    wide sum[2 * INDEX_DIMS];
    void *memory; /* of all levels, and the list */
    size_t bytes;
    bool held;
    uint32_t changed; /* while held: a bit for each component that did */
    uint32_t *list;   /* while held: blocks of level 0 that did */
    size_t nlist;
};

/* -- components and lines -- */

static unsigned lowest (unsigned bits)
{
    return (unsigned)__builtin_ctz (bits);
}

static unsigned late_of (const struct index *x)
{
    return 2 * x->dims;
}

static unsigned measure_of (const struct index *x)
{
    return 2 * x->dims + 1;
}

static int64_t vacant (const struct index *x, unsigned component)
{
    return component < 2 * x->dims ? -1 : INT64_MIN;
}

static int64_t *line (const struct index *x, unsigned level, size_t block,
                      unsigned component)
{
    return x->level[level].blocks + (block * x->lines + component) * WIDTH;
}

static int64_t *value (struct index *x, unsigned level, size_t i, unsigned component)
{
    if (level == x->nlevels)
        return &x->root[component];
    return line (x, level, i >> SHIFT, component) + (i & LAST);
}

static int64_t greatest (const int64_t *v)
{
    int64_t a = MAX (v[0], v[1]), b = MAX (v[2], v[3]);
    int64_t c = MAX (v[4], v[5]), d = MAX (v[6], v[7]);
    a = MAX (a, b);
    c = MAX (c, d);
    return MAX (a, c);
}

/* -- making and growing -- */

struct index *index_create (unsigned dims)
{
    struct index *x = NULL;

    if (dims >= 1 && dims <= INDEX_DIMS)
        x = calloc (1, sizeof (*x));
    if (!x)
        return NULL;
    x->dims = dims;
    x->lines = 2 * dims + 2;
    for (unsigned c = 0; c < x->lines; c++)
        x->root[c] = vacant (x, c);
    return x;
}

void index_destroy (struct index *x)
{
    if (!x)
        return;
    free (x->memory);
    free (x);
}

static size_t blocks_for (size_t n)
{
    return (n + LAST) >> SHIFT;
}

/* Lay out the levels for `room` places, all vacant. -ENOMEM: as before. */
static int lay_out (struct index *x, size_t room)
{
    size_t n = room, blocks = 0, lines;
    char *p;

    for (x->nlevels = 0; n > 1 || x->nlevels == 0; n = blocks_for (n)) {
        x->level[x->nlevels++].n = n;
        blocks += blocks_for (n);
    }
    x->level[x->nlevels].n = 1;
    x->room = room;
    lines = blocks * x->lines;
    x->bytes =
        lines * LINE_BYTES + blocks_for (room) * sizeof (uint32_t) + blocks + LINE_BYTES;
    x->memory = malloc (x->bytes);
    if (!x->memory)
        return -ENOMEM;
    p = (char *)x->memory + LINE_BYTES - (uintptr_t)x->memory % LINE_BYTES;
    x->list = (void *)(p + lines * LINE_BYTES);
    uint8_t *dirty = (uint8_t *)(x->list + blocks_for (room));
    memset (dirty, 0, blocks);
    for (unsigned l = 0; l < x->nlevels; l++) {
        x->level[l].blocks = (void *)p;
        x->level[l].dirty = dirty;
        p += blocks_for (x->level[l].n) * x->lines * LINE_BYTES;
        dirty += blocks_for (x->level[l].n);
    }
    for (size_t i = 0; i < lines; i++)
        for (unsigned k = 0; k < WIDTH; k++)
            x->level[0].blocks[i * WIDTH + k] = vacant (x, (unsigned)(i % x->lines));
    return 0;
}

/* Make the point above a block anew, in these components. Did it change? */
static bool remake (struct index *x, unsigned level, size_t block, uint32_t components)
{
    bool differs = false;

    for (; components; components &= components - 1) {
        unsigned c = lowest (components);
        int64_t most = greatest (line (x, level, block, c));
        int64_t *above = value (x, level + 1, block, c);
        differs |= *above != most;
        *above = most;
    }
    return differs;
}

static void remake_all (struct index *x)
{
    for (unsigned level = 0; level < x->nlevels; level++)
        for (size_t i = 0; i < blocks_for (x->level[level].n); i++)
            remake (x, level, i, (1u << x->lines) - 1);
}

int index_reserve (struct index *x, size_t places)
{
    struct index made = *x;
    size_t room;

    if (places > UINT32_MAX / 2)
        return -ENOMEM;
    if (places > x->room) {
        room = MAX (places, x->room + x->room / 2);
        room = blocks_for (room) << SHIFT;
        if (lay_out (&made, room) < 0)
            return -ENOMEM;
        if (x->room)
            memcpy (made.level[0].blocks, x->level[0].blocks,
                    (x->room >> SHIFT) * x->lines * LINE_BYTES);
        free (x->memory);
        made.nlist = made.changed = 0;
        *x = made;
        remake_all (x);
    }
    x->places = MAX (places, x->places);
    return 0;
}

size_t index_places (const struct index *x)
{
    return x->places;
}

size_t index_memory (const struct index *x)
{
    return sizeof (*x) + x->bytes;
}

/* -- setting -- */

/* The value of a component at the place went from `was` to `now`: so do the points above,
 * up to the first that stays as it is. */
static void lift (struct index *x, unsigned component, size_t place, int64_t was,
                  int64_t now)
{
    size_t i = place;

    for (unsigned level = 0; level < x->nlevels; level++) {
        int64_t *above = value (x, level + 1, i >> SHIFT, component);
        int64_t most = *above;
        if (now <= most) {
            if (was < most || now == most)
                return;
            now = greatest (line (x, level, i >> SHIFT, component));
            if (now == most)
                return;
        }
        *above = now;
        was = most;
        i >>= SHIFT;
    }
}

static void mark (struct index *x, uint32_t changed, size_t place)
{
    size_t block = place >> SHIFT;

    x->changed |= changed;
    if (x->level[0].dirty[block])
        return;
    x->level[0].dirty[block] = 1;
    x->list[x->nlist++] = (uint32_t)block;
}

/* Store it; the component's bit when it changed. */
static inline uint32_t put (int64_t *v, unsigned component, int64_t now, int64_t *was)
{
    was[component] = v[component * WIDTH];
    v[component * WIDTH] = now;
    return (uint32_t)(was[component] != now) << component;
}

/* Components that changed from what they were. */
static void note (struct index *x, size_t place, const int64_t *v, const int64_t *was,
                  uint32_t changed)
{
    uint32_t todo = changed & ((1u << late_of (x)) - 1);

    for (; todo; todo &= todo - 1) {
        unsigned c = lowest (todo);
        x->sum[c] += MAX (v[c * WIDTH], 0) - MAX (was[c], 0);
    }
    if (x->held && changed)
        mark (x, changed, place);
    for (todo = x->held ? 0 : changed; todo; todo &= todo - 1)
        lift (x, lowest (todo), place, was[lowest (todo)], v[lowest (todo) * WIDTH]);
}

void index_set (struct index *x, size_t place, const struct index_key *key)
{
    int64_t *v = line (x, 0, place >> SHIFT, 0) + (place & LAST);
    int64_t was[LINES_MAX];
    uint32_t changed = 0;

    for (unsigned d = 0; d < x->dims; d++) {
        int64_t amount = MAX (key->free[d], -1);
        changed |= put (v, d, amount, was);
        changed |= put (v, x->dims + d, MAX (key->ever[d], amount), was);
    }
    changed |= put (v, late_of (x), ~MAX (key->soonest, 0), was);
    changed |= put (v, measure_of (x), key->measure, was);
    note (x, place, v, was, changed);
}

void index_set_free (struct index *x, size_t place, const struct index_key *key)
{
    int64_t *v = line (x, 0, place >> SHIFT, 0) + (place & LAST);
    int64_t was[LINES_MAX];
    uint32_t changed = 0;

    for (unsigned d = 0; d < x->dims; d++)
        changed |= put (v, d, MAX (key->free[d], -1), was);
    changed |= put (v, late_of (x), ~MAX (key->soonest, 0), was);
    changed |= put (v, measure_of (x), key->measure, was);
    note (x, place, v, was, changed);
}

void index_get (const struct index *x, size_t place, struct index_key *ret)
{
    const int64_t *v = line (x, 0, place >> SHIFT, 0) + (place & LAST);

    memset (ret, 0, sizeof (*ret));
    for (unsigned d = 0; d < x->dims; d++) {
        ret->free[d] = v[d * WIDTH];
        ret->ever[d] = v[(x->dims + d) * WIDTH];
    }
    ret->soonest = ~v[late_of (x) * WIDTH];
    ret->measure = v[measure_of (x) * WIDTH];
}

void index_hold (struct index *x)
{
    x->held = true;
}

void index_settle (struct index *x)
{
    /* The list of one level gives way to that of the next: a block has one above it. */
    for (unsigned level = 0; x->nlist; level++) {
        size_t n = 0;
        uint8_t *dirty = x->level[level + 1].dirty;
        for (size_t k = 0; k < x->nlist; k++) {
            uint32_t block = x->list[k], above = block >> SHIFT;
            x->level[level].dirty[block] = 0;
            if (!remake (x, level, block, x->changed) || level + 1 == x->nlevels
                || dirty[above])
                continue;
            dirty[above] = 1;
            x->list[n++] = above;
        }
        x->nlist = n;
    }
    x->held = false;
    x->changed = 0;
}

/* -- what all places together have -- */

int64_t index_most_free (const struct index *x, unsigned dim)
{
    return MAX (x->root[dim], 0);
}

int64_t index_most_ever (const struct index *x, unsigned dim)
{
    return MAX (x->root[x->dims + dim], 0);
}

static int64_t narrow (wide sum)
{
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

int64_t index_sum_free (const struct index *x, unsigned dim)
{
    return narrow (x->sum[dim]);
}

int64_t index_sum_ever (const struct index *x, unsigned dim)
{
    return narrow (x->sum[x->dims + dim]);
}

/* -- which of eight may fit -- */

/* When nothing is asked for, still what takes nothing is to be left out. */
static void ask (const struct index *x, const struct index_need *need,
                 struct index_asked *ret)
{
    ret->need = need;
    ret->n = 0;
    ret->dim[0] = 0;
    for (unsigned d = 0; d < x->dims; d++)
        if (need->dim[d] > 0)
            ret->dim[ret->n++] = (uint8_t)d;
    if (ret->n == 0)
        ret->n = 1;
}

static int64_t amount_of (const struct index_asked *a, unsigned k)
{
    return MAX (a->need->dim[a->dim[k]], 0);
}

/* A point with at least this value of "late" has a booking that ends until then. */
static int64_t late_enough (const struct index_asked *a)
{
    return ~MAX (a->need->at, -1);
}

typedef uint64_t two __attribute__ ((vector_size (16), may_alias));

struct eight { /* top bit of each: too little of something */
    two a, b, c, d;
};

/* Differences do not overflow: amounts are >= -1, needs >= 0, and see late_enough(). */
static inline void compare (struct eight *lacks, const int64_t *values, int64_t need)
{
    const two *v = (const void *)values;
    two n = { (uint64_t)need, (uint64_t)need };

    lacks->a |= v[0] - n;
    lacks->b |= v[1] - n;
    lacks->c |= v[2] - n;
    lacks->d |= v[3] - n;
}

static inline unsigned top_bits (two v)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_pd ((__m128d)v);
#else
    return (unsigned)(v[0] >> 63 | v[1] >> 63 << 1);
#endif
}

static inline unsigned bits_of (const struct eight *lacks)
{
    return ALL
           ^ (top_bits (lacks->a) | top_bits (lacks->b) << 2 | top_bits (lacks->c) << 4
              | top_bits (lacks->d) << 6);
}

static unsigned having (const int64_t *lines, const struct index_asked *a)
{
    struct eight lacks = { 0 };

    for (unsigned k = 0; k < a->n; k++)
        compare (&lacks, lines + a->dim[k] * WIDTH, amount_of (a, k));
    return bits_of (&lacks);
}

static unsigned late (const struct index *x, const int64_t *lines,
                      const struct index_asked *a)
{
    struct eight lacks = { 0 };

    compare (&lacks, lines + late_of (x) * WIDTH, late_enough (a));
    return bits_of (&lacks);
}

/* Those of the eight in a block that may fit, a bit each. */
static unsigned fitting (const struct index *x, unsigned level, size_t block,
                         const struct index_asked *a)
{
    const int64_t *free_lines = line (x, level, block, 0);
    const int64_t *ever_lines = free_lines + x->dims * WIDTH;
    unsigned fit;

    if (a->need->ever)
        return having (ever_lines, a);
    fit = having (free_lines, a);
    if (a->need->now || fit == ALL)
        return fit;
    return fit | (having (ever_lines, a) & late (x, free_lines, a));
}

static bool root_has (const int64_t *amounts, const struct index_asked *a)
{
    for (unsigned k = 0; k < a->n; k++)
        if (amounts[a->dim[k]] < amount_of (a, k))
            return false;
    return true;
}

static bool root_fits (const struct index *x, const struct index_asked *a)
{
    if (a->need->ever)
        return root_has (x->root + x->dims, a);
    if (root_has (x->root, a))
        return true;
    return !a->need->now && x->root[late_of (x)] >= late_enough (a)
           && root_has (x->root + x->dims, a);
}

/* -- by place -- */

static unsigned highest (unsigned bits)
{
    return 31 - (unsigned)__builtin_clz (bits);
}

/* The first eight places with one that may fit, at or after *i: which do. *i becomes the
 * first of them. 0: none. Down where something fits, else up and on. */
static unsigned seek (const struct index *x, const struct index_asked *a, size_t *i)
{
    size_t at = *i;
    unsigned level = 0;

    while (at < x->level[level].n) {
        unsigned fit = fitting (x, level, at >> SHIFT, a) & (ALL << (at & LAST));
        if (!fit) {
            at = (at >> SHIFT) + 1;
            level++;
            continue;
        }
        at &= ~(size_t)LAST;
        if (level == 0) {
            *i = at;
            return fit;
        }
        at = (at | lowest (fit)) << SHIFT;
        level--;
    }
    return 0;
}

ptrdiff_t index_next (const struct index *x, size_t from, const struct index_need *need)
{
    struct index_asked a;
    unsigned fit;

    ask (x, need, &a);
    if (!root_fits (x, &a))
        return -1;
    fit = seek (x, &a, &from);
    return fit ? (ptrdiff_t)(from + lowest (fit)) : -1;
}

ptrdiff_t index_prev (const struct index *x, size_t from, const struct index_need *need)
{
    struct index_asked a;
    size_t at = MIN (from, x->room - 1);
    unsigned level = 0;

    ask (x, need, &a);
    if (!root_fits (x, &a))
        return -1;
    for (;;) {
        unsigned fit =
            fitting (x, level, at >> SHIFT, &a) & (ALL >> (LAST - (at & LAST)));
        at >>= SHIFT;
        if (!fit) {
            if (at == 0)
                return -1;
            at--;
            level++;
            continue;
        }
        at = at << SHIFT | highest (fit);
        if (level == 0)
            return (ptrdiff_t)at;
        at = at << SHIFT | LAST;
        level--;
    }
}

static ptrdiff_t next_by_place (struct index_walk *w)
{
    unsigned fit = w->here;

    if (!fit)
        fit = seek (w->x, &w->asked, &w->from);
    if (!fit)
        return -1;
    ptrdiff_t place = (ptrdiff_t)(w->from + lowest (fit));
    w->here = fit & (fit - 1);
    if (!w->here)
        w->from += WIDTH;
    return place;
}

/* -- by measure: best first -- */

static uint64_t first_place (const struct index_open *o)
{
    return (uint64_t)o->next << (SHIFT * o->level);
}

static bool before (const struct index_open *a, const struct index_open *b)
{
    if (a->measure != b->measure)
        return a->measure > b->measure;
    return first_place (a) < first_place (b);
}

/* Let o stand for the best of its rest. false: there is none. */
static bool advance (const struct index *x, struct index_open *o)
{
    const int64_t *measure = line (x, o->level, o->next >> SHIFT, measure_of (x));
    unsigned best = 0;

    o->measure = INT64_MIN;
    for (unsigned rest = o->rest; rest; rest &= rest - 1)
        if (measure[lowest (rest)] > o->measure) {
            best = lowest (rest);
            o->measure = measure[best];
        }
    o->rest &= (uint8_t) ~(1u << best);
    o->next = (o->next & ~LAST) | best;
    return o->measure != INT64_MIN;
}

/* o takes the first place of the heap, or goes down to where it belongs. */
static void sink (struct index_walk *w, const struct index_open *o)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < w->nopen) {
        if (child + 1 < w->nopen && before (&w->open[child + 1], &w->open[child]))
            child++;
        if (!before (&w->open[child], o))
            break;
        w->open[i] = w->open[child];
        i = child;
    }
    w->open[i] = *o;
}

static bool grow (struct index_walk *w)
{
    struct index_open *p = w->open == w->fixed ? NULL : w->open;

    p = realloc (p, 2 * w->alloc * sizeof (*p));
    if (!p)
        return false;
    if (w->open == w->fixed)
        memcpy (p, w->fixed, sizeof (w->fixed));
    w->open = p;
    w->alloc *= 2;
    return true;
}

static void push (struct index_walk *w, const struct index_open *o)
{
    size_t i;

    if (w->nopen == w->alloc && !grow (w)) {
        w->failed = true;
        w->nopen = 0;
        return;
    }
    for (i = w->nopen++; i > 0 && before (o, &w->open[(i - 1) / 2]); i = (i - 1) / 2)
        w->open[i] = w->open[(i - 1) / 2];
    w->open[i] = *o;
}

/* A block to take from: what fits there, the best first. false: nothing does. */
static bool open_block (const struct index_walk *w, unsigned level, uint32_t block,
                        struct index_open *ret)
{
    ret->level = (uint8_t)level;
    ret->next = block << SHIFT;
    ret->rest = (uint8_t)fitting (w->x, level, block, &w->asked);
    return advance (w->x, ret);
}

/* The best of all; what is left of its block stays in the heap. */
static struct index_open pop (struct index_walk *w)
{
    const struct index_open best = w->open[0];
    struct index_open left = best;

    if (!advance (w->x, &left))
        left = w->open[--w->nopen];
    sink (w, &left);
    return best;
}

/* Down from the best, as long as what is below it is the best of all, too. */
static ptrdiff_t next_by_measure (struct index_walk *w)
{
    while (w->nopen) {
        struct index_open best = pop (w), o;
        while (best.level > 0 && open_block (w, best.level - 1u, best.next, &o)) {
            if (w->nopen && before (&w->open[0], &o)) {
                push (w, &o);
                break;
            }
            best = o;
            if (advance (w->x, &o))
                push (w, &o);
        }
        if (best.level == 0)
            return best.next;
    }
    return -1;
}

void index_walk_start (struct index_walk *w, const struct index *x,
                       const struct index_need *need)
{
    w->x = x;
    ask (x, need, &w->asked);
    w->here = 0;
    w->nopen = 0;
    w->alloc = INDEX_WALK_OPEN;
    w->open = w->fixed;
    w->failed = false;
    bool any = root_fits (x, &w->asked);
    w->from = any ? 0 : SIZE_MAX;
    if (any && need->by_measure && open_block (w, x->nlevels - 1, 0, w->open))
        w->nopen = 1;
}

ptrdiff_t index_walk_next (struct index_walk *w)
{
    return w->asked.need->by_measure ? next_by_measure (w) : next_by_place (w);
}

void index_walk_end (struct index_walk *w)
{
    if (w->open != w->fixed)
        free (w->open);
    w->open = w->fixed;
    w->nopen = 0;
    w->here = 0;
    w->from = SIZE_MAX;
}
