/* series.c - see series.h */
#include "tools/sim/series.h"

#include <math.h>

#include "common/macros.h"

#define FIRST_WIDTH (1.0 / 64)

static void fold (struct series *s)
{
    for (size_t i = 0; i < SERIES_BUCKETS; i++) {
        struct series_bucket *b = &s->bucket[i], two = { 0, 0 };
        if (i < SERIES_BUCKETS / 2) {
            two.used = s->bucket[2 * i].used + s->bucket[2 * i + 1].used;
            two.queued = s->bucket[2 * i].queued + s->bucket[2 * i + 1].queued;
        }
        *b = two;
    }
    s->width *= 2;
}

/* The last values apply until now. */
static void fill (struct series *s, double now)
{
    if (s->width <= 0)
        s->width = FIRST_WIDTH;
    while (now > s->width * SERIES_BUCKETS)
        fold (s);
    for (size_t i = (size_t)(s->at / s->width); s->at < now && i < SERIES_BUCKETS; i++) {
        double until = MIN (now, (double)(i + 1) * s->width);
        s->bucket[i].used += s->used * (until - s->at);
        s->bucket[i].queued += s->queued * (until - s->at);
        s->at = until;
    }
}

void series_set (struct series *s, double now, double used, double queued)
{
    fill (s, now);
    s->used = used;
    s->queued = queued;
    s->queued_max = MAX (s->queued_max, queued);
}

void series_end (struct series *s, double now)
{
    fill (s, now);
    s->end = now;
    s->n = (size_t)ceil (now / s->width);
    for (size_t i = 0; i < s->n; i++) {
        double seconds = MIN (s->width, now - (double)i * s->width);
        s->bucket[i].used /= seconds;
        s->bucket[i].queued /= seconds;
    }
}
