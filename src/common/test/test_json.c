/* test_json.c - tests of json.h: getters, texts, and documents that are refused */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

static json_t *parse (const char *text)
{
    struct error err;
    json_t *v = json_parse (text, strlen (text), "test", &err);

    if (!v)
        fail_msg ("%s", err.text);
    return v;
}

static void refused (const char *text, size_t len)
{
    struct error err = { 0 };

    assert_null (json_parse (text, len, "body", &err));
    assert_int_equal (err.code, EINVAL);
    assert_int_equal (strncmp (err.text, "body: line ", 11), 0);
}

static void test_parse_refuses (void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "{\"a\":1}x",
        "{\"a\":1,\"a\":2}",
        "[1,]",
        "{\"a\":\"\\u0000\"}",
        "{\"\\u0000\":1}",
        "\"\xff\"",
        "\"\xed\xa0\x80\"",
        "99999999999999999999",
        "1e999",
        "nul",
        "\"a\nb\"",
        "'a'",
        "NaN",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        refused (bad[i], strlen (bad[i]));
    refused ("\"a\0b\"", 5);
    refused ("[1,2]", 4); /* no byte past the length is read */

    size_t depth = 1000000;
    char *deep = malloc (depth);
    memset (deep, '[', depth);
    refused (deep, depth);
    free (deep);
}

static void test_parse_tells_the_place (void **state)
{
    struct error err;

    (void)state;
    assert_null (json_parse ("{\n  \"a\": x\n}", 12, "jobspec", &err));
    assert_non_null (strstr (err.text, "jobspec: line 2 column "));
    autojson json_t *v = parse ("7"); /* any value, not only objects */
    assert_int_equal (json_integer_value (v), 7);
}

static void test_getters (void **state)
{
    autojson json_t *o =
        parse ("{\"s\":\"x\",\"i\":5,\"d\":2.5,\"t\":true,\"o\":{},\"a\":[1]}");
    const char *s = NULL;
    int64_t i = 0;
    double d = 0;
    bool b = false;
    json_t *v = NULL;

    (void)state;
    assert_int_equal (json_get_string (o, "s", &s, JSON_REQUIRED, "job", NULL), 1);
    assert_string_equal (s, "x");
    assert_int_equal (json_get_int (o, "i", 1, 5, &i, JSON_REQUIRED, "job", NULL), 1);
    assert_int_equal (i, 5);
    assert_int_equal (json_get_double (o, "d", 0, 3, &d, JSON_REQUIRED, "job", NULL), 1);
    assert_true (d == 2.5);
    assert_int_equal (json_get_double (o, "i", 0, 5, &d, JSON_REQUIRED, "job", NULL), 1);
    assert_true (d == 5);
    assert_int_equal (json_get_bool (o, "t", &b, JSON_REQUIRED, "job", NULL), 1);
    assert_true (b);
    assert_int_equal (json_get_object (o, "o", &v, JSON_REQUIRED, "job", NULL), 1);
    assert_true (json_is_object (v));
    assert_int_equal (json_get_array (o, "a", &v, JSON_REQUIRED, "job", NULL), 1);
    assert_int_equal (json_array_size (v), 1);
}

static void test_getters_refuse (void **state)
{
    autojson json_t *o = parse ("{\"s\":\"x\",\"i\":5,\"d\":2.5,\"n\":null}");
    struct error err;
    const char *s = "untouched";
    int64_t i = 77;
    double d = 77;
    bool b = true;
    json_t *v = NULL;

    (void)state;
    assert_int_equal (json_get_string (o, "i", &s, JSON_REQUIRED, "job", &err), -EINVAL);
    assert_string_equal (err.text, "job.i: expected a string, got an integer");
    assert_int_equal (json_get_string (o, "x", &s, JSON_OPTIONAL_KEY, "job", &err), 0);
    assert_int_equal (json_get_string (o, "x", &s, JSON_REQUIRED, "job", &err), -EINVAL);
    assert_string_equal (err.text, "job.x: required but missing");
    assert_int_equal (json_get_string (o, "n", &s, JSON_OPTIONAL_KEY, "job", &err),
                      -EINVAL);
    assert_int_equal (json_get_int (o, "i", 6, 9, &i, JSON_REQUIRED, "job", &err),
                      -ERANGE);
    assert_string_equal (err.text, "job.i: 5 is not from 6 to 9");
    assert_int_equal (json_get_int (o, "d", 0, 9, &i, JSON_REQUIRED, "job", &err),
                      -EINVAL);
    assert_int_equal (json_get_int (o, "s", 0, 9, &i, JSON_OPTIONAL_KEY, "", &err),
                      -EINVAL);
    assert_string_equal (err.text, "s: expected an integer, got a string");
    assert_int_equal (json_get_double (o, "d", 3, 9, &d, JSON_REQUIRED, "job", &err),
                      -ERANGE);
    assert_int_equal (json_get_double (o, "s", 3, 9, &d, JSON_REQUIRED, "job", &err),
                      -EINVAL);
    assert_int_equal (json_get_bool (o, "i", &b, JSON_REQUIRED, "job", &err), -EINVAL);
    assert_int_equal (json_get_object (o, "i", &v, JSON_REQUIRED, NULL, &err), -EINVAL);
    assert_int_equal (json_get_array (o, "i", &v, JSON_REQUIRED, NULL, &err), -EINVAL);
    assert_string_equal (s, "untouched");
    assert_true (i == 77 && d == 77 && b && !v);

    /* An object of a wrong type, as a client may send it. */
    autojson json_t *list = json_array ();
    assert_int_equal (json_get_int (list, "i", 0, 9, &i, JSON_OPTIONAL_KEY, "job", &err),
                      -EINVAL);
    assert_string_equal (err.text, "job: expected an object, got an array");
    assert_int_equal (json_get_int (NULL, "i", 0, 9, &i, JSON_OPTIONAL_KEY, NULL, &err),
                      -EINVAL);
}

