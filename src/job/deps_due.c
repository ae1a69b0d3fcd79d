/* deps_due.c - see deps_due.h. The item in list[0] has place 1.
 */
#include "job/deps_due.h"

#include "common/macros.h"

static void put (struct due_heap *h, struct due *d, size_t place)
{
    h->list[place - 1] = d;
    d->place = place;
}

static void sift_up (struct due_heap *h, struct due *d)
{
    size_t place = d->place;

    for (; place > 1 && h->list[place / 2 - 1]->at > d->at; place /= 2)
        put (h, h->list[place / 2 - 1], place);
    put (h, d, place);
}

static void sift_down (struct due_heap *h, struct due *d)
{
    size_t place = d->place, child;

    for (; (child = 2 * place) <= h->n; place = child) {
        if (child < h->n && h->list[child]->at < h->list[child - 1]->at)
            child++;
        if (h->list[child - 1]->at >= d->at)
            break;
        put (h, h->list[child - 1], place);
    }
    put (h, d, place);
}

int due_set (struct due_heap *h, struct due *d, double at)
{
    if (!d->place) {
        if (array_reserve (&h->list, &h->alloc, h->n + 1, sizeof (struct due *)) < 0)
            return -ENOMEM;
        put (h, d, ++h->n);
    }
    d->at = at;
    sift_up (h, d);
    sift_down (h, d);
    return 0;
}

void due_remove (struct due_heap *h, struct due *d)
{
    if (!d->place)
        return;
    struct due *last = h->list[--h->n];
    if (last != d) {
        put (h, last, d->place);
        sift_up (h, last);
        sift_down (h, last);
    }
    d->place = 0;
}

struct due *due_first (const struct due_heap *h)
{
    return h->n ? h->list[0] : NULL;
}

void due_release (struct due_heap *h)
{
    free (h->list);
    *h = (struct due_heap){ 0 };
}
