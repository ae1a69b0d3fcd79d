/* order.h - an ordered set of things with an order key, intrusive
 *
 *     struct order o = {0};
 *     order_add (&o, &job->link);              // after filling job->link.key, .weight
 *     struct order_link *first = order_first (&o);
 *     struct order_link *next = order_after (&o, &first->key, 3600);  // of a weight < 3600
 *     size_t before = order_rank (&o, &job->link.key);
 *     order_remove (&o, &job->link);
 *
 * Larger priority comes first; between equal priorities the smaller turn, then the
 * smaller id. The set is a treap (Aragon and Seidel, Randomized search trees, 1989) whose
 * heap keys are a mix of the id's bits: each operation takes O(log n) whatever the order
 * of additions, and allocates nothing. Each point knows the size of its subtree, so that
 * the rank of a key is O(log n) as well, and the least weight in its subtree, so that
 * order_after() is. order_first() is O(1).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct order_key {
    int64_t priority; /* larger first: in the queue, the rank by the policy */
    uint64_t id;      /* smaller first; unique in one set */
    uint64_t turn;    /* takes precedence over the id: smaller first */
};

struct order_link {
    struct order_link *left, *right;
    struct order_key key;
    double weight; /* any number but NaN; set by the caller */
    double least;  /* least weight in the subtree */
    uint32_t size; /* points in the subtree */
};

struct order {
    struct order_link *root;
    struct order_link *first;
};

int order_compare (const struct order_key *a,
                   const struct order_key *b); /* < 0: a is first */
void order_add (struct order *o,
                struct order_link *link); /* the key must not be in the set */
void order_remove (struct order *o, struct order_link *link); /* the link must be in the
                                                               * set */
struct order_link *order_first (const struct order *o);       /* NULL: empty */
/* Returns the first link behind key (NULL: the first of all) with a weight below the
 * bound; NULL: none. */
struct order_link *order_after (const struct order *o, const struct order_key *key,
                                double bound);
size_t order_rank (const struct order *o,
                   const struct order_key *key); /* number of links before key */
