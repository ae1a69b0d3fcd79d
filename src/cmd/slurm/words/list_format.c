/* list_format.c - see list_format.h */
#include "cmd/slurm/words/list_format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cmd/print/width.h"

#define WIDTH_MAX 10000
#define NAMES_A_LINE 4

/* -- reading -- */

static int add_item (struct list_format *f, const struct list_field *field, int width)
{
    if (f->n == LIST_FORMAT_MAX)
        return -E2BIG;
    f->items[f->n].field = field;
    f->items[f->n++].width = width;
    f->needs |= field->needs;
    return 0;
}

/* As in Slurm, the first field that begins with the word; old names only whole. */
static const struct list_field *find (const struct list_field *table, const char *word,
                                      size_t len)
{
    for (; table->name; table++)
        if (!strncasecmp (table->name, word, len)
            && (!table->hidden || !table->name[len]))
            return table;
    return NULL;
}

static int add_all (struct list_format *f, const struct list_field *table, bool has_width,
                    int width)
{
    int rc = 0;

    for (const struct list_field *a = table; a->name && rc == 0; a++)
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
static int add_word (struct list_format *f, const struct list_field *table,
                     const char *word, size_t len, struct error *err)
{
    const char *percent = memchr (word, '%', len);
    size_t name = percent ? (size_t)(percent - word) : len;
    int width = percent ? read_width (percent + 1) : 0;

    if (f->has_all && !strncasecmp ("ALL", word, name))
        return add_all (f, table, percent, width);
    const struct list_field *field = find (table, word, name);
    if (!field)
        return error_set (err, EINVAL, "%.*s", (int)MIN (name, 200), word);
    return add_item (f, field, percent ? width : field->width);
}

int list_format_parse (struct list_format *f, const struct list_field *table,
                       const char *text, struct error *err)
{
    int rc = 0;

    for (size_t len; *text && rc == 0; text += len + (text[len] == ',')) {
        while (isspace ((unsigned char)*text))
            text++;
        len = strcspn (text, ",");
        if (len > 0)
            rc = add_word (f, table, text, len, err);
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
                        enum list_kind kind)
{
    size_t len = strlen (text), room = (size_t)(width < 0 ? -width : width);
    unsigned columns = width_of (text, len);
    bool plus = false;

    if (kind != LIST_NUMBER && columns > room) {
        plus = kind == LIST_TEXT && room > 0;
        len = width_cut (text, len, (unsigned)(room - plus), &columns);
        columns += plus;
    }
    size_t missing = columns < room ? room - columns : 0;
    add_spaces (sb, width >= 0 ? missing : 0);
    strbuf_add (sb, text, len);
    strbuf_adds (sb, plus ? "+" : "");
    add_spaces (sb, (width < 0 ? missing : 0) + 1);
}

static void add_cell (const struct list_format *f, size_t i, const char *text,
                      enum list_kind kind, struct strbuf *sb)
{
    if (!f->delimiter) {
        add_column (sb, text, f->items[i].width, kind);
        return;
    }
    strbuf_adds (sb, text);
    if (f->last_delimiter || i + 1 < f->n)
        strbuf_adds (sb, f->delimiter);
}

static const char *heading_of (const struct list_field *column)
{
    return column->heading ? column->heading : column->name;
}

void list_format_add_heading (const struct list_format *f, struct strbuf *sb)
{
    for (size_t i = 0; i < f->n; i++)
        add_cell (f, i, heading_of (f->items[i].field), LIST_PLAIN, sb);
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

void list_format_add_row (const struct list_format *f, const void *row, struct strbuf *sb)
{
    struct strbuf text = STRBUF_INIT (4 << 20);

    for (size_t i = 0; i < f->n; i++) {
        const struct list_field *field = f->items[i].field;
        strbuf_reset (&text);
        if (field->add)
            field->add (row, &text);
        add_cell (f, i, text.buf, field->kind, sb);
    }
    strbuf_addch (sb, '\n');
    strbuf_release (&text);
}

void list_format_add_names (const struct list_field *table, struct strbuf *sb)
{
    size_t n = 0;

    for (const struct list_field *f = table; f->name; f++)
        if (!f->hidden)
            strbuf_addf (sb, "%s%-19s",
                         n++ == 0                ? ""
                         : n % NAMES_A_LINE == 1 ? "\n"
                                                 : " ",
                         f->name);
    strbuf_addch (sb, '\n');
}
