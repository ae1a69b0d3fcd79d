/* test_option.c - tests of option.h: forms of options, abbreviations, errors, the help
 * text */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/macros.h"
#include "common/option.h"

enum { OUTPUT = 1, NTASKS, PER_NODE, HOLD, WAIT, VERBOSE, COLOR, GPUS };

static const struct option_desc table[] = {
    { "output", 'o', "FILE", "write standard output to FILE", OUTPUT, false, NULL },
    { "ntasks", 'n', "N", "number of tasks", NTASKS, false, NULL },
    { "ntasks-per-node", 0, "N", "tasks on each node", PER_NODE, false, NULL },
    { "hold", 'H', NULL, "do not start it yet", HOLD, false, NULL },
    { "wait", 'w', NULL, "return when the job has ended", WAIT, false, NULL },
    { "verbose", 'v', NULL, "say more", VERBOSE, false, NULL },
    { "color", 0, "WHEN", "colours", COLOR, true, NULL },
    { "gpus-per-task", 0, "N", NULL, GPUS, false, NULL },
    { "gpus-each", 0, "N", NULL, GPUS, false, NULL },
    { "", 'z', "N", "a letter alone", 99, true, NULL },
    OPTION_END,
};

/* Runs the parser and returns its results as text: "[id=value]" for options,
 * "value" for operands. */
static int run (int flags, char *argv[], char *out, size_t size, struct error *err)
{
    struct option_parser p;
    struct option_match m;
    size_t len = 0;
    int argc = 0;
    int rc;

    while (argv[argc])
        argc++;
    out[0] = '\0';
    option_parser_init (&p, "test", table, flags, argc, argv);
    while ((rc = option_next (&p, &m, err)) > 0) {
        const char *value = m.value ? m.value : "-";
        len += (size_t)(m.desc ? snprintf (out + len, size - len, "[%d=%s]", m.desc->id,
                                           value)
                               : snprintf (out + len, size - len, "%s ", value));
    }
    return rc;
}

#define ARGS(...) ((char *[]){ "test", __VA_ARGS__, NULL })

static void parses (int flags, char *argv[], const char *want)
{
    struct error err = { 0 };
    char out[1000];

    if (run (flags, argv, out, sizeof (out), &err) != 0)
        fail_msg ("%s", err.text);
    assert_string_equal (out, want);
}

static void refuses (char *argv[], const char *want)
{
    struct error err = { 0 };
    char out[1000];

    assert_int_equal (run (OPTION_PERMUTE, argv, out, sizeof (out), &err), -EINVAL);
    assert_string_equal (err.text, want);
}

static void test_forms (void **state)
{
    (void)state;
    parses (0, ARGS ("--output=x"), "[1=x]");
    parses (0, ARGS ("--output", "x"), "[1=x]");
    parses (0, ARGS ("--output", "--hold"), "[1=--hold]"); /* as getopt_long */
    parses (0, ARGS ("--output="), "[1=]");
    parses (0, ARGS ("--output=a=b"), "[1=a=b]");
    parses (0, ARGS ("-o", "x"), "[1=x]");
    parses (0, ARGS ("-ox"), "[1=x]");
    parses (0, ARGS ("-o=x"), "[1==x]");
    parses (0, ARGS ("-Hwv"), "[4=-][5=-][6=-]");
    parses (0, ARGS ("-Hwox", "y"), "[4=-][5=-][1=x]y ");
    parses (0, ARGS ("-Hwo", "x", "y"), "[4=-][5=-][1=x]y ");
    parses (0, ARGS ("--color", "x"), "[7=-]x "); /* an optional value needs its '=' */
    parses (0, ARGS ("--color=always"), "[7=always]");
    parses (0, ARGS ("-z", "-z3"), "[99=-][99=3]");
    parses (0, ARGS ("-", "", "-H"), "-  [4=-]");
}

static void test_order_and_end (void **state)
{
    (void)state;
    parses (OPTION_PERMUTE, ARGS ("a", "-H", "b", "--", "-w", "--", "c"),
            "a [4=-]b -w -- c ");
    parses (OPTION_STOP_AT_OPERAND, ARGS ("-H", "a", "-w", "--", "-x"),
            "[4=-]a -w -- -x ");
    parses (OPTION_STOP_AT_OPERAND, ARGS ("--", "-w"), "-w ");

    struct option_parser p;
    struct option_match m;
    struct error err;
    char *argv[] = { "test", "-H", "--", "cmd", NULL };
    option_parser_init (&p, "test", table, OPTION_STOP_AT_OPERAND, 4, argv);
    assert_int_equal (option_next (&p, &m, &err), 1);
    assert_false (p.dashes);
    assert_int_equal (m.index, 1);
    assert_int_equal (option_next (&p, &m, &err), 1);
    assert_true (p.dashes); /* so that submit distinguishes a command from a script */
    assert_int_equal (m.index, 3);
    assert_int_equal (option_next (&p, &m, &err), 0);
    assert_int_equal (option_next (&p, &m, &err), 0);
}

