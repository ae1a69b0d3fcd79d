/* index.h - the nodes below a vertex, in the policy's order, and what each could give
 *
 *     struct index *x = index_create (3);             // dimensions: whole, core, gpu
 *     index_reserve (x, 16);
 *     index_set (x, 7, &key);                         // place 7, as the node there is now
 *     struct index_need need = { .dim = { 0, 8, 1 }, .now = true };
 *     struct index_walk w;
 *     index_walk_start (&w, x, &need);
 *     while ((place = index_walk_next (&w)) >= 0) ... // has 8 cores and a gpu free
 *
 * A complete tree over the places, eight children a point, without pointers: each inner
 * point holds by component the most that any node below it has free now, and the most any
 * will ever have, and the earliest end of a booking there; sums are kept for the whole.
 * The root tells at once what no node has; a walk leaves out what a point rules out, so
 * the next node that may fit is found in O(log n) when one amount decides. For a time
 * ahead, a point where nothing ends until then is judged by what is free now, any other by
 * what there will ever be. It errs only to the good side: what fits is never left out,
 * what is found has still to be looked at.
 * Source: tournament tree of first fit, Johnson, Near-optimal bin packing algorithms,
 * 1973.
 *
 * Walks go by place, 0 first; or, with `by_measure`, by key.measure, greatest first and
 * among equals by place. Setting is O(log n); between index_hold() and index_settle() it
 * is O(1) and each inner point is made anew once: there, only index_get() and the sums may
 * be asked. No walk may go on over a change.
 */
#ifndef FLUXQ_MATCH_INDEX_H
#define FLUXQ_MATCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_DIMS 12 /* at most; dimension 0: whole nodes (1: nothing is booked there) */

struct index_key {
    int64_t free[INDEX_DIMS]; /* now; all -1: takes nothing (down, vacant) */
    int64_t ever[INDEX_DIMS]; /* when nothing is booked; -1 likewise. Raised to free */
    int64_t soonest; /* >= 0, earliest end of what is booked there, INT64_MAX: nothing */
    int64_t measure; /* see by_measure; INT64_MIN: leave out of such walks */
};

struct index_need {
    int64_t dim[INDEX_DIMS]; /* at least; 0: any, but not -1 */
    int64_t at;              /* the time asked for */
    bool now;                /* it is now: only what is free now counts */
    bool ever;               /* only what there will ever be counts */
    bool by_measure;
};

struct index;

/* dims: 1 .. INDEX_DIMS. NULL: no memory. */
struct index *index_create (unsigned dims);
void index_destroy (struct index *x);
int index_reserve (struct index *x,
                   size_t places); /* 0 or -ENOMEM; new ones are vacant */
/* The same of an index without any, about n of them at a time: *done is 0 at first, and -EAGAIN
 * that there is more; until then nothing else may be done with it. */
int index_reserve_some (struct index *x, size_t places, size_t *done, size_t n);
size_t index_places (const struct index *x);
/* place < index_places(), here and below. */
void index_set (struct index *x, size_t place, const struct index_key *key);
/* The same where key->ever is as it was: it is not looked at. */
void index_set_free (struct index *x, size_t place, const struct index_key *key);
void index_get (const struct index *x, size_t place, struct index_key *ret);
void index_hold (struct index *x);
void index_settle (struct index *x);
/* Over all places: greatest of one node, and sum (at most INT64_MAX). 0 for an empty
 * index; places that are -1 add nothing. */
int64_t index_most_free (const struct index *x, unsigned dim);
int64_t index_most_ever (const struct index *x, unsigned dim);
int64_t index_sum_free (const struct index *x, unsigned dim);
int64_t index_sum_ever (const struct index *x, unsigned dim);
/* First place >= from that may fit; -1. */
ptrdiff_t index_next (const struct index *x, size_t from, const struct index_need *need);
/* Last place <= from. */
ptrdiff_t index_prev (const struct index *x, size_t from, const struct index_need *need);

struct index_asked { /* inside of a walk: the dimensions of the need that are asked for */
    const struct index_need *need; /* borrowed */
    uint8_t n, dim[INDEX_DIMS];
};
struct index_open {  /* inside of a walk by measure: eight children, some taken */
    int64_t measure; /* of the next one to take */
    uint32_t next;   /* its number in its level */
    uint8_t level;
    uint8_t rest; /* those after it, a bit each */
};

#define INDEX_WALK_OPEN 64
struct index_walk {
    const struct index *x;
    struct index_asked asked;
    size_t from;             /* by place: the eight where it is */
    unsigned here;           /* by place: which of them are still to come */
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

#endif
