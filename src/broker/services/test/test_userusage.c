/* test_userusage.c - the usage of users: counted, kept in the journal, and shown */
#include "broker/core/test/fake_http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

extern const struct broker_service service_priority;

#define INTERVAL 60 /* between two rounds, the default */

static json_t *get (struct small *s, uid_t uid, const char *head, int status)
{
    struct client *c = client_call (s, uid, head, NULL);

    assert_int_equal (c->status, status);
    return status == 200 ? json_loads (c->text, 0, NULL) : NULL;
}

static double number (const json_t *o, const char *key)
{
    const json_t *value = json_object_get (o, key);

    assert_true (json_is_number (value));
    return json_number_value (value);
}

static void submit (struct small *s, int n)
{
    for (int i = 0; i < n; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
}

/* Cores count while a job holds them, and afterwards, also from the disk. */
static void test_usage (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_set (s, "priority", json_pack ("{s:i}", "half-life", 0));
    service_priority.reloaded (s->b, s->config);
    submit (s, 2);
    small_advance (s, 100);
    autojson json_t *running = get (s, USER, "GET /v1/fair-share", 200);
    json_t *user = json_array_get (json_object_get (running, "users"), 0);
    assert_true (fabs (number (user, "usage") - 200) < 1);
    assert_true (number (user, "cores") == 2);
    assert_null (small_setting ("usage/1000"));
    small_finish (s, 1, "ended");
    assert_true (fabs (strtod (small_setting ("usage/1000"), NULL) - 100) < 1);
    assert_non_null (strstr (small_setting ("usage/1000"), " user"));
    small_destroy (s);
}

/* The usage from an earlier start is known again; unreadable usage is left out. */
static void test_load (void **unused)
{
    (void)unused;
    small_keep ("usage/2000", "5000.0 1000000.0 bob");
    small_keep ("usage/2001", "rubbish");
    small_keep ("usage/frank", "1 1000000 frank");
    struct small *s = small_create (1);
    autojson json_t *o = get (s, OPERATOR, "GET /v1/fair-share", 200);
    json_t *bob = json_array_get (json_object_get (o, "users"), 0);
    assert_string_equal (json_string_value (json_object_get (bob, "user")), "bob");
    assert_true (fabs (number (bob, "usage") - 5000) < 1);
    assert_null (strstr (json_string_value (json_object_get (bob, "user")), "frank"));
    small_destroy (s);
}

/* Users come in pages, ordered by uid. */
static void test_pages (void **unused)
{
    (void)unused;
    small_keep ("usage/2000", "5000 1000000 bob");
    small_keep ("usage/2001", "5000 1000000 carol");
    small_keep ("usage/2002", "5000 1000000 dora");
    struct small *s = small_create (1);
    autojson json_t *first = get (s, OPERATOR, "GET /v1/fair-share?limit=2", 200);
    assert_int_equal (json_array_size (json_object_get (first, "users")), 2);
    assert_true (number (first, "next") == 2001);
    assert_true (number (first, "total") == 3);
    autojson json_t *last =
        get (s, OPERATOR, "GET /v1/fair-share?limit=2&after=2001", 200);
    json_t *dora = json_array_get (json_object_get (last, "users"), 0);
    assert_true (number (dora, "userid") == 2002);
    assert_true (json_is_null (json_object_get (last, "next")));
    json_decref (get (s, OPERATOR, "GET /v1/fair-share?limit=0", 400));
    json_decref (get (s, OPERATOR, "GET /v1/fair-share?after=x", 400));
    small_destroy (s);
}

/* A round drops users with almost no usage and no job, in memory and on disk. */
static void test_idle (void **unused)
{
    (void)unused;
    small_keep ("usage/2000", "0.5 1000000 bob");
    small_keep ("usage/2001", "5000 1000000 carol");
    struct small *s = small_create (1);
    assert_non_null (small_setting ("usage/2000"));
    small_advance (s, 3 * INTERVAL);
    assert_null (small_setting ("usage/2000"));
    assert_non_null (small_setting ("usage/2001"));
    small_destroy (s);
}

/* A reload changes the half-life of the usage that was counted before. */
static void test_half_life (void **unused)
{
    (void)unused;
    small_keep ("usage/2000", "8000 1000000 bob");
    struct small *s = small_create (1);

    small_set (s, "priority", json_pack ("{s:i}", "half-life", 100));
    service_priority.reloaded (s->b, s->config);
    small_advance (s, 300);
    autojson json_t *o = get (s, OPERATOR, "GET /v1/fair-share", 200);
    assert_true (number (o, "half_life") == 100);
    assert_true (fabs (number (o, "usage_all") - 1000) < 10);
    small_destroy (s);
}

/* private: [usage] hides the usage of others, also in the sums. */
static void test_private (void **unused)
{
    (void)unused;
    small_keep ("usage/1000", "5000 1000000 user");
    small_keep ("usage/2000", "5000 1000000 bob");
    struct small *s = small_create (1);

    small_set (s, "private", json_pack ("[s]", "usage"));
    autojson json_t *own = get (s, USER, "GET /v1/fair-share", 200);
    autojson json_t *none = get (s, OTHER, "GET /v1/fair-share", 200);
    autojson json_t *all = get (s, OPERATOR, "GET /v1/fair-share", 200);
    assert_int_equal (json_array_size (json_object_get (own, "users")), 1);
    assert_true (json_is_null (json_object_get (own, "usage_all")));
    assert_int_equal (json_array_size (json_object_get (none, "users")), 0);
    assert_true (number (none, "total") == 0);
    assert_int_equal (json_array_size (json_object_get (all, "users")), 2);
    assert_true (number (all, "total") == 2);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    submit (s, 3);
    small_ready (s, 1);
    small_advance (s, INTERVAL + 1);
    struct client *users = client_ask (s, USER, "GET /v1/fair-share", NULL);
    small_finish (s, 1, "ended");
    small_advance (s, INTERVAL + 1);
    assert_true (users->ended);
    long countdown = small_spare ();
    autojson json_t *o = get (s, USER, "GET /v1/fair-share", 200);
    json_t *user = json_array_get (json_object_get (o, "users"), 0);
    assert_true (!user || number (user, "usage") >= 0);
    small_resume (countdown);
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
        cmocka_unit_test (test_usage),       cmocka_unit_test (test_load),
        cmocka_unit_test (test_pages),       cmocka_unit_test (test_idle),
        cmocka_unit_test (test_half_life),   cmocka_unit_test (test_private),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
