/* measure.h - shared functions of single-process benchmarks: a clock, and
 * quantiles
 *
 *     double t = measure_us (CLOCK_MONOTONIC);   // CLOCK_THREAD_CPUTIME_ID: of the processor
 *     us[n++] = measure_us (CLOCK_MONOTONIC) - t;
 *     printf ("%.2f\n", measure_quantile (us, n, 0.99));   // sorts us
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <time.h>

static inline double measure_us (clockid_t clock)
{
    struct timespec t;

    clock_gettime (clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline int measure_compare (const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* q: 0 .. 1; NAN without values. */
static inline double measure_quantile (double *v, size_t n, double q)
{
    qsort (v, n, sizeof (*v), measure_compare);
    return n ? v[(size_t)((double)(n - 1) * q)] : NAN;
}
