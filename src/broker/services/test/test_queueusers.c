/* Users and groups of a queue. Fails if a user that the queue does not name can submit,
 * also as the owner of an adopted Job, or if a user that it names by a group cannot. */
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <string.h>

#include "broker/services/queueusers.h"

static char *alice[] = { "alice", NULL }, *staff[] = { "staff", NULL },
            *nobody[] = { NULL };

static int check (char **users, char **groups, const struct exec_user *user,
                  struct error *err)
{
    struct config_queue q = { .name = "mine", .users = users, .groups = groups };

    return queueusers_check (&q, user, err);
}

/* The owner that users_find() gives for the namespace or annotation of an adopted Job:
 * one of the groups has no name. */
static void test_queueusers (void **state)
{
    char *names[] = { "bob", NULL, "staff" };
    const struct exec_user bob = { .name = "bob", .ngroups = 3, .group_names = names };
    const struct exec_user carol = { .name = "carol",
                                     .ngroups = 2,
                                     .group_names = names };
    const struct exec_user dora = { .name = "alice",
                                    .ngroups = 2 }; /* the names are not looked up */
    struct error err;

    (void)state;
    assert_int_equal (check (NULL, NULL, &carol, &err), 0);
    assert_int_equal (check (alice, NULL, &dora, &err), 0);
    assert_int_equal (check (alice, staff, &bob, &err), 0);
    assert_int_equal (check (NULL, staff, &bob, &err), 0);
    assert_int_equal (check (alice, NULL, &bob, &err), -EPERM);
    assert_non_null (strstr (err.text, "queue mine is not for bob, but for user alice"));
    assert_int_equal (check (alice, staff, &carol, &err), -EPERM);
    assert_non_null (strstr (err.text, "user alice, group staff"));
    assert_int_equal (check (NULL, staff, &dora, &err), -EPERM);
    assert_int_equal (check (nobody, NULL, &bob, &err), -EPERM);
    assert_non_null (strstr (err.text, "operators alone"));
}

#define JOB                                                                              \
    "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","   \
    "\"with\":[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"true\"],"   \
    "\"slot\":\"task\",\"count\":{\"per_slot\":1}}],"                                    \
    "\"attributes\":{\"system\":{\"duration\":60}}}"

/* Submits to the only queue, which only these users may use. */
static struct client *submit (struct small *s, uid_t uid, char **users)
{
    s->config->queues[0].users = users;
    struct client *c = client_call (s, uid, "POST /v1/jobs", JOB);
    s->config->queues[0].users = NULL; /* not the configuration's to free */
    return c;
}

/* The broker refuses a user that the queue does not name, unless the user is an
 * operator. */
static void test_submit (void **unused)
{
    char *user[] = { "user", NULL };
    struct small *s = small_create (1);

    (void)unused;
    struct client *c = submit (s, 1000, alice);
    assert_int_equal (c->status, 403);
    assert_non_null (strstr (c->text, "not-in-queue: queue "));
    assert_non_null (strstr (c->text, "is not for user, but for user alice"));
    assert_string_equal (small_events (s, 0), "");
    assert_int_equal (submit (s, 1000, user)->status, 201);
    assert_int_equal (submit (s, 0, alice)->status, 201);
    small_destroy (s);
}

/* Without memory no unnamed user gets in, and the reason does not name wrong users. */
static void scenario (struct small *s)
{
    const struct exec_user bob = { .name = "bob" };
    struct error err = { 0 };

    assert_int_equal (check (alice, staff, &bob, &err), -EPERM);
    assert_null (strstr (err.text, "operators alone"));
    assert_int_not_equal (submit (s, 1000, alice)->status, 201);
    assert_null (strstr (small_events (s, 0), "submit"));
    submit (s, 0, alice);
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
        cmocka_unit_test (test_queueusers),
        cmocka_unit_test (test_submit),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
