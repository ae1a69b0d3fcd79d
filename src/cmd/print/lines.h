/* lines.h - the lines of a text that arrives in pieces
 *
 *     static int read_rows (char *text, char *end, void *arg) { ... }
 *     struct lines l = { .fn = read_rows, .arg = rows };
 *     lines_add (&l, data, len);             // for each piece
 *     if (lines_check (&l) < 0) ...          // all has been read
 *     lines_release (&l);
 *
 * The text stays in memory, and its lines do not move, until they are released. So the
 * reader may keep pointers into it, and may change it.
 */
#pragma once

#include <stddef.h>

struct lines {
    /* Gets one complete line or more, from text to end; the byte before end is a newline. A
     * negative errno ends the reading. */
    int (*fn) (char *text, char *end, void *arg);
    void *arg;
    struct lines_block *blocks; /* the newest first */
    size_t total;               /* bytes added */
    int err;                    /* the first error */
};

/* After an error, does nothing. */
void lines_add (struct lines *l, const char *data, size_t len);
/* After the last piece: 0, the error of fn, -ENOMEM, -EFBIG: more than 1 GiB, or -EPROTO: the
 * last line has no newline. */
int lines_check (const struct lines *l);
/* Frees the text, and forgets the error: l is as it was before the first piece. */
void lines_release (struct lines *l);
