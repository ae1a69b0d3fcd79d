/* trace_builtin.c - traces made from a seed
 *
 * gangs: the case that clogs a cluster without a queue: a thousand gangs of ten ranks,
 * all at once, ten times what fits.
 *
 * mixed, million: arrivals are a Poisson process (in mixed with a daily cycle) whose rate
 * gives the machine a load: the mean work of a job, which follows from the distributions,
 * over the work that the machine does in the mean time between two arrivals. The
 * logarithms of sizes are uniformly distributed, and so are those of run times
 * (Feitelson, Workload Modeling for Computer Systems Performance Evaluation, 2015,
 * chapters 3 and 5); time limits are round and up to three times too long, as people set
 * them.
 */
#include <math.h>

#include "tools/sim/trace.h"

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0

/* splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014) */
static uint64_t random_next (uint64_t *state)
{
    uint64_t x = (*state += UINT64_C (0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* From 0, inclusive, to 1, exclusive. */
static double random_unit (uint64_t *state)
{
    return (double)(random_next (state) >> 11) * 0x1p-53;
}

static double random_between (uint64_t *state, double a, double b)
{
    return a + (b - a) * random_unit (state);
}

static double random_gap (uint64_t *state, double mean)
{
    return -mean * log (1 - random_unit (state));
}

/* Whole seconds: real logs have no fractions, and equal times are a case of their own. */
static double random_log (uint64_t *state, double a, double b)
{
    return floor (a * exp (log (b / a) * random_unit (state)));
}

static double mean_log (double a, double b)
{
    return (b - a) / log (b / a);
}

/* The limit that people request for this run time. */
static double round_limit (uint64_t *state, double runtime)
{
    static const double limits[] = { 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
                                     4 * HOUR,   8 * HOUR,    12 * HOUR,   DAY };
    double wish = runtime * random_between (state, 1, 3);

    for (size_t i = 0; i < ARRAY_SIZE (limits); i++)
        if (limits[i] >= wish)
            return limits[i];
    return DAY;
}

/* -- gangs -- */

static void make_gang (uint64_t *random, struct trace_job *job)
{
    job->runtime = random_between (random, 90, 270);
    job->limit = 5 * MINUTE;
    job->size = (struct job_size){
        .slots_min = 10, .slots_max = 10, .cores = 2, .memory_mib = 2048
    };
}

/* -- million -- */

/* Nodes of its twenty shapes, which are equally frequent. */
static const uint16_t million_nodes[] = {
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024
};
#define MILLION_SMALL 4 /* nodes: up to this a job takes a part of each, otherwise the
                         * whole */
#define MILLION_CORES 32
#define MILLION_PART_CORES 8

/* Most jobs are short; most work is in long jobs. */
static const struct {
    double share, least, most;
} million_times[] = { { 0.60, 10, 10 * MINUTE },
                      { 0.30, 10 * MINUTE, 4 * HOUR },
                      { 0.10, 4 * HOUR, DAY } };

static double million_time (uint64_t *random)
{
    double u = random_unit (random);
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE (million_times) && u >= million_times[i].share)
        u -= million_times[i++].share;
    return random_log (random, million_times[i].least, million_times[i].most);
}

/* Seconds between two arrivals at which nine tenths of 100,000 nodes are in use. */
static double million_gap (void)
{
    double nodes = 0, seconds = 0;

    for (size_t i = 0; i < ARRAY_SIZE (million_nodes); i++)
        nodes += million_nodes[i]
                 * (million_nodes[i] <= MILLION_SMALL
                        ? (double)MILLION_PART_CORES / MILLION_CORES
                        : 1.0);
    nodes /= (double)ARRAY_SIZE (million_nodes);
    for (size_t i = 0; i < ARRAY_SIZE (million_times); i++)
        seconds += million_times[i].share
                   * mean_log (million_times[i].least, million_times[i].most);
    return nodes * seconds / (100000 * 0.9);
}

static void make_million (uint64_t *random, struct trace_job *job)
{
    uint32_t nodes = million_nodes[random_next (random) % ARRAY_SIZE (million_nodes)];
    bool small = nodes <= MILLION_SMALL;

    job->submit += random_gap (random, million_gap ());
    job->runtime = million_time (random);
    job->limit = round_limit (random, job->runtime);
    job->size = (struct job_size){ .nodes_min = nodes,
                                   .nodes_max = nodes,
                                   .slots_min = 1,
                                   .slots_max = 1,
                                   .cores = small ? MILLION_PART_CORES : MILLION_CORES,
                                   .gpus = !small && nodes % 16 == 0 ? 4 : 0,
                                   .memory_mib = small ? 32 << 10 : 192 << 10,
                                   .exclusive = !small };
}

/* -- mixed -- */

#define MIXED_CORES 32
#define MIXED_MACHINE 128 /* nodes */
#define MIXED_LOAD 1.2    /* so that there is a queue, and policies differ */

/* Widths that people choose: powers of two first; in cores, whole nodes from 32 on. */
static const struct {
    uint16_t cores, share;
} mixed_sizes[] = { { 1, 12 },   { 2, 4 },   { 4, 7 },   { 8, 8 },    { 16, 9 },
                    { 32, 14 },  { 64, 11 }, { 96, 3 },  { 128, 10 }, { 192, 2 },
                    { 256, 8 },  { 384, 1 }, { 512, 5 }, { 768, 1 },  { 1024, 3 },
                    { 1536, 1 }, { 2048, 1 } };
#define MIXED_SHARES 100
#define MIXED_LEAST 30
#define MIXED_MOST (10 * HOUR)

static double mixed_gap (void)
{
    double cores = 0;

    for (size_t i = 0; i < ARRAY_SIZE (mixed_sizes); i++)
        cores += (double)mixed_sizes[i].cores * mixed_sizes[i].share / MIXED_SHARES;
    return cores * mean_log (MIXED_LEAST, MIXED_MOST)
           / (MIXED_MACHINE * MIXED_CORES * MIXED_LOAD);
}

static uint32_t mixed_size (uint64_t *random)
{
    uint64_t u = random_next (random) % MIXED_SHARES;
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE (mixed_sizes) && u >= mixed_sizes[i].share)
        u -= mixed_sizes[i++].share;
    return mixed_sizes[i].cores;
}

static void make_mixed (uint64_t *random, struct trace_job *job)
{
    uint32_t cores = mixed_size (random), nodes = cores / MIXED_CORES;
    double daytime = 1 + 0.7 * sin (2 * M_PI * job->submit / DAY);

    job->submit = ceil (job->submit + random_gap (random, mixed_gap ()) / daytime);
    job->runtime = random_log (random, MIXED_LEAST, MIXED_MOST);
    job->limit = round_limit (random, job->runtime);
    job->size = (struct job_size){ .nodes_min = nodes,
                                   .nodes_max = nodes,
                                   .slots_min = nodes ? 1 : cores,
                                   .slots_max = nodes ? 1 : cores,
                                   .cores = nodes ? MIXED_CORES : 1,
                                   .memory_mib = nodes ? 96 << 10 : 3 << 10 };
}

const struct trace_builtin trace_builtins[] = {
    { "gangs", "1,000 jobs of 10 ranks, 2 cores and 2 GiB each, all at once",
      "100x10c/10Gi", 1000, make_gang },
    { "mixed", "3,000 jobs of 1 to 2,048 cores over five days", "128x32c/128Gi", 3000,
      make_mixed },
    { "million", "1,000,000 jobs of 1 to 1,024 nodes over four months",
      "100000x32c/4g/256Gi", 1000000, make_million },
    { .name = NULL },
};
