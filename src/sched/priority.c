/* priority.c - the terms of a job's priority, and the rank, which stays constant while
 * all jobs age; see priority.h */
#include "sched/priority.h"

#include <math.h>

#include "common/macros.h"

#define RANK_MAX 1e18 /* the rest of int64_t is larger than any sum */

static double fraction (int64_t part, int64_t whole)
{
    return part > 0 && whole > 0 ? MIN (1.0, (double)part / (double)whole) : 0;
}

double priority_size (int64_t cores, int64_t all_cores, int64_t nodes, int64_t all_nodes)
{
    return (fraction (cores, all_cores) + fraction (nodes, all_nodes)) / 2;
}

static int64_t points (int64_t weight, double factor)
{
    return llround ((double)weight * factor);
}

void priority_sum (const struct priority_weights *w, const struct priority_job *job,
                   double now, struct priority *ret)
{
    double age = (now - job->since) / w->age_max;
    *ret = (struct priority){
        .age_factor = MAX (0.0, MIN (1.0, age)),
        .size_factor = w->size < 0 ? 1 - job->size : job->size,
    };
    if (job->urgency <= 0)
        return;
    if (job->fixed > 0) {
        *ret = (struct priority){ .sum = MIN (job->fixed, PRIORITY_MAX) };
        return;
    }
    ret->urgency = PRIORITY_URGENCY_WEIGHT * job->urgency
                   + (job->urgency >= 31 ? PRIORITY_EXPEDITED : 0);
    ret->queue = w->queue * job->queue;
    ret->age = points (w->age, ret->age_factor);
    ret->size = points (llabs (w->size), ret->size_factor);
    ret->fair_share = points (w->fair_share, job->fair_share);
    ret->sum = ret->urgency + ret->queue + ret->age + ret->size + ret->fair_share;
    ret->sum = MAX (ret->sum - job->setback - job->nice, 0);
    ret->sum = MIN (ret->sum, PRIORITY_MAX);
}

/* Returns the gain until the epoch of a job whose age counts from `since`. */
static int64_t gained (const struct priority_weights *w, double since, double epoch)
{
    double gain = (double)w->age * (epoch - since) / w->age_max;
    return llround (MAX (-RANK_MAX, MIN (RANK_MAX, gain)));
}

int64_t priority_rank (const struct priority_weights *w, const struct priority_job *job,
                       double now, double epoch)
{
    struct priority p;

    priority_sum (w, job, now, &p);
    if (job->urgency <= 0)
        return INT64_MIN; /* not in the order */
    /* A fixed sum does not grow, as if the job were always new. */
    double since = job->fixed > 0 ? now : MAX (job->since, now - w->age_max);
    return p.sum - p.age + gained (w, since, epoch);
}
