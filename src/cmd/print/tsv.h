/* tsv.h - reads the fields of the broker's listings (format=tsv)
 */
#pragma once

#include <stdint.h>

struct cell {
    const char *text;
    uint32_t len;   /* bytes */
    uint32_t width; /* columns of the terminal */
};

/* Removes the escapes of the field at *pp, in place, and steps to its end: a tab, a newline,
 * or end, where a NUL must be. Characters that are not printable become question marks. The byte after the
 * cell's text may be overwritten once the caller has looked at **pp. */
struct cell tsv_read (char **pp, char *end);
