/* deps_due.h - a heap of times, for delays and deadlines
 *
 *     struct due_heap h = { 0 };
 *     due_set (&h, &job->deadline, 1795000000);  // puts it in, or moves it
 *     while ((d = due_first (&h)) && d->at <= now)
 *         due_remove (&h, d);
 *     due_release (&h);
 *
 * The caller owns the items, which are members of its own structures (CONTAINER_OF). A
 * binary heap: insert, move and remove take O(log n), first takes O(1).
 */
#pragma once

#include <stddef.h>

/* All zero: in no heap. */
struct due {
    double at;    /* unix time */
    size_t place; /* index in the heap, from 1; 0: in no heap */
};

/* All zero: empty. */
struct due_heap {
    struct due **list;
    size_t n, alloc;
};

/* Insert d, or move it. -ENOMEM: nothing has changed. (Moving needs no memory.) */
int due_set (struct due_heap *h, struct due *d, double at);
/* Does nothing when d is in no heap. */
void due_remove (struct due_heap *h, struct due *d);
/* The earliest, or NULL. */
struct due *due_first (const struct due_heap *h);
/* Frees the heap, not the items. */
void due_release (struct due_heap *h);
