/* strbuf.c - see strbuf.h */
#include "common/strbuf.h"

#include <limits.h>

#define FIRST_ALLOC 64

char strbuf_empty[1];

static int fail (struct strbuf *sb, int rc)
{
    if (!sb->err)
        sb->err = rc;
    return sb->err;
}

void strbuf_init (struct strbuf *sb, size_t max)
{
    *sb = (struct strbuf)STRBUF_INIT (max);
}

void strbuf_release (struct strbuf *sb)
{
    if (sb->alloc)
        free (sb->buf);
    strbuf_init (sb, sb->max);
}

void strbuf_reset (struct strbuf *sb)
{
    sb->len = 0;
    sb->err = 0;
    if (sb->alloc)
        sb->buf[0] = '\0';
}

int strbuf_grow (struct strbuf *sb, size_t len)
{
    if (sb->err)
        return sb->err;
    if (len > sb->max - sb->len)
        return fail (sb, -E2BIG);

    size_t need = sb->len + len + 1;
    if (need <= sb->alloc)
        return 0;
    size_t alloc = MAX (need, MAX (sb->alloc * 2, (size_t)FIRST_ALLOC));
    alloc = MIN (alloc, sb->max + 1);

    char *p = realloc (sb->alloc ? sb->buf : NULL, alloc);
    if (!p)
        return fail (sb, -ENOMEM);
    p[sb->len] = '\0';
    sb->buf = p;
    sb->alloc = alloc;
    return 0;
}

int strbuf_add (struct strbuf *sb, const void *data, size_t len)
{
    if (len >= sb->alloc - sb->len && (len == 0 || strbuf_grow (sb, len) < 0))
        return sb->err;
    if (sb->err)
        return sb->err;
    memcpy (sb->buf + sb->len, data, len);
    sb->len += len;
    sb->buf[sb->len] = '\0';
    return 0;
}

int strbuf_adds (struct strbuf *sb, const char *s)
{
    size_t len = strlen (s);

    if (sb->err || len >= sb->alloc - sb->len)
        return strbuf_add (sb, s, len);
    memcpy (sb->buf + sb->len, s, len + 1);
    sb->len += len;
    return 0;
}

int strbuf_vaddf (struct strbuf *sb, const char *fmt, va_list ap)
{
    if (sb->err)
        return sb->err;
    if (sb->alloc == 0 && strbuf_grow (sb, MIN (sb->max, (size_t)FIRST_ALLOC - 1)) < 0)
        return sb->err;

    va_list again;
    va_copy (again, ap);
    size_t room = sb->alloc - sb->len;
    int n = vsnprintf (sb->buf + sb->len, room, fmt, ap);
    if (n >= 0 && (size_t)n >= room) {
        sb->buf[sb->len] = '\0';
        if (strbuf_grow (sb, (size_t)n) == 0)
            n = vsnprintf (sb->buf + sb->len, (size_t)n + 1, fmt, again);
    }
    va_end (again);
    if (sb->err)
        return sb->err;
    if (n < 0) {
        sb->buf[sb->len] = '\0';
        return fail (sb, -EOVERFLOW);
    }
    strbuf_advance (sb, (size_t)n);
    return 0;
}

int strbuf_addf (struct strbuf *sb, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    int rc = strbuf_vaddf (sb, fmt, ap);
    va_end (ap);
    return rc;
}

void strbuf_consume (struct strbuf *sb, size_t len)
{
    if (len == 0)
        return;
    sb->len -= len;
    memmove (sb->buf, sb->buf + len, sb->len + 1);
}

char *strbuf_detach (struct strbuf *sb)
{
    int err = sb->err;
    char *text = NULL;

    if (!err) {
        text = sb->alloc ? sb->buf : calloc (1, 1);
        if (text)
            sb->alloc = 0; /* the caller owns it now */
        else
            err = -ENOMEM;
    }
    strbuf_release (sb);
    sb->err = err;
    return text;
}

/* Length of the UTF-8 character at s (RFC 3629: no overlong form, no surrogate, at most
 * U+10FFFF), or minus the number of bytes to replace by one U+FFFD.
 */
static int utf8_length (const unsigned char *s, size_t avail)
{
    unsigned char lo = 0x80, hi = 0xbf;
    int need;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        need = 2;
    else if ((s[0] & 0xf0) == 0xe0)
        need = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        need = 4;
    else
        return -1;

    if (s[0] == 0xe0)
        lo = 0xa0;
    else if (s[0] == 0xed)
        hi = 0x9f;
    else if (s[0] == 0xf0)
        lo = 0x90;
    else if (s[0] == 0xf4)
        hi = 0x8f;
    for (int i = 1; i < need; i++) {
        if ((size_t)i >= avail || s[i] < lo || s[i] > hi)
            return -i;
        lo = 0x80;
        hi = 0xbf;
    }
    return need;
}

/* Length of the run at s that needs no change in a JSON string. */
static size_t json_plain_run (const unsigned char *s, size_t len)
{
    size_t i = 0;

    while (i < len) {
        if (s[i] < 0x80) {
            if (s[i] < 0x20 || s[i] == '"' || s[i] == '\\')
                break;
            i++;
            continue;
        }
        int n = utf8_length (s + i, len - i);
        if (n < 0)
            break;
        i += (size_t)n;
    }
    return i;
}

/* Add the character at s in its escaped form; returns its number of bytes at s. */
static size_t add_json_escape (struct strbuf *sb, const unsigned char *s, size_t len)
{
    static const char letters[] = "btn\0fr"; /* 0x08 to 0x0d; no letter for 0x0b */

    if (s[0] >= 0x80) {
        int n = utf8_length (s, len);
        strbuf_adds (sb, "\xef\xbf\xbd");
        return (size_t)-n;
    }
    if (s[0] == '"' || s[0] == '\\') {
        strbuf_addch (sb, '\\');
        strbuf_addch (sb, (char)s[0]);
    } else if (s[0] >= 0x08 && s[0] <= 0x0d && letters[s[0] - 0x08]) {
        strbuf_addch (sb, '\\');
        strbuf_addch (sb, letters[s[0] - 0x08]);
    } else
        strbuf_addf (sb, "\\u%04x", s[0]);
    return 1;
}

int strbuf_add_json (struct strbuf *sb, const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;

    if (len == SIZE_MAX)
        len = strlen (s);
    strbuf_addch (sb, '"');
    while (len > 0 && !sb->err) {
        size_t n = json_plain_run (p, len);
        strbuf_add (sb, p, n);
        if (n < len)
            n += add_json_escape (sb, p + n, len - n);
        p += n;
        len -= n;
    }
    return strbuf_addch (sb, '"');
}

static int is_unreserved (unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
           || c == '-' || c == '.' || c == '_' || c == '~';
}

int strbuf_add_urlencoded (struct strbuf *sb, const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p && !sb->err; p++) {
        if (is_unreserved (*p))
            strbuf_addch (sb, (char)*p);
        else
            strbuf_addf (sb, "%%%02X", *p);
    }
    return sb->err;
}
