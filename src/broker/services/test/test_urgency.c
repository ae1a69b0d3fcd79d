/* test_urgency.c - pending jobs are held and released, and moved up and down */
#include "broker/core/test/fake_http.h"

#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

/* Jobs 1 to 4 use the only node's cores. */
static struct small *full (void)
{
    struct small *s = small_create (1);

    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    return s;
}

static struct client *set (struct small *s, uid_t uid, const char *body)
{
    return client_call (s, uid, "POST /v1/jobs/5/urgency", body);
}

static struct client *hold (struct small *s, const char *head)
{
    return client_call (s, USER, head, "{\"urgency\":0}");
}

static const struct job *job_5 (struct small *s)
{
    return entry_job (entry_find (s->b, 5));
}

/* A held job does not keep others from starting, and starts when it is released. */
static void test_hold (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_submit (s, "duration: 60");
    assert_int_equal (set (s, USER, "{\"urgency\":0,\"reason\":\"not yet\"}")->status,
                      200);
    assert_string_equal (job_5 (s)->hold_note, "not yet");
    assert_false (job_5 (s)->held_by_operator);
    small_finish (s, 1, "ended");
    assert_int_equal (job_5 (s)->state, JOB_SCHED);
    assert_int_equal (entry_job (entry_find (s->b, 6))->state, JOB_RUN);
    assert_int_equal (set (s, USER, "{\"urgency\":16}")->status, 200);
    assert_int_equal (job_5 (s)->urgency, 16);
    assert_null (job_5 (s)->hold_note);
    small_finish (s, 2, "ended");
    assert_int_equal (job_5 (s)->state, JOB_RUN);
    small_destroy (s);
}

/* The answer waits for the commit. */
static void test_commit (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_turn (s);
    struct client *c = client_ask (s, USER, "POST /v1/jobs/5/urgency", "{\"urgency\":3}");
    assert_int_equal (job_5 (s)->urgency, 3);
    assert_false (c->ended);
    small_turn (s);
    assert_int_equal (c->status, 200);
    assert_string_equal (c->text, "{}");
    assert_non_null (strstr (small_events (s, 5), "urgency"));
    small_destroy (s);
}

/* The job with the higher urgency goes first, although it is newer. */
static void test_order (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_int_equal (set (s, USER, "{\"urgency\":15}")->status, 200);
    small_finish (s, 1, "ended");
    assert_int_equal (job_5 (s)->state, JOB_SCHED);
    assert_int_equal (entry_job (entry_find (s->b, 6))->state, JOB_RUN);
    small_destroy (s);
}

static void test_operators (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    struct client *c = set (s, OTHER, "{\"urgency\":0}");
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "not-owner"));
    assert_int_equal (set (s, USER, "{\"urgency\":17}")->status, 403);
    assert_int_equal (job_5 (s)->urgency, 16);
    assert_int_equal (set (s, OPERATOR, "{\"urgency\":31}")->status, 200);
    assert_int_equal (job_5 (s)->urgency, 31);
    assert_int_equal (set (s, OPERATOR, "{\"urgency\":0,\"reason\":\"disk\"}")->status,
                      200);
    c = set (s, USER, "{\"urgency\":16}");
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "held by operator, disk"));
    assert_int_equal (set (s, USER, "{\"urgency\":0,\"reason\":\"mine\"}")->status, 403);
    assert_true (job_5 (s)->held_by_operator);
    assert_string_equal (job_5 (s)->hold_note, "disk");
    assert_int_equal (set (s, OPERATOR, "{\"urgency\":16}")->status, 200);
    assert_false (job_5 (s)->held_by_operator);
    small_destroy (s);
}

/* A fixed priority orders the job. Users may lower the priority, operators may raise it; an
 * urgency takes it away. */
