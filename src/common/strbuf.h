/* strbuf.h - a growing text buffer with a ceiling
 *
 *     struct strbuf sb = STRBUF_INIT (64 * 1024);  // never more than this many bytes
 *     strbuf_addf (&sb, "job %d", 7);
 *     char *text = strbuf_detach (&sb);     // caller frees; NULL if anything failed
 *
 * Invariant: buf is always a NUL-terminated string of len bytes, also when empty; it can
 * hold any bytes. The first failure (ceiling: -E2BIG, memory: -ENOMEM) is kept in `err`;
 * later calls do nothing and return it, so a caller can check once at the end.
 */
#pragma once

#include <stdarg.h>

#include "common/macros.h"

struct strbuf {
    char *buf;
    size_t len;
    size_t alloc; /* 0: buf is the shared empty string */
    size_t max;
    int err; /* 0 or the first negative errno */
};

/* The value of buf while nothing is allocated; never written. */
extern char strbuf_empty[1];

/* max: the most bytes that the buffer can ever hold, > 0. */
#define STRBUF_INIT(most)                                                                \
    {                                                                                    \
        .buf = strbuf_empty, .max = MIN ((size_t)(most), SIZE_MAX / 2)                   \
    }
void strbuf_init (struct strbuf *sb, size_t max);
/* Frees; the strbuf can be used again (same max). */
void strbuf_release (struct strbuf *sb);
/* Empty it, keep the memory, forget the error. */
void strbuf_reset (struct strbuf *sb);
int strbuf_add (struct strbuf *sb, const void *data, size_t len);
int strbuf_adds (struct strbuf *sb, const char *s);
static inline int strbuf_addch (struct strbuf *sb, char c)
{
    if (sb->err || sb->len + 2 > sb->alloc)
        return strbuf_add (sb, &c, 1);
    sb->buf[sb->len++] = c;
    sb->buf[sb->len] = '\0';
    return 0;
}
int strbuf_addf (struct strbuf *sb, const char *fmt, ...) PRINTF_LIKE (2, 3);
int strbuf_vaddf (struct strbuf *sb, const char *fmt, va_list ap);
int strbuf_grow (struct strbuf *sb, size_t len); /* for strbuf_reserve() */
/* Make room for len more bytes at buf + sb->len; commit them with sb->len += n and
 * buf[len] = 0 by strbuf_advance(). */
static inline int strbuf_reserve (struct strbuf *sb, size_t len)
{
    return len < sb->alloc - sb->len && !sb->err ? 0 : strbuf_grow (sb, len);
}
static inline void strbuf_advance (struct strbuf *sb, size_t len)
{
    if (sb->err || len == 0)
        return;
    sb->len += len;
    sb->buf[sb->len] = '\0';
}
/* Remove the first len bytes (len <= sb->len); O(rest). */
void strbuf_consume (struct strbuf *sb, size_t len);
/* The text, for the caller to free; sb is empty afterwards. NULL when sb->err was set (or
 * no memory): then no text is kept, but sb->err is, until strbuf_reset() or _release().
 */
char *strbuf_detach (struct strbuf *sb);
/* Append s as a JSON string with its quotes (RFC 8259); bytes that are not UTF-8 become
 * U+FFFD. len may be SIZE_MAX for a NUL-terminated s. */
int strbuf_add_json (struct strbuf *sb, const char *s, size_t len);
/* Append s percent-encoded (RFC 3986: all but unreserved). */
int strbuf_add_urlencoded (struct strbuf *sb, const char *s);

#define autostrbuf __attribute__ ((cleanup (strbuf_release)))
