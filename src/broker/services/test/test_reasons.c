/* test_reasons.c - why jobs wait, for which jobs, and when they are expected to start */
#include "broker/core/test/fake_http.h"

#include <string.h>

#define USER 1000
#define OPERATOR 0
#define LIST                                                                             \
    "GET /v1/jobs?fields=id,reason,reason_text,jobs_ahead,expected_start,blocking_jobs"

/* The job's row; *ret_all is the caller's. */
static json_t *row (struct small *s, uint64_t id, json_t **ret_all)
{
    struct client *c = client_call (s, USER, LIST, NULL);
    size_t i;
    json_t *job;

    assert_int_equal (c->status, 200);
    *ret_all = json_loads (c->text, 0, NULL);
    json_array_foreach (json_object_get (*ret_all, "jobs"), i, job) {
        if ((uint64_t)json_integer_value (json_object_get (job, "id")) == id)
            return job;
    }
    return NULL;
}

static void expect (struct small *s, uint64_t id, const char *word, const char *text)
{
    autojson json_t *all = NULL;
    const json_t *job = row (s, id, &all);
    const char *has = json_string_value (json_object_get (job, "reason"));
    const char *sentence = json_string_value (json_object_get (job, "reason_text"));

    if (!has || strcmp (has, word) != 0 || !sentence || !strstr (sentence, text))
        fail_msg ("job %ju: %s: %s, not %s: %s", (uintmax_t)id, has ? has : "none",
                  sentence ? sentence : "none", word, text);
}

/* Jobs 1 to 4 use the only node's cores for so long. */
static struct small *full (const char *system)
{
    struct small *s = small_create (1);

    for (int i = 0; i < 4; i++)
        small_submit (s, system);
    small_turn (s);
    return s;
}

static void submit (struct small *s, const char *system)
{
    assert_non_null (small_submit (s, system));
    small_turn (s);
}

static void test_plan (void **unused)
{
    struct small *s = full ("duration: 60");
    autojson json_t *first = NULL, *second = NULL;

    (void)unused;
    submit (s, "duration: 60");
    submit (s, "duration: 60");
    expect (s, 5, "Resources", "needs 1 core in all, 0 are free now");
    expect (s, 6, "Resources", "1 job ahead");
    const json_t *job = row (s, 5, &first);
    assert_int_equal (json_integer_value (json_object_get (job, "jobs_ahead")), 0);
    assert_true (json_number_value (json_object_get (job, "expected_start"))
                 >= SMALL_START + 59);
    assert_true (json_array_size (json_object_get (job, "blocking_jobs")) > 0);
    job = row (s, 6, &second);
    assert_int_equal (json_integer_value (json_object_get (job, "jobs_ahead")), 1);
    small_destroy (s);
}

/* A running job has no reason. */
static void test_running (void **unused)
{
    struct small *s = full ("duration: 60");
    autojson json_t *all = NULL;

    (void)unused;
    const json_t *job = row (s, 1, &all);
    const char *word = json_string_value (json_object_get (job, "reason"));
    assert_true (!word || !*word);
    assert_true (json_is_null (json_object_get (job, "expected_start")));
    assert_int_equal (json_array_size (json_object_get (job, "blocking_jobs")), 0);
    small_destroy (s);
}

/* A hold takes precedence over a dependency, and a dependency over the plan. */
static void test_order_of_services (void **unused)
{
    struct small *s = full ("duration: 60");
    const char *system = "duration: 60, dependencies: [{scheme: afterok, value: \"1\"}]";
    autojson json_t *all = NULL;

    (void)unused;
    submit (s, system);
    small_advance (s, 1);
    expect (s, 5, "Dependency", "waits for job 1 to succeed");
    const json_t *job = row (s, 5, &all);
    const json_t *ids = json_object_get (job, "blocking_jobs");
    assert_int_equal (json_array_size (ids), 1);
    assert_int_equal (json_integer_value (json_array_get (ids, 0)), 1);
    struct client *c =
        client_call (s, USER, "POST /v1/jobs/5/urgency", "{\"urgency\":0}");
    assert_int_equal (c->status, 200);
    expect (s, 5, "JobHeldUser", "held by its user; release it with fluxq-ctl release 5");
    c = client_call (s, OPERATOR, "POST /v1/jobs/5/urgency",
                     "{\"urgency\":0,\"reason\":\"later\"}");
    assert_int_equal (c->status, 200);
    expect (s, 5, "JobHeldAdmin", "held by operator: later");
    small_destroy (s);
}

static void test_array (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    submit (s, "duration: 60, fluxq: {array: \"1-4%2\"}");
    expect (s, 1, "JobArrayTaskLimit", "2 of its tasks run, and at most 2 may run");
    small_destroy (s);
}

/* After a start the nodes are not known at first. */
static void test_recovering (void **unused)
{
    struct small *s = full ("duration: 60");
    autojson json_t *all = NULL;

    (void)unused;
    submit (s, "duration: 60");
    s->b->recovering = true;
    const json_t *job = row (s, 5, &all);
    const char *text = json_string_value (json_object_get (job, "reason_text"));
    assert_non_null (strstr (text, "does not know its nodes yet"));
    assert_true (json_is_null (json_object_get (job, "expected_start")));
    s->b->recovering = false;
    small_destroy (s);
}

/* The note of the last start follows the reason. */
static void test_note (void **unused)
{
    struct small *s = full ("duration: 60");

    (void)unused;
    submit (s, "duration: 60");
    entry_set_note (entry_find (s->b, 5), "the image is missing");
    expect (s, 5, "Resources", "; last start: the image is missing");
    small_destroy (s);
}

/* GET /v1/jobs/ID: the earliest start of a job that has no planned one. */
static void test_not_before (void **unused)
{
    struct small *s = full ("duration: 60");

    (void)unused;
    for (int i = 0; i < 3; i++)
        submit (s, "duration: 60");
    struct client *c = client_call (s, USER, "GET /v1/jobs/7", NULL);
    assert_int_equal (c->status, 200);
    autojson json_t *o = json_loads (c->text, 0, NULL);
    assert_non_null (json_object_get (o, "not_before"));
    assert_true (json_number_value (json_object_get (o, "not_before"))
                 >= SMALL_START + 59);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 5; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    assert_true (client_call (s, USER, LIST, NULL)->ended);
    assert_true (client_call (s, USER, "GET /v1/jobs/5", NULL)->ended);
    small_finish (s, 1, "ended");
    assert_true (client_call (s, USER, LIST, NULL)->ended);
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
        cmocka_unit_test (test_plan),
        cmocka_unit_test (test_running),
        cmocka_unit_test (test_order_of_services),
        cmocka_unit_test (test_array),
        cmocka_unit_test (test_recovering),
        cmocka_unit_test (test_note),
        cmocka_unit_test (test_not_before),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
