/* licenses.h - licenses of the whole site: how many there are, and how many jobs hold
 *
 *     struct license_pool pool = { 0 };
 *     license_pool_set (&pool, &totals);                // {"matlab": 10}
 *     struct license_need need = { &pool, asked };      // of a waiting job, for sched.h
 *     license_pool_take (&pool, &asked);                // it has its resources
 *     license_pool_give (&pool, &asked);                // its resources are free again
 *
 * A job starts only when its licenses are free. While a job of the plan (sched.h) lacks
 * licenses, it has no known start; jobs behind it that need none of these licenses pass
 * it. Nobody behind it takes what it waits for: licenses of planned jobs are set aside,
 * for a job with a reservation from its start on. So a job that ends before that start
 * may use them meanwhile.
 */
#pragma once

#include "common/gres.h"

struct license_pool {
    struct gres_list total, used; /* used: may be more than total after a reload */
    uint64_t generation;          /* grows when licenses become free */
};

/* The licenses that a job needs. */
struct license_need {
    struct license_pool *pool; /* the site has one */
    struct gres_list list;
};

/* Sets the totals, a copy. 0, or -ENOMEM: nothing has changed. */
int license_pool_set (struct license_pool *pool, const struct gres_list *totals);
/* The job holds these from now on, whether they are free or not. -ENOMEM. */
int license_pool_take (struct license_pool *pool, const struct gres_list *list);
void license_pool_give (struct license_pool *pool, const struct gres_list *list);
/* May be negative. */
int64_t license_pool_free (const struct license_pool *pool, const char *name);
void license_pool_release (struct license_pool *pool);
