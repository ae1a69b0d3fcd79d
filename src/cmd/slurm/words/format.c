/* format.c - see format.h */
#include "cmd/slurm/words/format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cmd/print/width.h"

#define WIDTH_DEFAULT 20 /* of a name without a width */
#define WIDTH_MAX 65536
#define LETTERS_A_LINE 8
#define NAMES_A_LINE 4

/* -- parsing -- */

/* after: not copied beyond len bytes. */
static int add_item (struct slurm_format *f, const struct slurm_field *field, int width,
                     bool right, const char *after, size_t len)
{
    if (f->n == SLURM_FORMAT_MAX)
        return -E2BIG;
    struct slurm_format_item *item = &f->items[f->n];
    *item = (struct slurm_format_item){ field, width, right, strndup (after, len), 0 };
    if (!item->after)
        return -ENOMEM;
    item->after_len = strlen (item->after);
    f->n++;
    f->needs |= field ? field->needs : 0;
    return 0;
}

static const struct slurm_field *find_letter (const struct slurm_field *fields, char c)
{
    while (fields->name && (fields->letter != c || !c))
        fields++;
    return fields->name ? fields : NULL;
}

static const struct slurm_field *find_name (const struct slurm_field *fields,
                                            const char *name, size_t len)
{
    while (fields->name
           && (strlen (fields->name) != len || strncasecmp (fields->name, name, len)))
        fields++;
    return fields->name ? fields : NULL;
}

static int read_width (const char **pp)
{
    int width = 0;

    for (; isdigit ((unsigned char)**pp); (*pp)++)
        width = MIN (width * 10 + (**pp - '0'), WIDTH_MAX);
    return width;
}

/* "%all": every letter of the table, separated by '|'. */
static int parse_all (struct slurm_format *f, const struct slurm_field *fields)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int rc = 0;

    for (const char *c = letters; *c && rc == 0; c++) {
        const struct slurm_field *field = find_letter (fields, *c);
        if (field)
            rc = add_item (f, field, 0, false, c[1] ? "|" : "", 1);
    }
    return rc;
}

int slurm_format_parse (struct slurm_format *f, const struct slurm_field *fields,
                        const char *text, slurm_format_wrong_f *wrong, void *arg)
{
    *f = (struct slurm_format){ .n = 0 };
    if (!strcasecmp (text, "%all"))
        return parse_all (f, fields);

    size_t len = strcspn (text, "%");
    int rc = len ? add_item (f, NULL, 0, false, text, len) : 0;
    for (text += len; *text == '%' && rc == 0; text += len) {
        const char *begin = ++text;
        len = strcspn (text, "%");
        if (len == 0)
            continue;
        bool right = *text == '.';
        text += right;
        int width = read_width (&text);
        const struct slurm_field *field = find_letter (fields, *text);
        len -= (size_t)(text - begin);
        if (field) {
            rc = add_item (f, field, width, right, text + 1, len - 1);
            continue;
        }
        char letter[2] = { len ? *text : '\0', '\0' };
        wrong (arg, letter);
        rc = add_item (f, NULL, 0, false, begin - 1, (size_t)(text - begin) + len + 1);
    }
    return rc;
}

/* Reads the part after the colon: "[.]width[suffix]". */
static void read_size (const char **pp, const char *end, int *width, bool *right)
{
    const char *p = *pp;

    *right = *p == '.';
    p += *right;
    bool minus = *p == '-';
    if ((minus || *p == '+') && isdigit ((unsigned char)p[1]))
        p++;
    *width = read_width (&p);
    if (minus)
        *width = -*width;
    *pp = MIN (p, end);
}

int slurm_format_parse_long (struct slurm_format *f, const struct slurm_field *fields,
                             const char *text, slurm_format_wrong_f *wrong, void *arg)
{
    int rc = 0;

    *f = (struct slurm_format){ .n = 0 };
    for (size_t len; *text && rc == 0; text += len + (text[len] == ',')) {
        len = strcspn (text, ",");
        if (len == 0)
            continue;
        const char *end = text + len, *colon = memchr (text, ':', len);
        const char *after = colon ? colon + 1 : end;
        size_t name_len = (size_t)((colon ? colon : end) - text);
        const struct slurm_field *field = find_name (fields, text, name_len);
        int width = WIDTH_DEFAULT;
        bool right = false;
        if (colon)
            read_size (&after, end, &width, &right);
        rc = add_item (f, field, width, right, after, (size_t)(end - after));
        char *name = field || rc < 0 ? NULL : strndup (text, name_len);
        if (name)
            wrong (arg, name);
        free (name);
    }
    return rc;
}

void slurm_format_release (struct slurm_format *f)
{
    for (size_t i = 0; i < f->n; i++)
        free (f->items[i].after);
    f->n = 0;
}

/* -- printing -- */

