/* licenses.c - see licenses.h
 */
#include "sched/licenses.h"

#include <errno.h>
#include <math.h>

#include "sched/sched_private.h"

/* -- the pool -- */

int license_pool_set (struct license_pool *pool, const struct gres_list *totals)
{
    struct gres_list copy;

    if (gres_copy (&copy, totals) < 0)
        return -ENOMEM;
    gres_release (&pool->total);
    pool->total = copy;
    pool->generation++;
    return 0;
}

int license_pool_take (struct license_pool *pool, const struct gres_list *list)
{
    return gres_add (&pool->used, list, 1);
}

void license_pool_give (struct license_pool *pool, const struct gres_list *list)
{
    gres_add (&pool->used, list, -1);
    pool->generation++;
}

int64_t license_pool_free (const struct license_pool *pool, const char *name)
{
    return gres_get (&pool->total, name) - gres_get (&pool->used, name);
}

void license_pool_release (struct license_pool *pool)
{
    gres_release (&pool->total);
    gres_release (&pool->used);
}

/* -- of a waiting job -- */

uint64_t licenses_key (const struct sched_entry *job)
{
    uint64_t key = 0;

    for (size_t i = 0; job->licenses && i < job->licenses->list.n; i++) {
        const struct gres *l = &job->licenses->list.v[i];
        for (const char *c = l->name; *c; c++)
            key = (key ^ (unsigned char)*c) * UINT64_C (0x100000001b3);
        key = (key ^ (uint64_t)l->count) * UINT64_C (0x9e3779b97f4a7c15);
    }
    return key;
}

/* Sums up what jobs of the plan ahead of the job need of the license before `end`. A job that needs more
 * than there are has no claim. */
static int64_t set_aside (const struct sched *s, const struct pending *p,
                          const char *name, double end)
{
    int64_t total = gres_get (&s->pool->total, name), sum = 0;

    for (size_t i = 0; i < s->checked; i++) {
        const struct pending *ahead = s->plan[i].p;
        if (ahead == p)
            break;
        if (!ahead || !ahead->job.licenses)
            continue;
        int64_t needs = gres_get (&ahead->job.licenses->list, name);
        if (needs <= total && (ahead->start > 0 ? ahead->start < end : ahead->lacks))
            sum += needs;
    }
    return sum;
}

enum lack licenses_lack (const struct sched *s, const struct pending *p,
                         struct error *why)
{
    const struct license_need *need = p->job.licenses;
    double end = p->job.duration > 0 ? s->now + p->job.duration : INFINITY;

    for (size_t i = 0; need && i < need->list.n; i++) {
        const struct gres *l = &need->list.v[i];
        int64_t unused = license_pool_free (need->pool, l->name);
        int64_t kept = unused < l->count ? 0 : set_aside (s, p, l->name, end);
        if (unused - kept >= l->count)
            continue;
        error_set (why, EBUSY, "needs %jd of license %s: %jd of %jd free%s",
                   (intmax_t)l->count, l->name, (intmax_t)MAX (unused, 0),
                   (intmax_t)gres_get (&need->pool->total, l->name),
                   kept > 0 ? ", and kept for jobs ahead" : "");
        return kept > 0 ? LACKS_FOR_LONG : LACKS;
    }
    return LACKS_NOTHING;
}
