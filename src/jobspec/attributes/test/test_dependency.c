/* test_dependency.c - lists of dependencies and their RFC 26 objects. Fails if a list
 * means something else than its text, if a reader of RFC 26 would misread an object, or
 * if a wrong list is accepted or not named. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "jobspec/attributes/dependency.h"

#define WHERE "--dependency"

static json_t *to_json (const char *text)
{
    struct dependencies d;
    struct error err = { 0 };

    if (dependencies_parse (&d, text, WHERE, &err) < 0)
        fail_msg ("%s", err.text);
    json_t *o = dependencies_to_json (&d);
    assert_non_null (o);
    dependencies_release (&d);
    return o;
}

/* The text, its objects, and the text of these objects (NULL: the same text). */
static const struct {
    const char *text, *json, *again;
} good[] = {
    { "afterok:37", "[{\"scheme\":\"afterok\",\"value\":\"37\"}]", NULL },
    { "afterok:37:38",
      "[{\"scheme\":\"afterok\",\"value\":\"37\"},{\"scheme\":\"afterok\",\"value\":"
      "\"38\"}]",
      NULL },
    { "after:1,afterany:2,afternotok:3,aftercorr:4,singleton",
      "[{\"scheme\":\"after\",\"value\":\"1\"},{\"scheme\":\"afterany\",\"value\":\"2\"}"
      ",{\"scheme\":\"afternotok\",\"value\":\"3\"},{\"scheme\":\"aftercorr\",\"value\":"
      "\"4\"},{\"scheme\":\"singleton\",\"value\":\"\"}]",
      NULL },
    { "afterok:1,afterok:2",
      "[{\"scheme\":\"afterok\",\"value\":\"1\"},{\"scheme\":\"afterok\",\"value\":\"2\"}"
      "]",
      "afterok:1:2" },
    { "after:7+5:8",
      "[{\"scheme\":\"after\",\"value\":\"7\",\"delay\":300.0},"
      "{\"scheme\":\"after\",\"value\":\"8\"}]",
      NULL },
    { "after:7+0", "[{\"scheme\":\"after\",\"value\":\"7\"}]", "after:7" },
    { "afterok:12_0:12_3,after:13_4000000+2",
      "[{\"scheme\":\"afterok\",\"value\":\"12_0\"},{\"scheme\":\"afterok\",\"value\":"
      "\"12_3\"},{\"scheme\":\"after\",\"value\":\"13_4000000\",\"delay\":120.0}]",
      NULL },
    { "afterok:9223372036854775807",
      "[{\"scheme\":\"afterok\",\"value\":\"9223372036854775807\"}]", NULL },
    /* one object for "one is enough", which cannot be mistaken for a list of all */
    { "afterok:1:2?afternotok:3?after:4+1?singleton",
      "[{\"scheme\":\"any\",\"value\":\"afterok:1?afterok:2?afternotok:3?after:4+1?"
      "singleton\"}]",
      "afterok:1?afterok:2?afternotok:3?after:4+1?singleton" },
};

static void test_good (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        struct dependencies d;
        struct error err = { 0 };
        double begin = 7;
        autostrbuf struct strbuf text;
        json_t *o = to_json (good[i].text);
        autofree char *json = json_dumps (o, JSON_COMPACT);

        assert_string_equal (json, good[i].json);
        if (dependencies_from_json (&d, o, "here", &begin, &err) < 0)
            fail_msg ("%s: %s", json, err.text);
        assert_true (begin == 7);
        strbuf_init (&text, 4096);
        assert_int_equal (dependencies_add_text (&text, &d), 0);
        assert_string_equal (text.buf, good[i].again ? good[i].again : good[i].text);
        assert_int_equal (d.any, strchr (good[i].text, '?') != NULL);
        dependencies_release (&d);
        assert_int_equal (d.n, 0);
        json_decref (o);
    }
}

static const struct {
    const char *text, *thing;
} bad[] = {
    { "", "'' is not one of after, afterany" },
    { "37", "write afterok:37" },
    { "12_3", "write afterok:12_3" },
    { "afterok", "'afterok' names no job" },
    { "afterok:", "''" },
    { "afterok:1:", "''" },
    { "afterok:x", "'x' is not the number of a job" },
    { "afterok:12_", "'12_' is not the number of a job" },
    { "afterok:12_x", "'12_x' is not the number of a job" },
    { "afterok:12_4000001", "'12_4000001' is not the number of a job" },
    { "afterok:_3", "'_3' is not the number of a job" },
    { "afterok:12_1-3", "'12_1-3' is not the number of a job" },
    { "afterok:0", "'0'" },
    { "afterok:-1", "'-1'" },
    { "afterok:1.5", "'1.5'" },
    { "afterok: 1", "' 1'" },
    { "afterok:9223372036854775808", "'9223372036854775808'" },
    { "afterok:ƒ2oLkTLb", "is not the number of a job" },
    { "afterok:1,", "''" },
    { ",afterok:1", "''" },
    { "afterok:1,afterany:2?after:3", "mixes ','" },
    { "afterok:1+5", "only 'after'" },
    { "after:1+", "minutes: ''" },
    { "after:1+x", "minutes: 'x'" },
    { "after:1+-5", "minutes: '-5'" },
    { "after:1+99999999999999999999", "minutes: '99999999999999999999'" },
    { "after:+5", "''" },
    { "singleton:3", "singleton names no job" },
    { "expand:3", "'expand' is not one of" },
    { "AFTEROK:3", "'AFTEROK' is not one of" },
    { "afterok:1;afterok:2", "'1;afterok'" },
};

