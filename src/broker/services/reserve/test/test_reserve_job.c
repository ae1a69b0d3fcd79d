/* test_reserve_job.c - jobs that name a reservation: admission, and reasons */
#include "broker/core/test/small.h"

#include <errno.h>
#include <string.h>

#include "broker/services/reserve/reserve.h"
#include "broker/services/reserve/reserve_job.h"
#include "common/strbuf.h"

#define INSIDE "duration: 60, fluxq: {reservation: r}"

/* Makes reservation r of node0; times are seconds from now. user 0: maintenance. */
static int make (struct small *s, double start, double end, uid_t user)
{
    struct error err = { 0 };
    long countdown = small_spare ();
    struct reservation *r =
        reservation_create ("r", small_now () + start, small_now () + end, &err);

    hostlist_append (r->nodes, "node0");
    if (user)
        reservation_add_user (r, "user", user);
    r->maintenance = user == 0;
    r->by = strdup ("root");
    r->made = small_now ();
    small_resume (countdown);
    int rc = reserve_make (s->b, r, 0, false, &err);
    if (rc < 0)
        reservation_destroy (r);
    small_turn (s);
    return rc;
}

/* Returns whether a job of user 1000 with these attributes is admitted, or the
 * code of the refusal. */
static const char *check (struct small *s, const char *system, bool allow_infeasible)
{
    struct error err = { 0 };
    const char *code = "";
    struct entry *e = small_submit (s, system);

    entry_jobspec (e)->reservation = strdup ("r");
    int rc = reserve_check (s->b, e, 1000, allow_infeasible, &code, &err);
    assert_true (rc <= 0 && -rc == err.code);
    broker_act (s->b, e, JOB_ACT_DEQUEUE);
    entry_remove (s->b, e);
    return rc == 0 ? "" : code;
}

static void test_admission (void **unused)
{
    static const char long_job[] = "duration: 90";
    struct small *s = small_create (2);

    (void)unused;
    assert_string_equal (check (s, "duration: 60", false), "unknown-reservation");
    assert_int_equal (make (s, 10, 90, 1001), 0);
    assert_string_equal (check (s, "duration: 60", false), "not-in-reservation");
    reserve_remove (s->b, reserve_find (s->b, "r"));
    assert_int_equal (make (s, 10, 90, 0), 0);
    assert_string_equal (check (s, "duration: 60", false), "not-in-reservation");
    reserve_remove (s->b, reserve_find (s->b, "r"));
    assert_int_equal (make (s, 10, 90, 1000), 0);
    assert_string_equal (check (s, "duration: 60", false), "");
    assert_string_equal (check (s, long_job, false), "bad-jobspec");
    assert_string_equal (check (s, "duration: 0", false), "bad-jobspec");
    small_advance (s, 40); /* 50 seconds are left */
    assert_string_equal (check (s, "duration: 60", false), "bad-jobspec");
    assert_string_equal (check (s, "duration: 40", false), "");
    /* Only node0 is in the reservation. */
    const char *elsewhere = "duration: 40, constraints: {hostlist: [node1]}";
    assert_string_equal (check (s, elsewhere, false), "infeasible");
    assert_string_equal (check (s, elsewhere, true), "");
    s->b->recovering = true; /* the nodes are not known yet */
    assert_string_equal (check (s, elsewhere, false), "");
    s->b->recovering = false;
    small_destroy (s);
}

/* The word and the sentence of the reason. */
static void expect (struct small *s, uint64_t id, const char *name, const char *text)
{
    const struct entry *e = entry_find (s->b, id);
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 4096);
    assert_string_equal (reserve_reason_name (s->b, e), name);
    assert_true (reserve_reason_text (s->b, e, &sb));
    if (!strstr (sb.buf, text))
        fail_msg ("'%s' is not in '%s'", text, sb.buf);
}

