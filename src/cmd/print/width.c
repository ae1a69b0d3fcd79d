/* width.c - see width.h */
#include "cmd/print/width.h"

#include <locale.h>
#include <stdint.h>
#include <wchar.h>

/* The user's locale may not be UTF-8, but the broker's texts are. */
static locale_t utf8_locale (void)
{
    static locale_t utf8;

    if (!utf8)
        utf8 = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return utf8;
}

/* The columns of the character at text, and its bytes. Call in the locale above. */
static unsigned step (const char *text, size_t len, size_t *ret_bytes)
{
    mbstate_t state = { 0 };
    wchar_t ch;

    *ret_bytes = 1;
    if ((unsigned char)*text < 0x80)
        return 1;
    size_t n = mbrtowc (&ch, text, len, &state);
    if (n == 0 || n > len)
        return 1;
    *ret_bytes = n;
    int columns = wcwidth (ch);
    return columns < 0 ? 1 : (unsigned)columns;
}

size_t width_cut (const char *text, size_t len, unsigned columns, unsigned *ret_columns)
{
    locale_t utf8 = utf8_locale ();
    locale_t before = uselocale (utf8); /* without it: the locale stays */
    unsigned used = 0;
    size_t i = 0;

    while (i < len) {
        size_t bytes;
        unsigned more = step (text + i, len - i, &bytes);
        if (more > columns - used)
            break;
        used += more;
        i += bytes;
    }
    uselocale (before);
    if (ret_columns)
        *ret_columns = used;
    return i;
}

unsigned width_of (const char *text, size_t len)
{
    unsigned columns;

    width_cut (text, len, UINT32_MAX, &columns);
    return columns;
}
