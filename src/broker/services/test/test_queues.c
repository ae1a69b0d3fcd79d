/* test_queues.c - the list of queues, and queues that an operator stops and starts */
#include "broker/core/test/fake_http.h"

#include <string.h>

#include "broker/config/config.h"

#define USER 1000
#define OPERATOR 0
#define SET "POST /v1/queues/batch"

/* The queue "batch" in an operator's list. */
static json_t *batch (struct small *s, json_t **ret_all)
{
    struct client *c = client_call (s, OPERATOR, "GET /v1/queues", NULL);

    assert_int_equal (c->status, 200);
    *ret_all = json_loads (c->text, 0, NULL);
    json_t *list = json_object_get (*ret_all, "queues");
    assert_int_equal (json_array_size (list), 1);
    return json_array_get (list, 0);
}

static void expect_counts (struct small *s, int pending, int running, int nodes)
{
    autojson json_t *all = NULL;
    const json_t *q = batch (s, &all);

    assert_int_equal (json_integer_value (json_object_get (q, "pending")), pending);
    assert_int_equal (json_integer_value (json_object_get (q, "running")), running);
    assert_int_equal (json_integer_value (json_object_get (q, "nodes_used")), nodes);
}

static void test_counts (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    expect_counts (s, 0, 0, 0);
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    expect_counts (s, 2, 4, 4);
    small_finish (s, 1, "ended");
    expect_counts (s, 1, 4, 4);
    small_destroy (s);
}

/* Tasks that run are jobs of their own; the array itself counts while tasks wait. */
static void test_arrays (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_submit (s, "duration: 0, fluxq: {array: \"1-3\"}");
    small_turn (s);
    expect_counts (s, 0, 3, 3);
    small_submit (s, "duration: 0, fluxq: {array: \"1-3\"}");
    small_turn (s);
    expect_counts (s, 1, 4, 4);
    small_destroy (s);
}

/* The file's settings, and who may submit: null means that the list does not exist. */
static void test_settings (void **unused)
{
    struct small *s = small_create (1);
    autojson json_t *all = NULL, *other = NULL;

    (void)unused;
    small_set (s, "queues",
               json_pack ("{s:{s:i, s:i, s:i, s:[s]}}", "batch", "max-time", 3600,
                          "max-nodes", 4, "priority", 7, "groups", "staff"));
    const json_t *q = batch (s, &all);
    assert_true (json_is_true (json_object_get (q, "default")));
    assert_true (json_is_true (json_object_get (q, "started")));
    assert_true (json_real_value (json_object_get (q, "max_time")) == 3600);
    assert_int_equal (json_integer_value (json_object_get (q, "max_nodes")), 4);
    assert_int_equal (json_integer_value (json_object_get (q, "priority")), 7);
    assert_int_equal (json_array_size (json_object_get (q, "users")), 0);
    assert_true (json_is_array (json_object_get (q, "users")));
    assert_int_equal (json_array_size (json_object_get (q, "groups")), 1);
    small_set (s, "queues", json_pack ("{s:{}}", "batch"));
    q = batch (s, &other);
    assert_true (json_is_null (json_object_get (q, "users")));
    assert_true (json_is_null (json_object_get (q, "groups")));
    small_destroy (s);
}

/* A stopped queue takes jobs and starts none; the answer waits for the disk. */
static void test_stop_and_start (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = client_ask (s, OPERATOR, SET, "{\"action\":\"stop\"}");
    assert_false (c->ended);
    small_turn (s);
    assert_int_equal (c->status, 200);
    assert_string_equal (small_setting ("queue/batch"), "stopped");
    small_submit (s, "duration: 0");
    small_turn (s);
    expect_counts (s, 1, 0, 0);
    assert_int_equal (client_call (s, OPERATOR, SET, "{\"action\":\"start\"}")->status,
                      200);
    assert_string_equal (small_setting ("queue/batch"), "started");
    small_advance (s, 1);
    expect_counts (s, 0, 1, 1);
    small_destroy (s);
}

/* Nothing changes when a request is refused. */
static void test_refused (void **unused)
{
    struct small *s = small_create (1);
    struct client *c = client_call (s, USER, SET, "{\"action\":\"stop\"}");

    (void)unused;
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "not-operator"));
    assert_int_equal (client_call (s, OPERATOR, SET, "{\"action\":\"drain\"}")->status,
                      400);
    assert_int_equal (client_call (s, OPERATOR, SET, "{}")->status, 400);
    assert_int_equal (client_call (s, OPERATOR, SET, "[")->status, 400);
    c = client_call (s, OPERATOR, "POST /v1/queues/debug", "{\"action\":\"stop\"}");
    assert_int_equal (c->status, 404);
    assert_non_null (strstr (c->text, "unknown-queue"));
    assert_true (s->config->queues[0].started);
    assert_null (small_setting ("queue/batch"));
    small_destroy (s);
}

/* The queue is stopped exactly if the answer says so, even if the disk does not have it. */
static void scenario (struct small *s)
{
    for (int i = 0; i < 5; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    client_call (s, USER, "GET /v1/queues", NULL);
    struct client *c = client_call (s, OPERATOR, SET, "{\"action\":\"stop\"}");
    assert_true (c->ended);
    bool done = c->status == 200 || strstr (c->text, "done, but");
    assert_true (s->config->queues[0].started != done);
    client_call (s, OPERATOR, SET, "{\"action\":\"start\"}");
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
        cmocka_unit_test (test_counts),    cmocka_unit_test (test_arrays),
        cmocka_unit_test (test_settings),  cmocka_unit_test (test_stop_and_start),
        cmocka_unit_test (test_refused),   cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
