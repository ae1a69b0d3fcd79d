/* record.h - a record in Slurm's layout: lines of "Key=value" words, from a table of rows
 *
 *     static const struct row rows[] = {
 *         { .key = "JobId", .from = "id", .kind = ROW_NUMBER },
 *         { .key = "JobName", .from = "name", .ends = true },     // the last of its line
 *         { .key = "Comment", .from = "comment", .optional = true, .ends = true },
 *         { 0 },
 *     };
 *     record_add (&sb, rows, job, RECORD_ONE_LINE);
 *
 * Lines after the first are indented by three blanks. With RECORD_ONE_LINE a blank stands
 * for the end of a line. Values from users lose their control characters, so no value
 * can make a line of its own.
 */
#pragma once

#include "common/json.h"

enum row_kind {
    ROW_TEXT,     /* absent or empty: .none, else "(null)" */
    ROW_NUMBER,   /* absent: .none, else 0 */
    ROW_TIME,     /* unix time; absent or 0: .none, else "Unknown" */
    ROW_DURATION, /* seconds as 00:10:00; absent: .none, else 00:00:00 */
    ROW_FLAG,     /* 1 or 0 */
};

struct row {
    const char *key;   /* NULL ends the table; "": without key and '=' */
    const char *fixed; /* the value, or NULL */
    const char *from;  /* the member with the value, or NULL */
    void (*add) (struct strbuf *sb, const json_t *o); /* ... or appends the value */
    enum row_kind kind;
    const char *none;
    bool optional; /* left out, with its end of line, when the value is empty */
    bool detail;   /* only with RECORD_DETAILS */
    bool ends;     /* the last word of its line */
};

enum record_flags { RECORD_ONE_LINE = 1, RECORD_DETAILS = 2 };

/* Appends the record, without the last line's end. */
void record_add (struct strbuf *sb, const struct row *rows, const json_t *o, int flags);

/* Appends text from outside: each character that is not printable as a question mark. */
void record_add_text (struct strbuf *sb, const char *text);
/* Appends unix time as slurm_add_time(); 0: "Unknown". */
void record_add_time (struct strbuf *sb, double t);
/* Appends seconds as Slurm does: 00:10:00, 1-00:00:00. */
void record_add_duration (struct strbuf *sb, double seconds);
/* Appends MiB as Slurm does: 100M, 4G, 0; exact. */
void record_add_memory (struct strbuf *sb, double mib);
/* Appends resources, "cpu=4,mem=8G,node=2,gres/gpu=1", without those that are 0. node: 0
 * for a single node's. */
struct tres {
    double cpus, memory_mib, nodes;
    const json_t *gres; /* {NAME: COUNT} or NULL; gpus as "gpu" */
    double gpus;
    const char *licenses; /* "matlab:2,ansys" or NULL */
};
void record_add_tres (struct strbuf *sb, const struct tres *t);
