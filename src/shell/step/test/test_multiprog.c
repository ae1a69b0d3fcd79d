/* test_multiprog.c - the file of --multi-prog: the programs of the tasks, words and
 * quotes, and refusals with their lines */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/test/torture.h"
#include "protocol/taskmap.h"
#include "shell/step/multiprog.h"

static struct multiprog *parse (const char *text, uint32_t ntasks)
{
    struct error err = { 0 };
    struct multiprog *mp = multiprog_parse (text, strlen (text), "conf", ntasks, &err);

    if (!mp)
        fail_msg ("%s: %s", text, err.text);
    return mp;
}

/* The argv of a task with '|' after each word. */
static void check_argv (const struct multiprog *mp, uint32_t task, const char *want)
{
    char **argv = multiprog_argv (mp, task);
    struct strbuf sb;

    assert_non_null (argv);
    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; argv[i]; i++)
        strbuf_addf (&sb, "%s|", argv[i]);
    if (strcmp (sb.buf, want) != 0)
        fail_msg ("task %u: %s, not %s", task, sb.buf, want);
    strbuf_release (&sb);
    free_strings (argv);
}

static void test_tasks (void **state)
{
    static const struct {
        const char *text;
        uint32_t ntasks;
        const char *want[8];
    } cases[] = {
        /* from srun(1)'s example, with its comments */
        { "###\n# a comment\n4-6       hostname\n1,7       echo task:%t\n"
          "0,2-3     echo offset:%o\n",
          8,
          { "echo|offset:0|", "echo|task:1|", "echo|offset:1|", "echo|offset:2|",
            "hostname|", "hostname|", "hostname|", "echo|task:7|" } },
        { "* a %t %o", 2, { "a|0|0|", "a|1|1|" } },
        /* a list keeps its order, and * has the remaining tasks */
        { "3,0-1 a %o\n* b %o", 4, { "a|1|", "a|2|", "b|2|", "a|0|" } },
        { "0 a\n* b", 1, { "a|" } },
        { "0-0 a\r\n1\tb\t%t\r\n", 2, { "a|", "b|1|" } },
        { "\n  \n\t# x\n 00001,0 a %o \n\n", 2, { "a|1|", "a|0|" } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct multiprog *mp = parse (cases[i].text, cases[i].ntasks);
        for (uint32_t task = 0; task < cases[i].ntasks; task++)
            check_argv (mp, task, cases[i].want[task]);
        multiprog_destroy (mp);
    }
}

/* The words of a line for task 1, the first of its list. */
static void test_words (void **state)
{
    static const struct {
        const char *words, *want;
    } cases[] = {
        { "a", "a|" },
        { "a  b\tc ", "a|b|c|" },
        { "a 'b c' d", "a|b c|d|" },
        { "a \"b c\" d", "a|b c|d|" },
        { "a b' 'c\" \"d", "a|b c d|" },
        { "a '' \"\"", "a|||" },
        { "a b\\ c", "a|b c|" },
        { "a \\'b \\\"c \\\\", "a|'b|\"c|\\|" },
        { "a 'b\\' c", "a|b\\|c|" },
        { "a \"b\\\"c\"", "a|b\"c|" },
        { "a \"it's\" 'a \"b\"'", "a|it's|a \"b\"|" },
        { "a # no comment", "a|#|no|comment|" },
        { "a%t b%oc %t%t", "a1|b0c|11|" },
        { "a '%t' \\%t %% %x % 100%", "a|%t|%t|%%|%x|%|100%|" },
        { "a \"%t %o\"", "a|1 0|" },
        { "a \"\\%t\"", "a|%t|" },
        { "a \\\n b", "a|b|" },
        { "a b\\\nc", "a|bc|" },
        { "\\\na", "a|" },
        { "a \001%t\002 '\003\001' \\\003", "a|\0011\002|\003\001|\003|" },
        { "a \xc3\xa4 \xff", "a|\xc3\xa4|\xff|" },
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        snprintf (text, sizeof (text), "1 %s\n0 other\n", cases[i].words);
        struct multiprog *mp = parse (text, 2);
        check_argv (mp, 1, cases[i].want);
        check_argv (mp, 0, "other|");
        multiprog_destroy (mp);
    }
}

static void test_refuses (void **state)
{
    static const struct {
        const char *text, *what;
        int code;
    } cases[] = {
        { "", "conf: no line for tasks 0-3", EINVAL },
        { "# 0-3 a\n", "conf: no line for tasks 0-3", EINVAL },
        { "0-1 a", "conf: no line for tasks 2-3", EINVAL },
        { "1 a", "conf: no line for tasks 0,2-3", EINVAL },
        { "0-3 a\n\n2 b", "conf:3: task 2 is in line 1, too", EINVAL },
        { "0-3,1 a", "conf:1: task 1 is in line 1, too", EINVAL },
        { "0-4 a", "conf:1: task 4, tasks are 0 to 3", ERANGE },
        { "0-3 a\n4 b", "conf:2: task 4, tasks are 0 to 3", ERANGE },
        { "99999999999999999999999 a", "conf:1: task 999", ERANGE },
        { "3-0 a", "conf:1: '3-0' is neither a list", EINVAL },
        { "0-3", "conf:1: no program", EINVAL },
        { "0-3 \n", "conf:1: no program", EINVAL },
        { "0-3 ''", "conf:1: no program", EINVAL },
        { "*", "conf:1: no program", EINVAL },
        { "0-2 a\n3 \\\n\n", "conf:2: no program", EINVAL },
        { "a b", "conf:1: 'a' is neither a list", EINVAL },
        { "0, a", "conf:1: '0,' is neither a list", EINVAL },
        { ",0 a", "conf:1: ',0'", EINVAL },
        { "0,,1 a", "conf:1: '0,,1'", EINVAL },
        { "0- a", "conf:1: '0-'", EINVAL },
        { "0-1-2 a", "conf:1: '0-1-2'", EINVAL },
        { "-1 a", "conf:1: '-1'", EINVAL },
        { "+1 a", "conf:1: '+1'", EINVAL },
        { "0:1 a", "conf:1: '0:1'", EINVAL },
        { "0x1 a", "conf:1: '0x1'", EINVAL },
        { "** a", "conf:1: '**'", EINVAL },
        { "0,* a", "conf:1: '0,*'", EINVAL },
        { "[0-3] a", "conf:1: '[0-3]'", EINVAL },
        { "* a\n0 b", "conf:2: a line after that of *", EINVAL },
        { "* a\n* b", "conf:2: a line after that of *", EINVAL },
        { "0-2 a\n3 'b\n", "conf:2: no closing '", EINVAL },
        { "0-3 a \"b", "conf:1: no closing \"", EINVAL },
        { "0-3 a \"b\\", "conf:1: nothing after the last backslash", EINVAL },
        { "0-3 a \\", "conf:1: nothing after the last backslash", EINVAL },
        /* continued lines count as lines */
        { "0-2 a\\\nb \\\n  c\nx d", "conf:4: 'x'", EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        const char *text = cases[i].text;
        struct multiprog *mp = multiprog_parse (text, strlen (text), "conf", 4, &err);
        if (mp || err.code != cases[i].code || !strstr (err.text, cases[i].what))
            fail_msg ("'%s': %d '%s'", text, err.code, err.text);
        assert_null (multiprog_parse (text, strlen (text), "conf", 4, NULL));
    }
}

static void test_many_missing (void **state)
{
    struct error err = { 0 };
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1 << 16);
    for (uint32_t task = 0; task < 1000; task += 2)
        strbuf_addf (&sb, "%u a\n", task);
    assert_null (multiprog_parse (sb.buf, sb.len, "conf", 1000, &err));
    assert_non_null (strstr (err.text, "no line for tasks 1,3,5,7,"));
    assert_string_equal (err.text + strlen (err.text) - 4, ",...");
    strbuf_release (&sb);
}

static void check_code (const char *text, size_t len, uint32_t ntasks, int code)
{
    struct error err = { 0 };

    assert_null (multiprog_parse (text, len, "conf", ntasks, &err));
    assert_int_equal (err.code, code);
}

static void test_bounds (void **state)
{
    static char text[MULTIPROG_TEXT_MAX + 2];
    struct multiprog *mp;

    (void)state;
    memset (text, 'x', sizeof (text));
    memcpy (text, "* a ", 4);
    check_code (text, MULTIPROG_TEXT_MAX + 1, 1, E2BIG);
    mp = multiprog_parse (text, MULTIPROG_TEXT_MAX, "conf", 1, NULL);
    assert_non_null (mp);
    multiprog_destroy (mp);
    /* The texts that grow most: each character needs a quote, or becomes ten digits. */
    memset (text + 4, 1, MULTIPROG_TEXT_MAX - 4);
    mp = multiprog_parse (text, MULTIPROG_TEXT_MAX, "conf", 1, NULL);
    assert_non_null (mp);
    char **argv = multiprog_argv (mp, 0);
    assert_int_equal (strlen (argv[1]), MULTIPROG_TEXT_MAX - 4);
    free_strings (argv);
    multiprog_destroy (mp);
    for (size_t i = 4; i < MULTIPROG_TEXT_MAX; i += 2)
        memcpy (text + i, "%t", 2);
    mp = multiprog_parse (text, MULTIPROG_TEXT_MAX, "conf", TASKMAP_TASKS_MAX, NULL);
    assert_non_null (mp);
    argv = multiprog_argv (mp, TASKMAP_TASKS_MAX - 1);
    assert_int_equal (strlen (argv[1]), (MULTIPROG_TEXT_MAX - 4) / 2 * 7);
    free_strings (argv);
    multiprog_destroy (mp);
    for (size_t i = 4; i < MULTIPROG_TEXT_MAX; i += 2)
        memcpy (text + i, " x", 2);
    check_code (text, 2 + 2 * (MULTIPROG_ARGS_MAX + 1), 1, E2BIG);
    mp = multiprog_parse (text, 2 + 2 * MULTIPROG_ARGS_MAX, "conf", 1, NULL);
    assert_non_null (mp);
    multiprog_destroy (mp);
    check_code ("* a", 3, 0, EINVAL);
    check_code ("* a", 3, TASKMAP_TASKS_MAX + 1, EINVAL);
    check_code ("* a\0b", 5, 1, EINVAL);
    check_code ("* a", 2, 1, EINVAL); /* bytes beyond the length are not read */
}

static void test_no_memory (void **state)
{
    static const char text[] = "0 a b c d e f g h i j k l m n o p q r s t %t\n1 b '%o'\n"
                               "2 c\n* d \"e f\"\n";

    (void)state;
    TORTURE (n)
    {
        struct error err = { 0 };
        struct multiprog *mp = multiprog_parse (text, strlen (text), "conf", 9, &err);
        char **argv = mp ? multiprog_argv (mp, 0) : NULL;
        torture_stop ();
        assert_true (!argv == torture_failed ());
        if (!mp)
            assert_int_equal (err.code, ENOMEM);
        else
            check_argv (mp, 8, "d|e f|");
        free_strings (argv);
        multiprog_destroy (mp);
    }
}

/* The message about missing tasks needs memory, too. */
static void test_no_memory_to_tell (void **state)
{
    (void)state;
    TORTURE (n)
    {
        struct error err = { 0 };
        assert_null (multiprog_parse ("0 a", 3, "conf", 9, &err));
        torture_stop ();
        assert_int_equal (err.code, torture_failed () ? ENOMEM : EINVAL);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_tasks),
        cmocka_unit_test (test_words),
        cmocka_unit_test (test_refuses),
        cmocka_unit_test (test_many_missing),
        cmocka_unit_test (test_bounds),
        cmocka_unit_test (test_no_memory),
        cmocka_unit_test (test_no_memory_to_tell),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
