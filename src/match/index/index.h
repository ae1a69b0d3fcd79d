/* index.h - the nodes below a vertex, in the policy's order, with what each could give
 *
 * This folder holds structures of numbers that know nothing of graphs and jobs: this
 * index, sums over time (profile.h) and ordered sets (ordered.h). The planner fills them;
 * the planner and the search ask them which nodes and times may fit.
 *
 *     struct index *x = index_create (3);             // dimensions: whole, core, gpu
 *     index_reserve (x, 16);
 *     index_set (x, 7, &key);                         // place 7, as the node there is now
 *     struct index_need need = { .dim = { 0, 8, 1 }, .now = true };
 *     struct index_walk w;
 *     index_walk_start (&w, x, &need);
 *     while ((place = index_walk_next (&w)) >= 0) ... // has 8 cores and a gpu free
 *
 * The index is a complete tree over the places, with eight children per point and without
 * pointers. Each inner point holds, by component, the most that any node below it has
 * free now, the most that any will ever have, and the earliest end of a booking there;
 * the whole index also has sums. The root tells at once what no node has. A walk skips
 * points that cannot fit, so the next node that may fit is found in O(log n) if one
 * amount decides. For a later time, a point where nothing ends until then is judged by
 * what is free now, any other point by what there will ever be. The index never excludes
 * a node that fits; the caller must still check each node found. Source: tournament tree
 * of first fit, Johnson, Near-optimal bin packing algorithms, 1973.
 *
 * Walks go by place, 0 first; or, with `by_measure`, by key.measure, greatest first and
 * between equals by place. Setting a key is O(log n). Between index_hold() and
 * index_settle() it is O(1), and each inner point is updated once at the end; in between,
 * only index_get() and the sums are valid. A walk must not continue after a change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_DIMS 12 /* maximum; dimension 0: whole nodes (1: nothing is booked there) */

struct index_key {
    int64_t free[INDEX_DIMS]; /* now; all -1: takes nothing (down, vacant) */
    int64_t ever[INDEX_DIMS]; /* when nothing is booked; -1 as above. Raised to free */
    int64_t soonest;          /* >= 0, earliest end of a booking there, INT64_MAX: none */
    int64_t measure;          /* see by_measure; INT64_MIN: not in such walks */
};

struct index_need {
    int64_t dim[INDEX_DIMS]; /* at least; 0: any, but not -1 */
    int64_t at;              /* the requested time */
    bool now;                /* the time is now: only what is free now counts */
    bool ever;               /* only what there will ever be counts */
    bool by_measure;
};

struct index;

/* dims: 1 .. INDEX_DIMS. NULL: no memory. */
struct index *index_create (unsigned dims);
void index_destroy (struct index *x);
int index_reserve (struct index *x,
                   size_t places); /* 0 or -ENOMEM; new places are vacant */
/* place: below the number of reserved places, here and below. */
void index_set (struct index *x, size_t place, const struct index_key *key);
/* As index_set(), for an unchanged key->ever, which is not read. */
void index_set_free (struct index *x, size_t place, const struct index_key *key);
void index_get (const struct index *x, size_t place, struct index_key *ret);
void index_vacate (struct index *x, size_t place); /* no walk finds the place any more */
/* Moves the key to another place, which is vacant, and vacates the first. */
void index_move (struct index *x, size_t from, size_t to);
void index_hold (struct index *x);
void index_settle (struct index *x);
/* Over all places: the greatest amount of one node, and the sum (at most INT64_MAX). 0
 * for an empty index; places with -1 add nothing. */
int64_t index_most_free (const struct index *x, unsigned dim);
int64_t index_most_ever (const struct index *x, unsigned dim);
int64_t index_sum_free (const struct index *x, unsigned dim);
int64_t index_sum_ever (const struct index *x, unsigned dim);
/* Returns the first place >= from that may fit; -1: none. */
ptrdiff_t index_next (const struct index *x, size_t from, const struct index_need *need);
/* Returns the last such place <= from. */
ptrdiff_t index_prev (const struct index *x, size_t from, const struct index_need *need);

struct index_asked { /* inside of a walk: the dimensions that the need asks for */
    const struct index_need *need; /* borrowed */
    uint8_t n, dim[INDEX_DIMS];
};
struct index_open {  /* inside of a walk by measure: eight children, some of them
                      * visited */
    int64_t measure; /* of the next child */
    uint32_t next;   /* number of that child in its level */
    uint8_t level;
    uint8_t rest; /* the children after it, a bit each */
};

#define INDEX_WALK_OPEN 64
struct index_walk {
    const struct index *x;
    struct index_asked asked;
    size_t from;             /* by place: the present group of eight */
    unsigned here;           /* by place: those of the eight still to come */
    size_t nopen, alloc;     /* by measure: a heap */
    struct index_open *open; /* fixed, or grown: owned */
    struct index_open fixed[INDEX_WALK_OPEN];
    bool failed; /* no memory: the walk ended early */
};
void index_walk_start (struct index_walk *w, const struct index *x,
                       const struct index_need *need);
ptrdiff_t index_walk_next (struct index_walk *w); /* place or -1 */
void index_walk_end (struct index_walk *w);

size_t index_memory (const struct index *x);
