/* test_strbuf.c - tests of strbuf.h: growth, ceilings, JSON and URL texts */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/strbuf.h"

static void test_grows_and_detaches (void **state)
{
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1000);
    assert_string_equal (sb.buf, "");
    assert_int_equal (strbuf_addf (&sb, "job %d", 7), 0);
    strbuf_addch (&sb, ':');
    strbuf_adds (&sb, " on ");
    strbuf_add (&sb, "node1xxx", 5);
    assert_string_equal (sb.buf, "job 7: on node1");
    for (int i = 0; i < 50; i++)
        strbuf_addf (&sb, "%s", "0123456789");
    assert_int_equal (sb.len, 515);
    autofree char *text = strbuf_detach (&sb);
    assert_int_equal (strlen (text), 515);
    assert_string_equal (sb.buf, "");
    autofree char *none = strbuf_detach (&sb);
    assert_string_equal (none, "");
}

static void test_ceiling_is_exact_and_kept (void **state)
{
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 10);
    assert_int_equal (strbuf_adds (&sb, "0123456789"), 0);
    assert_int_equal (strbuf_addch (&sb, 'x'), -E2BIG);
    assert_int_equal (strbuf_add (&sb, "", 0), -E2BIG);
    assert_string_equal (sb.buf, "0123456789");
    assert_null (strbuf_detach (&sb));
    assert_int_equal (sb.err, -E2BIG);
    strbuf_reset (&sb);
    assert_int_equal (strbuf_addf (&sb, "%s", "0123456789"), 0);
    assert_int_equal (strbuf_addf (&sb, "%d", 1), -E2BIG);
    assert_string_equal (sb.buf, "0123456789");
    strbuf_release (&sb);
    assert_int_equal (strbuf_addf (&sb, "%s", "0123456789a"), -E2BIG);
    assert_string_equal (sb.buf, "");
    strbuf_release (&sb);
    assert_int_equal (strbuf_reserve (&sb, (size_t)-1), -E2BIG);
    strbuf_release (&sb);
}

static void test_reserve_advance_consume (void **state)
{
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1 << 20);
    assert_int_equal (strbuf_reserve (&sb, 300), 0);
    memset (sb.buf, 'a', 300);
    strbuf_advance (&sb, 300);
    assert_int_equal (strlen (sb.buf), 300);
    strbuf_adds (&sb, "tail");
    strbuf_consume (&sb, 300);
    assert_string_equal (sb.buf, "tail");
    strbuf_consume (&sb, 4);
    assert_string_equal (sb.buf, "");
    strbuf_consume (&sb, 0);
    strbuf_add (&sb, "a\0b", 3);
    assert_memory_equal (sb.buf, "a\0b", 4);
    strbuf_release (&sb);
    strbuf_consume (&sb, 0); /* also on the shared empty string */
    strbuf_advance (&sb, 0);
    assert_string_equal (sb.buf, "");
}

static void check_json (const char *in, size_t len, const char *out)
{
    struct strbuf sb;

    strbuf_init (&sb, 1000);
    assert_int_equal (strbuf_add_json (&sb, in, len), 0);
    assert_string_equal (sb.buf, out);
    strbuf_release (&sb);
}

#define BAD "\xef\xbf\xbd"

static void test_json_strings (void **state)
{
    (void)state;
    check_json ("plain", SIZE_MAX, "\"plain\"");
    check_json ("", SIZE_MAX, "\"\"");
    check_json ("a\"b\\c/", SIZE_MAX, "\"a\\\"b\\\\c/\"");
    check_json ("\b\t\n\v\f\r\x1f\x7f", SIZE_MAX,
                "\"\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\"");
    check_json ("a\0b", 3, "\"a\\u0000b\"");
    check_json ("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", SIZE_MAX,
                "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void test_json_replaces_what_is_not_utf8 (void **state)
{
    (void)state;
    check_json ("a\xff", SIZE_MAX, "\"a" BAD "\"");
    check_json ("\xc0\xaf", SIZE_MAX, "\"" BAD BAD "\"");         /* overlong '/' */
    check_json ("\xe0\x80\xaf", SIZE_MAX, "\"" BAD BAD BAD "\""); /* overlong '/' */
    check_json ("\xed\xa0\x80", SIZE_MAX, "\"" BAD BAD BAD "\""); /* surrogate */
    check_json ("\xf4\x90\x80\x80", SIZE_MAX, "\"" BAD BAD BAD BAD "\""); /* > U+10FFFF */
    check_json ("\xe2\x82", SIZE_MAX, "\"" BAD "\"");                     /* cut */
    check_json ("\xe2\x82x", SIZE_MAX, "\"" BAD "x\"");
    check_json ("\xe2\x82\xac", 2, "\"" BAD "\""); /* does not read past its length */
    check_json ("\x80\x80", SIZE_MAX, "\"" BAD BAD "\"");
}

static void test_urlencoded (void **state)
{
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 100);
    strbuf_add_urlencoded (&sb, "aZ09-._~ /?&=%\xc3\xa9");
    assert_string_equal (sb.buf, "aZ09-._~%20%2F%3F%26%3D%25%C3%A9");
    strbuf_release (&sb);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_grows_and_detaches),
        cmocka_unit_test (test_ceiling_is_exact_and_kept),
        cmocka_unit_test (test_reserve_advance_consume),
        cmocka_unit_test (test_json_strings),
        cmocka_unit_test (test_json_replaces_what_is_not_utf8),
        cmocka_unit_test (test_urlencoded),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
