/* test_complete.c - completions of the tab key, by place in the line; and the
 * tables of all commands */
#include "common/test/unit.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/complete.h"

/* The completions when the cursor is behind line. */
static enum completion place_of (const char *line, struct completion_place *place)
{
    size_t start = strlen (line);

    while (start > 0 && !strchr (" \t\"'=,", line[start - 1]))
        start--;
    complete_place (place, line, start, line + start);
    return place->kind;
}

static void test_places (void **state)
{
    static const struct {
        const char *line;
        enum completion kind;
    } cases[] = {
        { "", COMPLETE_COMMANDS },
        { "  su", COMPLETE_COMMANDS },
        { "help ", COMPLETE_COMMANDS },
        { "help su", COMPLETE_COMMANDS },
        { "nonsense ", COMPLETE_NONE },
        { "submit ", COMPLETE_FILES },
        { "submit --", COMPLETE_OPTIONS },
        { "submit -", COMPLETE_OPTIONS },
        { "submit --queue ", COMPLETE_QUEUES },
        { "submit --queue=", COMPLETE_QUEUES },
        { "submit --queue=ba", COMPLETE_QUEUES },
        { "submit --queue=batch ", COMPLETE_FILES },
        { "submit -q ", COMPLETE_QUEUES },
        { "submit -o ", COMPLETE_FILES },
        { "submit -N ", COMPLETE_NONE },
        { "submit -H ", COMPLETE_FILES },
        { "submit --wait=", COMPLETE_NONE },
        { "queue --watch ", COMPLETE_JOBS },
        { "queue --state PENDING,R", COMPLETE_STATES },
        { "cancel 1,2,", COMPLETE_JOBS },
        { "cancel --queue a,b", COMPLETE_QUEUES },
        { "show ", COMPLETE_SUBCOMMANDS },
        { "show jo", COMPLETE_SUBCOMMANDS },
        { "show job ", COMPLETE_ALL_JOBS },
        { "show job 1 ", COMPLETE_ALL_JOBS },
        { "show --json node ", COMPLETE_NODES },
        { "show nonsense ", COMPLETE_NONE },
        { "ctl ", COMPLETE_SUBCOMMANDS },
        { "ctl drain ", COMPLETE_NODES },
        { "ctl --reason drain drain ", COMPLETE_NODES },
        { "ctl --reason ", COMPLETE_NONE },
        { "ctl hold ", COMPLETE_JOBS },
        { "info -n ", COMPLETE_NODES },
        { "info ", COMPLETE_NONE },
        { "cancel \"an open quote ", COMPLETE_NONE },
    };
    struct completion_place place;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        if (place_of (cases[i].line, &place) != cases[i].kind)
            fail_msg ("behind '%s': %d instead of %d", cases[i].line, place.kind,
                      cases[i].kind);
    }
}

static void offered (const char *line, const char *word, const char *wanted)
{
    struct completion_place place;
    struct strbuf list;

    place_of (line, &place);
    strbuf_init (&list, 1 << 16);
    complete_list (&place, word, "unix:///nonexistent/fluxqd.sock", &list);
    assert_string_equal (list.buf, wanted);
    strbuf_release (&list);
}

static void test_lists (void **state)
{
    (void)state;
    offered ("s", "s", "show\nsubmit\n");
    offered ("logs --st", "--st", "--stdout\n--stderr\n");
    offered ("logs -", "-f", "");
    offered ("show ", "", "job\nnode\nqueue\npriority\nfair-share\nreservation\nslurm-options\n");
    offered ("ctl re", "re", "reload\nresume\nrelease\nresize\nreserve\nrevoke-tokens\n");
    offered ("queue -t R", "R", "RUNNING\n");
}

/* At the beginning of a line, all commands and the console's own words are offered. */
static void test_commands (void **state)
{
    struct strbuf wanted;

    (void)state;
    strbuf_init (&wanted, 1 << 16);
    for (const struct command *const *c = commands; *c; c++) {
        if (strcmp ((*c)->name, "console") != 0)
            strbuf_addf (&wanted, "%s\n", (*c)->name);
    }
    strbuf_addf (&wanted, "exit\nhelp\nquit\n");
    offered ("", "", wanted.buf);
    strbuf_release (&wanted);
}

/* Without a broker the live lists are empty at once. */
static void test_no_broker (void **state)
{
    (void)state;
    offered ("cancel ", "", "");
    offered ("ctl drain ", "", "");
    offered ("submit -q ", "", "");
}

/* No letter or name occurs twice in a command: the second could never be used. */
static void test_tables (void **state)
{
    (void)state;
    for (const struct command *const *c = commands; *c; c++) {
        struct option_desc o[CMD_OPTIONS_MAX];
        command_options (*c, o);
        for (size_t i = 0; o[i].name; i++) {
            for (size_t k = 0; k < i; k++) {
                if (!strcmp (o[i].name, o[k].name)
                    || (o[i].letter && o[i].letter == o[k].letter))
                    fail_msg ("%s: --%s and --%s", (*c)->name, o[k].name, o[i].name);
            }
        }
        assert_non_null (option_find (o, "help", NULL));
        assert_non_null ((*c)->usage[0]);
        assert_ptr_equal (command_find ((*c)->name), *c);
    }
    assert_null (command_find ("sub"));
    assert_null (command_find (""));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_places),
        cmocka_unit_test (test_lists),
        cmocka_unit_test (test_commands),
        cmocka_unit_test (test_no_broker),
        cmocka_unit_test (test_tables),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
