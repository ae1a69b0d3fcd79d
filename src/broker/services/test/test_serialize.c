/* test_serialize.c - large jobs start one at a time */
#include "broker/core/jobs.h"
#include "broker/core/test/small.h"

#include <string.h>

/* Two jobs of one node each; start-serialize counts both as large. */
static struct small *two_large (void)
{
    struct small *s = small_create (2);

    small_set (s, "start-serialize", json_integer (1));
    assert_int_equal (entry_id (small_submit (s, "duration: 60")), 1);
    small_turn (s);
    assert_int_equal (entry_id (small_submit (s, "duration: 60")), 2);
    small_turn (s);
    return s;
}

static void test_one_at_a_time (void **unused)
{
    struct small *s = two_large ();

    (void)unused;
    assert_string_equal (s->told, "start 1");
    assert_int_equal (entry_job (entry_find (s->b, 2))->state,
                      JOB_RUN); /* the job has its core */
    assert_non_null (
        strstr (entry_note (entry_find (s->b, 2)), "waits until job 1 is ready"));
    small_ready (s, 1);
    small_advance (s, 1);
    assert_string_equal (s->told, "start 1, start 2");
    assert_null (entry_note (entry_find (s->b, 2)));
    small_destroy (s);
}

/* The first job ends before it is ready: the second need not wait for it. */
static void test_first_fails (void **unused)
{
    struct small *s = two_large ();

    (void)unused;
    small_finish (s, 1, "startfail");
    small_advance (s, 1);
    assert_non_null (strstr (s->told, "start 2"));
    small_destroy (s);
}

/* A job that is cancelled before its turn is not started. */
static void test_cancelled (void **unused)
{
    struct small *s = two_large ();

    (void)unused;
    assert_int_equal (broker_exception (s->b, entry_find (s->b, 2), "cancel", 0, ""), 0);
    small_turn (s);
    assert_int_equal (entry_job (entry_find (s->b, 2))->state, JOB_INACTIVE);
    small_ready (s, 1);
    small_advance (s, 10);
    assert_null (strstr (s->told, "start 2"));
    small_destroy (s);
}

static void test_off (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    small_submit (s, "duration: 60");
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_string_equal (s->told, "start 1, start 2");
    small_destroy (s);
}

static void scenario (struct small *s)
{
    small_set (s, "start-serialize", json_integer (1));
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    small_advance (s, 1);
    small_finish (s, 2, "startfail");
    small_advance (s, 10);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (2, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (2, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_one_at_a_time), cmocka_unit_test (test_first_fails),
        cmocka_unit_test (test_cancelled),     cmocka_unit_test (test_off),
        cmocka_unit_test (test_jobs_vanish),   cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
