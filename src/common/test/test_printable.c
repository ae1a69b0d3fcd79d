/* test_printable.c - tests of printable.h: texts that are safe on a terminal */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/printable.h"

static void test_clean (void **state)
{
    static const char *const all[][2] = {
        { "", "" },
        { "a\nb\tc\033[2Jd\x7f", "a?b?c?[2Jd?" },
        { "\xc2\x9b" "31m\x9b", "?31m?" },                   /* CSI, two forms */
        { "a\xe2\x80\xae" "b\xe2\x81\xa6\xd8\x9c", "a?b??" }, /* bidirectional */
        { "r\xe2\x80\x8boot\xef\xbb\xbf\xc2\xad", "r?oot??" }, /* zero-width */
        { "\xf3\xa0\x81\x81\xe3\x85\xa4", "??" },             /* a tag, a filler */
        { "M\xc3\xbcller \xe2\x82\xac \xe4\xba\xac \xf0\x9f\x98\x80 \xe2\x9d\xa4\xef\xb8\x8f",
          "M\xc3\xbcller \xe2\x82\xac \xe4\xba\xac \xf0\x9f\x98\x80 \xe2\x9d\xa4\xef\xb8\x8f" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (all); i++) {
        char text[64];
        snprintf (text, sizeof (text), "%s", all[i][0]);
        printable_clean (text);
        assert_string_equal (text, all[i][1]);
    }
}

/* A truncated character must hide neither the next character nor the end. */
static void test_cut (void **state)
{
    char text[] = "x\xe2\033[1m\xf0\x9f";

    (void)state;
    printable_clean (text);
    assert_string_equal (text, "x\xe2?[1m\xf0?");
}

static void test_check (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (printable_check ("M\xc3\xbcller's \xe4\xba\xac", "name", &err), 0);
    assert_int_equal (printable_check ("\xc3\xbc" "a\xe2\x80\xae" "b", "name", &err), -EINVAL);
    assert_non_null (strstr (err.text, "name: character 3 is U+202E"));
    assert_int_equal (printable_check ("\xe2\x80\x8b", "name", &err), -EINVAL);
    assert_non_null (strstr (err.text, "character 1 is U+200B"));
    assert_int_equal (printable_check ("ab\033", "name", &err), -EINVAL);
    assert_non_null (strstr (err.text, "character 3 is U+001B"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_clean),
        cmocka_unit_test (test_cut),
        cmocka_unit_test (test_check),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
