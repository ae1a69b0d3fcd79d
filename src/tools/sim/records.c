/* records.c - see records.h */
#include "tools/sim/records.h"

#include "tools/sim/trace.h"

int records_open (struct records *r, const char *path, bool indented, struct error *err)
{
    *r = (struct records){ .file = fopen (path, "re"), .indented = indented };
    if (!r->file)
        return error_errno (err, errno, "%s", path);
    strbuf_init (&r->text, TRACE_LINE_MAX);
    strbuf_init (&r->next, TRACE_LINE_MAX);
    return 0;
}

void records_close (struct records *r)
{
    if (r->file)
        fclose (r->file);
    strbuf_release (&r->text);
    strbuf_release (&r->next);
}

/* Reads one line without its newline: 1, 0: the end, -errno. Reads a line that is too
 * long to its end, and sets line->err. */
static int read_line (struct records *r, struct strbuf *line)
{
    char piece[4096];
    size_t n = 0;
    int c = EOF;

    strbuf_reset (line);
    flockfile (r->file);
    while ((c = getc_unlocked (r->file)) != EOF && c != '\n') {
        piece[n++] = (char)c;
        if (n == sizeof (piece)) {
            strbuf_add (line, piece, n);
            n = 0;
        }
    }
    funlockfile (r->file);
    strbuf_add (line, piece, n);
    if (c == EOF && ferror (r->file))
        return errno ? -errno : -EIO;
    if (c == EOF && line->len == 0 && line->err == 0)
        return 0;
    r->lines++;
    if (line->len > 0 && line->buf[line->len - 1] == '\r')
        line->buf[--line->len] = '\0';
    return 1;
}

static int take_line (struct records *r, struct strbuf *line)
{
    if (!r->has_next)
        return read_line (r, line);
    struct strbuf other = *line;
    *line = r->next;
    r->next = other;
    r->has_next = false;
    return 1;
}

/* Reads the lines up to the one that begins with "}". */
static int read_indented (struct records *r, struct error *err)
{
    int rc;

    while ((rc = read_line (r, &r->next)) == 1) {
        if (r->next.buf[0] == '{') {
            r->has_next = true;
            break;
        }
        strbuf_addch (&r->text, '\n');
        strbuf_add (&r->text, r->next.buf, r->next.len);
        if (r->next.err)
            r->text.err = r->next.err;
        if (r->next.buf[0] == '}')
            return 1;
    }
    return rc < 0 ? rc
                  : error_set (err, EINVAL, "the object that begins here has no end");
}

int records_next (struct records *r, struct error *err)
{
    errno = 0;
    int rc = take_line (r, &r->text);
    r->line = r->lines;
    if (rc == 1 && r->indented && !strcmp (r->text.buf, "{"))
        rc = read_indented (r, err);
    if (rc < 0 && rc != -EINVAL)
        return error_errno (err, -rc, "cannot be read");
    if (rc < 0 || rc == 0)
        return rc;
    if (r->text.err == -ENOMEM)
        return error_set (err, ENOMEM, "out of memory");
    if (r->text.err)
        return error_set (err, EINVAL, "longer than %d bytes", TRACE_LINE_MAX);
    if (strlen (r->text.buf) != r->text.len)
        return error_set (err, EINVAL, "has a NUL byte");
    return 1;
}
