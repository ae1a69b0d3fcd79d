/* listing.c - see listing.h */
#include "cmd/print/listing.h"

#include "cmd/print/width.h"
#include "common/parse.h"

#define MADE_MAX 48 /* bytes of a computed text, in addition to its fields */

static struct cell cell_of (const char *text)
{
    size_t len = strlen (text);

    return (struct cell){ text, (uint32_t)len, (uint32_t)len };
}

/* -- cells that are more than a field -- */

static double number_of (struct cell c)
{
    double n = 0;

    for (uint32_t i = 0; i < c.len && c.text[i] >= '0' && c.text[i] <= '9'; i++)
        n = n * 10 + (c.text[i] - '0');
    return n;
}

static struct cell make (struct listing *l, const char *text, size_t len)
{
    char *to = l->made + l->made_len;

    memcpy (to, text, len);
    l->made_len += len;
    return (struct cell){ to, (uint32_t)len, (uint32_t)len };
}

static struct cell make_duration (struct listing *l, double seconds)
{
    struct strbuf sb = STRBUF_INIT (MADE_MAX);

    if (seconds <= 0)
        return cell_of ("0:00");
    strbuf_add_duration (&sb, seconds);
    struct cell c = make (l, sb.buf, sb.len);
    strbuf_release (&sb);
    return c;
}

static struct cell make_time (struct listing *l, double t)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (MADE_MAX);

    strbuf_add_time (&sb, t);
    struct cell c = make (l, sb.buf, sb.len);
    return c;
}

static struct cell make_reason (struct listing *l, struct cell reason)
{
    char *to = l->made + l->made_len;

    to[0] = '(';
    memcpy (to + 1, reason.text, reason.len);
    to[reason.len + 1] = ')';
    l->made_len += reason.len + 2;
    return (struct cell){ to, reason.len + 2, reason.width + 2 };
}

static struct cell make_cell (struct listing *l, const struct format_item *item,
                              const struct cell fields[])
{
    const struct column *column = item->column;
    struct cell first = fields[item->field[0]];

    if (column->kind == COLUMN_PLACE)
        return first.len ? make_reason (l, first) : fields[item->field[1]];
    if (first.len == 0 && column->kind == COLUMN_TIME && column->fields[1])
        first = fields[item->field[1]];
    if (first.len == 0)
        return cell_of (column->absent);
    switch (column->kind) {
    case COLUMN_DURATION:
        return make_duration (l, number_of (first));
    case COLUMN_LEFT:
        return make_duration (l, number_of (first) - number_of (fields[item->field[1]]));
    case COLUMN_TIME:
        return make_time (l, number_of (first));
    default:
        return first;
    }
}

static int read_row (struct listing *l, char **pp, char *end, struct cell *row,
                     struct error *err)
{
    const struct format *f = l->format;
    struct cell fields[FORMAT_FIELDS_MAX];

    for (size_t i = 0; i < f->nfields; i++) {
        fields[i] = tsv_read (pp, end);
        bool last = i + 1 == f->nfields;
        if (*pp == end || (**pp == '\n') != last)
            return error_set (err, EPROTO,
                              "the broker's answer lacks the requested columns");
        (*pp)++;
    }
    for (size_t i = 0; i < f->n; i++)
        row[i] = make_cell (l, &f->items[i], fields);
    return 0;
}

int listing_parse (struct listing *l, const struct format *format, char *body, size_t len,
                   struct error *err)
{
    char *p = body, *end = body + len;
    size_t n = 0;

    *l = (struct listing){ .format = format };
    for (char *q = body; q < end && (q = memchr (q, '\n', (size_t)(end - q))); q++)
        n++;
    /* Several columns may show the same field. */
    l->cells = malloc ((n * format->n + 1) * sizeof (*l->cells));
    l->made = malloc ((len + n * MADE_MAX) * format->n + 1);
    if (!l->cells || !l->made) {
        listing_release (l);
        return error_set (err, ENOMEM, "out of memory");
    }
    for (; p < end; l->nrows++) {
        int rc = l->nrows < n
                     ? read_row (l, &p, end, l->cells + l->nrows * format->n, err)
                     : error_set (err, EPROTO, "the broker's answer was cut off");
        if (rc < 0) {
            listing_release (l);
            return rc;
        }
    }
    return 0;
}

void listing_release (struct listing *l)
{
    free (l->cells);
    free (l->made);
    *l = (struct listing){ 0 };
}

/* -- widths -- */

static void widest (struct listing *l, bool heading)
{
    const struct format *f = l->format;

    for (size_t i = 0; i < f->n; i++) {
        unsigned w = heading ? (unsigned)strlen (f->items[i].column->heading) : 0;
        for (size_t r = 0; r < l->nrows && !f->items[i].width; r++)
            w = MAX (w, l->cells[r * f->n + i].width);
        l->widths[i] = f->items[i].width ? f->items[i].width : w;
    }
}

