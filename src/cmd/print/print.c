/* print.c - see print.h */
#include "cmd/print/print.h"

#include "cmd/print/width.h"
#include "common/parse.h"
#include "common/printable.h"

#define LABEL_WIDTH 14
#define GRID_MAX (64 << 20)

/* -- answers -- */

double answer_number (const json_t *o, const char *key)
{
    return json_number_value (json_object_get (o, key));
}

bool answer_flag (const json_t *o, const char *key)
{
    return json_is_true (json_object_get (o, key));
}

void answer_add_numbers (struct strbuf *sb, const json_t *array)
{
    for (size_t i = 0; i < json_array_size (array); i++)
        strbuf_addf (sb, "%s%.0f", i ? "," : "",
                     json_number_value (json_array_get (array, i)));
}

/* -- fields -- */

/* Replaces unprintable characters; returns the text's width in terminal columns. */
static unsigned clean (char *text)
{
    printable_clean (text);
    return width_of (text, strlen (text));
}

void print_field (const char *label, const char *fmt, ...)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);
    va_list ap;

    va_start (ap, fmt);
    strbuf_vaddf (&sb, fmt, ap);
    va_end (ap);
    if (sb.len > 0) {
        clean (sb.buf);
        printf ("%s:%*s%s\n", label, MAX (1, LABEL_WIDTH - 1 - (int)strlen (label)), "",
                sb.buf);
    }
}

void print_json (const json_t *o)
{
    json_dumpf (o, stdout, JSON_INDENT (2));
    putchar ('\n');
}

void print_text (const char *text)
{
    autofree char *line = strdup (text);

    if (line)
        printable_clean (line);
    puts (line ? line : "");
}

void print_time (const char *label, double t)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64);

    if (t > 0)
        strbuf_add_time (&sb, t);
    print_field (label, "%s", sb.buf);
}

void add_memory (struct strbuf *sb, double mib)
{
    static const char *const units[] = { "MiB", "GiB", "TiB", "PiB" };
    size_t i = 0;

    for (; mib >= 1024 && i + 1 < ARRAY_SIZE (units); i++)
        mib /= 1024;
    strbuf_addf (sb, "%.*f %s", mib < 100 && i > 0 ? 1 : 0, mib, units[i]);
}

/* -- grids -- */

void grid_init (struct grid *g, const char *const headings[], size_t ncols)
{
    *g = (struct grid){ .headings = headings, .ncols = ncols };
    strbuf_init (&g->text, GRID_MAX);
    for (size_t i = 0; i < ncols; i++)
        g->widths[i] = (unsigned)strlen (headings[i]) - (headings[i][0] == '>');
}

void grid_add (struct grid *g, const char *fmt, ...)
{
    size_t before = g->text.len, column = g->ncells % g->ncols;
    va_list ap;

    va_start (ap, fmt);
    strbuf_vaddf (&g->text, fmt, ap);
    va_end (ap);
    if (g->text.err)
        return;
    unsigned width = clean (g->text.buf + before);
    g->text.len = before + strlen (g->text.buf + before);
    g->widths[column] = MAX (g->widths[column], width);
    strbuf_addch (&g->text, '\0');
    g->ncells++;
}

/* Numbers are aligned to the right. */
static void add_cell (const struct grid *g, struct strbuf *line, size_t column,
                      const char *text)
{
    bool right = g->headings[column][0] == '>';
    int pad = (int)(g->widths[column] - width_of (text, strlen (text)));

    strbuf_addf (line, "%*s%s%*s ", right ? pad : 0, "", text, right ? 0 : pad, "");
}

/* Prints the line without trailing blanks. */
static void print_line (struct strbuf *line, FILE *out)
{
    while (line->len > 0 && line->buf[line->len - 1] == ' ')
        line->len--;
    fwrite (line->buf, 1, line->len, out);
    fputc ('\n', out);
    strbuf_reset (line);
}

void grid_print (const struct grid *g, FILE *out)
{
    const char *p = g->text.buf;
    autostrbuf struct strbuf line = STRBUF_INIT (GRID_MAX);

    for (size_t i = 0; i < g->ncols; i++)
        add_cell (g, &line, i, g->headings[i] + (g->headings[i][0] == '>'));
    print_line (&line, out);
    for (size_t n = 0; n < g->ncells; n++) {
        add_cell (g, &line, n % g->ncols, p);
        p += strlen (p) + 1;
        if ((n + 1) % g->ncols == 0)
            print_line (&line, out);
    }
}

void grid_release (struct grid *g)
{
    strbuf_release (&g->text);
}
