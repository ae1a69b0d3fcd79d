/* test_admin.c - the status of the broker, and the configuration that is read again */
#include "broker/core/test/fake_http.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/io.h"

#define USER 1000
#define OPERATOR 0

static int64_t number (const json_t *o, const char *part, const char *key)
{
    const json_t *value = json_object_get (json_object_get (o, part), key);

    assert_true (json_is_integer (value));
    return json_integer_value (value);
}

/* Jobs and nodes are counted, and services add their figures. */
static void test_status (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    s->b->host.state_dir = "/state";
    for (int i = 0; i < 9; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    small_finish (s, 1, "ended");
    struct client *c = client_call (s, OPERATOR, "POST /v1/nodes/node1",
                                    "{\"action\":\"drain\",\"reason\":\"fan\"}");
    assert_int_equal (c->status, 200);
    c = client_call (s, USER, "GET /v1/status", NULL);
    assert_int_equal (c->status, 200);
    autojson json_t *o = json_loads (c->text, 0, NULL);
    assert_string_equal (json_string_value (json_object_get (o, "state_dir")), "/state");
    assert_int_equal (number (o, "jobs", "pending"), 0);
    assert_int_equal (number (o, "jobs", "running"), 8);
    assert_int_equal (number (o, "jobs", "finished"), 1);
    assert_int_equal (number (o, "nodes", "up"), 1);
    assert_int_equal (number (o, "nodes", "drained"), 1);
    assert_int_equal (number (o, "nodes", "down"), 0);
    assert_true (json_is_false (json_object_get (o, "recovering")));
    assert_int_equal (number (o, "usage", "jobs"), 0);      /* userlimits.c */
    assert_int_equal (number (o, "journal", "removed"), 0); /* retention.c */
    small_destroy (s);
}

/* Only an operator may read the configuration again; a wrong file changes nothing. */
static void test_reload (void **unused)
{
    char path[] = "/tmp/test_admin.XXXXXX";
    struct small *s = small_create (1);
    struct error err;
    int fd = mkstemp (path);

    (void)unused;
    assert_true (fd >= 0);
    close (fd);
    struct client *c = client_call (s, OPERATOR, "POST /v1/reload", "{}");
    assert_int_equal (c->status, 400);
    assert_non_null (strstr (c->text, "no configuration file"));
    s->config->path = strdup (path);
    assert_int_equal (client_call (s, USER, "POST /v1/reload", "{}")->status, 403);
    const char *wrong = "grace: 5\nusr-jobs-max: 7\n";
    assert_int_equal (io_write_file_atomic (path, wrong, strlen (wrong), 0600, &err), 0);
    c = client_call (s, OPERATOR, "POST /v1/reload", "{}");
    assert_int_equal (c->status, 400);
    assert_non_null (strstr (c->text, ":2:1: unknown key 'usr-jobs-max'"));
    assert_true (broker_config (s->b)->grace == 30);
    small_destroy (s);
    unlink (path);
}

static void scenario (struct small *s)
{
    s->b->host.state_dir = "/state";
    small_submit (s, "duration: 0");
    small_turn (s);
    assert_true (client_call (s, USER, "GET /v1/status", NULL)->ended);
    small_finish (s, 1, "ended");
    assert_true (client_call (s, OPERATOR, "POST /v1/reload", "{}")->ended);
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
        cmocka_unit_test (test_status),
        cmocka_unit_test (test_reload),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
