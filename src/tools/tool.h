/* tool.h - the command line of a program without operands: fluxq-match, fluxq-sim
 *
 *     static const struct option_desc options[] = { {"seed", 's', ...}, TOOL_OPTIONS };
 *     static const struct tool tool = { "fluxq-sim", options, print_help, apply };
 *
 *     rc = tool_options (&tool, &o, argc, argv);   // TOOL_GO, or exit with it
 *     return tool_usage (&tool, "--trace is missing: the jobs");
 */
#pragma once

#include "common/option.h"

struct tool {
    const char *name;
    const struct option_desc *options;
    void (*print_help) (void);
    /* Takes one option's value into arg. Negative errno, with a reason. */
    int (*apply) (void *arg, const struct option_match *m, struct error *err);
};

enum { TOOL_GO = -1, TOOL_HELP = 1000, TOOL_VERSION };

/* The last rows of each table. */
/* clang-format off */
#define TOOL_OPTIONS                                                                     \
    { "help", 'h', NULL, "show this text", TOOL_HELP, false, NULL },                     \
    { "version", 'V', NULL, "show the version", TOOL_VERSION, false, NULL },             \
    OPTION_END
/* clang-format on */

/* Applies all options: TOOL_GO, or the exit status after help, version or a message. */
int tool_options (const struct tool *tool, void *arg, int argc, char **argv);
/* Prints "NAME: text (see NAME --help)" to stderr; returns the exit status. */
int tool_usage (const struct tool *tool, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* Parses one of two words; *ret: whether it is the first. */
int tool_choice (const char *value, const char *first, const char *second, bool *ret,
                 struct error *err);
