/* Names of namespaces: an administrator's templates are checked, the names are DNS
 * labels for any user name, and no two users share one. */
#include "exec/namespaces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/macros.h"
#include "exec/spaceset.h"

#define LONG "a-name-of-sixty-four-characters-which-is-one-too-many-for-a-labl"

static void test_check (void **state)
{
    static const char *const good[] = { "jobs",           "jobs-%u", "a-%U",
                                        "hpc-jobs-%q-%u", "j-%u-x",  "kube-system" };
    static const char *const bad[] = { "",
                                       "Jobs",
                                       "-jobs",
                                       "jobs-",
                                       "a.b",
                                       "%u",
                                       "jobs%u",
                                       "-%u",
                                       "jobs-%u%q",
                                       "jobs-%u-",
                                       "jobs-%",
                                       "jobs-%%",
                                       "jobs-%x",
                                       "jobs-%a",
                                       "jobs_-%u",
                                       "kube-%u",
                                       "a-template-that-is-much-too-long-%u",
                                       LONG };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++)
        assert_int_equal (namespace_check (good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };

        assert_true (namespace_check (bad[i], &err) < 0);
        assert_true (err.text[0] != '\0');
    }
}

static const char *name_of (const char *text, const char *queue, const char *user,
                            uid_t uid)
{
    static char name[4][NAMESPACE_SIZE];
    static unsigned turn;
    char *ret = name[turn++ % 4];

    assert_int_equal (namespace_expand (text, queue, user, uid, ret, NULL), 0);
    assert_true (strlen (ret) > 0 && strlen (ret) < NAMESPACE_SIZE);
    assert_int_equal (namespace_check (ret, NULL), 0); /* a DNS label */
    assert_true (namespace_fits (text, ret));
    return ret;
}

static void test_plain (void **state)
{
    (void)state;
    assert_string_equal (name_of ("jobs", "q", "ann", 7), "jobs");
    assert_string_equal (name_of ("jobs-%u", "q", "ann", 7), "jobs-ann");
    assert_string_equal (name_of ("jobs-%u", "q", "ann-b", 7), "jobs-ann-b");
    assert_string_equal (name_of ("jobs-%U", "q", NULL, 7), "jobs-7");
    assert_string_equal (name_of ("jobs-%q-%u", "batch", "ann", 7), "jobs-batch-ann");
}

static void test_none_collide (void **state)
{
    static const char *const users[] = {
        "ann",
        "Ann",
        "ANN",
        "ann_",
        "ann.",
        "ann-",
        "-ann",
        "_",
        "-",
        ".",
        "a n n",
        "ann@here",
        "ann-0123456789abcdef",
        "\xc3\xa4nn",
        "a..b",
        "a-b",
        "a.b",
        "a_b",
        "a-user-whose-name-is-so-long-that-it-does-not-fit-into-a-label-at-all-1",
        "a-user-whose-name-is-so-long-that-it-does-not-fit-into-a-label-at-all-2"
    };
    char all[ARRAY_SIZE (users)][NAMESPACE_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (users); i++) {
        snprintf (all[i], sizeof (all[i]), "%s", name_of ("jobs-%u", "q", users[i], 7));
        assert_true (strncmp (all[i], "jobs-", 5) == 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal (all[i], all[k]);
    }
    /* A user whose name equals the digest form of another user. */
    const char *evil = name_of ("jobs-%u", "q", "Ann", 7);
    assert_string_not_equal (name_of ("jobs-%u", "q", evil + strlen ("jobs-"), 8), evil);
    /* Values that could be joined in two ways. */
    assert_string_not_equal (name_of ("j-%q-%u", "a-b", "c", 7),
                             name_of ("j-%q-%u", "a", "b-c", 7));
    assert_string_not_equal (name_of ("j-%q-%u", "a-", "c", 7),
                             name_of ("j-%q-%u", "a", "-c", 7));
}

static void test_no_value (void **state)
{
    char name[NAMESPACE_SIZE];

    (void)state;
    assert_true (namespace_expand ("jobs-%u", "q", NULL, 7, name, NULL) < 0);
    assert_true (namespace_expand ("jobs-%u", "q", "", 7, name, NULL) < 0);
    assert_true (namespace_expand ("jobs-%q", NULL, "ann", 7, name, NULL) < 0);
}

static void test_fits (void **state)
{
    (void)state;
    assert_true (namespace_fits ("jobs", "jobs"));
    assert_false (namespace_fits ("jobs", "jobs-a"));
    assert_true (namespace_fits ("jobs-%u", "jobs-a"));
    assert_false (namespace_fits ("jobs-%u", "jobs-"));
    assert_false (namespace_fits ("jobs-%u", "other"));
    assert_false (namespace_fits ("jobs-%u", "jobs-/x"));
}

static void test_kinds (void **state)
{
    (void)state;
    assert_false (namespace_is_template ("jobs"));
    assert_true (namespace_is_template ("jobs-%q"));
    assert_false (namespace_is_users ("jobs-%q"));
    assert_true (namespace_is_users ("jobs-%u"));
    assert_true (namespace_is_users ("jobs-%U-%q"));
}

/* -- objects of a namespace -- */

static void test_spaceset (void **state)
{
    static const struct {
        const char *key, *value;
        bool good;
    } table[] = {
        { "namespace", "\"jobs-%u\"", true },
        { "namespace", "\"%u\"", false },
        { "namespace", "7", false },
        { "namespace-create", "true", true },
        { "namespace-create", "\"yes\"", false },
        { "namespace-labels", "{\"team\":\"hpc\"}", true },
        { "namespace-labels", "{\"team\":1}", false },
        { "namespace-labels", "{\"fluxq.io/uid\":\"0\"}", false },
        { "namespace-labels", "{\"app.kubernetes.io/managed-by\":\"x\"}", false },
        { "namespace-labels", "[]", false },
        { "namespace-role", "\"fluxq-runner\"", true },
        { "namespace-role", "\"a/b\"", false },
        { "namespace-role", "\"\"", false },
        { "quota", "{\"hard\":{\"pods\":3,\"limits.memory\":\"1Gi\"}}", true },
        { "quota", "{\"hard\":{}}", false },
        { "quota", "{\"pods\":3}", false },
        { "quota", "{\"hard\":{\"pods\":[]}}", false },
        { "limits", "[{\"type\":\"Container\",\"default\":{\"cpu\":1}}]", true },
        { "limits", "[{\"default\":{\"cpu\":1}}]", false },
        { "limits", "[]", false },
        { "network-policy", "true", true },
        { "network-policy", "false", true },
        { "network-policy", "[{\"podSelector\":{}}]", true },
        { "network-policy", "[{}]", false },
        { "network-policy", "[]", false },
        { "network-policy", "\"none\"", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        json_t *v = json_loads (table[i].value, JSON_DECODE_ANY, NULL);
        struct error err = { 0 };

        assert_non_null (v);
        assert_int_equal (spaceset_check (table[i].key, v, &err) == 0, table[i].good);
        assert_int_equal (err.text[0] == '\0', table[i].good);
        json_decref (v);
    }
    assert_true (spaceset_check ("namespaces", NULL, NULL) < 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_check),        cmocka_unit_test (test_plain),
        cmocka_unit_test (test_none_collide), cmocka_unit_test (test_no_value),
        cmocka_unit_test (test_fits),         cmocka_unit_test (test_kinds),
        cmocka_unit_test (test_spaceset),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