static void test_only_keys (void **state)
{
    static const char *const keys[] = { "name", "count", NULL };
    autojson json_t *good = parse ("{\"name\":1}");
    autojson json_t *bad = parse ("{\"name\":1,\"cuont\":2}");
    struct error err;

    (void)state;
    assert_int_equal (json_only_keys (good, keys, "slot", &err), 0);
    assert_int_equal (json_only_keys (bad, keys, "slot", &err), -EINVAL);
    assert_string_equal (err.text, "slot.cuont: unknown key (known: name, count)");
}

static void test_dump (void **state)
{
    static const char text[] = "{\"a\":[1,2.5,\"x\\n\",null,true],\"b\":{}}";
    autojson json_t *v = parse (text);
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1000);
    assert_int_equal (strbuf_add_json_value (&sb, v), 0);
    assert_string_equal (sb.buf, text);
    strbuf_release (&sb);
    strbuf_init (&sb, 20);
    assert_int_equal (strbuf_add_json_value (&sb, v), -E2BIG);
    strbuf_reset (&sb);
    assert_int_equal (strbuf_add_json_value (&sb, NULL), -EINVAL);
    strbuf_release (&sb);
}

/* jansson reads the output of strbuf_add_json() back as the same text. */
static void test_strings_round_trip (void **state)
{
    char all[256];
    struct strbuf sb;

    (void)state;
    for (int i = 1; i < 128; i++)
        all[i - 1] = (char)i;
    all[127] = '\0';
    strbuf_init (&sb, 10000);
    strbuf_add_json (&sb, all, SIZE_MAX);
    autojson json_t *v = parse (sb.buf);
    assert_string_equal (json_string_value (v), all);
    strbuf_reset (&sb);
    for (int i = 0; i < 256; i++)
        all[i] = (char)(255 - i);
    strbuf_add_json (&sb, all, 255);
    autojson json_t *w = parse (sb.buf); /* valid for any bytes */
    assert_true (json_is_string (w));
    strbuf_release (&sb);
}

static void test_text (void **state)
{
    static const char object[] = "{\"a\":\"b\",\"c\":7,\"d\":null}";
    autojson json_t *o = json_parse (object, sizeof (object) - 1, "o", NULL);

    (void)state;
    assert_non_null (o);
    assert_string_equal (json_text (o, "a"), "b");
    assert_string_equal (json_text (o, "c"), "");
    assert_string_equal (json_text (o, "d"), "");
    assert_string_equal (json_text (o, "e"), "");
    assert_string_equal (json_text (NULL, "a"), "");
}

/* -- no memory -- */

static long countdown = -1; /* allocations until one fails; < 0: none does */

static void *allocate (size_t size)
{
    if (countdown < 0 || countdown-- > 0)
        return malloc (size);
    errno = ENOMEM;
    return NULL;
}

/* No memory is not a fault of the text. */
static void test_parse_no_memory (void **state)
{
    static const char text[] = "{\"a\": [\"a text\", null], \"b\": {\"c\": true}}";
    json_t *v = NULL;
    long n = 0;

    (void)state;
    json_set_alloc_funcs (allocate, free);
    for (; !v; n++) {
        struct error err = { 0 };
        countdown = n;
        v = json_parse (text, strlen (text), "text", &err);
        countdown = -1;
        if (!v && err.code != ENOMEM)
            fail_msg ("allocation %ld: %d, %s", n, err.code, err.text);
    }
    assert_true (n > 3);
    json_decref (v);
    json_set_alloc_funcs (malloc, free);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_parse_refuses),
        cmocka_unit_test (test_parse_tells_the_place),
        cmocka_unit_test (test_parse_no_memory),
        cmocka_unit_test (test_getters),
        cmocka_unit_test (test_text),
        cmocka_unit_test (test_getters_refuse),
        cmocka_unit_test (test_only_keys),
        cmocka_unit_test (test_dump),
        cmocka_unit_test (test_strings_round_trip),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
