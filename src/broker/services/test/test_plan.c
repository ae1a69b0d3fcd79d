/* test_plan.c - the scheduler's decisions become allocations, and ends free them */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/core/pause.h"
#include "broker/services/reserve/reserve.h"

static enum job_state state_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state;
}

static void submit (struct small *s, int n, const char *system)
{
    for (int i = 0; i < n; i++)
        small_submit (s, system);
    small_turn (s);
}

static double number (const json_t *o, const char *key)
{
    return json_number_value (json_object_get (o, key));
}

/* As many jobs as fit start, in order; the end of one gives its core to the next. */
static void test_order (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 6, "duration: 60");
    assert_string_equal (s->told, "start 1, start 2, start 3, start 4");
    assert_string_equal (small_events (s, 1), "submit validate depend priority alloc");
    assert_string_equal (small_events (s, 5), "submit validate depend priority");
    assert_null (entry_find (s->b, 5)->r);
    small_finish (s, 3, "ended");
    assert_non_null (strstr (small_events (s, 3), "release free clean"));
    assert_null (entry_find (s->b, 3)->r);
    assert_int_equal (state_of (s, 5), JOB_RUN);
    assert_int_equal (state_of (s, 6), JOB_SCHED);
    small_destroy (s);
}

/* The event alloc has all that a restart needs. */
static void test_event (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 1, "duration: 60");
    autojson json_t *alloc = json_loads (small_context (1, "alloc"), 0, NULL);
    assert_string_equal (json_string_value (json_object_get (alloc, "nodelist")),
                         "node0");
    assert_true (number (alloc, "nnodes") == 1 && number (alloc, "ncores") == 1);
    assert_null (json_object_get (alloc, "duration"));
    json_t *execution = json_object_get (json_object_get (alloc, "R"), "execution");
    assert_true (number (execution, "expiration") - number (execution, "starttime")
                 == 60);
    small_destroy (s);
}

/* A job with --time-min gets the time until its deadline. */
static void test_deadline (void **unused)
{
    struct small *s = small_create (1);
    char system[100];

    (void)unused;
    snprintf (system, sizeof (system),
              "duration: 60, fluxq: {time-min: 10, deadline: %.0f}", SMALL_START + 40);
    submit (s, 1, system);
    autojson json_t *alloc = json_loads (small_context (1, "alloc"), 0, NULL);
    assert_in_range (number (alloc, "duration"), 35, 40);
    const struct entry *e = entry_find (s->b, 1);
    assert_true (entry_job (e)->duration == number (alloc, "duration"));
    assert_true (e->r->expiration == e->r->starttime + entry_job (e)->duration);
    small_destroy (s);
}

/* A pass runs at the begin time of a job, also without another event. */
static void test_begin (void **unused)
{
    struct small *s = small_create (1);
    char system[100];

    (void)unused;
    snprintf (system, sizeof (system), "duration: 60, begin-time: %.0f",
              SMALL_START + 100);
    submit (s, 1, system);
    small_advance (s, 99);
    assert_int_equal (state_of (s, 1), JOB_SCHED);
    small_advance (s, 2);
    assert_int_equal (state_of (s, 1), JOB_RUN);
    small_destroy (s);
}

/* A cancelled pending job leaves the queue. */
static void test_cancelled (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 6, "duration: 60");
    assert_int_equal (broker_exception (s->b, entry_find (s->b, 5), "cancel", 0, ""), 0);
    small_turn (s);
    assert_int_equal (state_of (s, 5), JOB_INACTIVE);
    assert_int_equal (sched_pending (s->b->sched), 1);
    small_finish (s, 1, "ended");
    small_finish (s, 2, "ended");
    assert_int_equal (state_of (s, 6), JOB_RUN);
    assert_null (strstr (small_events (s, 5), "alloc"));
    small_destroy (s);
}

/* A job that vanishes gives back its core and its place. */
static void test_vanished (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 6, "duration: 60");
    broker_act (s->b, entry_find (s->b, 5), JOB_ACT_DEQUEUE);
    entry_remove (s->b, entry_find (s->b, 5));
    small_finish (s, 1, "ended");
    assert_int_equal (state_of (s, 6), JOB_RUN);
    small_destroy (s);
}

/* No job is placed in a pause, in a stopped queue, or when the broker is about to
 * stop. */
static void test_no_pass (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    reserve_queue_set (s->b, 0, false);
    submit (s, 1, "duration: 60");
    assert_int_equal (state_of (s, 1), JOB_SCHED);
    reserve_queue_set (s->b, 0, true);
    pause_note (s->b, "no space", ENOSPC);
    broker_plan_due (s->b);
    services_call (end_of_turn, s->b);
    assert_int_equal (state_of (s, 1), JOB_SCHED);
    small_destroy (s);

    s = small_create (1);
    s->b->stopping = true;
    small_submit (s, "duration: 60");
    services_call (end_of_turn, s->b);
    assert_int_equal (state_of (s, 1), JOB_SCHED);
    s->b->stopping = false;
    small_turn (s);
    assert_int_equal (state_of (s, 1), JOB_RUN);
    small_destroy (s);
}

/* A failed start gives the core back, and the job is in the queue again. */
static void test_requeued (void **unused)
{
    const struct exec_start_failure why = { .text = "no answer", .retry = true };
    struct small *s = small_create (1);

    (void)unused;
    submit (s, 5, "duration: 60");
    s->b->host.start_failed (s->b, 1, &why);
    small_turn (s);
    assert_int_equal (state_of (s, 5), JOB_RUN);
    assert_int_equal (state_of (s, 1), JOB_SCHED);
    small_advance (s, 3600);
    small_finish (s, 2, "ended");
    assert_int_equal (state_of (s, 1), JOB_RUN);
    small_destroy (s);
}

/* A job has an allocation exactly while it runs; no core is lost, and no job stays
 * behind. */
static void scenario (struct small *s)
{
    struct entry *e, *next;
    size_t running = 0, waiting = 0;

    submit (s, 6, "duration: 60");
    small_finish (s, 1, "ended");
    if (entry_find (s->b, 2))
        broker_exception (s->b, entry_find (s->b, 2), "cancel", 0, "");
    small_turn (s);
    small_finish (s, 2, "cancelled");
    long countdown = small_spare ();
    small_advance (s, 600);
    HASH_ITER (hh, s->b->table.all, e, next) {
        assert_true ((entry_job (e)->state == JOB_RUN) == (e->r != NULL)
                     || entry_job (e)->finished || entry_job (e)->state == JOB_CLEANUP);
        running += entry_job (e)->state == JOB_RUN;
        waiting += entry_job (e)->state == JOB_SCHED;
    }
    assert_true (waiting == 0 || running == 4 || pause_reason (s->b));
    small_resume (countdown);
}

/* A job without memory to be queued or placed starts in a later pass, without an event. */
static void one_job (struct small *s)
{
    struct entry *e, *next;

    submit (s, 1, "duration: 60");
    long countdown = small_spare ();
    small_advance (s, 5);
    HASH_ITER (hh, s->b->table.all, e, next)
        assert_true (entry_job (e)->state != JOB_SCHED || pause_reason (s->b));
    small_resume (countdown);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, one_job);
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_order),       cmocka_unit_test (test_event),
        cmocka_unit_test (test_deadline),    cmocka_unit_test (test_begin),
        cmocka_unit_test (test_cancelled),   cmocka_unit_test (test_vanished),
        cmocka_unit_test (test_no_pass),     cmocka_unit_test (test_requeued),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
