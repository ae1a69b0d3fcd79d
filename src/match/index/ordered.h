/* ordered.h - things in the order of a number, each with its link inside
 *
 *     struct booking { ...; struct ordered_link by_end; };
 *     ordered_insert (&ends, &b->by_end, 3600);
 *     for (l = ordered_above (&ends, 0); l; l = ordered_above (&ends, l->key))
 *         ...                                           // each distinct key, once
 *     ordered_remove (&ends, &b->by_end);
 *
 * Several links may have the same key. All operations are O(log n) on average whatever
 * the keys; nothing is allocated and nothing fails. A zeroed struct ordered is empty.
 * Owns nothing. Source: Aragon, Seidel, Randomized search trees, 1989. sched/order.h is
 * the same tree with counts and least weights of subtrees, for keys of jobs; its links
 * are twice as large, and each change costs the update of these sums.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ordered_link {
    struct ordered_link *less, *more;
    uint64_t key;
    uint32_t rank; /* at least that of all links above, which keeps the tree shallow */
};

struct ordered {
    struct ordered_link *root;
    size_t n;
    uint32_t chance; /* state of the generator of ranks */
};

void ordered_insert (struct ordered *o, struct ordered_link *l, uint64_t key);
/* l must be in o. */
void ordered_remove (struct ordered *o, struct ordered_link *l);
/* Returns a link with the least key; NULL: empty. */
struct ordered_link *ordered_first (const struct ordered *o);
/* Returns a link with the least key > key; NULL: none. */
struct ordered_link *ordered_above (const struct ordered *o, uint64_t key);

/* Calls fn for the links with keys >= key in order, until it returns true. Returns true
 * if fn did. O(log n), and O(1) for each link on average. */
bool ordered_from (const struct ordered *o, uint64_t key,
                   bool (*fn) (struct ordered_link *l, void *arg), void *arg);