static void test_no_place (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = entry_id (small_submit (s, INSIDE));

    (void)unused;
    small_turn (s);
    expect (s, id, "Reservation", "was removed");
    assert_int_equal (make (s, 0, 100, 0), 0);
    expect (s, id, "Reservation", "reservation r is for maintenance");
    reserve_remove (s->b, reserve_find (s->b, "r"));
    assert_int_equal (make (s, 0, 100, 1001), 0);
    expect (s, id, "Reservation", "user is not one of the users of reservation r");
    small_destroy (s);
}

static void test_to_come (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = entry_id (small_submit (s, INSIDE));

    (void)unused;
    assert_int_equal (make (s, 50, 200, 1000), 0);
    expect (s, id, "Reservation", "reservation r begins at ");
    small_destroy (s);
}

/* In a reservation a job waits as in any queue; its time may run out meanwhile. */
static void test_active (void **unused)
{
    struct small *s = small_create (1);
    uint64_t id = 0;

    (void)unused;
    assert_int_equal (make (s, 0, 100, 1000), 0);
    for (int i = 0; i < 5; i++)
        id = entry_id (
            small_submit (s, "duration: 100, fluxq: {reservation: r, time-min: 10}"));
    uint64_t late = entry_id (small_submit (s, INSIDE));
    small_advance (s, 1);
    expect (s, id, "Resources", "");
    small_advance (s, 50);
    expect (s, late, reserve_reason_name (s->b, entry_find (s->b, late)),
            "its time limit is longer than ");
    small_destroy (s);
}

/* A job outside the reservation, and one that runs. */
static void test_outside (void **unused)
{
    struct small *s = small_create (1);
    autostrbuf struct strbuf sb;

    (void)unused;
    strbuf_init (&sb, 4096);
    uint64_t first = entry_id (small_submit (s, "duration: 0"));
    small_submit (s, "duration: 0");
    small_submit (s, "duration: 0");
    small_submit (s, "duration: 0");
    uint64_t id = entry_id (small_submit (s, "duration: 60"));
    small_turn (s);
    expect (s, id, "Resources", "");
    assert_null (reserve_reason_name (s->b, entry_find (s->b, first)));
    assert_false (reserve_reason_text (s->b, entry_find (s->b, first), &sb));
    small_destroy (s);
}

/* No job starts while the broker's machine lacks a resource. */
static void test_paused (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    s->b->host.shortage (s->b, "the disk is full", ENOSPC);
    uint64_t id = entry_id (small_submit (s, "duration: 60"));
    small_turn (s);
    expect (s, id, "BrokerPaused", "no job starts until ");
    small_destroy (s);
}

static void scenario (struct small *s)
{
    struct entry *e;

    small_submit (s, INSIDE);
    for (int i = 0; i < 2; i++) {
        entries_each (ENTRIES_ALL, s->b, e) {
            autostrbuf struct strbuf sb;
            strbuf_init (&sb, 4096);
            const char *name = reserve_reason_name (s->b, e);
            if (name && !reserve_find (s->b, "r") && entry_job (e)->state == JOB_SCHED)
                assert_string_equal (name, "Reservation");
            reserve_reason_text (s->b, e, &sb);
        }
        make (s, 10, 100, 1000);
    }
    struct entry *asks = small_submit (s, "duration: 60");
    if (asks && entry_jobspec (asks)) {
        struct error err = { 0 };
        const char *code = NULL;
        long countdown = small_spare ();
        free (entry_jobspec (asks)->reservation);
        entry_jobspec (asks)->reservation = strdup ("r");
        small_resume (countdown);
        int rc = reserve_check (s->b, asks, 1000, false, &code, &err);
        assert_true (rc == 0 || rc == -ENOMEM || !reserve_find (s->b, "r"));
    }
    small_advance (s, 200);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_admission),   cmocka_unit_test (test_no_place),
        cmocka_unit_test (test_to_come),     cmocka_unit_test (test_active),
        cmocka_unit_test (test_outside),     cmocka_unit_test (test_paused),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
