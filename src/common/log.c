/* log.c - see log.h */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"

#define MESSAGE_MAX 2048
#define LINE_MAX_BYTES (4 * MESSAGE_MAX + 128) /* when every byte is escaped */

static char program_name[32] = "fluxq";
static bool show_time;
static atomic_int threshold = LOG_LEVEL_INFO;

static const char *const level_names[] = { "error", "warning", "info", "debug" };

void log_open (const char *program, enum log_level level, bool with_time)
{
    snprintf (program_name, sizeof (program_name), "%s", program);
    show_time = with_time;
    log_set_level (level);
}

void log_set_level (enum log_level level)
{
    atomic_store (&threshold, (int)level);
}

int log_level_from_name (const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (level_names); i++) {
        if (!strcmp (name, level_names[i]))
            return (int)i;
    }
    return -EINVAL;
}

static size_t put_time (char *line, size_t size)
{
    double now = clock_wall ();
    time_t seconds = (time_t)now;
    struct tm tm;
    size_t n = 0;

    if (localtime_r (&seconds, &tm))
        n = strftime (line, size, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf (line + n, size - n, ".%03d ",
                           (int)((now - (double)seconds) * 1000) % 1000);
    return n;
}

/* The length of a character that changes how the rest of a line is shown, or is not shown at
 * all: C1 controls, zero-width and bidirectional ones, tags. 0: it is none. */
static size_t hidden_length (const unsigned char *s, unsigned *ret_code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        { 0x80, 0x9f },     { 0x61c, 0x61c },   { 0x180e, 0x180e },   { 0x200b, 0x200f },
        { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },   { 0xe0000, 0xe007f },
    };
    size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 0;
    unsigned code = n == 0 ? 0 : *s & (0x7fu >> n);

    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    for (size_t i = 0; i < ARRAY_SIZE (hidden); i++)
        if (n > 0 && code >= hidden[i].first && code <= hidden[i].last) {
            *ret_code = code;
            return n;
        }
    return 0;
}

/* Copy text, hidden characters as \u{200b}, control characters as \n, \t or \xNN; returns the bytes written. */
static size_t put_escaped (char *line, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    char *p = line;

    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        unsigned code;
        size_t hidden = hidden_length (s, &code);

        if (hidden > 0) {
            p += snprintf (p, 16, "\\u{%x}", code);
            s += hidden - 1;
            continue;
        }
        if (*s >= 0x20 && *s != 0x7f) {
            *p++ = (char)*s;
            continue;
        }
        *p++ = '\\';
        if (*s == '\n')
            *p++ = 'n';
        else if (*s == '\t')
            *p++ = 't';
        else {
            *p++ = 'x';
            *p++ = digits[*s >> 4];
            *p++ = digits[*s & 15];
        }
    }
    return (size_t)(p - line);
}

void log_at (enum log_level level, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    char line[LINE_MAX_BYTES];
    int saved = errno;
    size_t n = 0;
    va_list ap;

    if ((int)level > atomic_load (&threshold))
        return;
    va_start (ap, fmt);
    if (vsnprintf (text, sizeof (text), fmt, ap) < 0)
        text[0] = '\0';
    va_end (ap);
    if (show_time)
        n = put_time (line, 64);
    n += (size_t)snprintf (line + n, 64, "%s: %s: ", program_name, level_names[level]);
    n += put_escaped (line + n, text);
    line[n++] = '\n';
    while (write (STDERR_FILENO, line, n) < 0 && errno == EINTR)
        ;
    errno = saved;
}
