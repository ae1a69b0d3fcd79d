/* format.h - Slurm's formats: rows of a table chosen by letter or by name
 *
 *     static void add_state (const void *row, struct strbuf *sb) { ... }
 *     static const struct slurm_field fields[] = {
 *         { 'T', "State", "STATE", NEEDS (STATE), add_state, 0 },
 *         { 0 },
 *     };
 *     struct slurm_format f;
 *     slurm_format_parse (&f, fields, "%.18i %T", wrong, c);      // -o
 *     slurm_format_parse_long (&f, fields, "State:9,JobID", wrong, c);  // -O
 *     slurm_format_add_heading (&f, &sb);
 *     slurm_format_add_row (&f, &row, &sb);                       // a line for each row
 *     slurm_format_release (&f);
 *
 * A format of letters is "%[[.]width]letter" with any text between. A format of names is
 * "Name[:[.]width[suffix]],..."; a name without a colon gets 20 columns. A dot aligns the
 * text to the right, a width pads and cuts it, and the width 0 does neither. Widths count
 * columns of the terminal, so that no character is cut in its middle; Slurm counts bytes.
 *
 * As in Slurm, an unknown letter or name is no failure: wrong() hears of it, and the other
 * fields are shown. The texts of rows must be printable already.
 */
#pragma once

#include <stdint.h>

#include "common/strbuf.h"

enum slurm_field_flags {
    SLURM_FIELD_HIDDEN = 1, /* an old name: not in the list of names */
    SLURM_FIELD_UNCUT = 2,  /* to the right, a text longer than the width is not cut */
    SLURM_FIELD_UNCUT_HEADING = 4, /* nor is the heading */
    SLURM_FIELD_STAR = 8,          /* a '*' at the end remains when the text is cut */
};

struct slurm_field {
    char letter;      /* or 0 */
    const char *name; /* any case; NULL ends the table */
    const char *heading;
    uint64_t needs; /* bits of the caller: what add() reads, to request no more */
    /* Appends the text. "(null)" is left out if the width is less, as by printf(). */
    void (*add) (const void *row, struct strbuf *sb);
    int flags; /* enum slurm_field_flags */
};

struct slurm_format_item {
    const struct slurm_field *field; /* NULL: only the text after it */
    int width;                       /* < 0: no width, but a blank after the text */
    bool right;
    char *after; /* text after the field */
    size_t after_len;
};

#define SLURM_FORMAT_MAX 512 /* items */

struct slurm_format {
    struct slurm_format_item items[SLURM_FORMAT_MAX];
    size_t n;
    uint64_t needs; /* those of all items */
};

/* Is told an unknown letter or name. */
typedef void slurm_format_wrong_f (void *arg, const char *text);

/* -E2BIG: too many items; -ENOMEM. Release f in any case. */
int slurm_format_parse (struct slurm_format *f, const struct slurm_field *fields,
                        const char *text, slurm_format_wrong_f *wrong, void *arg);
int slurm_format_parse_long (struct slurm_format *f, const struct slurm_field *fields,
                             const char *text, slurm_format_wrong_f *wrong, void *arg);
void slurm_format_release (struct slurm_format *f);
/* Append a line. */
void slurm_format_add_heading (const struct slurm_format *f, struct strbuf *sb);
void slurm_format_add_row (const struct slurm_format *f, const void *row,
                           struct strbuf *sb);
/* Appends the letters, or the names, of the table, `columns` in a line. */
void slurm_format_add_letters (const struct slurm_field *fields, struct strbuf *sb);
void slurm_format_add_names (const struct slurm_field *fields, struct strbuf *sb);
