/* acct_format.c - sacct's formats "Field%width,..." and its lines; see acct.h
 *
 * Widths count columns of the terminal; Slurm counts bytes.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cmd/print/width.h"
#include "cmd/slurm/acct/acct.h"

#define WIDTH_MAX 10000
#define NAMES_A_LINE 4

/* -- reading -- */

static int add_item (struct acct_format *f, const struct acct_field *field, int width)
{
    if (f->n == ACCT_FORMAT_MAX)
        return -E2BIG;
    f->items[f->n].field = field;
    f->items[f->n++].width = width;
    f->needs |= field->needs;
    return 0;
}

/* As in Slurm, the first field that begins with the word; old names only whole. */
static const struct acct_field *find (const char *word, size_t len)
{
    for (const struct acct_field *f = acct_fields; f->name; f++)
        if (!strncasecmp (f->name, word, len) && (!f->hidden || !f->name[len]))
            return f;
    return NULL;
}

static int add_all (struct acct_format *f, bool has_width, int width)
{
    int rc = 0;

    for (const struct acct_field *a = acct_fields; a->name && rc == 0; a++)
        if (!a->hidden)
            rc = add_item (f, a, has_width ? width : a->width);
    return rc;
}

static int read_width (const char *p)
{
    long n = strtol (p, NULL, 10);

    return (int)MAX (MIN (n, WIDTH_MAX), -WIDTH_MAX);
}

/* One "Field%width" of len bytes. */
static int add_word (struct acct_format *f, const char *word, size_t len,
                     struct error *err)
{
    const char *percent = memchr (word, '%', len);
    size_t name = percent ? (size_t)(percent - word) : len;
    int width = percent ? read_width (percent + 1) : 0;

    if (!strncasecmp ("ALL", word, name))
        return add_all (f, percent, width);
    const struct acct_field *field = find (word, name);
    if (!field)
        return error_set (err, EINVAL, "%.*s", (int)MIN (name, 200), word);
    return add_item (f, field, percent ? width : field->width);
}

int acct_format_parse (struct acct_format *f, const char *text, struct error *err)
{
    int rc = 0;

    for (size_t len; *text && rc == 0; text += len + (text[len] == ',')) {
        while (isspace ((unsigned char)*text))
            text++;
        len = strcspn (text, ",");
        if (len > 0)
            rc = add_word (f, text, len, err);
    }
    return rc;
}

/* -- printing -- */

static void add_spaces (struct strbuf *sb, size_t n)
{
    while (n-- > 0)
        strbuf_addch (sb, ' ');
}

/* Cuts and pads the text into a column and the blank after it. */
static void add_column (struct strbuf *sb, const char *text, int width,
                        enum acct_kind kind)
{
    size_t len = strlen (text), room = (size_t)(width < 0 ? -width : width);
    unsigned columns = width_of (text, len);
    bool plus = false;

    if (kind != ACCT_NUMBER && columns > room) {
        plus = kind == ACCT_TEXT && room > 0;
        len = width_cut (text, len, (unsigned)(room - plus), &columns);
        columns += plus;
    }
    size_t missing = columns < room ? room - columns : 0;
    add_spaces (sb, width >= 0 ? missing : 0);
    strbuf_add (sb, text, len);
    strbuf_adds (sb, plus ? "+" : "");
    add_spaces (sb, (width < 0 ? missing : 0) + 1);
}

static void add_cell (const struct acct_format *f, size_t i, const char *text,
                      enum acct_kind kind, struct strbuf *sb)
{
    if (!f->delimiter) {
        add_column (sb, text, f->items[i].width, kind);
        return;
    }
    strbuf_adds (sb, text);
    if (f->last_delimiter || i + 1 < f->n)
        strbuf_adds (sb, f->delimiter);
}

void acct_format_add_heading (const struct acct_format *f, struct strbuf *sb)
{
    for (size_t i = 0; i < f->n; i++)
        add_cell (f, i, f->items[i].field->name, ACCT_PLAIN, sb);
    strbuf_addch (sb, '\n');
    if (f->delimiter)
        return;
    for (size_t i = 0; i < f->n; i++) {
        for (int k = f->items[i].width; k != 0; k += k < 0 ? 1 : -1)
            strbuf_addch (sb, '-');
        strbuf_addch (sb, ' ');
    }
    strbuf_addch (sb, '\n');
}

void acct_format_add_row (const struct acct_format *f, const struct acct_row *row,
                          struct strbuf *sb)
{
    struct strbuf text = STRBUF_INIT (4 << 20);

    for (size_t i = 0; i < f->n; i++) {
        const struct acct_field *field = f->items[i].field;
        strbuf_reset (&text);
        if (field->add)
            field->add (row, &text);
        add_cell (f, i, text.buf, field->kind, sb);
    }
    strbuf_addch (sb, '\n');
    strbuf_release (&text);
}

void acct_format_add_names (struct strbuf *sb)
{
    size_t n = 0;

    for (const struct acct_field *f = acct_fields; f->name; f++)
        if (!f->hidden)
            strbuf_addf (sb, "%s%-19s",
                         n++ == 0                ? ""
                         : n % NAMES_A_LINE == 1 ? "\n"
                                                 : " ",
                         f->name);
    strbuf_addch (sb, '\n');
}
