/* test_roles.c - roles of callers: owner, operator of a queue, administrator
 */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/api/api.h"
#include "broker/api/privacy.h"

#define OWNER 1000
#define OPERATOR 2000
#define ADMINISTRATOR 3000
#define OTHER 4000
#define BROKER 999

/* A broker with a job of OWNER in queue 0, of which OPERATOR is operator. */
static struct small *begin (void)
{
    struct small *s = small_create (1);

    assert_non_null (s->b->operators = operators_create (1));
    assert_int_equal (operators_add (s->b->operators, 0, OPERATOR), 0);
    assert_int_equal (operators_add (s->b->operators, OPERATORS_SITE, ADMINISTRATOR), 0);
    small_submit (s, "duration: 60");
    small_turn (s);
    return s;
}

static void end (struct small *s)
{
    operators_destroy (s->b->operators);
    s->b->operators = NULL;
    small_destroy (s);
}

static int status_of (struct small *s, uid_t uid, const char *head, const char *body)
{
    return client_call (s, uid, head, body)->status;
}

static void test_extension_of_a_limit (void **unused)
{
    struct small *s = begin ();
    const char *head = "POST /v1/jobs/1/limit";

    (void)unused;
    assert_int_equal (status_of (s, OTHER, head, "{\"limit\": 30}"), 403);
    assert_int_equal (status_of (s, OWNER, head, "{\"limit\": 90}"), 403);
    assert_int_equal (status_of (s, OWNER, head, "{\"limit\": 50}"), 200);
    assert_int_equal (status_of (s, OPERATOR, head, "{\"limit\": 90}"), 200);
    assert_int_equal (status_of (s, ADMINISTRATOR, head, "{\"limit\": 95}"), 200);
    assert_int_equal (status_of (s, BROKER, head, "{\"limit\": 99}"), 200);
    end (s);
}

static void test_comment_of_an_operator (void **unused)
{
    struct small *s = begin ();
    const char *head = "POST /v1/jobs/1/memo", *body = "{\"admin_comment\": \"seen\"}";

    (void)unused;
    assert_int_equal (status_of (s, OWNER, head, body), 403);
    assert_int_equal (status_of (s, OPERATOR, head, body), 200);
    end (s);
}

/* An operator of a queue reaches no nodes, no settings of the site, and no output and
 * terminal of a user. */
static void test_not_for_operators_of_queues (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    assert_int_equal (
        status_of (s, OPERATOR, "POST /v1/nodes/node0", "{\"action\": \"drain\"}"), 403);
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/reload", "{}"), 403);
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/token/revoke", "{\"all\": true}"),
                      403);
    assert_int_equal (status_of (s, OPERATOR, "GET /v1/jobs/1/output", NULL), 403);
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/jobs/1/connect", "{}"), 403);
    end (s);
}

static void test_queue_is_stopped_by_its_operator (void **unused)
{
    struct small *s = begin ();
    const char *head = "POST /v1/queues/batch";

    (void)unused;
    assert_int_equal (status_of (s, OWNER, head, "{\"action\": \"stop\"}"), 403);
    assert_true (broker_config (s->b)->queues[0].started);
    assert_int_equal (status_of (s, OPERATOR, head, "{\"action\": \"stop\"}"), 200);
    assert_false (broker_config (s->b)->queues[0].started);
    end (s);
}

/* A cancel by filters reaches the jobs that the caller may cancel, and no others. */
static void test_cancel_by_filter (void **unused)
{
    struct small *s = begin ();
    const char *all = "{\"state\": \"active\"}";

    (void)unused;
    assert_int_equal (status_of (s, OTHER, "POST /v1/cancel", all), 200);
    assert_null (strstr (small_events (s, 1), "exception"));
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/cancel", all), 200);
    assert_non_null (strstr (small_events (s, 1), "exception"));
    end (s);
}

