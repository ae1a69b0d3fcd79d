/* test_yaml.c - tests of yaml.h: scalars, refused documents, and the places of values */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/io.h"
#include "common/yaml.h"

static struct yaml_doc *load (const char *text)
{
    struct error err;
    struct yaml_doc *doc = yaml_load (text, strlen (text), "t.yaml", &err);

    if (!doc)
        fail_msg ("%s", err.text);
    return doc;
}

static void check_json (const char *text, const char *want)
{
    struct yaml_doc *doc = load (text);
    struct strbuf sb;

    strbuf_init (&sb, 10000);
    assert_int_equal (strbuf_add_json_value (&sb, yaml_root (doc)), 0);
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
    yaml_destroy (doc);
}

static void test_scalars (void **state)
{
    (void)state;
    check_json ("[null, Null, NULL, ~, ]", "[null,null,null,null]");
    check_json ("a:\nb: ''\n", "{\"a\":null,\"b\":\"\"}");
    check_json ("[true, True, FALSE, yes, no, on, y]",
                "[true,true,false,\"yes\",\"no\",\"on\",\"y\"]");
    check_json ("[0, -17, +5, 007, 0o17, 0xfF, 9223372036854775807]",
                "[0,-17,5,7,15,255,9223372036854775807]");
    check_json ("[1.5, .5, 1., -2e3, 25E-2, 1e2]", "[1.5,0.5,1.0,-2000.0,0.25,100.0]");
    check_json (
        "['5', \"true\", '~', 1_000, 0b1, 12:30:45, 1.2.3, '.inf', -, --, e5, ., +]",
        "[\"5\",\"true\",\"~\",\"1_000\",\"0b1\",\"12:30:45\",\"1.2.3\",\".inf\",\"-\","
        "\"--\",\"e5\",\".\",\"+\"]");
    check_json ("a: |\n  x\n  y\nb: >\n  p\n  q\n",
                "{\"a\":\"x\\ny\\n\",\"b\":\"p q\\n\"}");
    check_json ("1: x\ntrue: y\n? z\n: w\n", "{\"1\":\"x\",\"true\":\"y\",\"z\":\"w\"}");
    check_json ("\"caf\\u00e9 \xe2\x82\xac\"", "\"caf\xc3\xa9 \xe2\x82\xac\"");
}

static void test_shapes (void **state)
{
    (void)state;
    check_json ("", "null");
    check_json ("# only a comment\n", "null");
    check_json ("--- 5\n...\n", "5");
    check_json ("a:\n  - b: [1, {c: d}]\n    e: {}\n  - []\n",
                "{\"a\":[{\"b\":[1,{\"c\":\"d\"}],\"e\":{}},[]]}");
}

static void refused (const char *text, size_t len, const char *want)
{
    struct error err = { 0 };

    assert_null (yaml_load (text, len, "t.yaml", &err));
    assert_int_equal (err.code, EINVAL);
    if (strncmp (err.text, want, strlen (want)))
        fail_msg ("'%s' is not '%s...'", err.text, want);
}

static void test_refused (void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "a: 1\nb: 2\na: 3\n", "t.yaml:3:1: key 'a' is given twice" },
        { "x: {a: 1, a: 1}\n", "t.yaml:1:11: key 'a' is given twice" },
        { "a: &x 1\n", "t.yaml:1:4: anchors" },
        { "a: &x [1]\nb: *x\n", "t.yaml:1:4: anchors" },
        { "&k a: 1\n", "t.yaml:1:1: anchors" },
        { "a: *x\n", "t.yaml:1:4: aliases" },
        { "*x : 1\n", "t.yaml:1:1: aliases" },
        { "a: !!str 5\n", "t.yaml:1:4: tags" },
        { "a: !x [1]\n", "t.yaml:1:4: tags" },
        { "! {a: 1}\n", "t.yaml:1:1: tags" },
        { "[a]: 1\n", "t.yaml:1:1: a key must be" },
        { "? {a: 1}\n: 2\n", "t.yaml:1:3: a key must be" },
        { "a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document" },
        { "a: .inf\n", "t.yaml:1:4: infinity" },
        { "a: -.INF\n", "t.yaml:1:4: infinity" },
        { "a: .nan\n", "t.yaml:1:4: infinity" },
        { "a: 9223372036854775808\n", "t.yaml:1:4: an integer beyond" },
        { "a: 0xffffffffffffffffff\n", "t.yaml:1:4: an integer beyond" },
        { "a: 1e999\n", "t.yaml:1:4: a number that is too large" },
        { "a: \"x\\0y\"\n", "t.yaml:1:4: a NUL byte" },
        { "\"x\\0y\": 1\n", "t.yaml:1:1: a NUL byte" },
        { "a: [1, 2\n", "t.yaml:2:1: " },
        { "a:\n\tb: 1\n", "t.yaml:2:1: " },
        { "a: b: c\n", "t.yaml:1:5: " },
        { "a: 'x\n", "t.yaml:2:1: " },
        { "ok: 1\nbad: \xff\n", "t.yaml:2:" },
        { "ok: 1\nbad: \"\xed\xa0\x80\"\n", "t.yaml:2:" },
        { "bad: \x01\n", "t.yaml:1:" },
        { "\"\\ud800\": 1\n", "t.yaml:1:" },
        { "%TAG ! tag:x,2000:\n--- !a 1\n", "t.yaml:2:5: tags" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
        refused (cases[i].text, strlen (cases[i].text), cases[i].want);
    refused ("a: x\0y\n", 7, "t.yaml:1:");
    refused ("\xff\xfe\x61\x00", 4, "t.yaml:1:"); /* UTF-16 */
}