static void test_bad (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct dependencies d;
        struct error err = { 0 };

        if (dependencies_parse (&d, bad[i].text, WHERE, &err) == 0)
            fail_msg ("accepted: '%s'", bad[i].text);
        assert_int_equal (d.n, 0);
        assert_null (d.list);
        if (strncmp (err.text, WHERE ": ", strlen (WHERE) + 2)
            || !strstr (err.text, bad[i].thing))
            fail_msg ("'%s': '%s' does not name '%s'", bad[i].text, err.text, bad[i].thing);
    }
}

static void test_bounds (void **state)
{
    struct dependencies d, more;
    struct error err = { 0 };
    autostrbuf struct strbuf text;

    (void)state;
    strbuf_init (&text, 1 << 20);
    strbuf_adds (&text, "afterok");
    for (int i = 1; i <= DEPENDENCIES_MAX; i++)
        strbuf_addf (&text, ":%d", i);
    assert_int_equal (dependencies_parse (&d, text.buf, WHERE, &err), 0);
    assert_int_equal (d.n, DEPENDENCIES_MAX);
    assert_int_equal (dependencies_parse (&more, "singleton", WHERE, &err), 0);
    assert_int_equal (dependencies_append (&d, &more, WHERE, &err), -ERANGE);
    assert_int_equal (d.n, DEPENDENCIES_MAX);
    assert_int_equal (dependencies_append (&more, &d, WHERE, &err), -ERANGE);
    assert_int_equal (more.n, 1);
    dependencies_release (&d);
    dependencies_release (&more);
    strbuf_adds (&text, ":1001");
    assert_int_equal (dependencies_parse (&d, text.buf, WHERE, &err), -ERANGE);
    assert_non_null (strstr (err.text, "1000 others at most"));
    while (text.len <= 64 * 1024)
        strbuf_adds (&text, ":1001");
    assert_int_equal (dependencies_parse (&d, text.buf, WHERE, &err), -ERANGE);
}

/* -- dependencies in jobspecs of other programs -- */

#define O(scheme, value) "{\"scheme\":\"" scheme "\",\"value\":\"" value "\"}"

static const struct {
    const char *json, *thing;
} bad_json[] = {
    { "[7]", "here[0]: expected an object" },
    { "[{\"value\":\"1\"}]", "here[0].scheme: required" },
    { "[{\"scheme\":\"afterok\"}]", "here[0].value: required" },
    { "[{\"scheme\":\"afterok\",\"value\":1}]", "here[0].value: expected a string" },
    { "[" O ("afterok", "1") "," O ("afterok", "") "]", "here[1].value: ''" },
    { "[" O ("afterok", "1:2") "]", "'1:2'" },
    { "[" O ("string", "foo") "]", "here[0].scheme: fluxq does not know 'string'" },
    { "[{\"scheme\":\"afterok\",\"value\":\"1\",\"type\":\"out\"}]", "type" },
    { "[{\"scheme\":\"afterok\",\"value\":\"1\",\"delay\":5}]", "only for scheme" },
    { "[{\"scheme\":\"after\",\"value\":\"1\",\"delay\":-5}]", "here[0].delay" },
    { "[" O ("singleton", "x") "]", "singleton" },
    { "[" O ("any", "afterok:1,afterok:2") "]", "','" },
    { "[" O ("any", "") "]", "here[0].value" },
    { "[" O ("afterok", "1") "," O ("any", "afterok:2") "]", "does not go with others" },
    { "[" O ("any", "afterok:1?afterok:2") "," O ("afterok", "3") "]", "here[1]" },
    { "[" O ("any", "afterok:1") "," O ("any", "afterok:2") "]", "here[1]" },
    { "[" O ("begin-time", "soon") "]", "'soon'" },
    { "[" O ("begin-time", "1e99") "]", "'1e99'" },
    { "[" O ("begin-time", "nan") "]", "'nan'" },
    { "[" O ("begin-time", "-1") "]", "'-1'" },
};

static void test_bad_json (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad_json); i++) {
        struct dependencies d;
        struct error err = { 0 };
        double begin = 0;
        autojson json_t *o = json_loads (bad_json[i].json, 0, NULL);

        assert_non_null (o);
        if (dependencies_from_json (&d, o, "here", &begin, &err) == 0)
            fail_msg ("accepted: %s", bad_json[i].json);
        assert_int_equal (d.n, 0);
        assert_null (d.list);
        if (!strstr (err.text, bad_json[i].thing))
            fail_msg ("%s: '%s' does not name '%s'", bad_json[i].json, err.text,
                      bad_json[i].thing);
    }
}

static void test_begin_time (void **state)
{
    struct dependencies d;
    struct error err = { 0 };
    double begin = 0;
    autojson json_t *o =
        json_loads ("[" O ("begin-time", "1795000000.5") "," O (
                        "begin-time", "1700000000") "," O ("any", "afterok:3") "]",
                    0, NULL);

    (void)state;
    assert_int_equal (dependencies_from_json (&d, o, "here", &begin, &err), 0);
    assert_true (begin == 1795000000.5); /* the latest counts */
    assert_int_equal (d.n, 1);
    assert_true (d.any);
    dependencies_release (&d);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_good),       cmocka_unit_test (test_bad),
        cmocka_unit_test (test_bounds),     cmocka_unit_test (test_bad_json),
        cmocka_unit_test (test_begin_time),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
