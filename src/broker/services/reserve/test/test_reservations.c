/* test_reservations.c - requests that list, make and remove reservations */
#include "broker/core/test/small.h"

#include <stdio.h>
#include <string.h>

#include "broker/api/privacy.h"
#include "broker/core/test/fake_http.h"
#include "broker/services/reserve/reserve.h"

#define MAKE "POST /v1/reservations"
#define OURS "\"users\":[\"root\"],\"duration\":100" /* a user of every machine */

/* The answer to an operator's request; workers look users up. */
static struct client *ask (struct small *s, const char *head, const char *body)
{
    s->works = true;
    struct client *c = client_ask (s, 0, head, body);
    small_turn (s);
    s->works = false;
    return c;
}

static void test_make (void **unused)
{
    struct small *s = small_create (2);
    const struct client *c = ask (
        s, MAKE, "{\"name\":\"r\",\"nodes\":\"node[0-1]\",\"note\":\"course\"," OURS "}");

    (void)unused;
    assert_int_equal (c->status, 201);
    const struct reservation *r = reserve_find (s->b, "r");
    assert_true (r->active && !r->maintenance);
    assert_true (r->start == small_now () && r->end == r->start + 100);
    assert_true (reservation_admits (r, 0));
    assert_string_equal (r->by, "user");
    assert_non_null (strstr (c->text, "\"note\":\"course\""));
    assert_non_null (strstr (small_setting ("reservation/r"), "node[0-1]"));
    small_destroy (s);
}

/* Makes a reservation without a name, for later, of a number of nodes, for no user. */
static void test_choose (void **unused)
{
    struct small *s = small_create (3);
    char body[200];

    (void)unused;
    snprintf (body, sizeof (body),
              "{\"nodes\":\"2\",\"maintenance\":true,\"start\":%.0f,\"duration\":60}",
              SMALL_START + 1000);
    assert_int_equal (ask (s, MAKE, body)->status, 201);
    const struct reservation *r = reserve_find (s->b, "resv-1");
    assert_true (!r->active && r->maintenance);
    assert_int_equal (hostlist_count (r->nodes), 2);
    assert_string_equal (small_setting ("reservations/last"), "1");
    small_destroy (s);
}

static void test_refused (void **unused)
{
    static const struct {
        const char *body;
        int status;
    } table[] = {
        { "{\"nodes\":\"node0\"," OURS ",\"colour\":1}", 400 },
        { "{\"nodes\":\"node0\",\"duration\":100}", 400 }, /* no users */
        { "{\"nodes\":\"node0\",\"maintenance\":true," OURS "}", 400 },
        { "{\"nodes\":\"node0\",\"users\":[\"root\"]}", 400 },
        { "{\"nodes\":\"node0\",\"users\":[\"root\"],\"duration\":0.5}", 400 },
        { "{\"nodes\":\"node0\",\"users\":[\"root\"],\"duration\":4e7}", 400 },
        { "{\"nodes\":\"node0\",\"users\":[7],\"duration\":100}", 400 },
        { "{\"nodes\":\"node0\",\"start\":5," OURS "}", 400 }, /* in the past */
        { "{\"nodes\":\"node9\"," OURS "}", 400 },
        { "{\"nodes\":\"\"," OURS "}", 400 },
        { "{" OURS "}", 400 },
        { "{\"nodes\":\"9\"," OURS "}", 409 },
        { "{\"nodes\":\"node0\",\"name\":\"a/b\"," OURS "}", 400 },
        { "{\"nodes\":\"node0\",\"name\":\"taken\"," OURS "}", 409 },
        { "{\"nodes\":\"node0\",\"note\":\"a\\nb\"," OURS "}", 400 },
        { "{\"nodes\":\"node1\"," OURS "}", 409 }, /* it is reserved already */
        { "{\"nodes\":\"node0\",\"users\":[\"no such user\"],\"duration\":100}", 422 },
    };
    struct small *s = small_create (2);

    (void)unused;
    assert_int_equal (
        ask (s, MAKE, "{\"name\":\"taken\",\"nodes\":\"node1\"," OURS "}")->status, 201);
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        const struct client *c = ask (s, MAKE, table[i].body);
        if (c->status != table[i].status)
            fail_msg ("%s: %d %s", table[i].body, c->status, c->text);
        assert_int_equal (HASH_COUNT (reserve_list (s->b)), 1);
    }
    struct client *c = client_ask (s, 1000, MAKE, "{\"nodes\":\"node0\"," OURS "}");
    assert_int_equal (c->status, 403); /* not an operator */
    small_destroy (s);
}