static void test_prefixes (void **state)
{
    (void)state;
    parses (0, ARGS ("--out=x"), "[1=x]");
    parses (0, ARGS ("--ntasks=3"), "[2=3]"); /* an exact match takes precedence */
    parses (0, ARGS ("--ntasks-p=3"), "[3=3]");
    parses (0, ARGS ("--gpus=2"), "[8=2]"); /* two names of one option */
    refuses (ARGS ("--nt=3"), "--nt: ambiguous option (--ntasks, --ntasks-per-node)");
}

static void test_mistakes (void **state)
{
    (void)state;
    refuses (ARGS ("--ouptut=x"), "--ouptut: unknown option (did you mean --output?)");
    refuses (ARGS ("--ntask-per-node=1"),
             "--ntask-per-node: unknown option (did you mean --ntasks-per-node?)");
    refuses (ARGS ("--quux"), "--quux: unknown option");
    refuses (ARGS ("-x"), "-x: unknown option (in '-x')");
    refuses (ARGS ("-Hx"), "-x: unknown option (in '-Hx')");
    refuses (ARGS ("--hold=1"), "--hold: takes no value");
    refuses (ARGS ("--output"), "--output: needs a value (FILE)");
    refuses (ARGS ("--outp"), "--output: needs a value (FILE)");
    refuses (ARGS ("-Ho"), "-o: needs a value (FILE)");
    refuses (ARGS ("--=x"), "--: unknown option");

    char name[5000];
    char out[100];
    struct error err = { 0 };
    memset (name, 'x', sizeof (name));
    memcpy (name, "--", 2);
    name[sizeof (name) - 1] = '\0';
    assert_int_equal (run (0, ARGS (name), out, sizeof (out), &err), -EINVAL);
    name[120] = '\0'; /* longer than the part that is compared with the known names */
    assert_int_equal (run (0, ARGS (name), out, sizeof (out), &err), -EINVAL);
    assert_int_equal (run (0, ARGS ("-\xff"), out, sizeof (out), &err), -EINVAL);
}

static void test_find (void **state)
{
    struct error err;

    (void)state;
    assert_ptr_equal (option_find (table, "hold", &err), &table[3]);
    assert_ptr_equal (option_find (table, "ho", &err), &table[3]);
    assert_null (option_find (table, "", &err));
    assert_null (option_find (table, "holds", &err));
    assert_string_equal (err.text, "--holds: unknown option (did you mean --hold?)");
    assert_ptr_equal (option_find_letter (table, 'H'), &table[3]);
    assert_null (option_find_letter (table, 'x'));
    assert_null (option_find_letter (table, 0));
}

/* Each option with a help text is shown, and no line is wider than a terminal. */
static void test_help (void **state)
{
    static const struct option_desc wide[] = {
        { "output", 'o', "FILE", "write standard output to FILE", 1, false, NULL },
        { "a-name-that-is-too-long-for-the-column", 0, "VALUE",
          "a text that does not fit on one line and so is carried on to the next one, at "
          "a blank "
          "between two words",
          2, true, NULL },
        { "hidden", 0, NULL, NULL, 3, false, NULL },
        { "", 'z', "N", "a letter alone", 4, false, NULL },
        OPTION_END,
    };
    autofree char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream (&text, &size);

    (void)state;
    option_print_help (out, wide);
    fclose (out);
    assert_non_null (
        strstr (text, "  -o, --output=FILE           write standard output"));
    assert_non_null (strstr (text,
                             "      --a-name-that-is-too-long-for-the-column[=VALUE]\n"
                             "                              a text"));
    assert_non_null (strstr (text, "  -z N                        a letter alone\n"));
    assert_non_null (strstr (text, "two words\n"));
    assert_null (strstr (text, "hidden"));
    for (char *line = text, *end; (end = strchr (line, '\n')); line = end + 1)
        assert_true (end - line <= 79 && end > line && end[-1] != ' ');
}

/* Rows of one group are below its heading, wherever they are in the table. */
static void test_groups (void **state)
{
    static const struct option_desc grouped[] = {
        { "nodes", 'N', NULL, "first", 1, false, "Resources" },
        { "time", 't', NULL, "second", 2, false, "Time" },
        { "mem", 0, NULL, "third", 3, false, "Resources" },
        { "secret", 0, NULL, NULL, 4, false, "Hidden" },
        { "help", 'h', NULL, "last", 5, false, NULL },
        OPTION_END,
    };
    autofree char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream (&text, &size);

    (void)state;
    option_print_help (out, grouped);
    fclose (out);
    assert_string_equal (text, "  -h, --help                  last\n"
                               "\nResources:\n"
                               "  -N, --nodes                 first\n"
                               "      --mem                   third\n"
                               "\nTime:\n"
                               "  -t, --time                  second\n");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_forms),    cmocka_unit_test (test_order_and_end),
        cmocka_unit_test (test_prefixes), cmocka_unit_test (test_mistakes),
        cmocka_unit_test (test_find),     cmocka_unit_test (test_help),
        cmocka_unit_test (test_groups),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
