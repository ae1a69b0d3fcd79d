/* stderr_line.c - writes one line to standard error in one write */
#include "shell/io/stderr_line.h"

#include <stdarg.h>

#include "common/printable.h"

void stderr_line (const char *program, const char *fmt, ...)
{
    char line[STDERR_LINE_MAX];
    int n = snprintf (line, sizeof (line) - 1, "%s: ", program);
    va_list ap;
    va_start (ap, fmt);
    vsnprintf (line + n, sizeof (line) - 1 - (size_t)n, fmt, ap);
    va_end (ap);
    printable_clean (line); /* it may contain paths or messages of others */
    size_t len = strlen (line);
    line[len++] = '\n';
    (void)!write (STDERR_FILENO, line, len);
}
