/* Fails if a SPEC makes another machine, or if a wrong SPEC is accepted, or refused
 * without the place. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "tools/sim/cluster.h"

static void test_groups (void **state)
{
    struct cluster c;
    struct error err = { 0 };
    struct machine_node_info info;

    (void)state;
    assert_int_equal (cluster_build ("3x32c/4g/256Gi/r2+1x8c/1Gi", &c, &err), 0);
    assert_int_equal (c.nodes, 4);
    assert_int_equal (c.cores, 3 * 32 + 8);
    assert_int_equal (c.gpus, 12);
    assert_int_equal (c.memory_mib, 3 * (256 << 10) + 1024);
    assert_int_equal (machine_node_count (c.machine), 4);
    assert_int_equal (
        machine_node_info (c.machine, machine_node_find (c.machine, "node2"), &info), 0);
    assert_int_equal (info.cores, 32);
    assert_int_equal (info.gpus, 4);
    assert_int_equal (info.memory_mib, 256 << 10);
    assert_string_equal (info.places[0].name, "rack1");
    machine_node_info (c.machine, machine_node_find (c.machine, "node3"), &info);
    assert_string_equal (info.places[0].name, "rack2");
    machine_node_info (c.machine, machine_node_find (c.machine, "node4"), &info);
    assert_null (info.places[0].level);
    assert_int_equal (info.cores, 8);
    assert_int_equal (info.gpus, 0);
    cluster_release (&c);
}

static void test_any_order (void **state)
{
    struct cluster c;
    struct machine_node_info info;

    (void)state;
    assert_int_equal (cluster_build ("2x1c/r1/512M/2g", &c, NULL), 0);
    machine_node_info (c.machine, machine_node_find (c.machine, "node2"), &info);
    assert_string_equal (info.places[0].name, "rack2");
    assert_int_equal (info.memory_mib, 488); /* 512 * 10^6 bytes */
    assert_int_equal (info.gpus, 2);
    cluster_release (&c);
}

static void test_refused (void **state)
{
    static const struct {
        const char *spec;
        int place;
    } cases[] = {
        { "", 1 },
        { "x10c", 1 },
        { "0x10c", 1 },
        { "-1x10c", 1 },
        { "1000001x1c", 1 },
        { "99999999999999999999x1c", 1 },
        { "100", 4 },
        { "100y10c", 4 },
        { "100x", 5 },
        { "100x0c", 5 },
        { "100x65537c", 5 },
        { "100x10", 7 },
        { "100x10c ", 8 },
        { "100x10c/", 9 },
        { "100x10c/10Qi", 9 },
        { "100x10c/1k", 9 },
        { "100x10c/0g", 9 },
        { "100x10c/1025g", 9 },
        { "100x10c/4gg", 11 },
        { "100x10c/r", 10 },
        { "100x10c/r0", 10 },
        { "100x10c/r4x", 11 },
        { "100x10c/4g/8g", 12 },
        { "100x10c/1Gi/2Gi", 13 },
        { "100x10c+", 9 },
        { "100x10c++1x1c", 9 },
        { "600000x1c+600000x1c", 11 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct cluster c;
        struct error err = { 0 };
        char place[40];
        snprintf (place, sizeof (place), "character %d: ", cases[i].place);
        assert_int_equal (cluster_build (cases[i].spec, &c, &err), -EINVAL);
        if (strncmp (err.text, place, strlen (place)) != 0)
            fail_msg ("%s: %s", cases[i].spec, err.text);
    }
}

static void test_many_groups (void **state)
{
    char spec[CLUSTER_GROUPS_MAX * 5 + 16] = "1x1c";
    struct cluster c;
    struct error err = { 0 };
    size_t len = 4;

    (void)state;
    for (int i = 1; i < CLUSTER_GROUPS_MAX; i++, len += 5)
        memcpy (spec + len, "+1x1c", 6);
    assert_int_equal (cluster_build (spec, &c, &err), 0);
    assert_int_equal (c.nodes, CLUSTER_GROUPS_MAX);
    cluster_release (&c);
    memcpy (spec + len, "+1x1c", 6);
    assert_int_equal (cluster_build (spec, &c, &err), -EINVAL);
    assert_non_null (strstr (err.text, "at most 64 groups"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_groups),
        cmocka_unit_test (test_any_order),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_many_groups),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
