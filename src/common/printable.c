/* printable.c - see printable.h */
#include "common/printable.h"

static bool is_hidden (unsigned code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        { 0, 0x1f },        { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
        { 0x61c, 0x61c },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
        { 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },
        { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 },
        { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
    };

    for (size_t i = 0; i < ARRAY_SIZE (hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

/* The number of bytes of the character at s, 0: no UTF-8. A NUL is no continuation
 * byte. */
static size_t decode (const unsigned char *s, unsigned *ret_code)
{
    size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 0;
    unsigned code = *s & (0x7fu >> n);

    if (n == 0)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    *ret_code = code;
    return n;
}

size_t printable_next (const char *s, unsigned *ret_hidden)
{
    unsigned code = (unsigned char)*s;

    *ret_hidden = 0;
    if (code >= 0x20 && code < 0x7f)
        return 1; /* the common case */
    size_t n = decode ((const unsigned char *)s, &code);

    *ret_hidden = is_hidden (code) ? code : 0;
    return MAX (n, (size_t)1);
}

int printable_check (const char *text, const char *where, struct error *err)
{
    unsigned hidden, place = 1;

    for (const char *p = text; *p; place++) {
        p += printable_next (p, &hidden);
        if (hidden)
            return error_set (err, EINVAL,
                              "%s: character %u is U+%04X, which a terminal does not show",
                              where, place, hidden);
    }
    return 0;
}

void printable_clean (char *text)
{
    const char *from = text;
    unsigned hidden;

    while (*from) {
        size_t n = printable_next (from, &hidden);

        if (hidden)
            *text++ = '?';
        for (size_t i = 0; !hidden && i < n; i++)
            *text++ = from[i];
        from += n;
    }
    *text = '\0';
}
