/* test_array.c - tests of array.h: index lists of job arrays, valid and
 * invalid, and their names */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "jobspec/attributes/array.h"

static void check (const char *text, const char *tasks, uint32_t limit)
{
    struct array_spec a;
    struct error err = { 0 };
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 4096);
    if (array_spec_parse (&a, text, "--array", &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    array_add_tasks (&sb, a.tasks, 0);
    assert_string_equal (sb.buf, tasks);
    assert_int_equal (a.limit, limit);
    array_spec_release (&a);
    assert_null (a.tasks);
}

static void test_right (void **state)
{
    (void)state;
    check ("0", "0", 0);
    check ("0-15", "0-15", 0);
    check ("1-9:2", "1-9:2", 0);
    check ("1-10:3", "1-10:3", 0);
    check ("1-10:20", "1", 0);
    check ("7,1-3", "1-3,7", 0);
    check ("1,1,2", "1-2", 0);
    check ("1-10000%50:2", "1-9999:2", 50);
    check ("1-10000:2%50", "1-9999:2", 50);
    check ("5,10-20%4:5", "5-20:5", 4);
    check ("0-4000000:400000%1", "0-4000000:400000", 1);
    check ("1,5,6", "1,5-6", 0);
}

static void refused (const char *text, const char *word)
{
    struct array_spec a;
    struct error err = { 0 };

    assert_true (array_spec_parse (&a, text, "--array", &err) < 0);
    assert_null (a.tasks);
    if (strncmp (err.text, "--array: ", 9) != 0 || !strstr (err.text, word))
        fail_msg ("%s: %s", text, err.text);
}

static void test_wrong (void **state)
{
    (void)state;
    refused ("", "task number");
    refused ("a", "task number");
    refused ("-1", "task number");
    refused ("1-", "task number");
    refused ("3-1", "ends before it begins");
    refused ("1-3:0", "step");
    refused ("3:2", "step belongs to one range");
    refused ("1-3:2%4:2", "step belongs to one range");
    refused ("1,3%4:2", "no range");
    refused ("1-3%0", "at a time");
    refused ("1-3%", "at a time");
    refused ("1-3%2x", "behind");
    refused ("1-3x", "not expected");
    refused ("1,,2", "task number");
    refused ("1,", "task number");
    refused ("4000001", "task number");
    refused ("99999999999999999999", "task number");
    refused ("0-1000000", "at most 1000000 tasks");
    /* An index counts as often as it occurs: otherwise a few bytes could make
     * millions of tasks. */
    refused ("0-999999,0", "at most 1000000 tasks");
    refused ("0-1999998:2,0-1999998:2", "at most 1000000 tasks");
}

static void test_part (void **state)
{
    struct error err = { 0 };
    struct idset *s = NULL;

    (void)state;
    assert_int_equal (array_tasks_parse ("[1-3,9]", 100, &s, "job id", &err), 0);
    assert_int_equal (idset_count (s), 4);
    idset_destroy (s);
    assert_int_equal (array_tasks_parse ("5", 100, &s, "job id", &err), 0);
    assert_int_equal (idset_first (s), 5);
    idset_destroy (s);
    assert_int_equal (array_tasks_parse ("9,7,1-3:2,3,7", 6, &s, "job id", &err), 0);
    assert_int_equal (idset_count (s), 4);
    idset_destroy (s);
    assert_int_equal (array_tasks_parse ("9,7,1-3:2,3,7", 5, &s, "job id", &err), -ERANGE);
    assert_non_null (strstr (err.text, "5 tasks"));
    assert_int_equal (array_tasks_parse ("[]", 100, &s, "job id", &err), -EINVAL);
    assert_int_equal (array_tasks_parse ("[1-3", 100, &s, "job id", &err), -EINVAL);
    assert_int_equal (array_tasks_parse ("1-3%2", 100, &s, "job id", &err), -EINVAL);
}

static void test_name (void **state)
{
    static const char *const bad[] = { "",
                                       "x",
                                       "0",
                                       "_3",
                                       "12_",
                                       "12_x",
                                       "12_1-3",
                                       "12_4000001",
                                       "12_3_4",
                                       "9223372036854775808",
                                       "111111111111111111111111111_3" };
    uint64_t id = 7;
    uint32_t task = 7;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_true (array_name_parse (bad[i], &id, &task, "job id", NULL) < 0);
        assert_true (id == 7 && task == 7);
    }
    assert_int_equal (array_name_parse ("12", &id, &task, "job id", NULL), 0);
    assert_true (id == 12 && task == IDSET_END);
    assert_int_equal (array_name_parse ("12_4000000", &id, &task, "job id", NULL), 0);
    assert_true (id == 12 && task == 4000000);
}

static void test_text (void **state)
{
    struct array_spec a;
    autostrbuf struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 4096);
    assert_int_equal (array_spec_parse (&a, "1,2,4,6,7,8,10,100,1000", "x", NULL), 0);
    array_add_tasks (&sb, a.tasks, 12);
    assert_string_equal (sb.buf, "1-2,4,...");
    strbuf_reset (&sb);
    array_add_tasks (&sb, a.tasks, 26);
    assert_string_equal (sb.buf, "1-2,4,6-8,10,100,1000");
    array_spec_release (&a);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_right), cmocka_unit_test (test_wrong),
        cmocka_unit_test (test_part),  cmocka_unit_test (test_name),
        cmocka_unit_test (test_text),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
