/* R (RFC 20). Fails if other tools cannot read R, or if R does not restore the
 * booking. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "match/test/inspect.h"

static struct rset *example (void)
{
    struct rset *r = rset_create (3);
    static const char *const names[] = { "node7", "node2", "node3" };
    for (size_t i = 0; i < 3; i++) {
        r->ranks[i].node = strdup (names[i]);
        r->ranks[i].node_index = names[i][4] - '0' - 1;
        r->ranks[i].slots = 2;
        r->ranks[i].memory_mib = 64 * (int64_t)(i + 1);
        idset_add_range (r->ranks[i].cores, 0, 3);
    }
    idset_add (r->ranks[0].gpus, 1);
    r->ranks[2].exclusive = true;
    r->starttime = 1676560542.25;
    r->expiration = 1676562342.000001;
    return r;
}

static void test_text (void **state)
{
    (void)state;
    struct rset *r = example ();
    char *text = rset_encode (r), *list = rset_nodelist (r);
    assert_string_equal (
        text, "{\"version\":1,\"execution\":{\"R_lite\":["
              "{\"rank\":\"1-2\",\"children\":{\"core\":\"0-3\"}},"
              "{\"rank\":\"6\",\"children\":{\"core\":\"0-3\",\"gpu\":\"1\"}}],"
              "\"nodelist\":[\"node[2-3,7]\"],\"nslots\":6,"
              "\"starttime\":1676560542.25,\"expiration\":1676562342.000001},"
              "\"scheduling\":{\"writer\":\"fluxq:1\",\"fluxq\":{"
              "\"memory\":[64,128,192],\"slots\":2,\"exclusive\":[0,0,1],"
              "\"nodelist\":\"node[7,2-3]\"}}}");
    assert_string_equal (list, "node[7,2-3]");
    assert_int_equal (rset_slots (r), 6);
    assert_int_equal (rset_cores (r), 12);
    struct error err = { 0 };
    struct rset *again = rset_decode (text, strlen (text), &err);
    assert_non_null (again);
    assert_true (rset_equal (r, again));
    idset_add (again->ranks[1].gpus, 0);
    assert_false (rset_equal (r, again));
    rset_destroy (again);
    free (list);
    free (text);
    rset_destroy (r);
}

/* Data outside RFC 20: equal for all ranks, different for each, or for none. */
static void test_gres (void **state)
{
    static const char *const texts[] = {
        ",\"gres\":{\"license\":2},\"nodelist\"",
        ",\"gres\":[{\"license\":2},{\"license\":2},{\"license\":2,\"rdma/hca\":1}],",
        ",\"gres\":[{\"license\":2},{},{\"license\":2,\"rdma/hca\":1}],",
    };
    struct rset *r = example ();

    (void)state;
    for (size_t i = 0; i < 3; i++)
        gres_set (&r->ranks[i].gres, "license", 2);
    for (size_t i = 0; i < 3; i++) {
        struct error err = { 0 };
        if (i == 1)
            gres_set (&r->ranks[2].gres, "rdma/hca", 1);
        if (i == 2)
            gres_set (&r->ranks[1].gres, "license", 0);
        char *text = rset_encode (r);
        if (!strstr (text, texts[i]))
            fail_msg ("%s has no %s", text, texts[i]);
        struct rset *again = rset_decode (text, strlen (text), &err);
        if (!again)
            fail_msg ("%s", err.text);
        assert_true (rset_equal (r, again));
        gres_set (&again->ranks[1].gres, "x", 1);
        assert_false (rset_equal (r, again));
        rset_destroy (again);
        free (text);
    }
    rset_destroy (r);
}

/* The type of GPUs: for all ranks, for some, and no type at all. */
static void test_gpu_type (void **state)
{
    static const char *const texts[] = {
        ",\"gpu_type\":\"a100\"",
        ",\"gpu_type\":[\"a100\",\"\",\"a100\"]",
    };
    struct rset *r = example ();

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_non_null (r->ranks[i].gpu_type = strdup ("a100"));
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        if (i == 1) {
            free (r->ranks[1].gpu_type);
            r->ranks[1].gpu_type = NULL;
        }
        autofree char *text = rset_encode (r);
        if (!strstr (text, texts[i]))
            fail_msg ("%s has no %s", text, texts[i]);
        struct rset *again = rset_decode (text, strlen (text), NULL);
        assert_non_null (again);
        struct rset *copy = rset_join (again, NULL);
        assert_string_equal (copy->ranks[2].gpu_type, "a100");
        assert_int_equal (copy->ranks[1].gpu_type != NULL, i == 0);
        rset_destroy (copy);
        rset_destroy (again);
    }
    rset_destroy (r);
}