/* A running job conflicts with the reservation, or is ignored on request. */
static void test_running_job (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_submit (s, "duration: 60");
    small_turn (s);
    assert_int_equal (ask (s, MAKE, "{\"nodes\":\"node0\"," OURS "}")->status, 409);
    assert_int_equal (
        ask (s, MAKE, "{\"nodes\":\"node0\",\"ignore-running\":true," OURS "}")->status,
        201);
    small_destroy (s);
}

static void test_list (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    assert_string_equal (ask (s, "GET /v1/reservations", NULL)->text,
                         "{\"reservations\":[]}");
    ask (s, MAKE, "{\"name\":\"r\",\"nodes\":\"node0\"," OURS "}");
    struct client *c = client_ask (s, 1000, "GET /v1/reservations", NULL);
    assert_int_equal (c->status, 200);
    assert_non_null (strstr (c->text, "\"state\":\"active\""));
    assert_non_null (strstr (c->text, "\"nnodes\":1"));
    assert_non_null (strstr (c->text, "\"root\",\"uid\":0"));
    s->config->private_parts = PRIVATE_JOBS; /* others do not see its users */
    c = client_ask (s, 1000, "GET /v1/reservations", NULL);
    assert_non_null (strstr (c->text, "\"users\":[]"));
    small_destroy (s);
}

static void test_remove (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    ask (s, MAKE, "{\"name\":\"r\",\"nodes\":\"node0\"," OURS "}");
    const char *head = "POST /v1/reservations/r";
    assert_int_equal (ask (s, head, "{\"action\":\"extend\"}")->status, 400);
    assert_int_equal (ask (s, head, "{\"action\":\"remove\"}")->status, 200);
    assert_null (reserve_find (s->b, "r"));
    assert_null (small_setting ("reservation/r"));
    assert_int_equal (ask (s, head, "{\"action\":\"remove\"}")->status, 404);
    small_destroy (s);
}

/* While the nodes are not known, nothing can be reserved. */
static void test_too_early (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    s->b->recovering = true;
    assert_int_equal (client_ask (s, 0, MAKE, "{\"nodes\":\"1\"," OURS "}")->status, 503);
    s->b->recovering = false;
    small_destroy (s);
}

/* The client does not wait for the answer: then no reservation is made. */
static void test_client_leaves (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    s->works = true;
    client_leave (client_ask (s, 0, MAKE, "{\"name\":\"r\",\"nodes\":\"1\"," OURS "}"));
    small_turn (s);
    s->works = false;
    small_destroy (s); /* each request has ended */
}

/* Each request has one answer, and the answer is true. */
static void scenario (struct small *s)
{
    const struct client *c;

    for (int i = 0; i < 2; i++)
        small_submit (s, "duration: 60, constraints: {hostlist: [node1]}");
    small_turn (s);
    c = ask (s, MAKE, "{\"name\":\"r\",\"nodes\":\"node0\",\"note\":\"x\"," OURS "}");
    assert_true (c->status == 201 || c->status == 503);
    assert_int_equal (reserve_find (s->b, "r") != NULL, c->status == 201);
    c = ask (s, MAKE, "{\"nodes\":\"1\",\"maintenance\":true,\"duration\":60}");
    assert_true (c->status == 201 || c->status == 503 || c->status == 409);
    size_t n = HASH_COUNT (reserve_list (s->b));
    c = ask (s, "GET /v1/reservations", NULL);
    json_t *o = c->status == 200 ? json_loads (c->text, 0, NULL) : NULL;
    assert_true (o || c->status == 503);
    if (o)
        assert_int_equal (json_array_size (json_object_get (o, "reservations")), n);
    json_decref (o);
    c = ask (s, "POST /v1/reservations/r", "{\"action\":\"remove\"}");
    assert_true (c->status == 200 || c->status == 404 || c->status == 503);
    if (c->status == 200)
        assert_null (reserve_find (s->b, "r"));
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (2, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (2, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_make),        cmocka_unit_test (test_choose),
        cmocka_unit_test (test_refused),     cmocka_unit_test (test_running_job),
        cmocka_unit_test (test_list),        cmocka_unit_test (test_remove),
        cmocka_unit_test (test_too_early),   cmocka_unit_test (test_client_leaves),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
