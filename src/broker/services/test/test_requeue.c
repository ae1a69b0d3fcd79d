/* test_requeue.c - a running job is ended and queued again, by its user or an operator */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

static struct client *requeue (struct small *s, uid_t uid, const char *id,
                               const char *body)
{
    char head[64];

    snprintf (head, sizeof (head), "POST /v1/jobs/%s/requeue", id);
    return client_call (s, uid, head, body);
}

static const struct job *job_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id));
}

/* A running job with this system attributes. */
static struct small *running (const char *system)
{
    struct small *s = small_create (1);

    small_submit (s, system);
    small_turn (s);
    small_ready (s, 1);
    return s;
}

/* The job runs again with the same id; any number of times. */
static void test_again (void **unused)
{
    struct small *s = running ("duration: 60");

    (void)unused;
    for (unsigned i = 1; i <= 9; i++) {
        assert_int_equal (requeue (s, USER, "1", "{}")->status, 200);
        small_turn (s);
        assert_string_equal (job_of (s, 1)->requeue_reason, "requeued by its user");
        small_ready (s, 1);
        assert_int_equal (job_of (s, 1)->state, JOB_RUN);
        assert_true (job_of (s, 1)->started);
        assert_int_equal (job_of (s, 1)->restarts, i);
        assert_int_equal (job_of (s, 1)->reruns, 0);
        assert_int_equal (job_of (s, 1)->failed_starts, 0);
    }
    assert_non_null (strstr (s->told, "cleanup 1"));
    small_destroy (s);
}

static void test_hold (void **unused)
{
    struct small *s = running ("duration: 60");

    (void)unused;
    assert_int_equal (requeue (s, USER, "1", "{\"hold\":true}")->status, 200);
    small_turn (s);
    assert_int_equal (job_of (s, 1)->state, JOB_SCHED);
    assert_int_equal (job_of (s, 1)->urgency, 0);
    assert_false (job_of (s, 1)->held_by_operator);
    client_call (s, USER, "POST /v1/jobs/1/urgency", "{\"urgency\":16}");
    assert_int_equal (job_of (s, 1)->state, JOB_RUN);
    small_ready (s, 1);
    assert_int_equal (requeue (s, OPERATOR, "1", "{\"hold\":true}")->status, 200);
    small_turn (s);
    assert_true (job_of (s, 1)->held_by_operator);
    assert_int_equal (
        client_call (s, USER, "POST /v1/jobs/1/urgency", "{\"urgency\":16}")->status,
        403);
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = running ("duration: 60");

    (void)unused;
    small_submit (s, "duration: 60, fluxq: {requeue: false}");
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    assert_int_equal (requeue (s, OTHER, "1", "{}")->status, 403);
    assert_int_equal (requeue (s, USER, "1", "{\"hold\":1}")->status, 400);
    assert_int_equal (requeue (s, USER, "1", "{\"colour\":true}")->status, 400);
    struct client *c = requeue (s, USER, "2", "{}");
    assert_int_equal (c->status, 409);
    assert_non_null (strstr (c->text, "--no-requeue"));
    c = requeue (s, USER, "5", "{}");
    assert_int_equal (c->status, 409);
    assert_non_null (strstr (c->text, "job 5 waits already"));
    assert_int_equal (requeue (s, USER, "9", "{}")->status, 404);
    small_finish (s, 1, "ended");
    assert_int_equal (requeue (s, USER, "1", "{}")->status, 409);
    assert_null (strstr (small_events (s, 0), "requeue"));
    small_destroy (s);
}

/* The tasks of an array that run, or one of them. */
static void test_array (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_submit (s, "duration: 60, fluxq: {array: \"1-6\"}");
    small_turn (s);
    assert_int_equal (requeue (s, USER, "1_6", "{}")->status, 409);
    assert_int_equal (requeue (s, USER, "1_2", "{}")->status, 200);
    small_turn (s);
    assert_int_equal (requeue (s, USER, "1", "{}")->status, 200);
    small_turn (s);
    const char *events = small_events (s, 0);
    int n = 0;
    for (const char *p = events; (p = strstr (p, "requeue")); p++)
        n++;
    assert_int_equal (n, 1 + 4);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    small_submit (s, "duration: 60");
    small_turn (s);
    if (entry_find (s->b, 1))
        small_ready (s, 1);
    client_ask (s, USER, "POST /v1/jobs/1/requeue", "{\"hold\":true}");
    small_turn (s);
    small_turn (s);
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
        cmocka_unit_test (test_again),       cmocka_unit_test (test_hold),
        cmocka_unit_test (test_refused),     cmocka_unit_test (test_array),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
