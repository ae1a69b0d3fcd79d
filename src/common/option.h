/* option.h - option tables: parsing, help text and completion from one description
 *
 *     static const struct option_desc options[] = {
 *         { "output", 'o', "FILE", "write standard output to FILE", OPT_OUTPUT, false,
 *           "Files" },
 *         OPTION_END
 *     };
 *     struct option_parser p;
 *     struct option_match m;
 *     option_parser_init (&p, "fluxq-info", options, OPTION_PERMUTE, argc, argv);
 *     while ((rc = option_next (&p, &m, &err)) > 0)
 *         ... m.desc ? m.desc->id : operand m.value
 *
 * GNU style: --long=value, --long value, -o value, -ovalue, grouped flags, unique
 * prefixes of long options (as getopt_long; an exact name wins), "--" ends. The order of
 * arguments is never changed. Nothing is allocated.
 */
#pragma once

#include "common/error.h"

struct option_desc {
    const char *name; /* long name, without "--", "": letter only; NULL ends the table */
    char letter;      /* short letter or 0 */
    const char *arg;  /* name of the value in the help ("FILE"), NULL: a flag */
    const char *help; /* one line; NULL: not in the help */
    int id;           /* for the caller's switch; equal ids: names of one option */
    bool arg_optional;  /* value only as --name=VALUE (or -oVALUE) */
    const char *group;  /* heading above the row in the help; NULL: none */
};

/* clang-format off */
#define OPTION_END { NULL, 0, NULL, NULL, 0, false, NULL }
/* clang-format on */

enum option_flags {
    OPTION_PERMUTE = 0,         /* options may follow operands */
    OPTION_STOP_AT_OPERAND = 1, /* all arguments after an operand are operands (submit) */
};

struct option_parser {
    const char *program;
    const struct option_desc *table;
    int flags;
    int argc;
    char **argv;
    int index;   /* next argument to look at */
    int cluster; /* position in a group of short options */
    bool done;   /* "--" seen or stopped at operand */
    bool dashes; /* "--" seen: a command follows, for instance */
};

struct option_match {
    const struct option_desc *desc; /* NULL: an operand */
    const char *value;              /* option's value (NULL for a flag) or the operand */
    int index;                      /* argv index where it began */
};

/* argv[0] is skipped. */
void option_parser_init (struct option_parser *p, const char *program,
                         const struct option_desc *table, int flags, int argc,
                         char **argv);
/* Next option or operand: 1 and *ret set; 0 at the end; -EINVAL with a reason that names
 * the option and a similar known one, if any ("--ntask: unknown option (did you mean
 * --ntasks?)"). */
int option_next (struct option_parser *p, struct option_match *ret, struct error *err);

/* Find by long name (exact or unique prefix) or letter; NULL and a reason otherwise. */
const struct option_desc *option_find (const struct option_desc *table, const char *name,
                                       struct error *err);
const struct option_desc *option_find_letter (const struct option_desc *table,
                                              char letter);

/* The two-column list of options, wrapped to 79 columns: the rows without a group, then
 * each group below its heading, in the order of the first row of each group. */
void option_print_help (FILE *out, const struct option_desc *table);
