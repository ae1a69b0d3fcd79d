/* error.c - see error.h */
#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "common/printable.h"

/* End a truncated text in "...", without leaving half a UTF-8 character. */
static void mark_cut (char text[ERROR_TEXT_MAX])
{
    size_t end = ERROR_TEXT_MAX - 4;

    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy (text + end, "...", 4);
}

static int positive (int errnum)
{
    if (errnum < 0)
        return -errnum;
    return errnum ? errnum : EIO;
}

/* The arguments can point into err->text, so the text is made in another buffer. */
static void set_text (struct error *err, const char *text, const char *tail)
{
    char joined[ERROR_TEXT_MAX];
    int n = snprintf (joined, sizeof (joined), "%s%s%s", text, tail ? ": " : "",
                      tail ? tail : "");

    if (n >= (int)sizeof (joined))
        mark_cut (joined);
    printable_clean (joined);
    memcpy (err->text, joined, sizeof (joined));
}

static void format (char text[ERROR_TEXT_MAX], const char *fmt, va_list ap)
{
    int n = vsnprintf (text, ERROR_TEXT_MAX, fmt, ap);

    if (n < 0)
        text[0] = '\0';
    else if (n >= ERROR_TEXT_MAX)
        mark_cut (text);
}

int error_set (struct error *err, int errnum, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;

    errnum = positive (errnum);
    if (!err)
        return -errnum;
    va_start (ap, fmt);
    format (text, fmt, ap);
    va_end (ap);
    set_text (err, text, NULL);
    err->code = errnum;
    return -errnum;
}

int error_prefix (struct error *err, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;

    if (!err || err->code == 0)
        return 0;
    va_start (ap, fmt);
    format (text, fmt, ap);
    va_end (ap);
    set_text (err, text, err->text);
    return -err->code;
}

int error_errno (struct error *err, int errnum, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;

    errnum = positive (errnum);
    if (!err)
        return -errnum;
    va_start (ap, fmt);
    format (text, fmt, ap);
    va_end (ap);
    set_text (err, text, strerror (errnum));
    err->code = errnum;
    return -errnum;
}

int error_no_memory (struct error *err, const char *what)
{
    return error_set (err, ENOMEM, "%s%sout of memory", what ? what : "",
                      what ? ": " : "");
}

int error_shortage (int errnum)
{
    static const int all[] = { ENOSPC, EDQUOT, EIO,    EROFS, EMFILE,
                               ENFILE, ENOMEM, EAGAIN, ESTALE };

    for (size_t i = 0; i < ARRAY_SIZE (all); i++)
        if (all[i] == errnum)
            return errnum;
    return 0;
}
