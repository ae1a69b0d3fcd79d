/* The sum and its terms, and an order that stays while jobs age. Fails if a term does
 * not count as documented, if a held or expedited job is in the wrong place, or if jobs
 * change places although no age is capped. */
#include "common/test/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/test/build.h"
#include "sched/priority.h"

#define DAY 86400.0
#define EPOCH 1.7e9

static const struct priority_weights standard = PRIORITY_WEIGHTS_DEFAULT;

static int64_t sum_of (const struct priority_weights *w, struct priority_job job,
                       double now)
{
    struct priority p;
    priority_sum (w, &job, now, &p);
    assert_int_equal (p.sum,
                      p.urgency + p.queue + p.age + p.size + p.fair_share - job.setback);
    assert_in_range (p.sum, 0, UINT32_MAX);
    return p.sum;
}

static void test_terms (void **state)
{
    const struct priority_weights w = {
        .queue = 7, .age = 1000, .size = 500, .fair_share = 300, .age_max = 100
    };
    const struct priority_job job = {
        .urgency = 16, .queue = 3, .since = 1000, .size = 0.25, .fair_share = 0.5
    };
    struct priority p;

    (void)state;
    priority_sum (&w, &job, 1040, &p);
    assert_int_equal (p.urgency, 160000000);
    assert_int_equal (p.queue, 21);
    assert_int_equal (p.age, 400);
    assert_int_equal (p.size, 125);
    assert_int_equal (p.fair_share, 150);
    assert_int_equal (p.sum, 160000696);
    assert_true (fabs (p.age_factor - 0.4) < 1e-12 && p.size_factor == 0.25);
    struct priority_job back = job; /* at the end of its queue */
    back.setback = 300;
    assert_int_equal (sum_of (&w, back, 1040), 160000396);
    assert_int_equal (
        priority_rank (&w, &job, 1040, 0) - priority_rank (&w, &back, 1040, 0), 300);
    struct priority_job nice =
        job; /* lowered by its user, or raised by an operator */
    nice.nice = 100;
    priority_sum (&w, &nice, 1040, &p);
    assert_int_equal (p.sum, 160000596);
    nice.nice = -100;
    priority_sum (&w, &nice, 1040, &p);
    assert_int_equal (p.sum, 160000796);
    nice.nice = 2147483645; /* no sum exceeds the range of RFC 21 */
    priority_sum (&w, &nice, 1040, &p);
    assert_int_equal (p.sum, 0);
    nice.nice = -2147483645;
    nice.urgency = 31;
    priority_sum (&w, &nice, 1040, &p);
    assert_int_equal (p.sum, UINT32_MAX);
    priority_sum (&w, &job, 5000, &p);
    assert_int_equal (p.age, 1000);
    priority_sum (&w, &job, 900, &p); /* the clock was set back */
    assert_int_equal (p.age, 0);
}

static void test_small_first (void **state)
{
    struct priority_weights w = standard;
    struct priority_job small = { .urgency = 16, .size = 0.1 }, large = small;

    (void)state;
    large.size = 0.9;
    assert_int_equal (sum_of (&w, small, 0), sum_of (&w, large, 0));
    w.size = 1000;
    assert_int_equal (sum_of (&w, large, 0) - sum_of (&w, small, 0), 800);
    w.size = -1000;
    assert_int_equal (sum_of (&w, small, 0) - sum_of (&w, large, 0), 800);
}

static void test_size (void **state)
{
    (void)state;
    assert_true (priority_size (4, 16, 2, 8) == 0.25);
    assert_true (priority_size (4, 16, 4, 8) == 0.375);
    assert_true (priority_size (0, 16, 2, 8) == 0.125);
    assert_true (priority_size (99, 16, 8, 8) == 1);
    assert_true (priority_size (4, 0, 1, 0) == 0);
}

/* For any weights: urgency 0 gives 0, and 31 comes before all others. */
static void test_held_and_expedited (void **state)
{
    const struct priority_weights w = { .queue = PRIORITY_WEIGHT_MAX,
                                        .age = PRIORITY_WEIGHT_MAX,
                                        .size = PRIORITY_WEIGHT_MAX,
                                        .fair_share = PRIORITY_WEIGHT_MAX,
                                        .age_max = 1 };
    struct priority_job all = {
        .urgency = 30, .queue = PRIORITY_QUEUE_MAX, .size = 1, .fair_share = 1
    };

    (void)state;
    assert_true (sum_of (&w, (struct priority_job){ .urgency = 31 }, 0)
                 > sum_of (&w, all, 1e9));
    all.urgency = 31;
    assert_in_range (sum_of (&w, all, 1e9), 1, UINT32_MAX);
    all.urgency = 0;
    assert_int_equal (sum_of (&w, all, 1e9), 0);
}

