/* records.h - a text file, record by record: a line, or an indented object of several
 * lines
 *
 *     struct records r;
 *     rc = records_open (&r, "jobs.jsonl", true, &err);
 *     while ((rc = records_next (&r, &err)) == 1)
 *         ... r.text.buf, r.line
 *     records_close (&r);
 *
 * With `indented`, a line "{" and the lines after it, up to one that begins with "}", are
 * one record. A line that begins with "{" ends an incomplete record, so a broken record
 * never affects others.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

struct records {
    FILE *file;
    bool indented;
    struct strbuf text; /* the record, without its last newline */
    uint64_t line;      /* of the record's first line; from 1 */
    struct strbuf next; /* a line already read that belongs to the next record */
    bool has_next;
    uint64_t lines; /* read so far */
};

int records_open (struct records *r, const char *path, bool indented, struct error *err);
/* 1; 0: the end; -EINVAL: this record is broken (too long, contains a NUL, incomplete),
 * the next may be good; -EIO and other read errors: the end. */
int records_next (struct records *r, struct error *err);
void records_close (struct records *r);
