/* events.c - see events.h */
#include "tools/sim/events.h"

#include "common/macros.h"

static bool before (const struct event_item *a, const struct event_item *b)
{
    return a->when != b->when ? a->when < b->when : a->id < b->id;
}

int events_add (struct events *q, double when, uint64_t id)
{
    const struct event_item item = { when, id };
    size_t i = q->n;

    if (array_reserve (&q->heap, &q->alloc, q->n + 1, sizeof (*q->heap)) < 0)
        return -ENOMEM;
    q->n++;
    for (; i > 0 && before (&item, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = item;
    return 0;
}

bool events_first (const struct events *q, double *when)
{
    if (q->n == 0)
        return false;
    *when = q->heap[0].when;
    return true;
}

uint64_t events_take (struct events *q)
{
    uint64_t id = q->heap[0].id;
    const struct event_item item = q->heap[--q->n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < q->n) {
        child += child + 1 < q->n && before (&q->heap[child + 1], &q->heap[child]);
        if (!before (&q->heap[child], &item))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = item;
    return id;
}

void events_release (struct events *q)
{
    free (q->heap);
    *q = (struct events){ 0 };
}
