/* test_error.c - tests of error.h: codes, prefixes, and texts of one bounded line */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/error.h"

static void test_set_returns_negative_errno (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (error_set (&err, ENOENT, "queue '%s' is unknown", "x"), -ENOENT);
    assert_int_equal (err.code, ENOENT);
    assert_string_equal (err.text, "queue 'x' is unknown");
    assert_int_equal (error_set (NULL, EPERM, "nobody reads this"), -EPERM);
    /* A caller that passes a negative errno must not get success from it. */
    assert_int_equal (error_set (&err, -EPERM, "x"), -EPERM);
    assert_int_equal (err.code, EPERM);
    assert_true (error_set (&err, 0, "x") < 0);
}

static void test_prefix_keeps_the_reason (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (error_prefix (&err, "nothing failed"), 0);
    assert_string_equal (err.text, "");
    error_set (&err, EINVAL, "count: 0");
    assert_int_equal (error_prefix (&err, "slot[%d]", 2), -EINVAL);
    assert_string_equal (err.text, "slot[2]: count: 0");
    assert_int_equal (error_prefix (NULL, "x"), 0);
}

static void test_errno_adds_its_text (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (error_errno (&err, EACCES, "/etc/%s", "x"), -EACCES);
    assert_string_equal (err.text, "/etc/x: Permission denied");
}

static void test_text_may_be_its_own_argument (void **state)
{
    struct error err = { 0 };

    (void)state;
    error_set (&err, EINVAL, "inner");
    error_set (&err, EPERM, "outer (%s)", err.text);
    assert_string_equal (err.text, "outer (inner)");
}

static void test_stays_one_printable_line (void **state)
{
    struct error err = { 0 };

    (void)state;
    error_set (&err, EINVAL, "%s",
               "a\nb\033[2Jc\x7f"
               "d\xc2\x9b"
               "e\xc3\xa9\xe2\x80\xae");
    assert_string_equal (err.text, "a?b?[2Jc?d?e\xc3\xa9?");
}

static void test_long_text_is_cut_at_a_character (void **state)
{
    struct error err = { 0 };
    char text[3 * ERROR_TEXT_MAX];

    (void)state;
    for (size_t shift = 0; shift < 3; shift++) {
        memset (text, 'x', shift);
        for (size_t i = shift; i + 2 < sizeof (text); i += 2)
            memcpy (text + i, "\xc3\xa9", 3);
        error_set (&err, EINVAL, "%s", text);
        size_t len = strlen (err.text);
        assert_true (len < ERROR_TEXT_MAX && len > ERROR_TEXT_MAX - 8);
        assert_string_equal (err.text + len - 3, "...");
        assert_int_equal ((len - 3 - shift) % 2,
                          0); /* no partial character before the dots */
    }
    error_set (&err, EINVAL, "short");
    for (int i = 0; i < 1000; i++)
        error_prefix (&err, "a prefix");
    assert_true (strlen (err.text) < ERROR_TEXT_MAX);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_set_returns_negative_errno),
        cmocka_unit_test (test_prefix_keeps_the_reason),
        cmocka_unit_test (test_errno_adds_its_text),
        cmocka_unit_test (test_text_may_be_its_own_argument),
        cmocka_unit_test (test_stays_one_printable_line),
        cmocka_unit_test (test_long_text_is_cut_at_a_character),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
