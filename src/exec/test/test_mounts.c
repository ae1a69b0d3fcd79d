/* test_mounts.c - tests of mounts.h: lists of volumes, paths below them, and
 * the resulting pod */
#include "common/test/unit.h"

#include <string.h>

#include "common/macros.h"
#include "exec/mounts.h"

static json_t *list_of (const char *text)
{
    struct error err;
    json_t *list = json_parse (text, strlen (text), "list", &err);

    assert_non_null (list);
    return list;
}

static const char good[] =
    "[{\"path\":\"/home\",\"volume\":{\"nfs\":{\"server\":\"s\",\"path\":\"/x\"}}},"
    "{\"path\":\"/data\",\"read-only\":true,\"volume\":{\"hostPath\":{\"path\":\"/"
    "d\"}}}]";

static void test_see (void **state)
{
    static const struct {
        const char *cwd, *path;
        bool reads, writes;
    } cases[] = {
        { "/home/ann", "out-%j", true, true },
        { "/home", "x", true, true },
        { "/", "home", true, true },
        { "/tmp", "/home/ann/out", true, true },
        { "/data/set", "in", true, false },
        { "/tmp", "/data", true, false },
        { "/tmp", "out", false, false },
        { "/homes/ann", "out", false, false },
        { "/home/ann", "/tmp/out", false, false },
        /* only the file system knows the target of the link */
        { "/home/ann", "../../tmp/out", false, false },
        { "/home/../tmp", "out", false, false },
        { "/home/ann", "a..b", true, true },
    };
    json_t *list = list_of (good);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        assert_int_equal (mounts_see (list, cases[i].cwd, cases[i].path, false),
                          cases[i].reads);
        assert_int_equal (mounts_see (list, cases[i].cwd, cases[i].path, true),
                          cases[i].writes);
        assert_false (mounts_see (NULL, cases[i].cwd, cases[i].path, false));
    }
    json_decref (list);
}

static void test_check (void **state)
{
    static const char *const bad[] = {
        "{}",
        "[1]",
        "[{\"path\":\"/home\"}]",
        "[{\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"home\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/a/\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/a/../b\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/a//b\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/fluxq/job\",\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/a\",\"volume\":{}}]",
        "[{\"path\":\"/a\",\"volume\":{\"emptyDir\":{},\"name\":\"x\"}}]",
        "[{\"path\":\"/a\",\"read-only\":1,\"volume\":{\"emptyDir\":{}}}]",
        "[{\"path\":\"/a\",\"readonly\":true,\"volume\":{\"emptyDir\":{}}}]",
        ("[{\"path\":\"/a\",\"volume\":{\"emptyDir\":{}}},"
         "{\"path\":\"/a\",\"volume\":{\"emptyDir\":{}}}]"),
    };
    struct error err;
    json_t *list = list_of (good);

    (void)state;
    assert_int_equal (mounts_check (list, &err), 0);
    json_decref (list);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        list = list_of (bad[i]);
        assert_true (mounts_check (list, &err) < 0);
        json_decref (list);
    }
}

/* The list stays unchanged, because it is another job's, too. */
static void test_pod (void **state)
{
    json_t *list = list_of (good), *volumes = json_array (), *places = json_array ();
    json_t *data;

    (void)state;
    assert_int_equal (mounts_add_volumes (list, volumes), 0);
    assert_int_equal (mounts_add_places (list, places), 0);
    assert_int_equal (json_array_size (volumes), 2);
    data = json_array_get (volumes, 1);
    assert_string_equal (json_string_value (json_object_get (data, "name")), "mount-1");
    assert_non_null (json_object_get (data, "hostPath"));
    data = json_array_get (places, 1);
    assert_string_equal (json_string_value (json_object_get (data, "mountPath")),
                         "/data");
    assert_true (json_is_true (json_object_get (data, "readOnly")));
    assert_true (
        json_is_false (json_object_get (json_array_get (places, 0), "readOnly")));
    json_t *again = list_of (good);
    assert_true (json_equal (list, again));
    json_decref (again);
    json_decref (list);
    json_decref (volumes);
    json_decref (places);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_see),
        cmocka_unit_test (test_check),
        cmocka_unit_test (test_pod),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
