/* text.c - see text.h
 */
#include "jobspec/attributes/text.h"

/* The number of bytes of the character at s, 0: no UTF-8; the ranges are those of RFC
 * 3629. */
static size_t utf8_char (const unsigned char *s, size_t len)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t n;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        n = 2;
    else if (s[0] >= 0xe0 && s[0] <= 0xef)
        n = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        n = 4;
    else
        return 0;
    if (len < n)
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    return n;
}

static size_t json_cost (unsigned char c)
{
    if (c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r' || c == '\b'
        || c == '\f')
        return 2;
    return c < 0x20 ? 6 : 1;
}

bool text_is_utf8 (const char *s, size_t len, size_t *ret_json)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t json = 0;

    for (size_t i = 0; i < len;) {
        size_t n = utf8_char (p + i, len - i);

        if (n == 0)
            return false;
        json += n == 1 ? json_cost (p[i]) : n;
        i += n;
    }
    if (ret_json)
        *ret_json = json;
    return true;
}

int text_not_utf8 (const char *where, struct error *err)
{
    return error_set (err, EINVAL,
                      "%s: the text is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts Latin-1)",
                      where);
}

static bool is_line (const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        /* C1 controls are 0xc2 0x80..0x9f */
        if (c < 0x20 || c == 0x7f
            || (c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] < 0xa0))
            return false;
    }
    return text_is_utf8 (s, len, NULL);
}

bool text_is_line (const char *s, size_t max)
{
    size_t len = strnlen (s, max + 1);

    return len > 0 && len <= max && is_line (s, len);
}

bool text_is_name (const char *s)
{
    static const char set[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    size_t len = strspn (s, set);

    return len > 0 && len <= 253 && s[len] == '\0' && !strchr ("-./", s[0]);
}

bool text_is_variable (const char *s, size_t len)
{
    return len > 0 && !memchr (s, '=', len) && is_line (s, len);
}
