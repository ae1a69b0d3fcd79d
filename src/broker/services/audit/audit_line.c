/* audit_line.c - see audit_line.h
 */
#include "broker/services/audit/audit_line.h"

#include <string.h>
#include <time.h>

#include "broker/api/audit_note.h"

#define ELLIPSIS "\\u2026"

/* Bytes of the texts when they are escaped. With AUDIT_JOBS_MAX ids of 20 digits, and 400
 * bytes for the keys and numbers, they are less than AUDIT_LINE_MAX. */
#define USER_MAX 128
#define BY_MAX 100 /* "service account NAMESPACE/NAME" */
#define FROM_MAX 320
#define METHOD_MAX 32
#define PATH_TEXT_MAX 600
#define ACTION_MAX 32
#define OWNER_MAX 320
#define CODE_MAX 64
_Static_assert(USER_MAX + BY_MAX + FROM_MAX + METHOD_MAX + PATH_TEXT_MAX + ACTION_MAX
                       + OWNER_MAX + CODE_MAX + AUDIT_JOBS_MAX * 21 + 400
                   <= AUDIT_LINE_MAX,
               "a line may be too long");

static void shorten (struct strbuf *sb, size_t len)
{
    sb->len = len;
    sb->buf[len] = '\0';
}

/* Whether the byte continues a character of UTF-8. */
static bool continues (char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* -- parts; without printf, which would be most of the cost of a line -- */

static void add_number (struct strbuf *sb, uint64_t n)
{
    char text[20], *p = text + sizeof (text);

    do {
        *--p = (char)('0' + n % 10);
    } while (n /= 10);
    strbuf_add (sb, p, (size_t)(text + sizeof (text) - p));
}

/* With the zeros in front. */
static char *put_digits (char *to, int n, int digits)
{
    for (int i = digits - 1; i >= 0; i--, n /= 10)
        to[i] = (char)('0' + n % 10);
    return to + digits;
}

/* key: ",\"name\":" */
static void add_text (struct strbuf *sb, const char *key, const char *text, size_t most)
{
    strbuf_adds (sb, key);
    if (!text) {
        strbuf_adds (sb, "null");
        return;
    }
    size_t begin = sb->len, all = strlen (text), len = all;

    if (len <= most)
        strbuf_add_json (sb, text, len);
    if (sb->err || (len <= most && sb->len - begin <= most + 2))
        return;
    /* Each try has fewer bytes, as it is not known how many an escaped one takes. */
    most -= sizeof (ELLIPSIS) - 1;
    for (len = MIN (len, most);; len -= len / 8 + 1) {
        while (len > 0 && len < all && continues (text[len]))
            len--;
        shorten (sb, begin);
        strbuf_add_json (sb, text, len);
        if (sb->err || sb->len - begin <= most + 2)
            break;
    }
    if (!sb->err) {
        shorten (sb, sb->len - 1);
        strbuf_adds (sb, ELLIPSIS "\"");
    }
}

/* Begins the line: {"time":"2026-01-31T12:00:00.000001Z" */
static void add_time (struct strbuf *sb, double now)
{
    int64_t us = (int64_t)(now * 1e6 + 0.5);
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    char text[32], *p = text;

    gmtime_r (&seconds, &tm);
    const struct {
        int n, digits;
        char after;
    } parts[] = { { tm.tm_year + 1900, 4, '-' },  { tm.tm_mon + 1, 2, '-' },
                  { tm.tm_mday, 2, 'T' },         { tm.tm_hour, 2, ':' },
                  { tm.tm_min, 2, ':' },          { tm.tm_sec, 2, '.' },
                  { (int)(us % 1000000), 6, 'Z' } };
    for (size_t i = 0; i < ARRAY_SIZE (parts); i++) {
        p = put_digits (p, parts[i].n, parts[i].digits);
        *p++ = parts[i].after;
    }
    strbuf_adds (sb, "{\"time\":\"");
    strbuf_add (sb, text, (size_t)(p - text));
    strbuf_addch (sb, '"');
}

static void add_jobs (struct strbuf *sb, const struct audit_record *r)
{
    strbuf_adds (sb, ",\"jobs\":[");
    for (size_t i = 0; i < MIN (r->njobs, (size_t)AUDIT_JOBS_MAX); i++) {
        if (i)
            strbuf_addch (sb, ',');
        add_number (sb, r->jobs[i]);
    }
    strbuf_adds (sb, "],\"njobs\":");
    add_number (sb, r->njobs);
    strbuf_adds (sb, ",\"failed\":");
    add_number (sb, r->nfailed);
}

void audit_line_request (struct strbuf *sb, const struct audit_record *r)
{
    strbuf_reset (sb);
    add_time (sb, r->time);
    add_text (sb, ",\"user\":", r->user, USER_MAX);
    strbuf_adds (sb, ",\"uid\":");
    if (r->uid >= 0)
        add_number (sb, (uint64_t)r->uid);
    else
        strbuf_adds (sb, "null");
    add_text (sb, ",\"by\":", r->by, BY_MAX);
    add_text (sb, ",\"from\":", r->from, FROM_MAX);
    add_text (sb, ",\"method\":", r->method, METHOD_MAX);
    add_text (sb, ",\"path\":", r->path, PATH_TEXT_MAX);
    add_text (sb, ",\"action\":", r->action, ACTION_MAX);
    add_jobs (sb, r);
    add_text (sb, ",\"owner\":", r->owner, OWNER_MAX);
    strbuf_adds (sb, ",\"status\":");
    add_number (sb, (uint64_t)r->status);
    add_text (sb, ",\"code\":", r->code, CODE_MAX);
    strbuf_adds (sb, "}\n");
}

void audit_line_next (struct strbuf *sb, double time, const char *path)
{
    strbuf_reset (sb);
    add_time (sb, time);
    add_text (sb, ",\"next\":", path, AUDIT_LINE_MAX / 2);
    strbuf_adds (sb, "}\n");
}

void audit_line_lost (struct strbuf *sb, double time, uint64_t lost)
{
    strbuf_reset (sb);
    add_time (sb, time);
    strbuf_addf (sb, ",\"lost\":%ju}\n", (uintmax_t)lost);
}
