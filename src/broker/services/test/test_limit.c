/* test_limit.c - changes of the time limit of a pending or running job */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

/* Job 1 has a core of the only node for 60 s, jobs 2 to 4 have the other cores
 * forever. */
static struct small *full (void)
{
    struct small *s = small_create (1);

    small_submit (s, "duration: 60");
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    return s;
}

static struct client *change (struct small *s, uid_t uid, uint64_t id, const char *body)
{
    char head[64];

    snprintf (head, sizeof (head), "POST /v1/jobs/%ju/limit", (uintmax_t)id);
    return client_call (s, uid, head, body);
}

static const struct job *job_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id));
}

static void test_waiting (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60");
    struct client *c = change (s, USER, 5, "{\"limit\":30}");
    assert_int_equal (c->status, 200);
    assert_string_equal (c->text, "{\"time_limit\":30.0}");
    assert_true (job_of (s, 5)->duration == 30);
    assert_non_null (strstr (small_events (s, 5), "jobspec-update"));
    assert_int_equal (change (s, USER, 5, "{\"change\":-10}")->status, 200);
    assert_true (job_of (s, 5)->duration == 20);
    assert_int_equal (change (s, OPERATOR, 5, "{\"limit\":0}")->status, 200);
    assert_true (job_of (s, 5)->duration == 0);
    assert_null (strstr (s->told, "limit"));
    small_destroy (s);
}

/* The agent gets the limit after the commit. */
static void test_running (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_ready (s, 1);
    const struct entry *e = entry_find (s->b, 1);
    double from = entry_alloc (e)->starttime;
    struct client *c = client_ask (s, USER, "POST /v1/jobs/1/limit", "{\"limit\":30}");
    assert_false (c->ended);
    assert_null (strstr (s->told, "limit"));
    small_turn (s);
    assert_int_equal (c->status, 200);
    assert_non_null (strstr (s->told, "limit 1"));
    assert_true (entry_job (e)->duration == 30);
    assert_true (entry_alloc (e)->expiration == from + 30);
    assert_true (entry_exec_job (e)->time_limit == 30
                 && entry_exec_job (e)->limit_changed);
    assert_int_equal (change (s, OPERATOR, 1, "{\"change\":90}")->status, 200);
    assert_true (entry_exec_job (e)->time_limit == 120);
    small_finish (s, 1, "ended");
    assert_int_equal (change (s, OPERATOR, 1, "{\"limit\":30}")->status, 409);
    small_destroy (s);
}

static void test_users (void **unused)
{
    struct small *s = full ();

    (void)unused;
    assert_int_equal (change (s, OTHER, 1, "{\"limit\":30}")->status, 403);
    struct client *c = change (s, USER, 1, "{\"limit\":61}");
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "users may lower it"));
    assert_int_equal (change (s, USER, 1, "{\"limit\":0}")->status, 403);
    assert_int_equal (change (s, USER, 1, "{\"change\":1}")->status, 403);
    assert_int_equal (change (s, USER, 2, "{\"limit\":500}")->status, 200); /* no limit */
    assert_true (job_of (s, 1)->duration == 60);
    small_destroy (s);
}

static void test_refused (void **unused)
{
    static const char *const bodies[] = { "{}",
                                          "{\"limit\":30,\"change\":-1}",
                                          "{\"limit\":-1}",
                                          "{\"limit\":\"long\"}",
                                          "{\"change\":-60}",
                                          "{\"seconds\":3}" };
    struct small *s = full ();

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (bodies); i++)
        assert_int_equal (change (s, OPERATOR, 1, bodies[i])->status, 400);
    assert_int_equal (change (s, OPERATOR, 2, "{\"change\":10}")->status, 400);
    assert_int_equal (change (s, OPERATOR, 9, "{\"limit\":10}")->status, 404);
    assert_null (strstr (small_events (s, 0), "update"));
    small_destroy (s);
}

/* A pending job is ended when it cannot end in time, by its new limit. A running job
 * keeps its deadline. */
static void test_deadline (void **unused)
{
    struct small *s = full ();
    char system[100];

    (void)unused;
    snprintf (system, sizeof (system), "duration: 60, fluxq: {deadline: %.0f}",
              SMALL_START + 100);
    small_submit (s, system);
    assert_int_equal (change (s, OPERATOR, 5, "{\"limit\":101}")->status, 409);
    assert_int_equal (change (s, OPERATOR, 5, "{\"limit\":0}")->status, 409);
    assert_true (job_of (s, 5)->duration == 60);
    assert_int_equal (change (s, USER, 5, "{\"limit\":30}")->status, 200);
    small_advance (s, 60); /* with the old limit the job could no longer end in time */
    assert_int_equal (job_of (s, 5)->state, JOB_SCHED);
    small_finish (s, 1, "ended");
    small_ready (s, 5);
    assert_int_equal (change (s, OPERATOR, 5, "{\"limit\":50}")->status, 409);
    assert_int_equal (change (s, OPERATOR, 5, "{\"limit\":35}")->status, 200);
    assert_true (job_of (s, 5)->duration == 35);
    small_destroy (s);
}

/* The pending tasks of an array have one limit. */
static void test_array (void **unused)
{
    struct small *s = full ();

    (void)unused;
    small_submit (s, "duration: 60, fluxq: {array: \"1-3\"}");
    small_turn (s);
    assert_int_equal (
        client_call (s, USER, "POST /v1/jobs/5_2/limit", "{\"limit\":30}")->status, 409);
    assert_int_equal (change (s, USER, 5, "{\"limit\":30}")->status, 200);
    assert_true (job_of (s, 5)->duration == 30);
    small_destroy (s);
}

/* The record, the booking and the reply agree. */
static void lower (struct small *s, uint64_t id, double before, double after)
{
    char head[64], body[64];

    snprintf (head, sizeof (head), "POST /v1/jobs/%ju/limit", (uintmax_t)id);
    snprintf (body, sizeof (body), "{\"limit\":%.0f}", after);
    struct client *c = client_ask (s, USER, head, body);
    const struct entry *e = entry_find (s->b, id);
    if (e) {
        double now = c->ended && c->status == 409 ? before : after;
        if (!c->ended || c->status == 409)
            assert_true (entry_job (e)->duration == now);
        if (entry_alloc (e))
            assert_true (entry_alloc (e)->expiration
                         == entry_alloc (e)->starttime + entry_job (e)->duration);
    }
    small_turn (s);
    assert_true (c->ended);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    small_submit (s, "duration: 50");
    small_turn (s);
    lower (s, 1, 60, 30);
    lower (s, 5, 50, 20);
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
        cmocka_unit_test (test_waiting),     cmocka_unit_test (test_running),
        cmocka_unit_test (test_users),       cmocka_unit_test (test_refused),
        cmocka_unit_test (test_deadline),    cmocka_unit_test (test_array),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
