/* test_pmix_helper.c - tests of pmix_helper.h: the description of a step for fluxq-pmix */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/macros.h"
#include "protocol/pmix_helper.h"

static const struct pmix_setup full = {
    .nspace = "fluxq.7.0",
    .nodes = "node0,node1",
    .procs = "0,1;2",
    .node = 1,
    .nnodes = 2,
    .ntasks = 3,
    .directory = "/tmp",
};

static int round_trip (const struct pmix_setup *setup, struct pmix_setup *ret)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (PMIX_SETUP_MAX);
    struct error err = { 0 };

    assert_int_equal (pmix_setup_write (setup, &sb), 0);
    return pmix_setup_parse (sb.buf, sb.len, ret, &err);
}

static void test_round_trip (void **state)
{
    struct pmix_setup got;

    (void)state;
    assert_int_equal (round_trip (&full, &got), 0);
    assert_string_equal (got.nspace, full.nspace);
    assert_string_equal (got.nodes, full.nodes);
    assert_string_equal (got.procs, full.procs);
    assert_string_equal (got.directory, full.directory);
    assert_int_equal (got.node, 1);
    assert_int_equal (got.nnodes, 2);
    assert_int_equal (got.ntasks, 3);
    pmix_setup_release (&got);
}

static void test_incomplete (void **state)
{
    struct pmix_setup got, bad[] = { full, full, full, full, full };

    (void)state;
    bad[0].nspace = NULL;
    bad[1].procs = NULL;
    bad[2].directory = "tmp";
    bad[3].node = 2;
    bad[4].nodes = NULL;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_int_equal (round_trip (&bad[i], &got), -EINVAL);
        assert_null (got.nspace);
    }
}

static void test_nonsense (void **state)
{
    static const char *const texts[] = { "",
                                         "x",
                                         "nspace 3\nab",
                                         "other 1\na\n",
                                         "nnodes 1\n0\n",
                                         "nspace 1\na\nnspace 1\na\n" };
    struct pmix_setup got;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        struct error err = { 0 };
        assert_int_equal (pmix_setup_parse (texts[i], strlen (texts[i]), &got, &err),
                          -EINVAL);
        assert_true (err.text[0] != '\0');
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_round_trip),
        cmocka_unit_test (test_incomplete),
        cmocka_unit_test (test_nonsense),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
