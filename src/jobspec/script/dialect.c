/* dialect.c - functions that the dialects share, see dialect.h
 */
#include "jobspec/script/dialect.h"

#include <ctype.h>
#include <strings.h>

#include "jobspec/options/components.h"

bool script_next_line (const struct script *s, struct script_line *line)
{
    const char *begin = s->text;

    if (line->text)
        begin = line->text + line->len + 1;
    if (begin >= s->end)
        return false;
    const char *newline = memchr (begin, '\n', (size_t)(s->end - begin));
    line->text = begin;
    line->len = (size_t)((newline ? newline : s->end) - begin);
    line->number++;
    return true;
}

/* Pass a text to the script's warn function, "job.sh:3: " before it. */
static PRINTF_LIKE (3, 4) void script_warn (const struct script *s,
                                            const struct script_line *line,
                                            const char *fmt, ...)
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

size_t dialect_hetjob (const char *text, size_t len)
{
    static const char *const words[] = { "hetjob", "packjob" };
    size_t blank = 0;

    while (blank < len && isspace ((unsigned char)text[blank]))
        blank++;
    for (size_t i = 0; i < ARRAY_SIZE (words); i++) {
        size_t n = strlen (words[i]);
        if (len - blank >= n && !strncasecmp (text + blank, words[i], n)
            && (len - blank == n || isspace ((unsigned char)text[blank + n])))
            return blank + n;
    }
    return 0;
}

static size_t next_component (const struct dialect *d, const char *args, size_t len)
{
    return args && d->options && d->options->next_component
               ? d->options->next_component (args, len)
               : 0;
}

bool dialect_begins_component (const struct script_line *line)
{
    bool begins = false;

    for (const struct dialect *const *d = dialects; *d && !begins; d++) {
        const char *args = (*d)->match (line->text, line->len);
        size_t len = args ? line->len - (size_t)(args - line->text) : 0;
        begins = next_component (*d, args, len) > 0;
    }
    return begins;
}

/* The options that follow are those of the next component. */
static int go_to_component (struct script *s, struct submit_options *first,
                            const struct script_line *line, struct error *err)
{
    s->so = submit_component_of_script (first, ++s->component, err);
    if (s->so)
        return 0;
    error_prefix (err, "%s:%u", s->name, line->number);
    return -err->code;
}

int dialect_read_header (const struct script *s, const struct dialect *d,
                         struct script_line first, const struct dialect_options *options,
                         struct error *err)
{
    struct script_line line = { NULL, 0, 0 };
    struct script at = *s;
    int rc = 0;

    while (rc == 0 && script_next_line (s, &line)) {
        const char *args = d->match (line.text, line.len);
        size_t len = args ? line.len - (size_t)(args - line.text) : 0;

        if (s->command.text && line.number >= s->command.number) {
            dialect_warn_late (s, d, line);
            return 0;
        }
        if (dialect_begins_component (&line))
            rc = go_to_component (&at, s->so, &line, err);
        if (rc < 0 || !args || line.number < first.number)
            continue;
        size_t word = next_component (d, args, len);
        rc = dialect_apply (&at, &line, args + word, len - word, options, err);
    }
    return rc;
}

/* "job.sh:3", or "job.sh:3: component 1" */
static void add_place (struct strbuf *sb, const struct script *s,
                       const struct script_line *line)
{
    strbuf_addf (sb, "%s:%u", s->name, line->number);
    if (s->heterogeneous)
        strbuf_addf (sb, ": component %zu", s->component);
}

