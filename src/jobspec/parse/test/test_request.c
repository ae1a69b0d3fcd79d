/* test_request.c - requests by the general rules of RFC 14: counts of any form,
 * requests beyond those of users, refusals, and Fluxion's own test data */
#include "common/test/unit.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/io.h"
#include "jobspec/parse/request.h"

#define TASKS "tasks: [{command: [a], slot: t, count: {per_slot: 1}}]\n"

static struct jobspec_request *parse (const char *text, struct error *err)
{
    struct jobspec_request *q = NULL;
    int rc = jobspec_resources_parse (text, strlen (text), "x.yaml", &q, err);

    assert_int_equal (rc == 0, q != NULL);
    assert_true (rc == 0 || rc == -err->code);
    return q;
}

/* A document with one resource, {type: core, ...}. */
static struct jobspec_request *parse_core (const char *keys, struct error *err)
{
    autofree char *text = NULL;

    if (asprintf (&text,
                  "version: 1\nresources: [{type: core, %s}]\n" TASKS "attributes:\n",
                  keys)
        < 0)
        abort ();
    return parse (text, err);
}

static void test_counts (void **state)
{
    static const struct {
        const char *count;
        int64_t min, max;
        char op;
        int64_t operand;
        const char *sizes; /* NULL: none */
    } cases[] = {
        { "4", 4, 4, '+', 1, NULL },
        { "'4'", 4, 4, '+', 1, NULL },
        { "2-8", 2, 8, '+', 1, NULL },
        { "2+", 2, JOBSPEC_COUNT_MAX, '+', 1, NULL },
        { "2-8:2", 2, 8, '+', 2, NULL },
        { "'2-8:2:+'", 2, 8, '+', 2, NULL },
        { "'2+:2:*'", 2, JOBSPEC_COUNT_MAX, '*', 2, NULL },
        { "'[2-256:2:^]'", 2, 256, '^', 2, NULL },
        { "{min: 3}", 3, JOBSPEC_COUNT_MAX, '+', 1, NULL },
        { "{min: 3, max: 9}", 3, 9, '+', 1, NULL },
        { "{min: 3, max: 9, operator: '*', operand: 3}", 3, 9, '*', 3, NULL },
        { "'1,4,9'", 1, 9, '+', 1, "1,4,9" },
        { "'[1-4,8,16-20]'", 1, 20, '+', 1, "1-4,8,16-20" },
        { "'1,2147483647'", 1, JOBSPEC_COUNT_MAX, '+', 1, "1,2147483647" },
        /* a set without gaps is a range */
        { "'3,4,5-7'", 3, 7, '+', 1, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        char keys[128];

        snprintf (keys, sizeof (keys), "count: %s", cases[i].count);
        struct jobspec_request *q = parse_core (keys, &err);
        if (!q)
            fail_msg ("%s: %s", cases[i].count, err.text);
        const struct jobspec_resource *r = &q->resources[0];
        assert_int_equal (r->count.min, cases[i].min);
        assert_int_equal (r->count.max, cases[i].max);
        assert_int_equal (r->count.op, cases[i].op);
        assert_int_equal (r->count.operand, cases[i].operand);
        autofree char *sizes = r->sizes ? idset_encode (r->sizes) : NULL;
        assert_int_equal (sizes != NULL, cases[i].sizes != NULL);
        if (sizes)
            assert_string_equal (sizes, cases[i].sizes);
        jobspec_request_destroy (q);
    }
}

static void test_vertices (void **state)
{
    struct error err = { 0 };
    struct jobspec_request *q = parse (
        "version: 999\n"
        "resources:\n"
        "- type: xor_slot\n"
        "  label: 7\n"
        "  count: 1\n"
        "  with:\n"
        "  - {type: slot, label: inner, count: 2, with: [{type: core, count: 1}]}\n"
        "  - {type: slot, label: inner, count: 1}\n"
        "  - {type: memory, count: 3, unit: parsec, exclusive: 'true'}\n"
        "- {type: node, count: 1, exclusive: false, requires: {properties: [big]}}\n"
        "tasks: []\n"
        "attributes: {user: {x: 1}, system: {duration: 1.5h, y: 2}}\n",
        &err);

    (void)state;
    if (!q)
        fail_msg ("%s", err.text);
    assert_int_equal (q->version, 999);
    assert_int_equal (q->nresources, 2);
    assert_string_equal (q->resources[0].label, "7");
    assert_int_equal (q->resources[0].nwith, 3);
    assert_int_equal (q->resources[0].with[1].nwith, 0);
    assert_string_equal (q->resources[0].with[2].unit, "parsec");
    assert_int_equal (q->resources[0].with[2].exclusive, JOBSPEC_TRUE);
    assert_null (q->resources[0].requires);
    assert_int_equal (q->resources[1].exclusive, JOBSPEC_FALSE);
    assert_non_null (json_object_get (q->resources[1].requires, "properties"));
    assert_true (q->duration > 5399 && q->duration < 5401);
    assert_null (q->constraints);
    jobspec_request_destroy (q);
}

static void test_json (void **state)
{
    struct error err = { 0 };
    struct jobspec_request *q = parse (
        " \n{\"version\":1,\"resources\":[{\"type\":\"core\",\"count\":1,\"label\":"
        "\"\\ud83d\\ude00\"}],\"tasks\":[],\"attributes\":{\"system\":{\"duration\":0.5,"
        "\"constraints\":{\"ranks\":[\"0\"]}}}}",
        &err);

    (void)state;
    if (!q)
        fail_msg ("%s", err.text);
    assert_string_equal (q->resources[0].label, "\xf0\x9f\x98\x80");
    assert_true (q->duration > 0.49 && q->duration < 0.51);
    assert_non_null (json_object_get (q->constraints, "ranks"));
    jobspec_request_destroy (q);
    /* a flow mapping that only YAML accepts */
    q = parse ("{version: 1, resources: [{type: core, count: 1}], tasks: [], "
               "attributes: }",
               &err);
    assert_non_null (q);
    jobspec_request_destroy (q);
    /* bytes without an end */
    const char open[] = { ' ', '{' };
    assert_true (jobspec_resources_parse (open, sizeof (open), "x", &q, &err) < 0);
    assert_true (jobspec_resources_parse (open, 1, "x", &q, &err) < 0);
}

#define OK_RESOURCES "resources: [{type: core, count: 1}]\n"

static void test_refused (void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "a: b: c", "x.yaml:1:5: mapping values are not allowed in this context" },
        { "", "x.yaml: jobspec: expected an object, got null" },
        { "version: 1\n" OK_RESOURCES TASKS,
          "x.yaml: jobspec: the key 'attributes' is missing" },
        { "version: 1\n" OK_RESOURCES TASKS "attributes:\nmore: 1\n",
          "x.yaml: jobspec: more: unknown key" },
        { "version: 10000\n" OK_RESOURCES TASKS "attributes:\n",
          "x.yaml: jobspec: version: expected an integer from 1 to 9999" },
        { "version: 1\n" OK_RESOURCES "tasks: 1\nattributes:\n",
          "x.yaml: jobspec: tasks: expected a list, got an integer" },
        { "version: 1\n" OK_RESOURCES TASKS "attributes: {system: 1}\n",
          "x.yaml: jobspec: attributes.system: expected an object, got an integer" },
        { "version: 1\n" OK_RESOURCES TASKS "attributes: {system: {duration: -1}}\n",
          "x.yaml: jobspec: attributes.system.duration: -1 is not a number of seconds "
          "from "
          "0 to 1e+15" },
        { "version: 1\n" OK_RESOURCES TASKS "attributes: {system: {duration: soon}}\n",
          "x.yaml: jobspec: attributes.system.duration: 'soon' is not a duration (a "
          "number, then ms, s, m, h or d; seconds without)" },
        { "version: 1\n" OK_RESOURCES TASKS "attributes: {system: {constraints: []}}\n",
          "x.yaml: jobspec: attributes.system.constraints: expected an object, got an "
          "array" },
        { "version: 1\n" OK_RESOURCES
          "tasks: [{command: [], slot: t, count: {total: 1}}]\nattributes:\n",
          "x.yaml: jobspec: tasks[0].command: expected a list of at least one string" },
        { "version: 1\n" OK_RESOURCES
          "tasks: [{command: [a], slot: t, count: {total: 0}}]\nattributes:\n",
          "x.yaml: jobspec: tasks[0].count.total: expected a positive integer" },
        { "version: 1\n" OK_RESOURCES
          "tasks: [{command: [a], slot: t, count: {total: 1}, name: x}]\nattributes:\n",
          "x.yaml: jobspec: tasks[0].name: unknown key" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        assert_null (parse (cases[i].text, &err));
        assert_string_equal (err.text, cases[i].why);
    }
}

