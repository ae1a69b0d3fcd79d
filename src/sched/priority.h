/* priority.h - a job's priority: a sum of terms, each a weight times a factor
 *
 *     struct priority_weights w = PRIORITY_WEIGHTS_DEFAULT;
 *     struct priority_job job = { .urgency = 16, .queue = 100, .since = submitted,
 *                                 .size = priority_size (4, 64, 1, 8), .fair_share = 0.7 };
 *     struct priority p;
 *     priority_sum (&w, &job, now, &p);                  // p.sum, and its terms
 *     entry.priority = priority_rank (&w, &job, now, epoch);         // key for the order
 *
 *     sum = 10^7 . urgency                        0..31; 31 gets 2 . 10^9 more
 *         + queue . points of the job's queue     0..1000
 *         + age . min (1, waited / age_max)
 *         + size . size of the job                or -size . (1 - size of the job)
 *         + fair_share . 2^(-usage / share)       see usage.h
 *         - setback                               of a job moved to the end of its queue
 *         - nice                                  set by the user (--nice)
 *     or a fixed number, set by the user or an operator (--priority)
 *
 * The form is that of Slurm's multifactor plugin (its documentation: "Multifactor
 * Priority Plugin"): factors are from 0 to 1, weights are whole numbers, each product is
 * rounded. Urgency is that of RFC 30: 0 holds (no priority at all), 16 is the default, 31
 * expedites: before all other jobs, whatever their terms. All sums fit RFC 21: 0 to 2^32
 * - 1.
 *
 * With the default weights, one point of urgency outweighs all queues, one point of a
 * queue outweighs age and fair share, and fair share outweighs age. Without usage the
 * order is urgency, queue, age.
 *
 * The age term of every waiting job grows with time, so an order by the sum would have to
 * be sorted again all the time. But until age_max all age terms grow equally. So the
 * order goes by the rank: the sum less the gain of a job from the epoch (any moment, the
 * same for all jobs) until now. While a job's age is below age_max its rank does not
 * change; from then on it sinks relative to other jobs, by at most `age` in the time of
 * age_max. The owner of an order computes the ranks again at an interval, and moves only
 * the jobs with a changed rank. The order by rank equals the order by sum, except for
 * rounding (2 points).
 *
 * No memory, no clock; all functions are O(1).
 */
#pragma once

#include <stdint.h>

#define PRIORITY_URGENCY_WEIGHT INT64_C (10000000)
#define PRIORITY_URGENCY_DEFAULT 16
#define PRIORITY_EXPEDITED INT64_C (2000000000) /* additional points of urgency 31 */
#define PRIORITY_MAX INT64_C (4294967295)       /* of all sums */
#define PRIORITY_QUEUE_MAX 1000                 /* points of a queue */
#define PRIORITY_WEIGHT_MAX 1000000

/* Each weight: 0..PRIORITY_WEIGHT_MAX; size also down to the negative of that. */
struct priority_weights {
    int64_t queue; /* for each point of the queue */
    int64_t age, size, fair_share;
    double age_max; /* seconds, >= 1: the age at which a job stops ageing */
};

#define PRIORITY_WEIGHTS_DEFAULT                                                         \
    {                                                                                    \
        .queue = 5000, .age = 1000, .size = 0, .fair_share = 3000,                       \
        .age_max = 7 * 86400.0                                                           \
    }

struct priority_job {
    int urgency;       /* 0..31 */
    int queue;         /* points of the job's queue, 0..PRIORITY_QUEUE_MAX */
    double since;      /* unix time from which the job may start and its age counts */
    double size;       /* 0..1, see priority_size() */
    double fair_share; /* 0..1, see usage.h */
    int64_t setback;   /* points subtracted, >= 0 */
    int64_t nice;      /* points subtracted, or added when < 0 */
    int64_t fixed;     /* > 0: the sum, and there are no terms */
};

/* A sum, its terms (in points), and the factors that are not in struct priority_job. */
struct priority {
    int64_t sum; /* 0..2^32-1 */
    int64_t urgency, queue, age, size, fair_share;
    double age_factor, size_factor; /* 0..1 */
};

/* Returns the part of the machine that a job asks for: the mean of its parts of the cores
 * and of the nodes, as in Slurm; 0..1, 0 while the size of the machine is not known. */
double priority_size (int64_t cores, int64_t all_cores, int64_t nodes, int64_t all_nodes);
/* Computes the sum at time now. A job with urgency 0 has no points at all, a job with a fixed
 * priority no terms. */
void priority_sum (const struct priority_weights *w, const struct priority_job *job,
                   double now, struct priority *ret);
/* Returns the key of a job in the order, larger first; may be negative, INT64_MIN for a
 * held job. epoch: unix seconds. */
int64_t priority_rank (const struct priority_weights *w, const struct priority_job *job,
                       double now, double epoch);
