/* The heap compared with a sorted list. Fails if an end comes before an earlier one, or
 * if two ends of the same time have another order in each run. */
#include "common/test/unit.h"

#include <stdlib.h>

#include "match/test/build.h"
#include "tools/sim/events.h"

#define N 500

static void test_empty (void **state)
{
    struct events q = { 0 };
    double when;

    (void)state;
    assert_false (events_first (&q, &when));
    events_release (&q);
}

static void test_equal_times_by_id (void **state)
{
    struct events q = { 0 };
    double when = 0;

    (void)state;
    for (uint64_t id = 5; id >= 1; id--)
        assert_int_equal (events_add (&q, 7, id), 0);
    assert_int_equal (events_add (&q, 6.5, 9), 0);
    assert_true (events_first (&q, &when) && when == 6.5);
    assert_int_equal (events_take (&q), 9);
    for (uint64_t id = 1; id <= 5; id++)
        assert_int_equal (events_take (&q), id);
    assert_false (events_first (&q, &when));
    events_release (&q);
}

/* Items are added and removed in turns: each removed item is the smallest in the heap. */
static void test_random (void **state)
{
    struct events q = { 0 };
    double times[N + 1] = { 0 }, when = 0;
    bool in[N + 1] = { false };
    uint64_t random = build_seed ("test_events"), added = 0, taken = 0;

    (void)state;
    while (taken < N) {
        if (added < N && (added == taken || build_random (&random) % 3)) {
            added++;
            times[added] = (double)(build_random (&random) % 50);
            in[added] = true;
            assert_int_equal (events_add (&q, times[added], added), 0);
            continue;
        }
        uint64_t least = 0;
        for (uint64_t id = 1; id <= added; id++)
            if (in[id] && (!least || times[id] < times[least]))
                least = id;
        assert_true (events_first (&q, &when));
        assert_true (when == times[least]);
        assert_int_equal (events_take (&q), least);
        in[least] = false;
        taken++;
    }
    assert_false (events_first (&q, &when));
    events_release (&q);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_empty),
        cmocka_unit_test (test_equal_times_by_id),
        cmocka_unit_test (test_random),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