static void test_refused_vertices (void **state)
{
    static const struct {
        const char *keys, *why;
    } cases[] = {
        { "count: 0", "count: 0 is not a positive integer" },
        { "count: '0,2'", "count: '0,2' has 0 in it" },
        { "count: '4,2'", "count: not a list of rising numbers, such as 1,2,4,8-10" },
        { "count: '1,3:2'", "count: not a list of rising numbers, such as 1,2,4,8-10" },
        { "count: '8-2'", "count: max 2 is less than min 8" },
        { "count: ''", "count: a positive number is expected at its end" },
        { "count: 1.5", "count: expected a positive integer, got a number with a "
                        "fraction" },
        { "count: {min: 1, operator: '+', operand: 1}",
          "count: with an operator the key 'max' is needed" },
        { "count: 1, id: 5", "id: asking for resources by id is not supported by fluxq" },
        { "count: 1, requires: [a]", "requires: expected an object, got an array" },
        { "count: 1, exclusive: maybe",
          "exclusive: expected true or false, got a string" },
        { "count: 1, exclusive: 1", "exclusive: expected true or false, got an integer" },
        { "count: 1, needs: 1", "needs: unknown key" },
        { "count: 1, with: []", "with: must have at least one resource" },
        { "count: 1, with: [{type: or_slot, count: 1}]",
          "with[0]: a slot needs the key 'label'" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        char want[256];

        snprintf (want, sizeof (want), "x.yaml: jobspec: resources[0].%s", cases[i].why);
        assert_null (parse_core (cases[i].keys, &err));
        assert_string_equal (err.text, want);
        assert_int_equal (err.code, EINVAL);
    }
}

/* Fails if a list of sizes is accepted that is too long for the job's launch file. */
static void test_long_list (void **state)
{
    autostrbuf struct strbuf keys;
    struct error err = { 0 };

    (void)state;
    for (int n = 6000; n <= 8000; n += 2000) {
        strbuf_init (&keys, 1 << 20);
        strbuf_adds (&keys, "count: '1");
        for (int i = 1; i < n; i++)
            strbuf_addf (&keys, ",%d", 1 + 2 * i);
        strbuf_adds (&keys, "'");
        struct jobspec_request *q = parse_core (keys.buf, &err);
        assert_true (n == 6000 ? !!q : !q);
        jobspec_request_destroy (q);
        strbuf_release (&keys);
    }
    assert_non_null (strstr (err.text, "resources[0].count: a list of more than 32768"));
    strbuf_init (&keys, 16);
}

/* All this does not widen the jobspecs that users may submit. */
static void test_users_are_told (void **state)
{
    static const struct {
        const char *vertex, *why;
    } cases[] = {
        { "\"count\":\"1-4:2\"",
          "jobspec: resources[0].with[0].count: its steps (2) miss "
          "max 4: the last size is 3; use 1-3:2" },
        { "\"count\":1,\"requires\":{}",
          "jobspec: resources[0].with[0].requires: unknown key" },
        { "\"count\":1,\"exclusive\":\"true\"",
          "jobspec: resources[0].with[0].exclusive: expected true or false, got a "
          "string" },
        { "\"count\":1,\"label\":5",
          "jobspec: resources[0].with[0].label: expected a string, got an integer" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        char text[512];

        snprintf (
            text, sizeof (text),
            "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"label\":\"t\","
            "\"count\":1,\"with\":[{\"type\":\"core\",%s}]}],\"tasks\":[{\"command\":"
            "[\"a\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],\"attributes\":{}}",
            cases[i].vertex);
        assert_null (jobspec_parse (text, strlen (text), &err));
        assert_string_equal (err.text, cases[i].why);
    }
}

static void check_file (const char *path, bool valid)
{
    struct error err = { 0 };
    struct jobspec_request *q = NULL;
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    if (io_read_file (path, &sb, 1 << 20, &err) < 0)
        fail_msg ("%s", err.text);
    int rc = jobspec_resources_parse (sb.buf, sb.len, path, &q, &err);
    if ((rc == 0) != valid)
        fail_msg ("%s: %s", path, rc == 0 ? "is accepted" : err.text);
    jobspec_request_destroy (q);
    strbuf_release (&sb);
}

/* All files of the folder; returns their number. The matcher refuses files that are
 * only wrong in a constraint (test_shape.c). */
static size_t check_folder (const char *name, bool valid)
{
    const char *shared = getenv ("FLUXQ_SHARED_DIR");
    const struct dirent *e;
    char folder[512], path[1024];
    size_t n = 0;

    snprintf (folder, sizeof (folder), "%s/conformance/fluxion/data/resource/jobspecs/%s",
              shared ? shared : "", name);
    DIR *dir = opendir (folder);
    if (!dir)
        skip ();
    while ((e = readdir (dir))) {
        if (e->d_name[0] == '.' || strstr (e->d_name, "bad_properties"))
            continue;
        snprintf (path, sizeof (path), "%s/%s", folder, e->d_name);
        check_file (path, valid);
        n++;
    }
    closedir (dir);
    return n;
}

static void test_shared_valid (void **state)
{
    (void)state;
    assert_true (check_folder ("validation/valid", true) >= 18);
    assert_true (check_folder ("flexible", true) >= 14);
    assert_true (check_folder ("advanced", true) >= 7);
}

static void test_shared_invalid (void **state)
{
    (void)state;
    assert_true (check_folder ("validation/invalid", false) >= 45);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_counts),
        cmocka_unit_test (test_vertices),
        cmocka_unit_test (test_json),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_refused_vertices), cmocka_unit_test (test_long_list),
        cmocka_unit_test (test_users_are_told),
        cmocka_unit_test (test_shared_valid),
        cmocka_unit_test (test_shared_invalid),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
