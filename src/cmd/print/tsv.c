/* tsv.c - see tsv.h */
#include "cmd/print/tsv.h"

#include "cmd/print/width.h"
#include "common/printable.h"

const bool tsv_plain[256] = { [' ' ... '['] = true, [']' ... '~'] = true };

struct cell tsv_read_other (char **pp, char *from, char *end)
{
    char *to = from;
    bool ascii = true;

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
