/* index.c - see index.h; memory layout: index_private.h; searching: index_walk.c */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/index/index_private.h"

static int64_t vacant (const struct index *x, unsigned component)
{
    return component < 2 * x->dims ? -1 : INT64_MIN;
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

/* Lays out the levels for `room` places. -ENOMEM: unchanged. */
static int lay_out (struct index *x, size_t room)
{
    size_t n = room, blocks = 0, lines;

    for (x->nlevels = 0; n > 1 || x->nlevels == 0; n = blocks_for (n)) {
        x->level[x->nlevels++].n = n;
        blocks += blocks_for (n);
    }
    x->level[x->nlevels].n = 1;
    x->room = room;
    x->blocks = blocks;
    lines = blocks * x->lines;
    x->bytes =
        lines * LINE_BYTES + blocks_for (room) * sizeof (uint32_t) + blocks + LINE_BYTES;
    x->memory = malloc (x->bytes);
    if (!x->memory)
        return -ENOMEM;
    char *p = (char *)x->memory + LINE_BYTES - (uintptr_t)x->memory % LINE_BYTES;
    x->list = (void *)(p + lines * LINE_BYTES);
    uint8_t *dirty = (uint8_t *)(x->list + blocks_for (room));
    memset (dirty, 0, blocks);
    for (unsigned l = 0; l < x->nlevels; l++) {
        x->level[l].blocks = (void *)p;
        x->level[l].dirty = dirty;
        p += blocks_for (x->level[l].n) * x->lines * LINE_BYTES;
        dirty += blocks_for (x->level[l].n);
    }
    return 0;
}

/* Makes everything in all blocks of all levels vacant. */
static void vacate_all (struct index *x)
{
    for (size_t i = 0; i < x->blocks * x->lines; i++)
        for (unsigned k = 0; k < WIDTH; k++)
            x->level[0].blocks[i * WIDTH + k] = vacant (x, (unsigned)(i % x->lines));
}

/* Recomputes these components of the point above a block. Returns true if it changed. */
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
        vacate_all (&made);
        if (x->room)
            memcpy (made.level[0].blocks, x->level[0].blocks,
                    (x->room >> SHIFT) * x->lines * LINE_BYTES);
        free (x->memory);
        made.nlist = made.changed = 0;
        if (x->room)
            remake_all (&made);
        *x = made;
    }
    x->places = MAX (places, x->places);
    return 0;
}

size_t index_memory (const struct index *x)
{
    return sizeof (*x) + x->bytes;
}

/* -- setting -- */

/* A component changed from `was` to `now` at the place: updates the points above, up to
 * the first that stays the same. */
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

/* Stores a value; returns the bit of the component if it changed. */
static inline uint32_t put (int64_t *v, unsigned component, int64_t now, int64_t *was)
{
    was[component] = v[component * WIDTH];
    v[component * WIDTH] = now;
    return (uint32_t)(was[component] != now) << component;
}

/* Updates sums and points for the components that changed. */
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

void index_vacate (struct index *x, size_t place)
{
    struct index_key none = { .soonest = INT64_MAX, .measure = INT64_MIN };

    memset (none.free, 0xff, sizeof (none.free)); /* -1 */
    memset (none.ever, 0xff, sizeof (none.ever));
    index_set (x, place, &none);
}

void index_move (struct index *x, size_t from, size_t to)
{
    struct index_key key;

    index_get (x, from, &key);
    index_set (x, to, &key);
    index_vacate (x, from);
}

void index_hold (struct index *x)
{
    x->held = true;
}

void index_settle (struct index *x)
{
    /* The list of one level becomes that of the next: a block has one block above it. */
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

/* -- totals over all places -- */

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