static void test_fixed (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_int_equal (set (s, USER, "{\"priority\":9}")->status, 200);
    assert_int_equal (job_5 (s)->fixed, 9);
    assert_int_equal (job_5 (s)->urgency, 16);
    struct client *c = set (s, USER, "{\"priority\":4000000000}");
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "only operators may raise"));
    assert_int_equal (job_5 (s)->fixed, 9);
    small_finish (s, 1, "ended");
    assert_int_equal (job_5 (s)->state, JOB_SCHED);
    assert_int_equal (entry_job (entry_find (s->b, 6))->state, JOB_RUN);
    assert_int_equal (set (s, OPERATOR, "{\"priority\":4000000000}")->status, 200);
    assert_int_equal (job_5 (s)->fixed, 4000000000);
    assert_int_equal (set (s, USER, "{\"priority\":0}")->status, 200);
    assert_true (job_5 (s)->urgency == 0 && job_5 (s)->fixed == 0);
    assert_int_equal (set (s, USER, "{\"priority\":8}")->status, 200);
    assert_true (job_5 (s)->urgency == 16 && job_5 (s)->fixed == 8);
    assert_int_equal (set (s, USER, "{\"urgency\":16}")->status, 200);
    assert_int_equal (job_5 (s)->fixed, 0);
    assert_int_equal (set (s, OPERATOR, "{\"urgency\":0}")->status, 200);
    assert_int_equal (set (s, USER, "{\"priority\":8}")->status, 403);
    small_destroy (s);
}

/* Wrong requests, and a job that is not pending, are refused. Nothing changes. */
static void test_refused (void **unused)
{
    static const char *const bodies[] = { "{}",
                                          "{\"urgency\":32}",
                                          "{\"urgency\":-1}",
                                          "{\"urgency\":\"high\"}",
                                          "{\"urgency\":3,\"reason\":\"x\"}",
                                          "{\"urgency\":0,\"reason\":\"\"}",
                                          "{\"urgency\":0,\"reason\":\"a\\u0007b\"}",
                                          "{\"urgency\":0,\"colour\":\"red\"}",
                                          "{\"urgency\":3,\"priority\":3}",
                                          "{\"priority\":-1}",
                                          "{\"priority\":4294967294}",
                                          "{\"priority\":\"TOP\"}",
                                          "{\"priority\":3,\"reason\":\"x\"}",
                                          "[" };
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    small_turn (s);
    for (size_t i = 0; i < ARRAY_SIZE (bodies); i++)
        assert_int_equal (set (s, USER, bodies[i])->status, 400);
    assert_int_equal (hold (s, "POST /v1/jobs/1/urgency")->status, 409);
    assert_int_equal (hold (s, "POST /v1/jobs/9/urgency")->status, 404);
    assert_int_equal (hold (s, "POST /v1/jobs/0/urgency")->status, 400);
    assert_null (strstr (small_events (s, 0), "urgency"));
    small_destroy (s);
}

/* The pending tasks of an array have one urgency. */
static void test_array (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60, fluxq: {array: \"1-3\"}");
    small_turn (s);
    assert_int_equal (hold (s, "POST /v1/jobs/5_2/urgency")->status, 409);
    assert_int_equal (set (s, USER, "{\"urgency\":0}")->status, 200);
    small_finish (s, 1, "ended");
    assert_int_equal (idset_count (job_5 (s)->array->waiting), 3);
    assert_int_equal (set (s, USER, "{\"urgency\":16}")->status, 200);
    assert_true (idset_count (job_5 (s)->array->waiting) < 3);
    small_destroy (s);
}

/* The job has the new urgency unless the reply says otherwise. */
static void scenario (struct small *s)
{
    static const char *const bodies[] = { "{\"urgency\":0,\"reason\":\"x\"}",
                                          "{\"urgency\":9}" };

    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    small_submit (s, "duration: 60");
    for (size_t i = 0; i < ARRAY_SIZE (bodies); i++) {
        struct client *c = client_ask (s, USER, "POST /v1/jobs/5/urgency", bodies[i]);
        const struct entry *e = entry_find (s->b, 5);
        if (e && !c->ended)
            assert_int_equal (entry_job (e)->urgency, i == 0 ? 0 : 9);
        small_turn (s);
        assert_true (c->ended);
    }
    small_finish (s, 1, "ended");
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
        cmocka_unit_test (test_hold),      cmocka_unit_test (test_commit),
        cmocka_unit_test (test_order),     cmocka_unit_test (test_operators),
        cmocka_unit_test (test_fixed),     cmocka_unit_test (test_refused),
        cmocka_unit_test (test_array),     cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
