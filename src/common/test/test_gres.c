/* Fails if a count is misread or lost, if a name with another meaning is accepted, or
 * if equal lists differ. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/gres.h"

static void expect_text (const struct gres_list *l, const char *text)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 4096);
    strbuf_add_gres (&sb, l);
    assert_string_equal (sb.buf ? sb.buf : "", text);
}

static void test_names (void **state)
{
    static const char *const good[] = { "license",  "rdma/hca", "nvidia.com/mig-1g.5gb",
                                        "gpu:a100", "fs_1",     "x" };
    static const char *const bad[] = {
        "",     "gpu",   "core", "node",     "memory",       "slot",
        "none", "a/b/c", "/x",   "x/",       "-x",           "x:",
        "x y",  "x,y",   "x=1",  "xor_slot", GRES_CPU_MILLI, GRES_TMP_DISK
    };
    char name[GRES_NAME_MAX + 2] = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++)
        assert_true (gres_name_is_valid (good[i]));
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        if (gres_name_is_valid (bad[i]))
            fail_msg ("'%s' is accepted as a name", bad[i]);
    memset (name, 'x', GRES_NAME_MAX);
    assert_true (gres_name_is_valid (name));
    name[GRES_NAME_MAX] = 'x';
    assert_false (gres_name_is_valid (name));
}

static void test_lists (void **state)
{
    struct gres_list a = { 0 }, b = { 0 }, c;

    (void)state;
    assert_true (gres_equal (&a, &b));
    assert_int_equal (gres_set (&a, "m", 2), 0);
    assert_int_equal (gres_set (&a, "z", 3), 0);
    assert_int_equal (gres_set (&a, "a", 1), 0);
    assert_int_equal (gres_set (&a, "nothing", 0), 0);
    expect_text (&a, "a:1,m:2,z:3");
    assert_int_equal (gres_set (&b, "m", 2), 0);
    assert_int_equal (gres_set (&b, "n", 7), 0);
    assert_false (gres_equal (&a, &b));
    assert_int_equal (gres_add (&a, &b, 1), 0);
    expect_text (&a, "a:1,m:4,n:7,z:3");
    assert_int_equal (gres_copy (&c, &a), 0);
    assert_true (gres_equal (&a, &c));
    assert_int_equal (gres_add (&a, &b, -1), 0);
    expect_text (&a, "a:1,m:2,z:3");
    assert_int_equal (gres_add (&a, &c, -1), 0); /* not below nothing */
    expect_text (&a, "");
    assert_int_equal (gres_get (&c, "n"), 7);
    assert_int_equal (gres_get (&c, "nn"), 0);
    assert_int_equal (gres_set (&c, "n", INT64_MAX), 0);
    assert_int_equal (gres_add (&c, &b, 1), 0);
    assert_true (gres_get (&c, "n") == INT64_MAX);
    gres_release (&a);
    gres_release (&b);
    gres_release (&c);
}

static void test_parse (void **state)
{
    static const struct {
        const char *text, *list;
    } good[] = {
        { "license", "license:1" },
        { "none", "" },
        { "z:2,gpu:a100:3,gpu", "gpu:1,gpu:a100:3,z:2" },
        { "gpu:a100", "gpu:a100:1" },
        { "rdma/hca:2", "rdma/hca:2" },
        { "bandwidth:2K", "bandwidth:2048" },
        { "bandwidth:1m", "bandwidth:1048576" },
        { "gpu:2g", NULL }, /* more than 2^31 - 1 */
        { "x:0", NULL },
        { "x:99999999999999999999", NULL },
        { "x:99999999999g", NULL },
        { "x:-1", NULL },
        { "", NULL },
        { "x,,y", NULL },
        { "x,", NULL },
        { "x:1,x:2", NULL },
        { "core:2", NULL },
        { "none,x", NULL },
        { ":2", NULL },
        { "2", "2:1" }, /* a name */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        struct gres_list l;
        struct error err = { 0 };
        int rc = gres_parse (good[i].text, &l, "--gres", &err);
        if (rc == 0 && !good[i].list)
            fail_msg ("'%s' is accepted", good[i].text);
        if (rc < 0 && good[i].list)
            fail_msg ("'%s': %s", good[i].text, err.text);
        expect_text (&l, good[i].list ? good[i].list : "");
        if (rc < 0)
            assert_memory_equal (err.text, "--gres: ", 8);
        gres_release (&l);
    }
}

static void test_many (void **state)
{
    autostrbuf struct strbuf sb;
    struct gres_list l;

    (void)state;
    strbuf_init (&sb, 4096);
    for (int i = 0; i <= GRES_LIST_MAX; i++)
        strbuf_addf (&sb, "%sx%d", i ? "," : "", i);
    assert_int_equal (gres_parse (sb.buf, &l, "--gres", NULL), -ERANGE);
    strrchr (sb.buf, ',')[0] = '\0';
    assert_int_equal (gres_parse (sb.buf, &l, "--gres", NULL), 0);
    assert_int_equal (l.n, GRES_LIST_MAX);
    gres_release (&l);
}

static void test_json (void **state)
{
    static const char *const bad[] = {
        "[]",          "{\"x\":0}",    "{\"x\":\"1\"}",
        "{\"x\":1.5}", "{\"core\":1}", "{\"x\":2147483648}"
    };
    struct gres_list l, again = { 0 };
    struct error err = { 0 };

    (void)state;
    assert_int_equal (gres_parse ("rdma/hca:2,license", &l, "", &err), 0);
    autojson json_t *o = gres_to_json (&l);
    assert_int_equal (gres_from_json (o, &again, "R", &err), 0);
    assert_true (gres_equal (&l, &again));
    gres_release (&l);
    gres_release (&again);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        autojson json_t *b = json_parse (bad[i], strlen (bad[i]), "t", &err);
        assert_non_null (b);
        assert_int_equal (gres_from_json (b, &again, "R.gres", &err), -EINVAL);
        assert_memory_equal (err.text, "R.gres: ", 8);
        gres_release (&again);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_names), cmocka_unit_test (test_lists),
        cmocka_unit_test (test_parse), cmocka_unit_test (test_many),
        cmocka_unit_test (test_json),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