/* A job whose queue was removed has no operators but administrators. */
static void test_job_of_a_removed_queue (void **unused)
{
    struct small *s = begin ();
    struct entry *e = entry_find (s->b, 1);

    (void)unused;
    assert_true (broker_operates (s->b, OPERATOR, entry_queue (e)));
    free (s->config->queues[0].name);
    s->config->queues[0].name = strdup ("other");
    s->config->private_parts = PRIVATE_JOBS;
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/jobs/1/limit", "{\"limit\": 90}"),
                      404);
    assert_false (privacy_sees (s->b, OPERATOR, e, PRIVATE_JOBS));
    assert_true (privacy_sees (s->b, ADMINISTRATOR, e, PRIVATE_JOBS));
    s->config->private_parts = 0;
    assert_int_equal (status_of (s, OPERATOR, "POST /v1/jobs/1/limit", "{\"limit\": 90}"),
                      403);
    end (s);
}

static void test_private_parts (void **unused)
{
    struct small *s = begin ();
    const struct entry *e = entry_find (s->b, 1);

    (void)unused;
    s->config->queues[0].private_parts = PRIVATE_JOBS | PRIVATE_ARGUMENTS;
    assert_false (privacy_sees (s->b, OTHER, e, PRIVATE_JOBS));
    assert_true (privacy_sees (s->b, OPERATOR, e, PRIVATE_JOBS));
    assert_true (privacy_sees (s->b, OPERATOR, e, PRIVATE_ARGUMENTS));
    assert_true (privacy_sees_ended (s->b, OPERATOR, OWNER, "batch", PRIVATE_JOBS));
    assert_false (privacy_sees_ended (s->b, OPERATOR, OWNER, "gone", PRIVATE_JOBS));
    s->config->private_parts = PRIVATE_USAGE;
    assert_false (privacy_sees_usage (s->b, OPERATOR, OWNER));
    assert_true (privacy_sees_usage (s->b, ADMINISTRATOR, OWNER));
    end (s);
}

static void expect_text (unsigned roles, const char *text)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (200);

    api_roles_text (roles, &sb);
    assert_string_equal (sb.buf, text);
}

static void test_words (void **unused)
{
    (void)unused;
    expect_text (ROLE_USER, "user");
    expect_text (0, "administrator");
    expect_text (ROLE_ADMINISTRATOR, "administrator");
    expect_text (ROLE_OWNER | ROLE_ROOT, "owner, root");
    expect_text (ROLE_OWNER | ROLE_OPERATOR, "owner, operator, administrator");
}

/* -- names in the configuration -- */

static char *names[] = { NULL, NULL };

static struct operators *find (const char *site, const char *queue, struct error *err)
{
    char *of_site[] = { (char *)(uintptr_t)site, NULL };
    struct config_queue q = { .name = (char *)"q", .operators = names };
    struct config *c = config_default (NULL);

    assert_non_null (c);
    names[0] = (char *)(uintptr_t)queue;
    struct config copy = *c;
    copy.operators = of_site;
    copy.queues = &q;
    copy.nqueues = 1;
    struct operators *o = operators_find (&copy, err);
    config_destroy (c);
    return o;
}

static void test_names (void **unused)
{
    struct error err = { 0 };
    struct operators *o = find ("daemon", "root", &err);

    (void)unused;
    assert_non_null (o);
    assert_false (operators_have_groups (o));
    assert_true (operators_have_user (o, 0, 0, NULL));
    assert_false (operators_have_user (o, OPERATORS_SITE, 0, NULL));
    assert_false (operators_have_user (o, 1, 0, NULL));
    operators_destroy (o);
    assert_non_null (o = find (NULL, "@root", &err));
    assert_true (operators_have_groups (o));
    operators_destroy (o);
    assert_null (find ("no-such-user", NULL, &err));
    assert_string_equal (err.text, "operators: there is no user 'no-such-user'");
    err = (struct error){ 0 };
    assert_null (find (NULL, "@no-such-group", &err));
    assert_string_equal (err.text,
                         "queue q: operators: there is no group 'no-such-group'");
    assert_false (operators_have_user (NULL, OPERATORS_SITE, 0, NULL));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_extension_of_a_limit),
        cmocka_unit_test (test_comment_of_an_operator),
        cmocka_unit_test (test_not_for_operators_of_queues),
        cmocka_unit_test (test_queue_is_stopped_by_its_operator),
        cmocka_unit_test (test_cancel_by_filter),
        cmocka_unit_test (test_job_of_a_removed_queue),
        cmocka_unit_test (test_private_parts),
        cmocka_unit_test (test_words),
        cmocka_unit_test (test_names),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
