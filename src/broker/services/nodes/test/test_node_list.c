/* test_node_list.c - the list of nodes: amounts, jobs, queues and reservations of each */
#include "broker/core/test/fake_http.h"

#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

static json_t *get (struct small *s, uid_t uid, const char *head)
{
    struct client *c = client_call (s, uid, head, NULL);

    assert_int_equal (c->status, 200);
    json_t *all = json_loads (c->text, 0, NULL);
    json_t *list = json_incref (json_object_get (all, "nodes"));
    json_decref (all);
    return list;
}

static int64_t number (const json_t *list, size_t i, const char *key)
{
    const json_t *value = json_object_get (json_array_get (list, i), key);

    assert_true (json_is_integer (value));
    return json_integer_value (value);
}

static size_t jobs_on (const json_t *list, size_t i)
{
    return json_array_size (json_object_get (json_array_get (list, i), "jobs"));
}

static const char *text (const json_t *list, size_t i, const char *key)
{
    return json_string_value (json_object_get (json_array_get (list, i), key));
}

static void run (struct small *s, int jobs)
{
    for (int i = 0; i < jobs; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
}

static void test_amounts_and_jobs (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    run (s, 6);
    autojson json_t *list = get (s, USER, "GET /v1/nodes");
    assert_int_equal (json_array_size (list), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal (text (list, i, "name"), i ? "node1" : "node0");
        assert_string_equal (text (list, i, "state"), "up");
        assert_int_equal (number (list, i, "cores"), 4);
        assert_int_equal (number (list, i, "cores_used") + number (list, i, "cores_free"),
                          4);
        assert_int_equal (number (list, i, "njobs"), jobs_on (list, i));
        assert_null (text (list, i, "reservation"));
    }
    assert_int_equal (number (list, 0, "cores_used") + number (list, 1, "cores_used"), 6);
    small_destroy (s);
}

/* Named nodes come in the order of the request, each once. */
static void test_names (void **unused)
{
    struct small *s = small_create (3);

    (void)unused;
    autojson json_t *list = get (s, USER, "GET /v1/nodes?names=node2,node[0-2]");
    assert_int_equal (json_array_size (list), 3);
    assert_string_equal (text (list, 0, "name"), "node2");
    assert_string_equal (text (list, 1, "name"), "node0");
    autojson json_t *queue = get (s, USER, "GET /v1/nodes?queue=batch&names=node1");
    assert_int_equal (json_array_size (queue), 1);
    small_destroy (s);
}

static void test_refused (void **unused)
{
    static const struct {
        const char *head;
        int status;
        const char *code;
    } table[] = {
        { "GET /v1/nodes?names=node9", 404, "unknown-node" },
        { "GET /v1/nodes?names=node[", 400, "names" },
        { "GET /v1/nodes?queue=debug", 404, "unknown-queue" },
        { "GET /v1/nodes?names=node0&queue=debug", 404, "unknown-queue" },
    };
    struct small *s = small_create (1);

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        struct client *c = client_call (s, USER, table[i].head, NULL);
        if (c->status != table[i].status || !strstr (c->text, table[i].code))
            fail_msg ("%s: %d %s", table[i].head, c->status, c->text);
    }
    small_destroy (s);
}

/* private: [jobs] hides the jobs of others, and the reason of a node if it names one. */
static void test_private (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    run (s, 2);
    small_set (s, "private", json_pack ("[s]", "jobs"));
    autojson json_t *own = get (s, USER, "GET /v1/nodes");
    autojson json_t *other = get (s, OTHER, "GET /v1/nodes");
    autojson json_t *all = get (s, OPERATOR, "GET /v1/nodes");
    assert_int_equal (jobs_on (own, 0), 2);
    assert_int_equal (jobs_on (other, 0), 0);
    assert_int_equal (jobs_on (all, 0), 2);
    assert_int_equal (number (other, 0, "cores_used"), 2);
    small_destroy (s);
}

static struct client *reserve (struct small *s, const char *rest)
{
    char body[300];

    snprintf (body, sizeof (body),
              "{\"name\":\"r\",\"duration\":100,\"nodes\":\"node0\"%s}", rest);
    s->works = true;
    client_ask (s, OPERATOR, "POST /v1/reservations", body);
    small_turn (s);
    return client_call (s, OPERATOR, "GET /v1/reservations", NULL);
}

/* In a reservation that is active, the free amounts are those that its jobs may use. */
static void test_reservation (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    assert_non_null (strstr (reserve (s, ",\"users\":[\"root\"]")->text, "\"r\""));
    autojson json_t *list = get (s, USER, "GET /v1/nodes");
    assert_string_equal (text (list, 0, "reservation"), "r");
    assert_true (
        json_is_true (json_object_get (json_array_get (list, 0), "reservation_active")));
    assert_int_equal (number (list, 0, "cores_free"), 4);
    assert_null (text (list, 1, "reservation"));
    small_destroy (s);

    s = small_create (2);
    assert_non_null (strstr (reserve (s, ",\"maintenance\":true")->text, "\"r\""));
    autojson json_t *closed = get (s, USER, "GET /v1/nodes");
    assert_true (
        json_is_true (json_object_get (json_array_get (closed, 0), "maintenance")));
    assert_int_equal (number (closed, 0, "cores_free"), 0);
    assert_int_equal (number (closed, 1, "cores_free"), 4);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    assert_true (client_call (s, USER, "GET /v1/nodes", NULL)->ended);
    small_finish (s, 1, "ended");
    assert_true (client_call (s, USER, "GET /v1/nodes?names=node0", NULL)->ended);
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
        cmocka_unit_test (test_amounts_and_jobs), cmocka_unit_test (test_names),
        cmocka_unit_test (test_refused),          cmocka_unit_test (test_private),
        cmocka_unit_test (test_reservation),      cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
