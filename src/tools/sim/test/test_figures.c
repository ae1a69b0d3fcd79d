/* The figures of a run and the series over time. Fails if a mean, a percentile or a
 * bound differs from its name, or if time is counted twice or lost. */
#include "common/test/unit.h"

#include <math.h>

#include "tools/sim/series.h"
#include "tools/sim/tally.h"

static bool near (double a, double b)
{
    return fabs (a - b) < 1e-9 * MAX (1, fabs (b));
}

static void test_tally (void **state)
{
    struct trace_job job = { .size = { .slots_max = 2, .cores = 2, .memory_mib = 100 } };
    struct cluster c = { .nodes = 1, .cores = 4, .memory_mib = 1000 };
    struct rset r = { 0 };
    struct tally t = { 0 };
    struct figures f;

    (void)state;
    /* Twenty jobs one after the other, all submitted at 0: the i-th waits 5 i seconds. */
    for (int i = 0; i < 20; i++) {
        const struct sim_start s = { .job = &job,
                                     .start = 5.0 * i,
                                     .end = 5.0 * (i + 1),
                                     .shortest = 5,
                                     .killed = i == 3,
                                     .slots = 2,
                                     .cores = 4,
                                     .r = &r };
        tally_start (&t, &s);
    }
    tally_figures (&t, &c, &f);
    assert_true (near (f.makespan, 100));
    assert_true (near (f.lower_bound, 100)); /* by the cores; by memory it would be 20 */
    assert_true (near (f.utilization, 1));
    assert_true (near (f.wait_mean, 47.5));
    assert_true (near (f.wait_p95, 90)); /* 19 of 20 wait at most so long */
    assert_true (near (f.wait_max, 95));
    /* (5 i + 5) / 10, at least 1: 1, 1, 1.5, 2, ... 10 */
    assert_true (near (f.bounded_slowdown, 105.5 / 20));
    assert_int_equal (t.killed, 1);
    tally_release (&t);
}

static void test_tally_bounds (void **state)
{
    struct trace_job job = { .size = { .nodes_max = 1,
                                       .slots_max = 1,
                                       .cores = 1,
                                       .memory_mib = 600,
                                       .exclusive = 1 } };
    struct cluster c = { .nodes = 4, .cores = 40, .memory_mib = 4000 };
    struct rset r = { .nranks = 1 };
    struct sim_start s = {
        .job = &job, .end = 80, .shortest = 80, .slots = 1, .cores = 10
    };
    struct tally t = { 0 };
    struct figures f;

    (void)state;
    s.r = &r;
    for (int i = 0; i < 8; i++)
        tally_start (&t, &s);
    tally_figures (&t, &c, &f);
    assert_true (near (f.lower_bound, 160)); /* eight whole nodes of four */
    s.submit = s.start = 300;
    s.end = 380;
    tally_start (&t, &s);
    tally_figures (&t, &c, &f);
    assert_true (near (f.lower_bound, 380)); /* the latest submit + its run time */
    assert_true (near (f.wait_max, 0));
    tally_release (&t);
}

static void test_tally_nothing (void **state)
{
    struct cluster c = { .nodes = 4, .cores = 40 };
    struct tally t = { 0 };
    struct figures f;

    (void)state;
    tally_figures (&t, &c, &f);
    assert_true (f.makespan == 0 && f.utilization == 0 && f.wait_mean == 0);
    tally_release (&t);
}

static void test_series (void **state)
{
    static struct series s;
    double used = 0, queued = 0;

    (void)state;
    /* 1 core is used in each odd second, and the number of waiting jobs
     * equals the seconds. */
    for (int now = 0; now <= 10000; now++)
        series_set (&s, now, now % 2, now);
    series_end (&s, 10001);
    assert_true (s.n > SERIES_BUCKETS / 2 && s.n <= SERIES_BUCKETS);
    assert_true (s.queued_max == 10000);
    for (size_t i = 0; i < s.n; i++) {
        double width = MIN (s.width, 10001 - (double)i * s.width);
        assert_true (s.bucket[i].used >= 0 && s.bucket[i].used <= 1);
        used += s.bucket[i].used * width;
        queued += s.bucket[i].queued * width;
    }
    assert_true (near (used, 5000));
    assert_true (near (queued, 10000.0 * 10001 / 2));
}

static void test_series_short (void **state)
{
    static struct series s;

    (void)state;
    series_set (&s, 0, 3, 1);
    series_end (&s, 0.02);
    assert_int_equal (s.n, 2);
    assert_true (near (s.bucket[0].used, 3) && near (s.bucket[1].used, 3));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_tally),         cmocka_unit_test (test_tally_bounds),
        cmocka_unit_test (test_tally_nothing), cmocka_unit_test (test_series),
        cmocka_unit_test (test_series_short),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
