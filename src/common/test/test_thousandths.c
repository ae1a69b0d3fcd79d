/* Fails if half a CPU is read as five or none, if an impossible amount is rounded
 * silently, or if a number reads back differently from its text. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/thousandths.h"

static void expect (const char *text, int64_t wanted)
{
    struct error err = { 0 };
    int64_t n = -1;

    if (thousandths_parse (text, 5000000, &n, "-c", &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    assert_int_equal (n, wanted);
}

static void refuse (const char *text, int code, const char *why)
{
    struct error err = { 0 };
    int64_t n = -1;

    assert_int_equal (thousandths_parse (text, 5000000, &n, "-c", &err), -code);
    assert_non_null (strstr (err.text, why));
    assert_int_equal (strncmp (err.text, "-c: ", 4), 0);
    assert_int_equal (n, -1);
}

static void test_parse (void **state)
{
    (void)state;
    expect ("1", 1000);
    expect ("0.5", 500);
    expect (".5", 500);
    expect ("500m", 500);
    expect ("2.0", 2000);
    expect ("2000m", 2000);
    expect ("1.25", 1250);
    expect ("0.001", 1);
    expect ("1m", 1);
    expect ("0.1000000000000000000000", 100);
    expect ("5000", 5000000);
}

static void test_refuse (void **state)
{
    static const char *const bad[] = { "",   "m",   ".",    "1.",  "-1", "+1", "1e3",
                                       "1k", "0x1", "0.5m", "1 m", " 1", "1,5" };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        refuse (bad[i], EINVAL, "is not a number such as");
    refuse ("0.0005", EINVAL, "finer than a thousandth");
    refuse ("0", ERANGE, "more than 0");
    refuse ("0m", ERANGE, "more than 0");
    refuse ("0.000", ERANGE, "more than 0");
    refuse ("5000.001", ERANGE, "is more than 5000");
    refuse ("5000001m", ERANGE, "is more than 5000");
    refuse ("99999999999999999999999", ERANGE, "is more than 5000");
    refuse ("99999999999999999999999m", ERANGE, "is more than 5000");
}

static void test_write (void **state)
{
    static const struct {
        int64_t n;
        const char *text;
    } cases[] = { { 0, "0" },     { 1, "0.001" }, { 10, "0.01" },
                  { 500, "0.5" }, { 1000, "1" },  { 1250, "1.25" },
                  { 2000, "2" },  { 10, "0.01" }, { 12345, "12.345" } };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        autostrbuf struct strbuf sb;
        strbuf_init (&sb, 64);
        strbuf_add_thousandths (&sb, cases[i].n);
        assert_string_equal (sb.buf, cases[i].text);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_parse),
        cmocka_unit_test (test_refuse),
        cmocka_unit_test (test_write),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
