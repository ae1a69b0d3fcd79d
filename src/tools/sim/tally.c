/* tally.c - see tally.h */
#include "tools/sim/tally.h"

#include <math.h>

enum { CORES, GPUS, MEMORY, NODES };

static void add_wait (struct tally *t, double wait)
{
    if (array_reserve (&t->waits, &t->alloc, t->n + 1, sizeof (*t->waits)) < 0) {
        t->no_memory = true;
        return;
    }
    t->waits[t->n++] = wait;
}

void tally_start (struct tally *t, const struct sim_start *s)
{
    const struct job_size *size = &s->job->size;
    double run = s->end - s->start, wait = MAX (s->start - s->submit, 0);
    double held = (double)s->cores * run;
    /* For a malleable job, whose number of nodes has changed: seconds at its last
     * number. */
    double as_now = s->core_seconds > 0 && held > 0 ? run * s->core_seconds / held : run;

    add_wait (t, wait);
    t->last_end = MAX (t->last_end, s->end);
    t->latest = MAX (t->latest, s->submit + s->shortest);
    t->slowdowns += MAX ((wait + run) / MAX (run, TALLY_SHORT), 1);
    t->core_seconds += (double)s->cores * as_now;
    t->work[CORES] += (double)s->slots * size->cores * as_now;
    t->work[GPUS] += (double)s->slots * size->gpus * as_now;
    t->work[MEMORY] += (double)s->slots * size->memory_mib * as_now;
    t->work[NODES] += size->exclusive ? (double)s->r->nranks * as_now : 0;
    t->smaller += s->smaller;
    t->killed += s->killed;
}

static int compare (const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* The least value that a part p of all values does not exceed; values are sorted, n >
 * 0. */
static double percentile (const double *values, size_t n, double p)
{
    size_t rank = (size_t)ceil (p * (double)n);
    return values[MIN (MAX (rank, 1), n) - 1];
}

static double longest_work (const struct tally *t, const struct cluster *c)
{
    const double capacity[] = { [CORES] = (double)c->cores,
                                [GPUS] = (double)c->gpus,
                                [MEMORY] = (double)c->memory_mib,
                                [NODES] = (double)c->nodes };
    double longest = 0;

    for (size_t i = 0; i < ARRAY_SIZE (capacity); i++)
        if (t->work[i] > 0)
            longest = MAX (longest, t->work[i] / capacity[i]);
    return longest;
}

void tally_figures (struct tally *t, const struct cluster *c, struct figures *ret)
{
    double sum = 0;

    *ret = (struct figures){ .makespan = t->last_end,
                             .lower_bound = MAX (longest_work (t, c), t->latest) };
    if (t->last_end > 0)
        ret->utilization = t->core_seconds / ((double)c->cores * t->last_end);
    if (t->n == 0)
        return;
    qsort (t->waits, t->n, sizeof (*t->waits), compare);
    for (size_t i = 0; i < t->n; i++)
        sum += t->waits[i];
    ret->wait_mean = sum / (double)t->n;
    ret->wait_p95 = percentile (t->waits, t->n, 0.95);
    ret->wait_max = t->waits[t->n - 1];
    ret->bounded_slowdown = t->slowdowns / (double)t->n;
}

void tally_release (struct tally *t)
{
    free (t->waits);
    *t = (struct tally){ 0 };
}
