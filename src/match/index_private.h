/* index_private.h - how an index lies in memory
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
#ifndef FLUXQ_MATCH_INDEX_PRIVATE_H
#define FLUXQ_MATCH_INDEX_PRIVATE_H

#include "common/macros.h"
#include "match/index.h"

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
    size_t blocks;                      /* of all levels */
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

#endif
