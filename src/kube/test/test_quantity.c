/* Quantities as Kubernetes writes them: exact, rounded up, bounded. */
#include "kube/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/macros.h"

static void test_milli (void **state)
{
    static const struct {
        const char *text;
        int64_t milli;
    } cases[] = {
        { "0", 0 },         { "1", 1000 },   { "250m", 250 },         { "1.5", 1500 },
        { ".5", 500 },      { "1.", 1000 },  { "0.1", 100 },          { "100u", 1 },
        { "1500u", 2 },     { "1n", 1 },     { "3999999999n", 4000 }, { "2k", 2000000 },
        { "1e3", 1000000 }, { "1E-1", 100 }, { "12e-3", 12 },         { "1Ki", 1024000 },
        { "+4", 4000 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        int64_t n = -1;

        assert_int_equal (quantity_milli (cases[i].text, &n), 0);
        assert_int_equal (n, cases[i].milli);
    }
}

static void test_value (void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        { "128974848", 128974848 },
        { "129e6", 129000000 },
        { "129M", 129000000 },
        { "128974848000m", 128974848 },
        { "123Mi", 123 << 20 },
        { "1.5Gi", 3LL << 29 },
        { "0.1Ki", 103 }, /* 102.4 */
        { "1m", 1 },
        { "1E", 1000000000000000000 },
        { "7Ei", 7LL << 60 },
        { "8Ei", INT64_MAX },
        { "1e30", INT64_MAX },
        { "99999999999999999999", INT64_MAX },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        int64_t n = -1;

        assert_int_equal (quantity_value (cases[i].text, &n), 0);
        assert_int_equal (n, cases[i].value);
    }
}

static void test_refused (void **state)
{
    static const char *const texts[] = { "",   " 1",   "1 ",   "-1",   "1.2.3",
                                         ".",  "Gi",   "1gi",  "1KI",  "1ee3",
                                         "1e", "1e+",  "1e99", "0x10", "1m m",
                                         "١",  "1Kib", "1,5",  "inf",  "nan" };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        int64_t n = 77;

        assert_int_equal (quantity_value (texts[i], &n), -EINVAL);
        assert_int_equal (n, 77);
    }
    int64_t n = 77;
    assert_int_equal (quantity_milli (NULL, &n), -EINVAL);
    assert_int_equal (quantity_value ("999999999999999999999999999999999999", &n),
                      -EINVAL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_milli),
        cmocka_unit_test (test_value),
        cmocka_unit_test (test_refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
