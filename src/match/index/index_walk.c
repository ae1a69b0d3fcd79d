/* index_walk.c - which places may fit: by place, or by measure */
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "match/index/index_private.h"

/* -- which of eight may fit -- */

/* With no need at all, places that take nothing are still excluded. */
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

/* A point with at least this value of "late" has a booking that ends by then. */
static int64_t late_enough (const struct index_asked *a)
{
    return ~MAX (a->need->at, -1);
}

typedef uint64_t two __attribute__ ((vector_size (16), may_alias));

struct eight { /* top bit of each byte: too little of something */
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

/* The places of the block that may fit, a bit each. */
static unsigned fitting (const struct index *x, unsigned level, size_t block,
                         const struct index_asked *a)
{
    const int64_t *free_lines = line (x, level, block, 0);
    const int64_t *ever_lines = free_lines + x->dims * WIDTH;

    if (a->need->ever)
        return having (ever_lines, a);
    unsigned fit = having (free_lines, a);
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

/* Finds the first group of eight with a place that may fit, at or after *i, and returns
 * its places; *i becomes the first of the eight. 0: none. Goes down where something fits,
 * else up and on. */
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

    ask (x, need, &a);
    if (!root_fits (x, &a))
        return -1;
    unsigned fit = seek (x, &a, &from);
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

/* Moves o to the best of its rest. false: none left. */
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

/* Puts o at the top of the heap, and lets it sink to its position. */
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

/* Opens a block: the children that fit, the best first. false: none fits. */
static bool open_block (const struct index_walk *w, unsigned level, uint32_t block,
                        struct index_open *ret)
{
    ret->level = (uint8_t)level;
    ret->next = block << SHIFT;
    ret->rest = (uint8_t)fitting (w->x, level, block, &w->asked);
    return advance (w->x, ret);
}

/* Removes and returns the best of all; the rest of its block stays in the heap. */
static struct index_open pop (struct index_walk *w)
{
    const struct index_open best = w->open[0];
    struct index_open left = best;

    if (!advance (w->x, &left))
        left = w->open[--w->nopen];
    sink (w, &left);
    return best;
}

/* Goes down from the best point, as long as the best of all is below it. */
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