/* A fixed priority is the sum whatever the terms are, and does not grow: a job that ages
 * passes the job at the moment when its sum does. A held job has none. */
static void test_fixed (void **state)
{
    const struct priority_weights w = { .age = 1000, .age_max = 1000 };
    struct priority_job fixed = { .urgency = 16,
                                  .queue = 9,
                                  .nice = 5,
                                  .fair_share = 1,
                                  .setback = 3,
                                  .since = EPOCH,
                                  .fixed = 160000500 };
    const struct priority_job ages = { .urgency = 16, .since = EPOCH };

    (void)state;
    for (double now = EPOCH; now < EPOCH + 1000; now += 99) {
        struct priority p, q;
        priority_sum (&w, &fixed, now, &p);
        priority_sum (&w, &ages, now, &q);
        assert_int_equal (p.sum, 160000500);
        assert_int_equal (p.urgency + p.queue + p.age + p.fair_share, 0);
        assert_int_equal (p.sum > q.sum, priority_rank (&w, &fixed, now, EPOCH)
                                             > priority_rank (&w, &ages, now, EPOCH));
    }
    fixed.urgency = 0;
    fixed.since = 0;
    struct priority none;
    priority_sum (&w, &fixed, EPOCH, &none);
    assert_int_equal (none.sum, 0);
}

/* One point of urgency outweighs a queue, and one point of a queue outweighs
 * fair share and age. */
static void test_default_order (void **state)
{
    const struct priority_job poor = { .urgency = 16, .since = 8 * DAY };
    struct priority_job rich = { .urgency = 16, .size = 1, .fair_share = 1 };
    struct priority_job queue = poor, urgent = poor;

    (void)state;
    queue.queue = 1;
    urgent.urgency = 17;
    assert_true (sum_of (&standard, queue, 8 * DAY) > sum_of (&standard, rich, 8 * DAY));
    rich.queue = PRIORITY_QUEUE_MAX;
    assert_true (sum_of (&standard, urgent, 8 * DAY) > sum_of (&standard, rich, 8 * DAY));
}

static struct priority_job random_job (uint64_t *random)
{
    return (struct priority_job){
        .urgency = 15 + (int)(build_random (random) % 3),
        .queue = (int)(build_random (random) % 3),
        .since = EPOCH + (double)(build_random (random) % (10 * 86400)),
        .size = (double)(build_random (random) % 1000) / 1000,
        .fair_share = (double)(build_random (random) % 1000) / 1000,
    };
}

static struct priority_weights random_weights (uint64_t *random)
{
    return (struct priority_weights){
        .queue = (int64_t)(build_random (random) % 2000),
        .age = (int64_t)(build_random (random) % 5000),
        .size = (int64_t)(build_random (random) % 4000) - 2000,
        .fair_share = (int64_t)(build_random (random) % 4000),
        .age_max = 1 + (double)(build_random (random) % (7 * 86400)),
    };
}

/* At any time the ranks order jobs like the sums. */
static void test_rank_is_sum (void **state)
{
    uint64_t random = 11;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct priority_weights w = random_weights (&random);
        struct priority_job a = random_job (&random), b = random_job (&random);
        double now = EPOCH + 10 * DAY + (double)(build_random (&random) % 864000);
        double epoch = EPOCH + (double)(build_random (&random) % (20 * 86400));
        int64_t by_rank =
            priority_rank (&w, &a, now, epoch) - priority_rank (&w, &b, now, epoch);
        int64_t by_sum = sum_of (&w, a, now) - sum_of (&w, b, now);
        assert_in_range (by_rank - by_sum + 3, 1, 5);
    }
}

/* A rank stays exactly until age_max, and then sinks. */
static void test_rank_stays (void **state)
{
    uint64_t random = 12;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct priority_weights w = random_weights (&random);
        struct priority_job job = random_job (&random);
        int64_t rank = priority_rank (&w, &job, job.since, EPOCH);
        double later = job.since + w.age_max * 0.999;
        assert_int_equal (priority_rank (&w, &job, later, EPOCH), rank);
        assert_in_range (priority_rank (&w, &job, job.since + 3 * w.age_max, EPOCH)
                             + w.age * 2 - rank + 1,
                         0, 2);
    }
}

static void test_rank_held (void **state)
{
    struct priority_job job = { .urgency = 0, .queue = 3, .since = EPOCH };

    (void)state;
    assert_true (priority_rank (&standard, &job, EPOCH + 5, EPOCH) == INT64_MIN);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_terms),       cmocka_unit_test (test_small_first),
        cmocka_unit_test (test_size),        cmocka_unit_test (test_held_and_expedited),
        cmocka_unit_test (test_fixed),       cmocka_unit_test (test_default_order),
        cmocka_unit_test (test_rank_is_sum), cmocka_unit_test (test_rank_stays),
        cmocka_unit_test (test_rank_held),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
