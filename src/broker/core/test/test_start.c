/* test_start.c - starts, and jobs that a new broker finds: what the broker lacks fails no job */
#include "broker/core/test/small.h"

#include <errno.h>
#include <string.h>

#include "broker/core/pause.h"
#include "broker/core/recover.h"

static void assert_unharmed (struct small *s)
{
    assert_null (strstr (small_events (s, 1), "exception"));
}

static bool runs_now (struct small *s)
{
    struct entry *e = entry_find (s->b, 1);

    return e && entry_job (e)->state == JOB_RUN && entry_job (e)->started;
}

/* -- a start -- */

/* The second start reads the jobspec from the journal. */
static void start_twice (struct small *s)
{
    small_submit (s, "duration: 60");
    small_turn (s);
    if (!entry_find (s->b, 1))
        return;
    small_ready (s, 1);
    small_finish (s, 1, "lost");
    small_advance (s, 60);
    assert_unharmed (s);
    small_spare (); /* there is memory again */
    small_advance (s, 600);
    small_ready (s, 1);
    assert_unharmed (s);
    assert_true (runs_now (s) || pause_reason (s->b)); /* the pause has no end here */
}

static void test_start (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_twice (s);
    assert_string_equal (s->told, "start 1, cleanup 1, start 1");
    assert_int_equal (entry_job (entry_find (s->b, 1))->restarts, 1);
    small_destroy (s);
}

static void test_start_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, start_twice);
}

/* -- a restart of the broker -- */

/* The broker knows no jobs any more; the journal does. */
static void forget_jobs (struct small *s)
{
    struct entry *e, *next;

    HASH_ITER (hh, s->b->table.all, e, next) {
        match_cancel (s->b->matcher, entry_id (e));
        broker_act (s->b, e, JOB_ACT_DEQUEUE);
        entry_remove (s->b, e);
    }
    s->b->table.npending = s->b->table.nrunning = 0;
}

static void run_one (struct small *s)
{
    long countdown = small_spare ();

    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    forget_jobs (s);
    s->b->recovering = true;
    small_resume (countdown);
}

static void recover (struct small *s)
{
    struct error err = { 0 };

    run_one (s);
    int rc = broker_recover (s->b, &err);
    assert_true (rc == 0 || rc == -ENOMEM);
    assert_int_equal (err.code, -rc);
    if (rc < 0) /* the broker does not start */
        return;
    assert_true (runs_now (s));
    broker_recovered_nodes (s->b);
    small_turn (s);
    small_advance (s, 30);
    small_spare (); /* there is memory again */
    small_advance (s, 600);
    assert_true (runs_now (s));
    assert_unharmed (s);
    assert_true (!strcmp (s->told, "start 1, recover 1") || pause_reason (s->b));
}

static void test_recover (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    recover (s);
    assert_string_equal (s->told, "start 1, recover 1");
    small_destroy (s);
}

static void test_recover_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, recover);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_start),
        cmocka_unit_test (test_start_no_memory),
        cmocka_unit_test (test_recover),
        cmocka_unit_test (test_recover_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
