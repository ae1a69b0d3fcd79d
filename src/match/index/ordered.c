/* ordered.c - see ordered.h: a search tree by key that is a heap by rank
 *
 * Addresses decide the order of equal keys.
 */
#include "match/index/ordered.h"

static uint32_t next_rank (struct ordered *o)
{
    uint32_t x = o->chance ? o->chance : 2463534242u;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return o->chance = x;
}

static bool before (const struct ordered_link *a, const struct ordered_link *b)
{
    return a->key != b->key ? a->key < b->key : (uintptr_t)a < (uintptr_t)b;
}

void ordered_insert (struct ordered *o, struct ordered_link *l, uint64_t key)
{
    struct ordered_link **at = &o->root, **less = &l->less, **more = &l->more, *rest;

    l->key = key;
    l->rank = next_rank (o);
    while (*at && (*at)->rank > l->rank)
        at = before (l, *at) ? &(*at)->less : &(*at)->more;
    rest = *at;
    *at = l;
    while (rest) { /* split the old subtree in two at l */
        if (before (rest, l)) {
            *less = rest;
            less = &rest->more;
            rest = *less;
        } else {
            *more = rest;
            more = &rest->less;
            rest = *more;
        }
    }
    *less = *more = NULL;
    o->n++;
}

void ordered_remove (struct ordered *o, struct ordered_link *l)
{
    struct ordered_link **at = &o->root, *less = l->less, *more = l->more;

    while (*at != l)
        at = before (l, *at) ? &(*at)->less : &(*at)->more;
    while (less && more) {
        if (less->rank > more->rank) {
            *at = less;
            at = &less->more;
            less = *at;
        } else {
            *at = more;
            at = &more->less;
            more = *at;
        }
    }
    *at = less ? less : more;
    l->less = l->more = NULL;
    o->n--;
}

struct ordered_link *ordered_first (const struct ordered *o)
{
    struct ordered_link *l = o->root;

    while (l && l->less)
        l = l->less;
    return l;
}

struct ordered_link *ordered_above (const struct ordered *o, uint64_t key)
{
    struct ordered_link *l = o->root, *best = NULL;

    while (l) {
        if (l->key > key) {
            best = l;
            l = l->less;
        } else {
            l = l->more;
        }
    }
    return best;
}

static bool each_from (struct ordered_link *l, uint64_t key,
                       bool (*fn) (struct ordered_link *l, void *arg), void *arg)
{
    for (; l; l = l->more)
        if (l->key >= key && (each_from (l->less, key, fn, arg) || fn (l, arg)))
            return true;
    return false;
}

bool ordered_from (const struct ordered *o, uint64_t key,
                   bool (*fn) (struct ordered_link *l, void *arg), void *arg)
{
    return each_from (o->root, key, fn, arg);
}
