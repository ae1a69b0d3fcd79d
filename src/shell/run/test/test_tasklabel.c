/* test_tasklabel.c - tests of tasklabel.h: labels of lines are aligned */
#include "common/test/unit.h"

#include <string.h>

#include "common/macros.h"
#include "shell/run/tasklabel.h"

static void test_width (void **state)
{
    static const struct {
        uint32_t task, ntasks;
        const char *want;
    } cases[] = {
        { 0, 1, "0: " },
        { 9, 10, "9: " },
        { 0, 11, "00: " },
        { 7, 16, "07: " },
        { 99, 100, "99: " },
        { 99, 101, "099: " },
        { 3, 4194304, "0000003: " },
        { 4294967294, 4294967295, "4294967294: " },
        /* never truncated, for any request */
        { 12, 2, "12: " },
        { 4294967295, 0, "4294967295: " },
    };
    char label[TASKLABEL_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        size_t len = tasklabel (label, cases[i].task, cases[i].ntasks);
        assert_string_equal (label, cases[i].want);
        assert_int_equal (len, strlen (label));
    }
}

/* All labels of a step have the same length and differ. */
static void test_columns (void **state)
{
    static const uint32_t counts[] = { 1, 2, 10, 11, 100, 1000, 1001 };
    char label[TASKLABEL_MAX], before[TASKLABEL_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (counts); i++) {
        size_t len = tasklabel (before, 0, counts[i]);
        for (uint32_t task = 1; task < counts[i]; task++) {
            assert_int_equal (tasklabel (label, task, counts[i]), len);
            assert_true (strcmp (before, label) < 0); /* labels sort by task */
            memcpy (before, label, sizeof (label));
        }
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_width),
        cmocka_unit_test (test_columns),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
