/* script_text.c - whether a text can be run as a batch script */
#include <errno.h>
#include <string.h>

#include "jobspec/jobspec.h"

static unsigned line_of (const char *text, const char *at)
{
    unsigned n = 1;

    while ((text = memchr (text, '\n', (size_t)(at - text))) != NULL) {
        n++;
        text++;
    }
    return n;
}

static bool is_blank (const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!memchr (" \t\r\n\v\f", text[i], 6))
            return false;
    }
    return true;
}

int script_check (const char *text, size_t len, const char *name, struct error *err)
{
    const char *at;

    if (len > JOBSPEC_SCRIPT_MAX)
        return error_set (err, EFBIG,
                          "%s: the script has %zu bytes, at most %d (4 MiB) are accepted",
                          name, len, JOBSPEC_SCRIPT_MAX);
    at = memchr (text, '\0', len);
    if (at)
        return error_set (err, EINVAL, "%s:%u: not a script: there is a NUL byte", name,
                          line_of (text, at));
    if (is_blank (text, len))
        return error_set (err, EINVAL, "%s: the script is empty", name);
    if (len > 3 && !memcmp (text, "\xEF\xBB\xBF", 3))
        return error_set (err, EINVAL,
                          "%s:1: the file begins with a byte order mark (UTF-8), so that "
                          "#! is not at its beginning; save it without one",
                          name);
    if (len < 2 || memcmp (text, "#!", 2))
        return error_set (
            err, EINVAL,
            "%s:1: a batch script begins with #! and its interpreter (#!/bin/sh); "
            "fluxq-submit -- PROGRAM and sbatch --wrap=PROGRAM run a program",
            name);
    at = memmem (text, len, "\r\n", 2);
    if (at || text[len - 1] == '\r')
        return error_set (
            err, EINVAL,
            "%s:%u: the line ends as on DOS (CR LF), no shell can run that; convert "
            "the file with dos2unix",
            name, line_of (text, at ? at : text + len));
    return 0;
}
