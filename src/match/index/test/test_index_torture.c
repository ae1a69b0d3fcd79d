/* test_index_torture.c - each allocation of the index and the profile fails in turn.
 * Fails on a crash, on a leak (ASan), or if half of a place or booking exists.
 *
 * Linked with --wrap for malloc and related functions, so that only allocations of src/
 * fail.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "common/test/torture.h"
#include "match/index/index_private.h"
#include "match/index/profile.h"

/* Lets the first, the second, ... allocation of the step fail, until the step needs
 * fewer. */
static void torture (void (*step) (void), long least)
{
    long n = 0;

    for (bool reached = true; reached; n++) {
        torture_countdown = n;
        step ();
        reached = torture_countdown < 0;
        torture_countdown = -1;
    }
    assert_true (n > least);
}

static struct index_key key_of (int64_t n)
{
    return (struct index_key){
        .free = { n }, .ever = { n }, .soonest = INT64_MAX, .measure = n % 97
    };
}

static void step_index_grows (void)
{
    const struct index_need need = { .dim = { 1 }, .now = true };
    struct index *x = index_create (1);
    int64_t places = 0;

    if (!x)
        return;
    for (size_t want = 1; want < 200; want *= 3) {
        int rc = index_reserve (x, want);
        assert_true (rc == 0 || rc == -ENOMEM);
        if (rc == 0)
            for (; places < (int64_t)want; places++) {
                struct index_key key = key_of (places + 1);
                index_set (x, (size_t)places, &key);
            }
        assert_int_equal (x->places, places);
        assert_int_equal (index_sum_free (x, 0), places * (places + 1) / 2);
        assert_int_equal (index_prev (x, SIZE_MAX, &need), places - 1);
    }
    index_destroy (x);
}

static struct index *scattered;

/* The results before the failure are in order, and the walk ends after it. */
static void step_walk (void)
{
    const struct index_need need = { .dim = { 1 }, .now = true, .by_measure = true };
    int64_t measure = INT64_MAX;
    struct index_walk w;
    struct index_key key;
    ptrdiff_t place;
    size_t n = 0;

    index_walk_start (&w, scattered, &need);
    for (; (place = index_walk_next (&w)) >= 0; n++) {
        index_get (scattered, (size_t)place, &key);
        assert_true (key.measure <= measure);
        measure = key.measure;
    }
    assert_int_equal (index_walk_next (&w), -1);
    assert_true (w.failed ? n < scattered->places : n == scattered->places);
    index_walk_end (&w);
}

static void step_profile (void)
{
    const int64_t one = 1;
    struct profile *f = profile_create (1);
    int64_t sum = 0, got;

    if (!f)
        return;
    for (int64_t i = 0; i < 40; i++) {
        size_t points = profile_points (f);
        int rc = profile_add (f, 100 - i, 200 + i, &one, 1);
        assert_true (rc == 0 || rc == -ENOMEM);
        sum += rc == 0;
        profile_at (f, 150, &got);
        assert_int_equal (got, sum);
        assert_int_equal (profile_points (f), rc == 0 ? points + 2 : points);
    }
    profile_destroy (f);
}

/* Reserved room is available. */
static void step_profile_reserve (void)
{
    const int64_t one = 1;
    struct profile *f = profile_create (1);

    if (!f)
        return;
    bool ready = profile_reserve (f, 80) == 0;
    for (int64_t i = 0; ready && i < 40; i++)
        assert_int_equal (profile_add (f, 100 - i, 200 + i, &one, 1), 0);
    profile_destroy (f);
}

static void test_index (void **state)
{
    (void)state;
    torture (step_index_grows, 4);
}

static void test_walk (void **state)
{
    const size_t places = 3000;

    (void)state;
    scattered = index_create (1);
    assert_int_equal (index_reserve (scattered, places), 0);
    for (size_t i = 0; i < places; i++) {
        struct index_key key = key_of ((int64_t)(i * 7919 % 1009) + 1);
        index_set (scattered, i, &key);
    }
    torture (step_walk, 1);
    index_destroy (scattered);
}

static void test_profile (void **state)
{
    (void)state;
    torture (step_profile, 4);
    torture (step_profile_reserve, 2);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_index),
        cmocka_unit_test (test_walk),
        cmocka_unit_test (test_profile),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
