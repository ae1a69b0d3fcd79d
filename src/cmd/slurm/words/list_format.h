/* list_format.h - "Field%width,..." lists and their lines, as sacct, sshare, sreport have them
 *
 *     static void add_user (const void *row, struct strbuf *sb) { ... }
 *     static const struct list_field table[] = {
 *         { "User", 10, LIST_TEXT, 0, add_user, false, NULL },
 *         { 0 },
 *     };
 *     struct list_format f = { .n = 0 };
 *     list_format_parse (&f, table, "User%-20,Account", &err);
 *     list_format_add_heading (&f, &sb);
 *     list_format_add_row (&f, &row, &sb);                // a line for each row
 *
 * A word stands for the first column that begins with it, in any case. A width pads and
 * cuts the text, to the right or, if negative, to the left. Widths count columns of the
 * terminal; Slurm counts bytes. With a delimiter nothing is padded or cut. The texts of
 * rows must be printable already.
 */
#pragma once

#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

enum list_kind {
    LIST_TEXT,   /* a text that does not fit ends in '+' */
    LIST_PLAIN,  /* is cut */
    LIST_NUMBER, /* is never cut */
};

struct list_field {
    const char *name; /* NULL ends the table */
    int width;        /* < 0: to the left */
    enum list_kind kind;
    uint64_t needs; /* bits of the caller: what add() reads, to request no more */
    void (*add) (const void *row, struct strbuf *sb); /* NULL: always empty */
    bool hidden;         /* an old name: only whole, and not in lists */
    const char *heading; /* NULL: the name */
};

#define LIST_FORMAT_MAX 512

struct list_format {
    struct {
        const struct list_field *field;
        int width;
    } items[LIST_FORMAT_MAX];
    size_t n;
    uint64_t needs; /* those of all items */
    bool has_all;   /* set before parsing: "ALL" and its beginnings are all fields */
    const char *delimiter; /* NULL: columns */
    bool last_delimiter;   /* also behind the last field */
};

/* Adds the fields of a list to f. -EINVAL: err has the unknown name; -E2BIG. */
int list_format_parse (struct list_format *f, const struct list_field *table,
                       const char *text, struct error *err);
/* Append a line; the heading is two without a delimiter. */
void list_format_add_heading (const struct list_format *f, struct strbuf *sb);
void list_format_add_row (const struct list_format *f, const void *row,
                          struct strbuf *sb);
/* Appends the names of the table, four in a line. */
void list_format_add_names (const struct list_field *table, struct strbuf *sb);
