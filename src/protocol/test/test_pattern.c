/* test_pattern.c - tests of pattern.h: file names with %j and other patterns */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "protocol/pattern.h"

static void expands (const struct pattern_vars *vars, const char *pattern,
                     const char *want)
{
    struct strbuf sb;
    struct error err;

    strbuf_init (&sb, 10000);
    assert_int_equal (pattern_check (pattern, &err), 0);
    assert_int_equal (pattern_expand (pattern, vars, &sb, &err), 0);
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
}

static void test_letters (void **state)
{
    struct pattern_vars v = {
        .job_id = 12, .job_name = "hello", .user = "ann", .node = "node1", .task = 3
    };

    (void)state;
    expands (&v, "%x-%j.out", "hello-12.out");
    expands (&v, "/scratch/%u/%N.%t", "/scratch/ann/node1.3");
    expands (&v, "%5j_%3t", "00012_003");
    expands (&v, "%99j", "0000000012"); /* at most 10 */
    expands (&v, "%99999999999999999999j", "0000000012");
    expands (&v, "%0j%1j", "1212");
    expands (&v, "100%%.log", "100%.log");
    expands (&v, "%%j", "%j");
    expands (&v, "", "");
    expands (&v, "%A_%a", "12_0");     /* not in an array */
    expands (&v, "%J-%s", "12-batch"); /* the script is not a step */
    expands (&v, "%5J_%3s", "00012_batch");
    v.node_index = 2;
    expands (&v, "%n.%4n", "2.0002");
    v.in_step = true;
    expands (&v, "%J-%s", "12.0-0");
    v.step = 7;
    expands (&v, "%4J-%3s", "0012.7-007");
    v.array_job = 9;
    v.array_task = 41;
    expands (&v, "%A_%4a-%j", "9_0041-12");
}

/* Host names are shortened, addresses are not. */
static void test_node_is_short (void **state)
{
    struct pattern_vars v = { .node = "ip-10-0-0-1.eu.example.com" };

    (void)state;
    expands (&v, "%N", "ip-10-0-0-1");
    v.node = "10.0.0.1";
    expands (&v, "%N", "10.0.0.1");
}

/* As in sbatch: with a backslash anywhere nothing is replaced, and the
 * backslashes are removed. */
static void test_backslash (void **state)
{
    struct pattern_vars v = { .job_id = 12 };
    struct error err;

    (void)state;
    expands (&v, "\\%j.out", "%j.out");
    expands (&v, "a-%q-%%\\", "a-%q-%%");
    assert_false (pattern_is_per_job ("\\%j") || pattern_is_per_task ("%t\\")
                  || pattern_is_per_node ("%n\\"));
    assert_int_equal (pattern_check ("\\\\", &err), -EINVAL);
}

static void test_kinds (void **state)
{
    (void)state;
    assert_true (pattern_is_per_job ("%J") && pattern_is_per_node ("%n"));
    assert_false (pattern_is_per_job ("%s") || pattern_is_per_task ("%s"));
    assert_true (pattern_is_per_job ("a-%j") && pattern_is_per_job ("a-%a"));
    assert_false (pattern_is_per_job ("%A-%x") || pattern_is_per_job ("%%j"));
    assert_true (pattern_is_per_task ("%t") && pattern_is_per_node ("%N"));
}

/* A job's name cannot contain a directory. */
static void test_values_stay_in_one_component (void **state)
{
    struct pattern_vars v = {
        .job_id = 12, .job_name = "../../etc/x", .user = "..", .task = 3
    };

    (void)state;
    expands (&v, "%x.out", ".._.._etc_x.out");
    expands (&v, "/home/%u/f", "/home/__/f");
    expands (&v, "a%Nb", "ab");
    v.job_name = "a\nb\033";
    expands (&v, "%x", "a_b_");
    v.job_name = ".";
    expands (&v, "%x%x", "__");
}

static void test_refuses (void **state)
{
    static const char *const bad[] = {
        "%", "a%", "%5", "%q", "%S", "% j", "%-5j", "a%\n"
    };
    struct pattern_vars v = { 0 };
    struct strbuf sb;
    struct error err;

    (void)state;
    strbuf_init (&sb, 100000);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_int_equal (pattern_check (bad[i], &err), -EINVAL);
        assert_int_equal (pattern_expand (bad[i], &v, &sb, &err), -EINVAL);
    }
    pattern_check ("%q", &err);
    assert_non_null (strstr (err.text, "'%q'"));
    assert_non_null (strstr (err.text, "%j"));

    char bomb[5000]; /* allowed itself, but it expands beyond a path */
    for (size_t i = 0; i + 4 < sizeof (bomb); i += 4)
        memcpy (bomb + i, "%10j", 5);
    assert_int_equal (pattern_expand (bomb, &v, &sb, &err), -ENAMETOOLONG);
    strbuf_release (&sb);
    strbuf_init (&sb, 5);
    assert_int_equal (pattern_expand ("123456", &v, &sb, &err), -E2BIG);
    strbuf_release (&sb);
}

static void test_differs_by (void **state)
{
    (void)state;
    assert_true (pattern_is_per_task ("out.%t"));
    assert_true (pattern_is_per_task ("out.%3t"));
    assert_false (pattern_is_per_task ("out.%%t.%j"));
    assert_false (pattern_is_per_task (""));
    assert_true (pattern_is_per_node ("%j/%N"));
    assert_false (pattern_is_per_node ("%j/%t"));
}

static void test_of_a_node (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_int_equal (pattern_check_of_node ("/x/%j-%A-%a-%3n-%N-%x-%u-%%t", &err), 0);
    assert_int_equal (pattern_check_of_node ("a\\%t", &err), 0); /* not a pattern */
    assert_int_equal (pattern_check_of_node ("%j-%3t", &err), -EINVAL);
    assert_non_null (strstr (err.text, "%t"));
    assert_int_equal (pattern_check_of_node ("%s", &err), -EINVAL);
    assert_int_equal (pattern_check_of_node ("%J", &err), -EINVAL);
    assert_int_equal (pattern_check_of_node ("%q", &err), -EINVAL);
    assert_int_equal (pattern_check_of_node ("%", &err), -EINVAL);
}

static void test_home (void **state)
{
    static const char *const bad[] = { "~", "~/x", "~user/x", "$HOME", "$HOME/x", "a/${HOME}",
                                       "$HOMEWORK/$HOME/x" };
    static const char *const good[] = { "./~x", "a~", "$HOMEWORK", "$HOME_2", "%j", "" };
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_int_equal (pattern_check_home (bad[i], &err), -EINVAL);
        assert_non_null (strstr (err.text, "no shell expands"));
    }
    for (size_t i = 0; i < ARRAY_SIZE (good); i++)
        assert_int_equal (pattern_check_home (good[i], &err), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_letters),
        cmocka_unit_test (test_node_is_short),
        cmocka_unit_test (test_backslash),
        cmocka_unit_test (test_kinds),
        cmocka_unit_test (test_values_stay_in_one_component),
        cmocka_unit_test (test_refuses),
        cmocka_unit_test (test_differs_by),
        cmocka_unit_test (test_of_a_node),
        cmocka_unit_test (test_home),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
