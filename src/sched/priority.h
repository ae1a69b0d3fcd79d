/* priority.h - a job's priority: a sum of terms, each a weight times a factor
 *
 *     struct priority_weights w = PRIORITY_WEIGHTS_DEFAULT;
 *     struct priority_job job = { .urgency = 16, .queue = 100, .since = submitted,
 *                                 .size = priority_size (4, 64, 1, 8), .fair_share = 0.7 };
 *     struct priority p;
 *     priority_sum (&w, &job, now, &p);                  // p.sum, and what it is made of
 *     entry.priority = priority_rank (&w, &job, now, epoch);         // what to order by
 *
 *     sum = 10^7 . urgency                        0..31; 31 gets 2 . 10^9 more
 *         + queue . points of the job's queue     0..1000
 *         + age . min (1, waited / age_max)
 *         + size . size of the job                or -size . (1 - size of the job)
 *         + fair_share . 2^(-usage / share)       see usage.h
 *         - setback                               of who was put at the end of its queue
 *         - nice                                  by its user's will (--nice)
 *
 * The form is that of Slurm's multifactor plugin (its documentation: "Multifactor
 * Priority Plugin"): factors are from 0 to 1, weights are whole numbers, each product is
 * rounded. Urgency is RFC 30's: 0 holds (no priority at all), 16 is the default, 31
 * expedites: before all others, whatever they have. All sums fit RFC 21: 0 to 2^32 - 1.
 *
 * With the default weights one urgency outweighs all queues, one point of a queue
 * outweighs age and fair share, fair share outweighs age: without usage the order is
 * urgency, queue, age.
 *
 * Age grows with time for every waiting job, and who sorted by the sum would sort all
 * jobs again all the time. But until age_max it grows by the same for all. So the order
 * goes by the rank: the sum less what a job gains from the epoch (any moment, the same
 * for all) until now. While a job's age is below age_max its rank does not change; from
 * then on it sinks against the others, at most `age` in the time of age_max. Whoever
 * keeps an order computes ranks again at an interval, and moves only what has changed.
 * Order by rank is order by sum, but for roundings (2 points).
 *
 * No memory, no clock; all functions are O(1).
 */
#ifndef FLUXQ_SCHED_PRIORITY_H
#define FLUXQ_SCHED_PRIORITY_H

#include <stdint.h>

#define PRIORITY_URGENCY_WEIGHT INT64_C (10000000)
#define PRIORITY_EXPEDITED INT64_C (2000000000) /* what urgency 31 gets beside */
#define PRIORITY_QUEUE_MAX 1000                 /* points of a queue */
#define PRIORITY_WEIGHT_MAX 1000000

/* Each weight: 0..PRIORITY_WEIGHT_MAX; size also down to the negative of that. */
struct priority_weights {
    int64_t queue; /* for each point of the queue */
    int64_t age, size, fair_share;
    double age_max; /* seconds, >= 1: from then on a job does not age any more */
};

#define PRIORITY_WEIGHTS_DEFAULT                                                         \
    {                                                                                    \
        .queue = 5000, .age = 1000, .size = 0, .fair_share = 3000,                       \
        .age_max = 7 * 86400.0                                                           \
    }

struct priority_job {
    int urgency;       /* 0..31 */
    int queue;         /* points of its queue, 0..PRIORITY_QUEUE_MAX */
    double since;      /* unix time from which it may start and its age counts */
    double size;       /* 0..1, see priority_size() */
    double fair_share; /* 0..1, see usage.h */
    int64_t setback;   /* points taken off, >= 0 */
    int64_t nice;      /* points taken off, or given when < 0 */
};

/* A sum, its terms (in points), and the factors that are not in struct priority_job. */
struct priority {
    int64_t sum; /* 0..2^32-1 */
    int64_t urgency, queue, age, size, fair_share;
    double age_factor, size_factor; /* 0..1 */
};

/* The part of the machine that a job asks for, the mean of its parts of the cores and of
 * the nodes, as in Slurm; 0..1, 0 while the machine is not known. */
double priority_size (int64_t cores, int64_t all_cores, int64_t nodes, int64_t all_nodes);
/* The sum at a time. A job with urgency 0 has no points at all. */
void priority_sum (const struct priority_weights *w, const struct priority_job *job,
                   double now, struct priority *ret);
/* What jobs are ordered by, larger first; may be negative, INT64_MIN for a held one.
 * epoch: unix seconds. */
int64_t priority_rank (const struct priority_weights *w, const struct priority_job *job,
                       double now, double epoch);

#endif
