/* tsv.h - reads the fields of the broker's listings (format=tsv)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cell {
    const char *text;
    uint32_t len;   /* bytes */
    uint32_t width; /* columns of the terminal */
};

/* Characters that stay as they are, and take a column each: ASCII without control characters
 * and the backslash. */
extern const bool tsv_plain[256];

/* tsv_read() of a field with other characters, the first of them at `from`. */
struct cell tsv_read_other (char **pp, char *from, char *end);

/* Removes the escapes of the field at *pp, in place, and steps to its end: a tab, a newline,
 * or end, where a NUL must be. Characters that are not printable become question marks. The byte after the
 * cell's text may be overwritten once the caller has looked at **pp. */
static inline struct cell tsv_read (char **pp, char *end)
{
    char *text = *pp, *p = text;

    while (tsv_plain[(unsigned char)*p])
        p++;
    if (*p != '\t' && *p != '\n')
        return tsv_read_other (pp, p, end);
    *pp = p; /* most fields */
    return (struct cell){ text, (uint32_t)(p - text), (uint32_t)(p - text) };
}