/* How much column i can shrink, of the wanted amount, down to its minimum. */
static unsigned give (struct listing *l, size_t i, unsigned wanted)
{
    const struct format_item *item = &l->format->items[i];
    unsigned min = item->width || !item->column->min ? l->widths[i] : item->column->min;
    unsigned given = l->widths[i] > min ? MIN (wanted, l->widths[i] - min) : 0;

    l->widths[i] -= given;
    return given;
}

void listing_fit (struct listing *l, unsigned terminal, bool heading)
{
    const struct format *f = l->format;
    unsigned total = (unsigned)f->after_len;

    widest (l, heading);
    for (size_t i = 0; i < f->n; i++)
        total += (unsigned)f->items[i].before_len + l->widths[i];
    if (terminal == 0 || total <= terminal)
        return;
    unsigned excess = total - terminal;
    excess -= give (l, f->n - 1, excess);
    while (excess > 0) {
        size_t best = f->n;
        for (size_t i = 0; i < f->n; i++) {
            const struct format_item *item = &f->items[i];
            if (!item->width && item->column->min && l->widths[i] > item->column->min
                && (best == f->n || l->widths[i] > l->widths[best]))
                best = i;
        }
        if (best == f->n)
            return;
        excess -= give (l, best, 1);
    }
}

/* -- writing -- */

static char *put_spaces (char *to, size_t n)
{
    memset (to, ' ', n);
    return to + n;
}

/* Whether a text that is too long for the last column continues in further lines. */
static bool last_wraps (const struct format *f)
{
    const struct format_item *last = &f->items[f->n - 1];

    return last->column->kind == COLUMN_SENTENCE && !last->width && f->after_len == 0;
}

/* The part of the text that fits on a line: whole words, or a piece of a longer word. */
static struct cell line_of (const char *text, size_t len, unsigned width)
{
    size_t n = width_cut (text, len, width, NULL), end = n;

    while (n < len && end > 0 && text[end] != ' ')
        end--;
    if (end == 0)
        end = n > 0 ? n : len;
    return (struct cell){ text, (uint32_t)end, width_of (text, end) };
}

/* Prints the lines after the first, below the column. */
static void print_rest (const struct listing *l, const struct cell *row, size_t at,
                        struct strbuf *sb)
{
    const struct format *f = l->format;
    const struct cell *last = &row[f->n - 1];
    unsigned indent = (unsigned)f->items[f->n - 1].before_len;

    for (size_t i = 0; i + 1 < f->n; i++)
        indent += (unsigned)f->items[i].before_len + l->widths[i];
    while (at < last->len) {
        if (last->text[at] == ' ') {
            at++;
            continue;
        }
        struct cell c = line_of (last->text + at, last->len - at, l->widths[f->n - 1]);
        strbuf_addf (sb, "%*s%.*s\n", (int)indent, "", (int)c.len, c.text);
        at += c.len;
    }
}

/* Writes a cell into its column; the last cell of a line is not padded. */
static char *put_cell (char *to, const struct cell *c, unsigned width,
                       const struct format_item *item, bool last)
{
    unsigned shown = MIN (c->width, width);
    bool cut = shown < c->width, plus = cut && !item->width && width > 0;
    size_t bytes = c->len;

    if (cut) { /* a column may stay free before a wide character */
        bytes = width_cut (c->text, c->len, width - plus, &shown);
        shown += plus;
    }
    if (item->right)
        to = put_spaces (to, width - shown);
    memcpy (to, c->text, bytes);
    to += bytes;
    if (plus)
        *to++ = '+';
    if (!item->right && !last)
        to = put_spaces (to, width - shown);
    return to;
}

static void print_row (const struct listing *l, const struct cell *row, struct strbuf *sb)
{
    const struct format *f = l->format;
    size_t most = f->after_len + 1;
    struct cell last = row[f->n - 1];

    for (size_t i = 0; i < f->n; i++)
        most += f->items[i].before_len + l->widths[i] + row[i].len + 1;
    if (strbuf_reserve (sb, most) < 0)
        return;
    if (last.width > l->widths[f->n - 1] && last_wraps (f))
        last = line_of (last.text, last.len, l->widths[f->n - 1]);
    char *start = sb->buf + sb->len, *to = start;
    for (size_t i = 0; i < f->n; i++) {
        const struct format_item *item = &f->items[i];
        memcpy (to, item->before, item->before_len);
        to += item->before_len;
        bool is_last = i + 1 == f->n;
        to = put_cell (to, is_last ? &last : &row[i], l->widths[i], item,
                       is_last && !f->after_len);
    }
    memcpy (to, f->after, f->after_len);
    to += f->after_len;
    *to++ = '\n';
    strbuf_advance (sb, (size_t)(to - start));
    if (last.len < row[f->n - 1].len)
        print_rest (l, row, last.len, sb);
}

void listing_print (const struct listing *l, bool heading, struct strbuf *sb)
{
    struct cell headings[FORMAT_ITEMS_MAX];

    for (size_t i = 0; i < l->format->n; i++)
        headings[i] = cell_of (l->format->items[i].column->heading);
    if (heading)
        print_row (l, headings, sb);
    for (size_t r = 0; r < l->nrows; r++)
        print_row (l, l->cells + r * l->format->n, sb);
}
