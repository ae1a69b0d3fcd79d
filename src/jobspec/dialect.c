/* dialect.c - what the dialects share, see dialect.h
 */
#include "jobspec/dialect.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

bool script_next_line (const struct script *s, struct script_line *line)
{
    const char *begin = s->text;
    const char *newline;

    if (line->text)
        begin = line->text + line->len + 1;
    if (begin >= s->end)
        return false;
    newline = memchr (begin, '\n', (size_t)(s->end - begin));
    line->text = begin;
    line->len = (size_t)((newline ? newline : s->end) - begin);
    line->number++;
    return true;
}

void script_warn (const struct script *s, const struct script_line *line, const char *fmt,
                  ...)
{
    struct error text;
    char reason[256];
    va_list ap;

    if (!s->warn)
        return;
    va_start (ap, fmt);
    vsnprintf (reason, sizeof (reason), fmt, ap);
    va_end (ap);
    /* error_set makes it one printable line */
    error_set (&text, EINVAL, "%s:%u: %s", s->name, line->number, reason);
    s->warn (text.text, s->arg);
}

void dialect_warn_late (const struct script *s, const struct dialect *d,
                        struct script_line line)
{
    enum { ONE_BY_ONE = 5 };
    unsigned n = 0;

    do {
        if (!d->match (line.text, line.len))
            continue;
        if (++n <= ONE_BY_ONE)
            script_warn (
                s, &line,
                "'%.*s' is not used: directives end at the first command (line %u); move "
                "it up",
                (int)MIN (line.len, 64), line.text, s->command.number);
    } while (script_next_line (s, &line));
    if (n > ONE_BY_ONE)
        script_warn (s, &s->command, "%u more directives behind this line are not used",
                     n - ONE_BY_ONE);
}

int dialect_read_header (const struct script *s, const struct dialect *d,
                         struct script_line first, const struct dialect_options *options,
                         struct error *err)
{
    struct script_line line = first;

    do {
        const char *args = d->match (line.text, line.len);
        int rc;

        if (s->command.text && line.number >= s->command.number) {
            dialect_warn_late (s, d, line);
            return 0;
        }
        if (!args)
            continue;
        rc = dialect_apply (s, &line, args, line.len - (size_t)(args - line.text),
                            options, err);
        if (rc < 0)
            return rc;
    } while (script_next_line (s, &line));
    return 0;
}

static int apply_option (const struct script *s, const struct script_line *line,
                         const struct words *w, const struct option_match *m,
                         const struct dialect_options *options, struct error *err)
{
    autostrbuf struct strbuf where;

    strbuf_init (&where, 8192);
    strbuf_addf (&where, "%s:%u: ", s->name, line->number);
    if (!m->desc)
        return error_set (err, EINVAL, "%s'%.64s' is not an option", where.buf, m->value);
    if (!strncmp (w->argv[m->index], "--", 2))
        strbuf_addf (&where, "--%s", m->desc->name);
    else
        strbuf_addf (&where, "-%c", m->desc->letter);
    if (where.err)
        return error_set (err, -where.err, "%s: out of memory", s->name);
    return options->set (s->so, m->desc, m->value, where.buf, err);
}

int dialect_apply (const struct script *s, const struct script_line *line,
                   const char *text, size_t len, const struct dialect_options *options,
                   struct error *err)
{
    struct option_parser p;
    struct option_match m;
    struct words w;
    int rc = words_split (&w, text, len, options->rules, err);

    if (rc < 0) {
        error_prefix (err, "%s:%u", s->name, line->number);
        return rc;
    }
    option_parser_init (&p, s->name, options->table, OPTION_PERMUTE, w.argc, w.argv);
    while ((rc = option_next (&p, &m, err)) > 0) {
        rc = apply_option (s, line, &w, &m, options, err);
        if (rc < 0)
            goto out;
    }
    if (rc < 0)
        error_prefix (err, "%s:%u", s->name, line->number);
out:
    words_release (&w);
    return rc;
}

int dialect_unsupported (const char *system, const struct option_desc *o,
                         const char *where, struct error *err)
{
    return error_set (err, EINVAL, "%s: a %s option that fluxq does not support; %s",
                      where, system, o->help ? o->help : "remove it");
}
