#include "shell/say.h"

#include <unistd.h>

void vsay (const char *program, const char *fmt, va_list ap)
{
    char line[SAY_MAX];
    int n = snprintf (line, sizeof (line) - 1, "%s: ", program);
    n += vsnprintf (line + n, sizeof (line) - 1 - (size_t)n, fmt, ap);
    n = MIN (n, (int)sizeof (line) - 2);
    line[n++] = '\n';
    (void)!write (STDERR_FILENO, line, (size_t)n);
}

void say (const char *program, const char *fmt, ...)
{
    va_list ap;
    va_start (ap, fmt);
    vsay (program, fmt, ap);
    va_end (ap);
}
