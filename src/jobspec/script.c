/* script.c - see script.h; dialect.c has the functions that the dialects share
 */
#include "jobspec/script.h"

#include <errno.h>
#include <string.h>

#include "jobspec/dialect.h"
#include "jobspec/jobspec.h"

/* -- is it a script? -- */

static unsigned line_of (const char *text, const char *at)
{
    unsigned n = 1;

    while ((text = memchr (text, '\n', (size_t)(at - text))) != NULL) {
        n++;
        text++;
    }
    return n;
}

static bool is_blank (const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!memchr (" \t\r\n\v\f", text[i], 6))
            return false;
    }
    return true;
}

int script_check (const char *text, size_t len, const char *name, struct error *err)
{
    const char *at;

    if (len > JOBSPEC_SCRIPT_MAX)
        return error_set (err, EFBIG,
                          "%s: the script has %zu bytes, at most %d (4 MiB) are accepted",
                          name, len, JOBSPEC_SCRIPT_MAX);
    at = memchr (text, '\0', len);
    if (at)
        return error_set (err, EINVAL, "%s:%u: there is a NUL byte, so this is no script",
                          name, line_of (text, at));
    if (is_blank (text, len))
        return error_set (err, EINVAL, "%s: the script is empty", name);
    if (len < 2 || memcmp (text, "#!", 2))
        return error_set (
            err, EINVAL,
            "%s:1: a batch script begins with #! and its interpreter (#!/bin/sh); "
            "to run a program write: -- PROGRAM",
            name);
    at = memmem (text, len, "\r\n", 2);
    if (at || text[len - 1] == '\r')
        return error_set (
            err, EINVAL,
            "%s:%u: the line ends as on DOS (CR LF), no shell can run that; convert "
            "the file with dos2unix",
            name, line_of (text, at ? at : text + len));
    return 0;
}

/* -- which dialect? -- */

static bool is_comment (const struct script_line *line)
{
    for (size_t i = 0; i < line->len; i++) {
        if (line->text[i] == '#')
            return true;
        if (!is_blank (line->text + i, 1))
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
        if (d == &dialect_fluxq) {
            *own = own->text ? *own : line;
            continue;
        }
        if (d && *ret && d != *ret) {
            struct error why = { 0 };
            error_set (&why, EINVAL,
                       "%s:%u: a directive for %s, but line %u is one for %s (%s); use one "
                       "kind in a script",
                       s->name, line.number, d->name, first->number, (*ret)->name,
                       (*ret)->example);
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
    return so->script_name ? 0 : error_set (err, ENOMEM, "%s: out of memory", filename);
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
    if (rc == 0)
        rc = find_in_header (&s, &d, &first, &own, err);
    if (rc == 0)
        rc = read_all (&s, d, first, own, err);
    if (rc == 0 && refusals.n > 0)
        rc = error_set (err, refusals.last.code, "%s", refusals.last.text);
    return rc;
}
