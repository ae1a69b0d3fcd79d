/* deps_due.h - what is due when: a heap of times, for delays and deadlines
 *
 *     struct due_heap h = { 0 };
 *     due_set (&h, &job->deadline, 1795000000);  // puts it in, or moves it
 *     while ((d = due_first (&h)) && d->at <= now)
 *         due_remove (&h, d);
 *     due_release (&h);
 *
 * The items are the caller's, part of what is due (CONTAINER_OF). A binary heap: put in,
 * move and remove O(log n), first O(1).
 */
#ifndef FLUXQ_JOB_DEPS_DUE_H
#define FLUXQ_JOB_DEPS_DUE_H

#include <stddef.h>

/* All zero: in no heap. */
struct due {
    double at;    /* unix time */
    size_t place; /* in the heap, from 1; 0: in none */
};

/* All zero: empty. */
struct due_heap {
    struct due **list;
    size_t n, alloc;
};

/* -ENOMEM: it is in the heap as it was before. (Moving needs no memory.) */
int due_set (struct due_heap *h, struct due *d, double at);
/* Nothing when it is in no heap. */
void due_remove (struct due_heap *h, struct due *d);
/* The earliest, or NULL. */
struct due *due_first (const struct due_heap *h);
/* Frees the heap, not the items. */
void due_release (struct due_heap *h);

#endif
