/* test_watch.c - requests that wait for a job's result, for changes, for a commit */
#include "broker/core/test/fake_http.h"

#include <string.h>

#define USER 1000

static uint64_t start_one (struct small *s)
{
    uint64_t id = entry_id (small_submit (s, "duration: 60"));

    small_turn (s);
    small_ready (s, id);
    return id;
}

/* -- GET /v1/jobs/ID/wait -- */

static void test_result (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_one (s);
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    small_turn (s);
    assert_int_equal (c->status, 200);
    assert_false (c->ended);
    assert_string_equal (c->text, "");
    small_finish (s, 1, "exited");
    assert_true (c->ended);
    assert_non_null (strstr (c->text, "\"state\":\"COMPLETED\",\"exit_code\":0"));
    struct client *late = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    assert_true (late->ended);
    assert_string_equal (late->text, c->text);
    small_destroy (s);
}

/* The client of one of two requests closes. */
static void test_waiter_leaves (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_one (s);
    struct client *a = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    struct client *b = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    client_leave (a);
    small_finish (s, 1, "exited");
    assert_string_equal (a->text, "");
    assert_non_null (strstr (b->text, "COMPLETED"));
    small_destroy (s);
}

/* The stream ends without a result, so the client asks again. */
static void test_waiter_loses_job (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_one (s);
    struct client *c = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    entry_remove (s->b, entry_find (s->b, 1));
    assert_true (c->ended);
    assert_string_equal (c->text, "");
    small_destroy (s);
}

static void test_stop (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_one (s);
    struct client *a = client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    struct client *b = client_ask (s, USER, "GET /v1/watch", NULL);
    services_call (stop, s->b);
    assert_true (a->ended);
    assert_true (b->ended);
    small_destroy (s);
}

/* -- GET /v1/watch -- */

/* An event is reported when it is on disk, with the state of that time. */
static void test_changes (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = client_ask (s, USER, "GET /v1/watch", NULL);
    assert_string_equal (c->text, "{\"sync\":true}\n");
    client_take (c);
    small_submit (s, "duration: 60");
    assert_string_equal (c->text, "");
    small_turn (s);
    assert_non_null (strstr (c->text, "{\"id\":1,\"event\":\"alloc\",\"state\":"));
    assert_null (strstr (c->text, "\"event\":\"start\""));
    small_ready (s, 1);
    assert_non_null (strstr (c->text, "\"event\":\"start\",\"state\":\"RUNNING\""));
    client_leave (c);
    client_take (c);
    small_finish (s, 1, "exited");
    assert_string_equal (c->text, "");
    small_destroy (s);
}

static void test_filter (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = client_ask (s, USER, "GET /v1/watch?ids=2&user=me", NULL);
    struct client *other = client_ask (s, 1001, "GET /v1/watch?user=me", NULL);
    start_one (s);
    assert_string_equal (c->text, "{\"sync\":true}\n");
    start_one (s);
    assert_non_null (strstr (c->text, "{\"id\":2,"));
    assert_string_equal (other->text, "{\"sync\":true}\n");
    struct client *bad = client_ask (s, USER, "GET /v1/watch?ids=x", NULL);
    assert_int_equal (bad->status, 400);
    small_destroy (s);
}

/* -- replies after the commit -- */

static void test_reply_after_commit (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    start_one (s);
    struct client *a = client_ask (s, USER, "POST /v1/jobs/1/limit", "{\"limit\": 30}");
    struct client *gone =
        client_ask (s, USER, "POST /v1/jobs/1/limit", "{\"limit\": 20}");
    assert_int_equal (a->status, 0);
    client_leave (gone);
    small_turn (s);
    assert_int_equal (a->status, 200);
    small_destroy (s);
}

/* -- faults -- */

static void scenario (struct small *s)
{
    struct client *all = client_ask (s, USER, "GET /v1/watch?user=me", NULL);

    small_submit (s, "duration: 60");
    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    client_ask (s, USER, "GET /v1/jobs/1/wait", NULL);
    struct client *leaves = client_ask (s, USER, "GET /v1/jobs/2/wait", NULL);
    client_ask (s, USER, "GET /v1/jobs/2/wait", NULL);
    client_ask (s, USER, "POST /v1/jobs/1/limit", "{\"limit\": 30}");
    small_turn (s);
    client_leave (leaves);
    small_finish (s, 1, "exited");
    client_leave (all);
    small_finish (s, 2, "exited");
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
        cmocka_unit_test (test_result),
        cmocka_unit_test (test_waiter_leaves),
        cmocka_unit_test (test_waiter_loses_job),
        cmocka_unit_test (test_stop),
        cmocka_unit_test (test_changes),
        cmocka_unit_test (test_filter),
        cmocka_unit_test (test_reply_after_commit),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
