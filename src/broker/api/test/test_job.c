/* test_job.c - requests about a job that only the journal knows */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#include "broker/api/privacy.h"

#define USER 1000

/* Job 1 has ended, and task 1 of array 2 runs; only the journal knows them. */
static void begin (struct small *s)
{
    long countdown = small_spare ();

    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    small_finish (s, 1, "exited");
    small_submit (s, "duration: 60, fluxq: {array: \"1-2\"}");
    small_turn (s);
    for (uint64_t id = 1; id <= 4; id++) {
        struct entry *e = entry_find (s->b, id);
        if (e) {
            match_cancel (s->b->matcher, id);
            broker_act (s->b, e, JOB_ACT_DEQUEUE);
            entry_remove (s->b, e);
        }
    }
    small_resume (countdown);
}

static const char *const paths[] = { "1", "1/events", "1/jobspec", "1/wait",
                                     "2", "2_1",      "2_2/events" };

static struct client *ask (struct small *s, uid_t uid, const char *path)
{
    char head[100];

    snprintf (head, sizeof (head), "GET /v1/jobs/%s", path);
    return client_call (s, uid, head, NULL);
}

static void test_found (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    for (size_t i = 0; i < ARRAY_SIZE (paths); i++) {
        struct client *c = ask (s, USER, paths[i]);
        if (c->status != 200)
            fail_msg ("%s: %d, %s", paths[i], c->status, c->text);
    }
    assert_non_null (strstr (ask (s, USER, "1/events")->text, "\"finish\""));
    assert_int_equal (ask (s, USER, "7")->status, 404);
    assert_int_equal (ask (s, USER, "2_3")->status, 404);
    small_destroy (s);
}

/* A job that the client may not see is unknown to the client, and to nobody else. */
static void test_private (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    s->config->private_parts = PRIVATE_JOBS;
    assert_int_equal (ask (s, USER + 1, "1")->status, 404);
    assert_int_equal (ask (s, USER, "1")->status, 200);
    assert_int_equal (ask (s, 0, "1")->status, 200);
    small_destroy (s);
}

/* A job is not unknown because the broker has no memory for the answer. */
static void scenario (struct small *s)
{
    begin (s);
    for (size_t i = 0; i < ARRAY_SIZE (paths); i++) {
        struct client *c = ask (s, USER, paths[i]);
        if (c->status != 200 && c->status != 503)
            fail_msg ("%s: %d, %s", paths[i], c->status, c->text);
        if (!strcmp (paths[i], "1/events") && c->status == 200)
            assert_non_null (strstr (c->text, "\"finish\""));
    }
}

static void many (struct small *s)
{
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    struct client *c = client_call (s, USER, "GET /v1/descriptions", NULL);
    if (c->status != 200 && c->status != 503)
        fail_msg ("%d, %s", c->status, c->text);
    client_leave (client_ask (s, USER, "GET /v1/descriptions", NULL));
    small_turn (s);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
    small_torture (1, many);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, many);
}

/* One answer has all jobs, read in batches, without those that go meanwhile. */
static void test_descriptions (void **unused)
{
    struct small *s = small_create (1);
    struct strbuf all = STRBUF_INIT (1 << 20);
    json_t *answer, *job;
    size_t i;

    (void)unused;
    for (i = 0; i < 40; i++)
        small_submit (s, "duration: 60, job: {name: a}");
    small_turn (s);
    struct client *c = client_call (s, USER, "GET /v1/descriptions?name=a", NULL);
    assert_int_equal (c->status, 200);
    assert_false (c->ended);
    entry_remove (s->b, entry_find (s->b, 39));
    for (bool ended = false; !ended;) {
        ended = c->ended;
        strbuf_adds (&all, c->text);
        client_take (c);
        small_turn (s);
    }
    answer = json_loads (all.buf, 0, NULL);
    assert_non_null (answer);
    assert_int_equal (json_array_size (json_object_get (answer, "jobs")), 39);
    json_array_foreach (json_object_get (answer, "jobs"), i, job) {
        assert_int_equal (json_integer_value (json_object_get (job, "id")),
                          i < 38 ? i + 1 : 40);
        assert_non_null (json_object_get (job, "request"));
    }
    json_decref (answer);
    assert_string_equal (client_call (s, USER, "GET /v1/descriptions?name=b", NULL)->text,
                         "{\"jobs\":[]}");
    assert_int_equal (client_call (s, USER, "GET /v1/descriptions?state=x", NULL)->status,
                      400);
    strbuf_release (&all);
    small_destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_found),        cmocka_unit_test (test_private),
        cmocka_unit_test (test_descriptions), cmocka_unit_test (test_no_memory),
        cmocka_unit_test (test_jobs_vanish),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
