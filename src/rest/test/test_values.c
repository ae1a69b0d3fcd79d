/* test_values.c - numbers, lists and times in the bodies of requests */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "rest/values.h"

static void expect_number (const char *text, enum rest_number kind, double wanted)
{
    autojson json_t *value = json_loads (text, JSON_DECODE_ANY, NULL);
    double n = -1;

    assert_non_null (value);
    if (rest_number (value, &n) != kind || (kind == REST_NUMBER && n != wanted))
        fail_msg ("%s: %g", text, n);
}

static void test_numbers (void **state)
{
    (void)state;
    expect_number ("7", REST_NUMBER, 7);
    expect_number ("7.5", REST_NUMBER, 7.5);
    expect_number ("\"7\"", REST_NUMBER, 7);
    expect_number ("{\"set\": true, \"infinite\": false, \"number\": 7}", REST_NUMBER, 7);
    expect_number ("{\"number\": 7}", REST_NUMBER, 7);
    expect_number ("{\"set\": false, \"number\": 7}", REST_UNSET, 0);
    expect_number ("{\"set\": true, \"infinite\": true}", REST_INFINITE, 0);
    expect_number ("{\"set\": true}", REST_NO_NUMBER, 0);
    expect_number ("\"7x\"", REST_NO_NUMBER, 0);
    expect_number ("\"\"", REST_NO_NUMBER, 0);
    expect_number ("true", REST_NO_NUMBER, 0);
    expect_number ("null", REST_NO_NUMBER, 0);
    expect_number ("[7]", REST_NO_NUMBER, 0);
}

/* wanted NULL: refused. */
static void expect_list (const char *text, const char *wanted)
{
    autojson json_t *value = json_loads (text, JSON_DECODE_ANY, NULL);
    autostrbuf struct strbuf sb = STRBUF_INIT (16);

    assert_non_null (value);
    assert_int_equal (rest_add_list (&sb, value), wanted != NULL);
    if (wanted)
        assert_string_equal (sb.buf, wanted);
}

static void test_lists (void **state)
{
    (void)state;
    expect_list ("[\"a\", \"b\"]", "a,b");
    expect_list ("\"a,b\"", "a,b");
    expect_list ("[]", "");
    expect_list ("[\"a\", 1]", NULL);
    expect_list ("{\"a\": 1}", NULL);
    expect_list ("[\"0123456789\", \"0123456789\"]", NULL);
}

static void test_times (void **state)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64);

    (void)state;
    setenv ("TZ", "UTC", 1);
    tzset ();
    rest_add_time (&sb, 86400);
    assert_string_equal (sb.buf, "1970-01-02T00:00:00");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_numbers),
        cmocka_unit_test (test_lists),
        cmocka_unit_test (test_times),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
