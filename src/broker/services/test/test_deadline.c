/* test_deadline.c - pending jobs that cannot end by their deadline are ended */
#include "broker/core/jobs.h"
#include "broker/core/test/small.h"

#include <stdio.h>
#include <string.h>

/* A job that uses the only node's cores until it is finished. */
static struct entry *occupy (struct small *s)
{
    struct entry *e = NULL;

    for (int i = 0; i < 4; i++)
        e = small_submit (s, "duration: 0");
    small_turn (s);
    return e;
}

static void test_given_up (void **unused)
{
    struct small *s = small_create (1);
    char system[100];

    (void)unused;
    occupy (s);
    snprintf (system, sizeof (system), "duration: 60, fluxq: {deadline: %.0f}",
              SMALL_START + 100);
    uint64_t id = entry_id (small_submit (s, system));
    small_advance (s, 39);
    assert_null (strstr (small_events (s, id), "exception"));
    small_advance (s, 2);
    assert_non_null (strstr (small_events (s, id), "exception"));
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_INACTIVE);
    small_destroy (s);
}

/* The job starts in time, and no timer watches it any more. */
static void test_started (void **unused)
{
    struct small *s = small_create (1);
    char system[100];

    (void)unused;
    snprintf (system, sizeof (system), "duration: 60, fluxq: {deadline: %.0f}",
              SMALL_START + 100);
    uint64_t id = entry_id (small_submit (s, system));
    small_turn (s);
    assert_string_equal (s->told, "start 1");
    small_ready (s, id);
    small_advance (s, 1000);
    assert_null (strstr (small_events (s, id), "exception"));
    small_finish (s, id, "ended");
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_INACTIVE);
    small_destroy (s);
}

/* The job vanishes while it waits: no timer finds it. */
static void test_vanished (void **unused)
{
    struct small *s = small_create (1);
    char system[100];

    (void)unused;
    occupy (s);
    snprintf (system, sizeof (system), "duration: 60, fluxq: {deadline: %.0f}",
              SMALL_START + 100);
    struct entry *e = small_submit (s, system);
    small_turn (s);
    broker_act (s->b, e, JOB_ACT_DEQUEUE);
    entry_remove (s->b, e);
    small_advance (s, 1000);
    assert_null (strstr (small_events (s, 0), "exception"));
    small_destroy (s);
}

/* Two jobs that start, and two that wait only for their deadline. */
static void scenario (struct small *s)
{
    char system[100];

    snprintf (system, sizeof (system), "duration: 60, fluxq: {deadline: %.0f}",
              SMALL_START + 100);
    for (int i = 0; i < 6; i++)
        small_submit (s, system);
    small_turn (s);
    small_ready (s, 1);
    small_advance (s, 50);
    small_finish (s, 1, "ended");
    small_advance (s, 100);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_given_up),  cmocka_unit_test (test_started),
        cmocka_unit_test (test_vanished),  cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
