/* The number of a rank on the agent's command line: a pod that takes the number of
 * another one breaks the job. */
#include "shell/agent/ranktext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_numbers (void **state)
{
    static const struct {
        const char *text;
        int64_t rank;
    } good[] = {
        { "0", 0 },
        { "7", 7 },
        { "0+0", 0 },
        { "2+1", 3 },
        { "2147483647", INT32_MAX },
        { "2147483640+7", INT32_MAX },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        struct error err = { 0 };
        int64_t rank = -1;

        assert_int_equal (rank_parse (good[i].text, &rank, &err), 0);
        assert_int_equal (rank, good[i].rank);
    }
}

/* Also a variable that the kubelet does not know and leaves as it is. */
static void test_refused (void **state)
{
    static const char *const bad[] = { "",
                                       "+",
                                       "2+",
                                       "+2",
                                       "-1",
                                       "2+-1",
                                       "2147483640+8",
                                       "2147483648",
                                       "1 2",
                                       "1+2+3",
                                       "$(INDEX)",
                                       "2+$(INDEX)",
                                       "99999999999999999999+1" };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        int64_t rank = -1;

        assert_true (rank_parse (bad[i], &rank, &err) < 0);
        assert_int_equal (rank, -1);
        assert_non_null (strstr (err.text, "--rank"));
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_numbers),
                                        cmocka_unit_test (test_refused) };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
