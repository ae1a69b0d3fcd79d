/* columns.h - columns of a listing: what GET /v1/jobs can show of a job
 *
 *     static void col_size (const struct cell *c)
 *     {
 *         column_add_number (c->sb, c->job->nnodes);
 *     }
 *     static const struct column columns[] = {
 *         { "size", COLUMN_NUMBER, col_size, 0 },
 *         { 0 },
 *     };
 *
 * columns.c has the columns of the job's record, and each service those of its own data
 * (`columns` of its descriptor). Attributes with a heading (jobspec/options/attributes.h)
 * are columns, too.
 */
#pragma once

#include "broker/core/broker.h"
#include "broker/core/jobs.h"

enum column_kind {
    COLUMN_NUMBER, /* in JSON: a number, or null */
    COLUMN_TEXT,   /* in JSON: a string */
    COLUMN_IDS,    /* "3,7"; in JSON: an array of numbers */
};

/* The job that a column shows, and the text to which the column adds. */
struct cell {
    struct broker *b;
    struct entry *e;
    const struct job *job; /* e's */
    double now;            /* unix time */
    struct strbuf *sb;
};

struct column {
    const char *name; /* NULL ends a service's list */
    enum column_kind kind;
    /* Adds the unescaped TSV form. NULL: an attribute or a detail, from the submit
     * event. */
    void (*render) (const struct cell *c);
    unsigned private_part; /* of enum private_part; 0: none */
};

#define COLUMNS_MAX 96 /* columns in all, and in one answer */

/* All columns: those of columns.c, of the services, and the attributes. */
const struct column *columns_all (size_t *ret_n);
const struct column *column_find (const char *name, size_t len);
/* Adds {"id":1,...} with these columns, as far as the viewer may see them. now: unix time;
 * long listings look at the clock only now and then. */
void columns_add_json (struct broker *b, uid_t viewer, double now, struct entry *e,
                       const struct column *const list[], size_t n, struct strbuf *sb);
void columns_add_tsv (struct broker *b, uid_t viewer, double now, struct entry *e,
                      const struct column *const list[], size_t n, struct strbuf *sb);

/* -- for renderers -- */

void column_add_number (struct strbuf *sb, int64_t n);
/* Adds unix seconds with milliseconds; nothing for a time that has not come. */
void column_add_time (struct strbuf *sb, double t);
/* Adds a text of TSV: a tab, a newline and a backslash become \t, \n and \\. */
void column_add_escaped (struct strbuf *sb, const char *text, size_t len);
/* Whether the job has no allocation yet. */
static inline bool column_job_waits (const struct entry *e)
{
    return entry_job (e)->state < JOB_RUN;
}
