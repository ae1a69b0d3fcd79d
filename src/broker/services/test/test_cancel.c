/* test_cancel.c - jobs are cancelled, and signals sent, by id or by filter */
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

/* Jobs 1 to 4 run on the only node, further jobs are pending. */
static struct small *some (int waiting)
{
    struct small *s = small_create (1);

    for (int i = 0; i < 4 + waiting; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    for (uint64_t id = 1; id <= 4; id++)
        small_ready (s, id);
    return s;
}

static struct client *ask (struct small *s, uid_t uid, const char *body)
{
    return client_ask (s, uid, "POST /v1/cancel", body);
}

/* A cancel takes one turn for each step of its work. */
static struct client *cancel (struct small *s, uid_t uid, const char *body)
{
    return client_call (s, uid, "POST /v1/cancel", body);
}

static enum job_state state_of (struct small *s, uint64_t id)
{
    return entry_job (entry_find (s->b, id))->state;
}

/* "1,5": the ids in the answer that are done. */
static const char *done (const struct client *c)
{
    static char text[1000];
    autojson json_t *o = json_loads (c->text, 0, NULL);
    json_t *id;
    size_t i;

    assert_int_equal (c->status, 200);
    text[0] = '\0';
    json_array_foreach (json_object_get (o, "done"), i, id) {
        size_t len = strlen (text);
        snprintf (text + len, sizeof (text) - len, "%s%jd", i ? "," : "",
                  (intmax_t)json_integer_value (id));
    }
    return text;
}

/* "CODE ID" of the first failure; "" if there is none. */
static const char *failure (const struct client *c)
{
    static char text[100];
    autojson json_t *o = json_loads (c->text, 0, NULL);
    const json_t *first = json_array_get (json_object_get (o, "failed"), 0);

    assert_int_equal (c->status, 200);
    snprintf (text, sizeof (text), "%s", "");
    if (first)
        snprintf (text, sizeof (text), "%s %jd",
                  json_string_value (json_object_get (first, "code")),
                  (intmax_t)json_integer_value (json_object_get (first, "id")));
    return text;
}

/* The answer comes when the events are on disk. */
static void test_ids (void **unused)
{
    struct small *s = some (2);

    (void)unused;
    struct client *c = ask (s, USER, "{\"ids\":\"1,5\",\"note\":\"no use\"}");
    assert_int_equal (state_of (s, 5), JOB_INACTIVE);
    assert_false (c->ended);
    assert_null (strstr (s->told, "terminate"));
    small_turn (s);
    assert_string_equal (done (c), "1,5");
    assert_non_null (strstr (s->told, "terminate 1 cancel"));
    assert_non_null (strstr (small_context (5, "exception"), "\"note\":\"no use\""));
    assert_int_equal (state_of (s, 6), JOB_SCHED);
    small_finish (s, 1, "cancelled");
    assert_int_equal (state_of (s, 6), JOB_RUN);
    small_destroy (s);
}

static void test_failures (void **unused)
{
    struct small *s = some (0);

    (void)unused;
    assert_string_equal (failure (cancel (s, USER, "{\"ids\":\"77\"}")),
                         "unknown-job 77");
    assert_string_equal (failure (cancel (s, OTHER, "{\"ids\":\"1\"}")), "not-owner 1");
    small_finish (s, 1, "ended");
    assert_string_equal (failure (cancel (s, USER, "{\"ids\":\"1\"}")), "wrong-state 1");
    assert_string_equal (failure (cancel (s, USER, "{\"ids\":\"2_1\"}")),
                         "unknown-job 2");
    assert_null (strstr (small_events (s, 0), "exception"));
    small_destroy (s);
}

static void test_refused (void **unused)
{
    static const char *const bodies[] = { "{}",
                                          "{\"ids\":\"x\"}",
                                          "{\"ids\":\"1\",\"signal\":65}",
                                          "{\"ids\":\"1\",\"whom\":\"all\"}",
                                          "{\"ids\":\"1\",\"whom\":\"full\"}",
                                          "{\"ids\":\"1\",\"note\":\"a\\u0007\"}",
                                          "{\"ids\":\"1\",\"force\":true}",
                                          "{\"state\":\"sleepy\"}" };
    struct small *s = some (0);

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (bodies); i++)
        assert_int_equal (cancel (s, USER, bodies[i])->status, 400);
    assert_null (strstr (small_events (s, 0), "exception"));
    small_destroy (s);
}

/* A filter of a user selects the user's own jobs, a filter of an operator all jobs.
 * Ended jobs are not failures. */
static void test_filter (void **unused)
{
    struct small *s = some (3);

    (void)unused;
    entry_job (entry_find (s->b, 5))->userid = OTHER;
    small_finish (s, 1, "ended"); /* job 5 starts */
    struct client *c = cancel (s, USER, "{\"state\":\"pending\"}");
    assert_string_equal (done (c), "6,7");
    assert_string_equal (failure (c), "");
    assert_string_equal (done (cancel (s, USER, "{\"user\":\"me\"}")), "2,3,4");
    assert_string_equal (done (cancel (s, USER, "{\"queue\":\"nowhere\"}")), "");
    assert_string_equal (done (cancel (s, OPERATOR, "{\"state\":\"running\"}")),
                         "2,3,4,5");
    assert_string_equal (done (cancel (s, USER, "{\"ids\":\"100-200\"}")), "");
    small_destroy (s);
}

