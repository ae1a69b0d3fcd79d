/* log.c - see log.h */
#include "common/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#include "common/clock.h"
#include "common/printable.h"

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

/* Copy text, with control characters as \n, \t or \xNN, other characters that are not
 * printable as \u{200b}. Returns the number of bytes written, at most four for each byte
 * of text. */
static size_t put_escaped (char *line, const char *text)
{
    char *p = line;

    while (*text) {
        unsigned hidden;
        size_t n = printable_next (text, &hidden);

        if (!hidden)
            p = mempcpy (p, text, n);
        else if (*text == '\n' || *text == '\t')
            p += snprintf (p, 3, "\\%c", *text == '\n' ? 'n' : 't');
        else
            p += snprintf (p, 16, n == 1 ? "\\x%02x" : "\\u{%x}", hidden);
        text += n;
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
