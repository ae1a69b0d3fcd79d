/* columns.h - what a listing of jobs can show, and formats that choose from it
 *
 *     struct format f;
 *     rc = format_parse (&f, "%.8i %9P %t %R", &err);     // squeue's letters
 *     rc = format_parse (&f, "id,name,time_left", &err);  // or names
 *     format_add_fields (&f, &target);                    // "id,queue,st,nodelist,reason"
 *
 * Of squeue's "%[[.]width]letter": a dot puts the text to the right, a width cuts it;
 * without a width a column is as wide as its widest text. Other text stands as it is.
 * What a column needs from the broker are fields of GET /v1/jobs, each asked for once.
 */
#ifndef FLUXQ_CMD_COLUMNS_H
#define FLUXQ_CMD_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"
#include "common/strbuf.h"

enum column_kind {
    COLUMN_TEXT,     /* the field as it is */
    COLUMN_SENTENCE, /* likewise; in the last column it wraps */
    COLUMN_DURATION, /* seconds as 1-02:03:04 */
    COLUMN_LEFT,     /* time limit less time */
    COLUMN_TIME,     /* unix seconds as local time */
    COLUMN_PLACE,    /* the nodes, or (why there are none) */
};

struct column {
    const char *name;
    char letter; /* squeue's, or 0 */
    const char *heading;
    enum column_kind kind;
    bool right;   /* numbers stand to the right */
    unsigned min; /* may be cut to this many columns to fit the terminal; 0: never */
    const char *absent;    /* shown for an empty field */
    const char *fields[2]; /* of the API; the second or NULL */
    const char *help;
};

extern const struct column columns[]; /* ended by name NULL */

#define FORMAT_ITEMS_MAX 32
#define FORMAT_FIELDS_MAX (2 * FORMAT_ITEMS_MAX)
#define FORMAT_WIDTH_MAX 1000

struct format_item {
    const struct column *column;
    unsigned width; /* 0: the widest text */
    bool right;
    const char *before; /* text in front of it */
    size_t before_len;
    size_t field[2]; /* index among the format's fields */
};

struct format {
    struct format_item items[FORMAT_ITEMS_MAX];
    size_t n;
    const char *after; /* text behind the last item */
    size_t after_len;
    const char *fields[FORMAT_FIELDS_MAX];
    size_t nfields;
};

/* text must outlive f. -EINVAL: an unknown letter or name, no column at all, too many. */
int format_parse (struct format *f, const char *text, struct error *err);
/* The fields as a comma list. */
void format_add_fields (const struct format *f, struct strbuf *sb);
/* All columns with letter, name and meaning, for the help. */
void columns_print_help (FILE *out);

#endif
