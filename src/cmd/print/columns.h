/* columns.h - the columns of a listing of jobs, and formats that choose from them
 *
 *     struct format f;
 *     rc = format_parse (&f, "%.8i %9P %t %R", &err);     // squeue's letters
 *     rc = format_parse (&f, "id,name,time_left", &err);  // or names
 *     format_add_fields (&f, &target);                   // "id,queue,st,nodelist,reason"
 *
 * In squeue's "%[[.]width]letter" a dot aligns the text to the right and a width cuts it;
 * without a width a column is as wide as its widest text. Other text is printed as it is.
 * Columns use fields of GET /v1/jobs; each field is requested once.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

enum column_kind {
    COLUMN_TEXT,     /* the unchanged field */
    COLUMN_SENTENCE, /* the unchanged field; as the last column it wraps */
    COLUMN_DURATION, /* seconds as 1-02:03:04 */
    COLUMN_LEFT,     /* the time limit minus the time used */
    COLUMN_TIME,     /* unix seconds as local time */
    COLUMN_PLACE,    /* the nodes, or (the reason for having none) */
};

struct column {
    const char *name;
    char letter; /* squeue's, or 0 */
    const char *heading;
    enum column_kind kind;
    bool right;   /* aligned to the right, as numbers are */
    unsigned min; /* may be cut to this many columns to fit the terminal; 0: never */
    const char *absent;    /* shown for an empty field */
    const char *fields[2]; /* of the API; the second or NULL */
    const char *help;
};

/* Those of columns.c, and the attributes with a heading (jobspec/options/attributes.h);
 * the last has name NULL. */
const struct column *columns_all (void);

#define FORMAT_ITEMS_MAX 32
#define FORMAT_FIELDS_MAX (2 * FORMAT_ITEMS_MAX)
#define FORMAT_WIDTH_MAX 1000

struct format_item {
    const struct column *column;
    unsigned width; /* 0: that of the widest text */
    bool right;
    const char *before; /* text before the item */
    size_t before_len;
    size_t field[2]; /* index among the format's fields */
};

struct format {
    struct format_item items[FORMAT_ITEMS_MAX];
    size_t n;
    const char *after; /* text after the last item */
    size_t after_len;
    const char *fields[FORMAT_FIELDS_MAX];
    size_t nfields;
};

/* text must outlive f. -EINVAL: an unknown letter or name, no column, or too many. */
int format_parse (struct format *f, const char *text, struct error *err);
/* Appends the fields as a comma-separated list. */
void format_add_fields (const struct format *f, struct strbuf *sb);
/* Prints all columns with letter, name and meaning, for the help. */
void columns_print_help (FILE *out);
