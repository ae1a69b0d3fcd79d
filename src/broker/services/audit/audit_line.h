/* audit_line.h - a line of the audit log: one JSON object, of a bounded length
 *
 *     struct strbuf sb = STRBUF_INIT (AUDIT_BUFFER);
 *     audit_line_request (&sb, &record);  // {"time":"2026-01-31T12:00:00.000001Z",...}\n
 *
 * Texts may have any bytes: they are escaped, and what is not UTF-8 becomes U+FFFD. A text
 * that is too long for its part of the line is cut, and ends with an ellipsis (U+2026).
 */
#pragma once

#include "common/strbuf.h"

#include <stdint.h>

#define AUDIT_LINE_MAX 4096 /* bytes, with the newline */
#define AUDIT_BUFFER (64 * 1024)

/* A request that was answered; texts may be NULL. */
struct audit_record {
    double time; /* unix time */
    const char *user;
    int64_t uid; /* -1: null */
    const char *by, *from, *method, *path, *action;
    const uint64_t *jobs; /* the first njobs, or AUDIT_JOBS_MAX of them */
    size_t njobs, nfailed;
    const char *owner;
    unsigned status;
    const char *code;
};

/* Replaces the text of sb; sb->err: no memory. */
void audit_line_request (struct strbuf *sb, const struct audit_record *r);
/* The same, for a log that goes on in another file: {"time":...,"next":PATH}, or null. */
void audit_line_next (struct strbuf *sb, double time, const char *path);
/* The same, for lines that could not be written: {"time":...,"lost":N}. */
void audit_line_lost (struct strbuf *sb, double time, uint64_t lost);