static int apply_option (const struct script *s, const struct script_line *line,
                         const struct words *w, const struct option_match *m,
                         const struct dialect_options *options, struct error *err)
{
    autostrbuf struct strbuf where = STRBUF_INIT (8192);

    add_place (&where, s, line);
    strbuf_adds (&where, ": ");
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

/* Keep the refusal, so that reading goes on: 0. Or the negative errno that ends it. */
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

int dialect_refuse (const struct script *s, struct error *own, struct error *err)
{
    int rc = refused (s, own);

    if (rc < 0 && err)
        *err = *own;
    *own = (struct error){ 0 };
    return rc;
}

/* -- options that are known elsewhere -- */

/* Find an option by its whole long name, or by its letter; or NULL. */
static const struct option_desc *find_word (const struct option_desc *table,
                                            const char *word)
{
    size_t len = strcspn (word, "=");

    if (strncmp (word, "--", 2) != 0)
        return word[0] == '-' ? option_find_letter (table, word[1]) : NULL;
    for (const struct option_desc *o = table; o->name; o++) {
        if (strlen (o->name) == len - 2 && !memcmp (o->name, word + 2, len - 2))
            return o;
    }
    return NULL;
}

/* Whether the table has no such option. */
static bool is_unknown (const struct option_desc *table, const char *word)
{
    char name[64];

    if (strncmp (word, "--", 2) != 0)
        return !find_word (table, word);
    snprintf (name, sizeof (name), "%.*s", (int)strcspn (word + 2, "="), word + 2);
    return !option_find (table, name, NULL);
}

/* "--qos=x": "--qos"; "-Ax": "-A" */
static void option_of_word (const char *word, char *ret, size_t size)
{
    int len = strncmp (word, "--", 2) ? 2 : (int)strcspn (word, "=");

    snprintf (ret, size, "%.*s", len, word);
}

bool dialect_explain (const struct option_desc *own, const char *word, struct error *err)
{
    const struct option_desc *o, *found = NULL;
    const struct dialect *of = NULL;
    char name[64];

    for (const struct dialect *const *d = dialects; *d && is_unknown (own, word); d++) {
        if ((*d)->options->table == submit_options_table
            || !(o = find_word ((*d)->options->table (), word)))
            continue;
        if (found && word[1] != '-') /* a letter differs between the dialects */
            return false;
        found = o;
        of = *d;
    }
    option_of_word (word, name, sizeof (name));
    return found && of->options->refuse (found, name, err) < 0;
}

/* For an option that the dialect does not know: say if it is known elsewhere. next: the
 * word after it, or NULL. */
static void add_hint (const struct dialect_options *options, const char *word,
                      const char *next, struct error *err)
{
    const struct option_desc *o = find_word (submit_options_table (), word);
    bool value = o && o->arg && !o->arg_optional && !strchr (word, '=') && next;
    char name[64];

    option_of_word (word, name, sizeof (name));
    if (dialect_explain (options->table (), word, err)
        || !is_unknown (options->table (), word))
        return;
    if (o && strncmp (word, "--", 2) == 0)
        error_set (err, err->code, "%s: unknown option here; write #FLUXQ %.64s%s%.64s",
                   name, word, value ? "=" : "", value ? next : "");
}

/* Skip a word that is in error, and words after it that can be the value of an unknown
 * option. */
static void go_on (struct option_parser *p, int index)
{
    p->cluster = 0;
    p->index = MAX (p->index, index + 1);
    while (p->index < p->argc && p->argv[p->index][0] != '-')
        p->index++;
}

int dialect_apply (const struct script *s, const struct script_line *line,
                   const char *text, size_t len, const struct dialect_options *options,
                   struct error *err)
{
    struct option_parser p;
    struct option_match m;
    struct words w;
    struct error own = { 0 };
    autostrbuf struct strbuf place = STRBUF_INIT (8192);
    int rc = words_split (&w, text, len, options->rules, &own);

    add_place (&place, s, line);
    if (rc < 0) {
        error_prefix (&own, "%s", place.buf);
        return dialect_refuse (s, &own, err);
    }
    option_parser_init (&p, s->name, options->table (), OPTION_PERMUTE, w.argc, w.argv);
    while ((rc = option_next (&p, &m, &own)) != 0) {
        if (rc < 0) {
            add_hint (options, w.argv[m.index],
                      m.index + 1 < w.argc ? w.argv[m.index + 1] : NULL, &own);
            error_prefix (&own, "%s", place.buf);
            go_on (&p, m.index);
        } else if (apply_option (s, line, &w, &m, options, &own) == 0) {
            continue;
        }
        if ((rc = dialect_refuse (s, &own, err)) < 0)
            break;
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