static void test_bombs (void **state)
{
    struct strbuf sb;

    (void)state;
    /* Nine levels of nine aliases each: 387 million values from 300 bytes. */
    static const char laughs[] =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n";
    refused (laughs, strlen (laughs), "t.yaml:1:4: anchors");

    strbuf_init (&sb, 8 << 20);
    for (int i = 0; i < 64; i++)
        strbuf_addch (&sb, '[');
    for (int i = 0; i < 64; i++)
        strbuf_addch (&sb, ']');
    yaml_destroy (load (sb.buf));
    strbuf_reset (&sb);
    for (int i = 0; i < 1000000; i++)
        strbuf_addch (&sb, '[');
    refused (sb.buf, sb.len, "t.yaml:1:65: nested more than 64");
    strbuf_reset (&sb);
    for (int i = 0; i < 1000; i++)
        strbuf_addf (&sb, "%*sa:\n", i, "");
    refused (sb.buf, sb.len, "t.yaml:65:65: nested more than 64");
    strbuf_reset (&sb);
    for (int i = 0; i < 1000000; i++)
        strbuf_adds (&sb, "- 1\n");
    refused (sb.buf, sb.len, "t.yaml:1000000:3: more than 1000000 values");
    strbuf_reset (&sb);
    while (sb.len <= 4 << 20)
        strbuf_adds (&sb,
                     "#############################################################\n");
    refused (sb.buf, sb.len, "t.yaml: larger than 4 MiB");
    strbuf_release (&sb);
}

/* The place of the value or key; line 0: unknown. */
static void check_place (const struct yaml_doc *doc, const json_t *v, const char *key,
                         int line, int column)
{
    char want[64] = "t.yaml: no";
    struct error err;

    if (line > 0)
        snprintf (want, sizeof (want), "t.yaml:%d:%d: no", line, column);
    assert_int_equal (yaml_error (doc, v, key, &err, "%s", "no"), -EINVAL);
    assert_string_equal (err.text, want);
}

static void test_where (void **state)
{
    struct yaml_doc *doc =
        load ("# top\nqueues:\n  - name: batch\n    open: true\n  - name: x\n");
    json_t *root = yaml_root (doc);
    json_t *queues = json_object_get (root, "queues");
    json_t *first = json_array_get (queues, 0);
    struct error err;

    (void)state;
    check_place (doc, root, NULL, 2, 1);
    check_place (doc, root, "queues", 2, 1);
    check_place (doc, queues, NULL, 3, 3);
    check_place (doc, first, NULL, 3, 5);
    check_place (doc, first, "name", 3, 5);
    check_place (doc, json_object_get (first, "name"), NULL, 3, 11);
    check_place (doc, first, "open", 4, 5);
    check_place (doc, json_array_get (queues, 1), "name", 5, 5);
    check_place (doc, json_true (), NULL, 0, 0);
    check_place (doc, first, "absent", 0, 0);
    check_place (doc, NULL, NULL, 0, 0);

    assert_int_equal (yaml_error (doc, first, "open", &err, "queue %d: no", 1), -EINVAL);
    assert_string_equal (err.text, "t.yaml:4:5: queue 1: no");
    yaml_destroy (doc);
    yaml_destroy (NULL);

    doc = load ("");
    check_place (doc, yaml_root (doc), NULL, 0, 0);
    yaml_destroy (doc);
}

static void test_file (void **state)
{
    char path[] = "/tmp/fluxq-test-yaml-XXXXXX";
    struct error err;
    int fd = mkstemp (path);

    (void)state;
    assert_int_equal (io_write_all (fd, "a: [b\n", 6), 0);
    assert_null (yaml_load_file (path, &err));
    assert_int_equal (strncmp (err.text, path, strlen (path)), 0);
    assert_int_equal (io_write_all (fd, "]\n", 2), 0);
    struct yaml_doc *doc = yaml_load_file (path, &err);
    yaml_destroy (doc);
    close (fd);
    unlink (path);
    assert_null (yaml_load_file (path, &err));
    assert_int_equal (err.code, ENOENT);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_scalars), cmocka_unit_test (test_shapes),
        cmocka_unit_test (test_refused), cmocka_unit_test (test_bombs),
        cmocka_unit_test (test_where),   cmocka_unit_test (test_file),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
