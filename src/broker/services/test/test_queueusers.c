/* Users and groups of a queue. What would be wrong: a user that the queue does not name, also
 * the owner of an adopted Job, gets in; or one that it names by a group is kept out. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "broker/services/queueusers.h"

static char *alice[] = { "alice", NULL }, *staff[] = { "staff", NULL }, *nobody[] = { NULL };

static int check (char **users, char **groups, const struct exec_user *user,
                  struct error *err)
{
    struct config_queue q = { .name = "mine", .users = users, .groups = groups };

    return queueusers_check (&q, user, err);
}

/* As users_find() gives the owner that an adopted Job's namespace or annotation names: one of
 * the groups has no name. */
static void test_queueusers (void **state)
{
    char *names[] = { "bob", NULL, "staff" };
    const struct exec_user bob = { .name = "bob", .ngroups = 3, .group_names = names };
    const struct exec_user carol = { .name = "carol", .ngroups = 2, .group_names = names };
    const struct exec_user dora = { .name = "alice", .ngroups = 2 }; /* names not looked up */
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

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_queueusers) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
