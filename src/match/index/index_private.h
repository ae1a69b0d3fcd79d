/* index_private.h - memory layout of an index
 *
 * The places are level 0. Eight neighbours form a block, and number i of level l + 1
 * stands for block i of level l. A block has one line of eight values, a cache line, for
 * each component: free, then ever by dimension, late, measure. So a query reads only the
 * lines of the amounts that it asks for, and is answered for eight neighbours at once.
 *
 * A point holds the greatest value below it for every component; the soonest end is
 * stored as its complement ("late"). Missing values (vacant places, the ends of levels)
 * are such that nothing fits.
 */
#pragma once

#include "common/macros.h"
#include "match/index/index.h"

#define SHIFT 3
#define WIDTH (1u << SHIFT)
#define LAST (WIDTH - 1)
#define ALL ((1u << WIDTH) - 1)
#define LINE_BYTES (WIDTH * sizeof (int64_t))
#define LEVELS_MAX 11 /* 8^11 > UINT32_MAX */
#define LINES_MAX (2 * INDEX_DIMS + 2)

struct level {
    int64_t *blocks;
    uint8_t *dirty; /* by block: in the list */
    size_t n;       /* values in each line of the level: 8 per block, fewer in the last
                     * one */
};

__extension__ typedef __int128 wide;

struct index {
    unsigned dims, lines;
    unsigned nlevels;
    size_t places, room;
    size_t blocks;                      /* of all levels */
    struct level level[LEVELS_MAX + 1]; /* level[nlevels].n is 1, the root */
    int64_t root[LINES_MAX];
    wide sum[2 * INDEX_DIMS];
    void *memory; /* of all levels, and the list */
    size_t bytes;
    bool held;
    uint32_t changed; /* while held: a bit for each changed component */
    uint32_t *list;   /* while held: the changed blocks of level 0 */
    size_t nlist;
};

static inline unsigned lowest (unsigned bits)
{
    return (unsigned)__builtin_ctz (bits);
}

static inline unsigned late_of (const struct index *x)
{
    return 2 * x->dims;
}

static inline unsigned measure_of (const struct index *x)
{
    return 2 * x->dims + 1;
}

/* The eight values of a component in a block. */
static inline int64_t *line (const struct index *x, unsigned level, size_t block,
                             unsigned component)
{
    return x->level[level].blocks + (block * x->lines + component) * WIDTH;
}
