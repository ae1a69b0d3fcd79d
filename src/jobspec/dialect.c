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

/* A refusal is kept, and the next directive looked at; 0, or what ends it at once. */
static int refused (const struct script *s, struct error *err)
{
    struct script_refusals *r = s->refusals;

    if (!r || err->code == ENOMEM)
        return -err->code;
    if (r->n++ > 0)
        r->refuse (r->last.text, r->arg);
    r->last = *err;
    *err = (struct error){ 0 };
    return 0;
}

static int give (const struct script *s, struct error *own, struct error *err)
{
    int rc = refused (s, own);

    if (rc < 0 && err)
        *err = *own;
    *own = (struct error){ 0 };
    return rc;
}

/* What an option that the dialect does not know is elsewhere. */
static void add_hint (const struct dialect_options *options, const char *word,
                      struct error *err)
{
    char name[64];
    struct error own = *err;

    snprintf (name, sizeof (name), "%.*s", (int)strcspn (word, "="), word);
    if (options->table == submit_options_table || strncmp (name, "--", 2) != 0)
        return;
    for (const struct option_desc *o = submit_options_table; o->name; o++) {
        if (!strcmp (o->name, name + 2))
            error_set (err, own.code, "%s: unknown option here; write #FLUXQ %.64s", name,
                       word);
    }
}

int dialect_apply (const struct script *s, const struct script_line *line,
                   const char *text, size_t len, const struct dialect_options *options,
                   struct error *err)
{
    struct option_parser p;
    struct option_match m;
    struct words w;
    struct error own = { 0 };
    int rc = words_split (&w, text, len, options->rules, &own);

    if (rc < 0) {
        error_prefix (&own, "%s:%u", s->name, line->number);
        return give (s, &own, err);
    }
    option_parser_init (&p, s->name, options->table, OPTION_PERMUTE, w.argc, w.argv);
    while ((rc = option_next (&p, &m, &own)) > 0) {
        if (apply_option (s, line, &w, &m, options, &own) < 0
            && (rc = give (s, &own, err)) < 0)
            break;
    }
    if (rc < 0 && own.code) {
        add_hint (options, w.argv[m.index], &own);
        error_prefix (&own, "%s:%u", s->name, line->number);
        rc = give (s, &own, err);
    }
    words_release (&w);
    return rc;
}

int dialect_unsupported (const char *system, const struct option_desc *o,
                         const char *where, struct error *err)
{
    return error_set (err, EINVAL, "%s: a %s option that fluxq does not support; %s",
                      where, system, o->help ? o->help : "remove it");
}
