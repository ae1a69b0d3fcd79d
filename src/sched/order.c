/* order.c - a treap ordered by priority, with counts and least weights of subtrees */
#include <math.h>

#include "sched/order.h"

int order_compare (const struct order_key *a, const struct order_key *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Heap key of a point: splitmix64's mix of its id; the larger key is nearer to the
 * root. */
static uint64_t height (const struct order_link *link)
{
    uint64_t x = link->key.id + UINT64_C (0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint32_t size_of (const struct order_link *link)
{
    return link ? link->size : 0;
}

static double least_of (const struct order_link *link)
{
    return link ? link->least : INFINITY;
}

static void resize (struct order_link *link)
{
    link->size = 1 + size_of (link->left) + size_of (link->right);
    link->least =
        fmin (link->weight, fmin (least_of (link->left), least_of (link->right)));
}

/* Splits t into the points before key and the rest. */
static void split (struct order_link *t, const struct order_key *key,
                   struct order_link **before, struct order_link **after)
{
    if (!t) {
        *before = *after = NULL;
    } else if (order_compare (&t->key, key) < 0) {
        split (t->right, key, &t->right, after);
        *before = t;
        resize (t);
    } else {
        split (t->left, key, before, &t->left);
        *after = t;
        resize (t);
    }
}

static struct order_link *join (struct order_link *a, struct order_link *b)
{
    if (!a || !b)
        return a ? a : b;
    if (height (a) > height (b)) {
        a->right = join (a->right, b);
        resize (a);
        return a;
    }
    b->left = join (a, b->left);
    resize (b);
    return b;
}

static void first_update (struct order *o)
{
    o->first = o->root;
    while (o->first && o->first->left)
        o->first = o->first->left;
}

static struct order_link *add (struct order_link *t, struct order_link *link,
                               uint64_t own)
{
    if (!t || height (t) < own) {
        split (t, &link->key, &link->left, &link->right);
        resize (link);
        return link;
    }
    if (order_compare (&link->key, &t->key) < 0)
        t->left = add (t->left, link, own);
    else
        t->right = add (t->right, link, own);
    resize (t);
    return t;
}

void order_add (struct order *o, struct order_link *link)
{
    o->root = add (o->root, link, height (link));
    if (!o->first || order_compare (&link->key, &o->first->key) < 0)
        o->first = link;
}

static struct order_link *without (struct order_link *t, const struct order_link *link)
{
    if (t == link)
        return join (t->left, t->right);
    if (order_compare (&link->key, &t->key) < 0)
        t->left = without (t->left, link);
    else
        t->right = without (t->right, link);
    resize (t);
    return t;
}

void order_remove (struct order *o, struct order_link *link)
{
    o->root = without (o->root, link);
    link->left = link->right = NULL;
    if (o->first == link)
        first_update (o);
}

static struct order_link *next (struct order_link *t, const struct order_key *key,
                                double bound)
{
    while (t && t->least < bound) {
        if (key && order_compare (&t->key, key) <= 0) {
            t = t->right;
            continue;
        }
        struct order_link *found = next (t->left, key, bound);
        if (found)
            return found;
        if (t->weight < bound)
            return t;
        t = t->right;
        key = NULL; /* all points in it are behind key */
    }
    return NULL;
}

struct order_link *order_after (const struct order *o, const struct order_key *key,
                                double bound)
{
    return next (o->root, key, bound);
}

struct order_link *order_first (const struct order *o)
{
    return o->first;
}

size_t order_rank (const struct order *o, const struct order_key *key)
{
    size_t before = 0;
    const struct order_link *t = o->root;
    while (t) {
        if (order_compare (&t->key, key) < 0) {
            before += size_of (t->left) + 1;
            t = t->right;
        } else {
            t = t->left;
        }
    }
    return before;
}
