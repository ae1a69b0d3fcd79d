/* error.h - the reason of a failure, one line for people
 *
 * A function that can fail returns 0 or a negative errno (or a pointer and NULL) and
 * fills the caller's `struct error`, where a person will read it:
 *
 *     struct error err = {0};
 *     int rc = jobspec_parse (text, &js, &err);
 *     if (rc < 0)
 *         fprintf (stderr, "fluxq-submit: %s\n", err.text);
 *
 * The text is one line (characters that are not printable, see printable.h, are replaced
 * by '?'), bounded, without a final period or newline. It names the thing, the place and
 * the way out. All functions accept err == NULL. Thread: a struct error belongs to one
 * thread at a time.
 */
#pragma once

#include "common/macros.h"

#define ERROR_TEXT_MAX 512

struct error {
    int code; /* errno, > 0, or 0 when nothing failed */
    char text[ERROR_TEXT_MAX];
};

/* Set err to errnum (> 0, an errno) and the text. Returns -errnum, for use as
 * `return error_set (err, EINVAL, "...")`. A text that is too long is truncated and ends
 * in "...". */
int error_set (struct error *err, int errnum, const char *fmt, ...) PRINTF_LIKE (3, 4);

/* Put "PREFIX: " before the text of err; returns -err->code (0 without error). */
int error_prefix (struct error *err, const char *fmt, ...) PRINTF_LIKE (2, 3);

/* As error_set(), with ": " and strerror (errnum) after the text. */
int error_errno (struct error *err, int errnum, const char *fmt, ...) PRINTF_LIKE (3, 4);

/* ENOMEM, "WHAT: out of memory"; what NULL: "out of memory". Returns -ENOMEM. */
int error_no_memory (struct error *err, const char *what);

/* For a function that returns a pointer: `return error_null (error_set (err, ...))`. */
static inline void *error_null (int rc)
{
    (void)rc;
    return NULL;
}
/* errnum if the machine is short of a resource (disk space, descriptors, memory,
 * processes), else 0. Such an errno of the broker's own calls is not the fault of a
 * job. */
int error_shortage (int errnum);