/* A cancel reaches the pending tasks of an array, and the array as a whole. */
static void test_array (void **unused)
{
    struct small *s = some (0);

    (void)unused;
    small_submit (s, "duration: 0, fluxq: {array: \"1-4\"}");
    small_turn (s);
    assert_string_equal (done (cancel (s, USER, "{\"ids\":\"5_[2-3]\"}")), "5");
    const struct job_array *a = entry_job (entry_find (s->b, 5))->array;
    assert_int_equal (idset_count (a->cancelled), 2);
    assert_true (idset_has (a->waiting, 1) && idset_has (a->waiting, 4));
    assert_string_equal (failure (cancel (s, USER, "{\"ids\":\"5_9\"}")),
                         "wrong-state 5");
    assert_string_equal (failure (cancel (s, USER, "{\"ids\":\"5_1\",\"signal\":10}")),
                         "wrong-state 5");
    assert_string_equal (done (cancel (s, USER, "{\"ids\":\"5\"}")), "5");
    assert_int_equal (state_of (s, 5), JOB_INACTIVE);
    small_destroy (s);
}

/* A signal counts as sent when the agent reports this. */
static void test_signal (void **unused)
{
    struct small *s = some (1);

    (void)unused;
    struct client *c = cancel (s, USER, "{\"ids\":\"1,2\",\"signal\":10}");
    assert_non_null (strstr (s->told, "signal 1 10 tasks, signal 2 10 tasks"));
    assert_false (c->ended);
    small_signalled (s, 0);
    assert_string_equal (done (c), "1,2");
    c = cancel (s, USER, "{\"ids\":\"1\",\"signal\":9,\"step\":3}");
    assert_non_null (strstr (s->told, "signal 1 9 step 3"));
    small_signalled (s, -ENOENT);
    assert_string_equal (failure (c), "wrong-state 1");
    c = cancel (s, USER, "{\"ids\":\"1\",\"signal\":10,\"whom\":\"full\"}");
    small_signalled (s, -ECONNREFUSED);
    assert_string_equal (failure (c), "agent-unreachable 1");
    c = cancel (s, USER, "{\"ids\":\"5\",\"signal\":10}");
    assert_string_equal (failure (c), "wrong-state 5"); /* the job does not run */
    c = cancel (s, USER, "{\"ids\":\"1\",\"signal\":10,\"whom\":\"batch\"}");
    assert_string_equal (failure (c), "wrong-state 1"); /* the job has no script */
    s->agents_away = true;
    c = cancel (s, USER, "{\"ids\":\"1\",\"signal\":10}");
    assert_string_equal (failure (c), "busy 1");
    assert_null (strstr (small_events (s, 0), "exception"));
    small_destroy (s);
}

/* Each request waits 5 s for its agents, and not longer because of a later request. */
static void test_no_answer (void **unused)
{
    struct small *s = some (0);

    (void)unused;
    struct client *first = cancel (s, USER, "{\"ids\":\"1\",\"signal\":10}");
    small_advance (s, 3);
    struct client *second = cancel (s, USER, "{\"ids\":\"2\",\"signal\":10}");
    small_advance (s, 1.9);
    assert_false (first->ended);
    small_advance (s, 0.2);
    assert_string_equal (failure (first), "agent-unreachable 1");
    assert_false (second->ended);
    small_advance (s, 3);
    assert_string_equal (failure (second), "agent-unreachable 2");
    small_signalled (s, 0); /* too late */
    assert_string_equal (done (first), "");
    small_destroy (s);
}

/* The broker stops meanwhile: a client that waits for agents gets an answer. */
static void test_stop (void **unused)
{
    struct small *s = some (0);

    (void)unused;
    struct client *c = cancel (s, USER, "{\"ids\":\"1\",\"signal\":10}");
    services_call (stop, s->b);
    small_turn (s);
    assert_string_equal (failure (c), "agent-unreachable 1");
    c = cancel (s, USER, "{\"ids\":\"2\",\"signal\":10}");
    assert_false (c->ended);
    small_destroy (s); /* the agent's answer comes with the end */
}

/* Each job is in the answer: done, or failed and why. */
static void answered_for (const struct client *c, size_t jobs)
{
    assert_true (c->ended);
    if (c->status != 200)
        return;
    long countdown = small_spare ();
    autojson json_t *o = json_loads (c->text, 0, NULL);
    assert_int_equal (json_array_size (json_object_get (o, "done"))
                          + json_array_size (json_object_get (o, "failed")),
                      jobs);
    small_resume (countdown);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    small_ready (s, 1);
    struct client *signals = cancel (s, USER, "{\"ids\":\"1,2,5\",\"signal\":10}");
    struct client *cancels = cancel (s, USER, "{\"ids\":\"1,5,77\",\"note\":\"x\"}");
    small_signalled (s, 0);
    small_advance (s, 10);
    answered_for (signals, 3);
    answered_for (cancels, 3);
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
        cmocka_unit_test (test_ids),         cmocka_unit_test (test_failures),
        cmocka_unit_test (test_refused),     cmocka_unit_test (test_filter),
        cmocka_unit_test (test_array),       cmocka_unit_test (test_signal),
        cmocka_unit_test (test_no_answer),   cmocka_unit_test (test_stop),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
