/* error.c - see error.h */
#include "common/error.h"

#include <stdarg.h>

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

/* Sets err->text to the formatted text, ": " and the tail (NULL: none). The arguments can
 * point into err->text, so the text is made in another buffer. */
static void set_text (struct error *err, const char *tail, const char *fmt, va_list ap)
{
    char text[ERROR_TEXT_MAX], joined[ERROR_TEXT_MAX];
    int n = vsnprintf (text, sizeof (text), fmt, ap);

    if (n < 0)
        text[0] = '\0';
    else if (n >= ERROR_TEXT_MAX)
        mark_cut (text);
    n = snprintf (joined, sizeof (joined), "%s%s%s", text, tail ? ": " : "",
                  tail ? tail : "");
    if (n >= ERROR_TEXT_MAX)
        mark_cut (joined);
    printable_clean (joined);
    memcpy (err->text, joined, sizeof (joined));
}

static int set (struct error *err, int errnum, const char *tail, const char *fmt,
                va_list ap)
{
    if (err) {
        set_text (err, tail, fmt, ap);
        err->code = errnum;
    }
    return -errnum;
}

int error_set (struct error *err, int errnum, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    int rc = set (err, positive (errnum), NULL, fmt, ap);
    va_end (ap);
    return rc;
}

int error_prefix (struct error *err, const char *fmt, ...)
{
    va_list ap;

    if (!err || err->code == 0)
        return 0;
    va_start (ap, fmt);
    int rc = set (err, err->code, err->text, fmt, ap);
    va_end (ap);
    return rc;
}

int error_errno (struct error *err, int errnum, const char *fmt, ...)
{
    va_list ap;

    errnum = positive (errnum);
    va_start (ap, fmt);
    int rc = set (err, errnum, strerror (errnum), fmt, ap);
    va_end (ap);
    return rc;
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
