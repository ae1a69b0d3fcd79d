/* test_taskplaces.c - tests of taskplaces.h: the node of each task of a step */
#include "common/test/unit.h"

#include "common/macros.h"
#include "pmix/taskplaces.h"

static void test_places (void **state)
{
    struct error err = { 0 };
    struct taskplaces *p = taskplaces_parse ("0,3;1;2,4", 3, 5, &err);
    const uint32_t nodes[] = { 0, 1, 2, 0, 2 }, locals[] = { 0, 0, 0, 1, 1 };

    (void)state;
    assert_non_null (p);
    for (size_t i = 0; i < ARRAY_SIZE (nodes); i++) {
        assert_int_equal (p->node_of[i], nodes[i]);
        assert_int_equal (p->local_of[i], locals[i]);
    }
    assert_int_equal (p->count[0], 2);
    assert_int_equal (p->count[1], 1);
    assert_int_equal (p->count[2], 2);
    taskplaces_destroy (p);
    taskplaces_destroy (NULL);
}

static void test_refused (void **state)
{
    static const char *const texts[] = {
        "",      "0",    "0,1,2", "0,0",
        "0;1;",  "0;;1", "0,1;2", "0,x",
        "-1,0",  "0,1,", "0 1",   "0,1;;;",
        "0,1;1", ",0,1", "00x,1", "0,99999999999999999999999"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        struct error err = { 0 };
        struct taskplaces *p = taskplaces_parse (texts[i], 2, 2, &err);
        if (p) /* a node may have no tasks */
            assert_true (p->count[0] + p->count[1] == 2);
        else
            assert_true (err.text[0] != '\0');
        taskplaces_destroy (p);
    }
    assert_null (taskplaces_parse ("0,0", 2, 2, NULL));
    assert_null (taskplaces_parse ("0", 2, 2, NULL));
    assert_null (taskplaces_parse ("0,1;2", 2, 2, NULL));
    assert_null (taskplaces_parse ("0;;1", 2, 2, NULL));
    assert_null (taskplaces_parse ("0,x", 2, 2, NULL));
    assert_null (taskplaces_parse ("0 1", 2, 2, NULL));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_places),
        cmocka_unit_test (test_refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
