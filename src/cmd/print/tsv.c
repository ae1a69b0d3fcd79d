/* tsv.c - see tsv.h */
#include "cmd/print/tsv.h"

#include "cmd/print/width.h"
#include "common/printable.h"

/* The end of the characters that stay as they are, and take a column each: ASCII without
 * control characters and the backslash. */
static char *skip_plain (char *p)
{
    static const bool plain[256] = { [' ' ... '['] = true, [']' ... '~'] = true };

    while (plain[(unsigned char)*p])
        p++;
    return p;
}

struct cell tsv_read (char **pp, char *end)
{
    char *from = skip_plain (*pp), *to = from;
    bool ascii = true;

    if (*from == '\t' || *from == '\n') { /* most fields */
        struct cell c = { *pp, (uint32_t)(from - *pp), (uint32_t)(from - *pp) };
        *pp = from;
        return c;
    }
    while (from < end && *from != '\t' && *from != '\n') {
        bool escaped = *from == '\\' && from + 1 < end;
        unsigned hidden;

        from += escaped;
        /* ends before a newline, even for a truncated character */
        size_t n = printable_next (from, &hidden);
        bool control = hidden || !*from || (escaped && (*from == 't' || *from == 'n'));
        if (control)
            *to++ = '?';
        for (size_t i = 0; !control && i < n; i++) {
            ascii = ascii && (unsigned char)from[i] < 0x80;
            *to++ = from[i];
        }
        from += n;
    }
    uint32_t len = (uint32_t)(to - *pp);
    struct cell c = { *pp, len, ascii ? len : width_of (*pp, len) };
    *pp = from;
    return c;
}
