/* tool.c - the command line of a program without operands: fluxq-match, fluxq-sim */
#include "tools/tool.h"

#include <config.h>
#include <stdarg.h>

int tool_usage (const struct tool *tool, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    fprintf (stderr, "%s: ", tool->name);
    vfprintf (stderr, fmt, ap);
    fprintf (stderr, " (see %s --help)\n", tool->name);
    va_end (ap);
    return 2;
}

int tool_choice (const char *value, const char *first, const char *second, bool *ret,
                 struct error *err)
{
    *ret = !strcmp (value, first);
    if (*ret || !strcmp (value, second))
        return 0;
    return error_set (err, EINVAL, "expected %s or %s", first, second);
}

int tool_options (const struct tool *tool, void *arg, int argc, char **argv)
{
    struct option_parser p;
    struct option_match m;
    struct error err = { 0 };
    int rc;

    option_parser_init (&p, tool->name, tool->options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&p, &m, &err)) > 0) {
        if (!m.desc)
            return tool_usage (tool, "'%s': unexpected argument", m.value);
        if (m.desc->id == TOOL_HELP) {
            tool->print_help ();
            return 0;
        }
        if (m.desc->id == TOOL_VERSION) {
            printf ("%s " PACKAGE_VERSION "\n", tool->name);
            return 0;
        }
        if (tool->apply (arg, &m, &err) < 0)
            return tool_usage (tool, "--%s '%s': %s", m.desc->name, m.value, err.text);
    }
    return rc < 0 ? tool_usage (tool, "%s", err.text) : TOOL_GO;
}