/* RFC 20's own example. */
static void test_foreign (void **state)
{
    (void)state;
    static const char text[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"19-22\",\"children\":{"
        "\"core\":"
        "\"0-47\",\"gpu\":\"0-7\"}}],\"nodelist\":[\"node[186-189]\"],\"nslots\":32,"
        "\"starttime\":1676560542,\"expiration\":1676562342}}";
    struct error err = { 0 };
    struct rset *r = rset_decode (text, sizeof (text) - 1, &err);
    assert_non_null (r);
    assert_int_equal (r->nranks, 4);
    assert_string_equal (r->ranks[3].node, "node189");
    assert_int_equal (r->ranks[3].node_index, 22);
    assert_int_equal (idset_count (r->ranks[3].gpus), 8);
    assert_true (r->expiration == 1676562342);
    rset_destroy (r);
}

static void test_refused (void **state)
{
    (void)state;
#define R(lite, list, rest)                                                              \
    "{\"version\":1,\"execution\":{\"R_lite\":[" lite "],\"nodelist\":[" list "]}" rest  \
    "}"
#define RANK(ids) "{\"rank\":\"" ids "\",\"children\":{\"core\":\"0\"}}"
    static const char *const bad[] = {
        "[]",
        "{\"version\":2,\"execution\":{\"R_lite\":[],\"nodelist\":[]}}",
        R ("", "", ""),
        R (RANK ("0-1"), "\"a\"", ""),
        R (RANK ("0") "," RANK ("0"), "\"a\",\"b\"", ""),
        R (RANK ("0-1"), "\"a\",\"a\"", ""),
        R (RANK ("0"), "5", ""),
        R (RANK ("x"), "\"a\"", ""),
        R ("{\"rank\":\"0\"}", "\"a\"", ""),
        R ("3", "\"a\"", ""),
        R (RANK ("0-3000000"), "\"a\"", ""),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"memory\":-1}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"slots\":[1,2]}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"exclusive\":2}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gres\":{\"x\":0}}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gres\":{\"core\":1}}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gres\":\"x\"}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gpu_type\":\"-\"}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gpu_type\":1}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"gres\":[{},{}]}}"),
        R (RANK ("0"), "\"a\"", ",\"scheduling\":{\"fluxq\":{\"nodelist\":\"b\"}}"),
        R (RANK ("0-1"), "\"a\",\"b\"",
           ",\"scheduling\":{\"fluxq\":{\"nodelist\":\"b,b\"}}"),
        R (RANK ("0-1"), "\"a\",\"b\"",
           ",\"scheduling\":{\"fluxq\":{\"nodelist\":\"b\"}}"),
    };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        struct rset *r = rset_decode (bad[i], strlen (bad[i]), &err);
        if (r)
            fail_msg ("accepted: %s", bad[i]);
        assert_true (err.text[0] != 0);
    }
    struct rset *none = rset_create (0);
    assert_null (rset_encode (none));
    rset_destroy (none);
}

/* Fractional CPUs count as cores; their sum rounds up. */
static void test_parts (void **state)
{
    struct rset *r = rset_create (3);

    (void)state;
    assert_int_equal (rset_cpu_milli (r), 0);
    gres_set (&r->ranks[0].gres, GRES_CPU_MILLI, 500);
    gres_set (&r->ranks[2].gres, GRES_CPU_MILLI, 600);
    assert_int_equal (rset_cpu_milli (r), 1100);
    assert_int_equal (rset_cores (r), 2);
    rset_destroy (r);
}

/* The nodes of a job that grows and shrinks; its ranks keep their numbers. */
static void test_parts_of_it (void **state)
{
    struct rset *a = example (), *b = rset_create (1), *all, *first;

    (void)state;
    b->ranks[0].node = strdup ("new");
    b->ranks[0].slots = 3;
    idset_add_range (b->ranks[0].cores, 4, 6);
    b->starttime = 9;
    all = rset_join (a, b);
    assert_int_equal (all->nranks, a->nranks + 1);
    assert_string_equal (all->ranks[a->nranks].node, "new");
    assert_true (all->starttime == a->starttime && all->expiration == a->expiration);
    assert_int_equal (rset_cores (all), rset_cores (a) + 3);
    first = rset_first (all, a->nranks);
    assert_true (rset_equal (first, a));
    rset_destroy (first);
    first = rset_first (all, 99);
    assert_true (rset_equal (first, all));
    rset_destroy (first);
    rset_destroy (all);
    rset_destroy (a);
    rset_destroy (b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_parts_of_it), cmocka_unit_test (test_parts),
        cmocka_unit_test (test_text),        cmocka_unit_test (test_gres),
        cmocka_unit_test (test_gpu_type),    cmocka_unit_test (test_foreign),
        cmocka_unit_test (test_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