static void add_spaces (struct strbuf *sb, size_t n)
{
    if (strbuf_reserve (sb, n) < 0)
        return;
    memset (sb->buf + sb->len, ' ', n);
    strbuf_advance (sb, n);
}

static void insert_spaces (struct strbuf *sb, size_t at, size_t n)
{
    size_t len = sb->len - at;

    if (n == 0 || strbuf_reserve (sb, n) < 0)
        return;
    memmove (sb->buf + at + n, sb->buf + at, len);
    memset (sb->buf + at, ' ', n);
    strbuf_advance (sb, n);
}

static bool is_ascii (const char *text, size_t len)
{
    uint64_t all = 0, some;

    for (; len >= sizeof (some); text += sizeof (some), len -= sizeof (some)) {
        memcpy (&some, text, sizeof (some));
        all |= some;
    }
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)text[i];
    return !(all & UINT64_C (0x8080808080808080));
}

static void pad (const struct slurm_format_item *item, struct strbuf *sb, size_t at,
                 size_t missing)
{
    if (item->right)
        insert_spaces (sb, at, missing);
    else
        add_spaces (sb, missing);
}

/* Cuts and pads the text at `at`, which is wider than the item or not ASCII. */
static void cut (const struct slurm_format_item *item, struct strbuf *sb, size_t at,
                 int uncut_flag)
{
    size_t len = sb->len - at, width = (size_t)item->width;

    if (!item->right && width < 6 && len == 6 && !memcmp (sb->buf + at, "(null)", 6))
        len = 0;
    unsigned columns = (unsigned)len;
    bool ascii = is_ascii (sb->buf + at, len);
    if (!ascii)
        columns = width_of (sb->buf + at, len);
    bool uncut = item->right && item->field->flags & uncut_flag;
    if (columns > width && !uncut) {
        bool star = item->field->flags & SLURM_FIELD_STAR && sb->buf[sb->len - 1] == '*';
        len = ascii ? width : width_cut (sb->buf + at, len, (unsigned)width, &columns);
        columns = ascii ? (unsigned)width : columns;
        if (star && ascii)
            sb->buf[at + len - 1] = '*';
    }
    sb->buf[sb->len = at + len] = '\0';
    pad (item, sb, at, columns < width ? width - columns : 0);
}

/* Fits the text that was appended at `at` into the item's width. uncut_flag: of the field,
 * if it is not cut. */
static void fit (const struct slurm_format_item *item, struct strbuf *sb, size_t at,
                 int uncut_flag)
{
    size_t len = sb->len - at, width = (size_t)MAX (item->width, 0);

    if (item->width < 0)
        strbuf_addch (sb, ' ');
    if (item->width <= 0 || sb->err)
        return;
    if (len <= width && is_ascii (sb->buf + at, len)) /* most texts */
        pad (item, sb, at, width - len);
    else
        cut (item, sb, at, uncut_flag);
}

void slurm_format_add_heading (const struct slurm_format *f, struct strbuf *sb)
{
    for (size_t i = 0; i < f->n; i++) {
        size_t at = sb->len;
        if (f->items[i].field) {
            strbuf_adds (sb, f->items[i].field->heading);
            fit (&f->items[i], sb, at, SLURM_FIELD_UNCUT_HEADING);
        }
        strbuf_adds (sb, f->items[i].after);
    }
    strbuf_addch (sb, '\n');
}

void slurm_format_add_row (const struct slurm_format *f, const void *row,
                           struct strbuf *sb)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct slurm_format_item *item = &f->items[i];
        size_t at = sb->len;
        if (item->field) {
            item->field->add (row, sb);
            fit (item, sb, at, SLURM_FIELD_UNCUT);
        }
        if (item->after_len == 1) /* a blank, mostly */
            strbuf_addch (sb, *item->after);
        else
            strbuf_add (sb, item->after, item->after_len);
    }
    strbuf_addch (sb, '\n');
}

/* -- lists for people -- */

void slurm_format_add_letters (const struct slurm_field *fields, struct strbuf *sb)
{
    size_t n = 0;

    for (; fields->name; fields++) {
        if (fields->letter && !(fields->flags & SLURM_FIELD_HIDDEN))
            strbuf_addf (sb, "%s%%%-5c", n++ % LETTERS_A_LINE || n == 1 ? "" : "\n",
                         fields->letter);
    }
    strbuf_addch (sb, '\n');
}

void slurm_format_add_names (const struct slurm_field *fields, struct strbuf *sb)
{
    size_t n = 0;

    for (; fields->name; fields++) {
        if (!(fields->flags & SLURM_FIELD_HIDDEN))
            strbuf_addf (sb, "%s%-20s", n++ % NAMES_A_LINE || n == 1 ? "" : "\n",
                         fields->name);
    }
    strbuf_addch (sb, '\n');
}
