/* script.c - see script.h; dialect.c has the functions that the dialects share
 */
#include "jobspec/script/script.h"

#include "jobspec/script/dialect.h"

/* -- which dialect? -- */

static bool is_comment (const struct script_line *line)
{
    for (size_t i = 0; i < line->len; i++) {
        if (line->text[i] == '#')
            return true;
        if (!strchr (" \t\r\v\f", line->text[i]) || line->text[i] == '\0')
            return false;
    }
    return true;
}

static const struct dialect *dialect_of (const struct script_line *line)
{
    for (const struct dialect *const *d = dialects; *d; d++) {
        if ((*d)->match (line->text, line->len))
            return *d;
    }
    return NULL;
}

/* Find the dialect in the comments at the top; *ret stays NULL if they have no directive.
 * *own: the first #FLUXQ line, which can stand beside another dialect. Sets
 * s->command. */
static int find_in_header (struct script *s, const struct dialect **ret,
                           struct script_line *first, struct script_line *own,
                           struct error *err)
{
    struct script_line line = { NULL, 0, 0 };

    while (script_next_line (s, &line)) {
        const struct dialect *d = dialect_of (&line);

        if (!d && !is_comment (&line)) {
            s->command = line;
            return 0;
        }
        s->heterogeneous |= d && dialect_begins_component (&line);
        if (d == &dialect_fluxq) {
            *own = own->text ? *own : line;
            continue;
        }
        if (d && *ret && d != *ret) {
            struct error why = { 0 };
            error_set (&why, EINVAL,
                       "%s:%u: a directive for %s, but line %u is one for %s (%.*s); use "
                       "one kind in a script",
                       s->name, line.number, d->name, first->number, (*ret)->name,
                       (int)MIN (first->len, 64), first->text);
            int rc = dialect_refuse (s, &why, err);
            if (rc < 0)
                return rc;
        }
        if (d && !*ret) {
            *ret = d;
            *first = line;
        }
    }
    return 0;
}

/* Read directives of dialects that allow them after the first command; warn of others. */
static int read_body (const struct script *s, struct error *err)
{
    struct script_line line = s->command;

    while (line.text && script_next_line (s, &line)) {
        const struct dialect *d = dialect_of (&line);

        if (d && d->anywhere)
            return d->read (s, line, err);
        if (d) {
            dialect_warn_late (s, d, line);
            return 0;
        }
    }
    return 0;
}

static int set_script_name (struct submit_options *so, const char *filename,
                            struct error *err)
{
    const char *slash = strrchr (filename, '/');

    if (so->script_name)
        return 0;
    so->script_name = strdup (slash ? slash + 1 : filename);
    return so->script_name ? 0 : error_no_memory (err, filename);
}

/* #FLUXQ directives are read last, so they override others. */
static int read_all (const struct script *s, const struct dialect *d,
                     struct script_line first, struct script_line own, struct error *err)
{
    int rc = 0;

    if (d)
        rc = d->read (s, first, err);
    else if (!own.text)
        rc = read_body (s, err);
    if (rc == 0 && own.text)
        rc = dialect_fluxq.read (s, own, err);
    return rc;
}

int script_read_all (const char *text, size_t len, const char *filename,
                     struct submit_options *so, script_warn_f warn, script_warn_f refuse,
                     void *arg, struct error *err)
{
    struct script_refusals refusals = { .refuse = refuse, .arg = arg };
    struct script s = { .name = filename,
                        .text = text,
                        .end = text + len,
                        .so = so,
                        .warn = warn,
                        .arg = arg,
                        .refusals = refuse ? &refusals : NULL };
    const struct dialect *d = NULL;
    struct script_line first = { NULL, 0, 0 }, own = first;
    int rc = script_check (text, len, filename, err);

    if (rc == 0)
        rc = set_script_name (so, filename, err);
    if (rc < 0 || so->ignore_directives)
        return rc;
    rc = find_in_header (&s, &d, &first, &own, err);
    if (rc == 0)
        rc = read_all (&s, d, first, own, err);
    if (rc == 0 && refusals.n > 0)
        rc = error_set (err, refusals.last.code, "%s", refusals.last.text);
    return rc;
}
