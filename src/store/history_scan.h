/* history_scan.h - a scan of the history; for history_scan.c and history_query.c
 *
 * The loop's thread owns a scan between two batches, the reader's during one.
 */
#pragma once

#include "job/job.h"
#include "store/history_private.h"

struct scan_chunk;

/* Memory that is freed at once. */
struct scan_arena {
    struct scan_chunk *chunks;
};
/* NULL: no memory. Aligned for any type. */
void *scan_room (struct scan_arena *a, size_t size);

/* A value of the conditions, in their order. */
struct scan_value {
    enum { SCAN_TEXT, SCAN_REAL, SCAN_INT } kind;
    const char *text;
    double real;
    int64_t number;
};

struct history_scan {
    struct history_item item; /* rc: of the batch */
    struct history *h;
    struct history_filter f; /* its lists are in kept */
    struct scan_arena kept;
    bool busy; /* a batch is under way */
    bool dead; /* destroyed meanwhile */
    history_rows_f rows;
    void *arg;
    /* the plan */
    bool planned;
    bool by_index; /* the conditions are for an index */
    struct strbuf cond;
    struct scan_value *values;
    size_t nvalues, values_alloc;
    bool listed; /* ids has all jobs that match */
    uint64_t *ids;
    size_t nids, ids_alloc, at;
    uint64_t last_id; /* of the last row */
    /* the batch */
    struct scan_arena batch;
    struct history_job jobs[HISTORY_BATCH];
    size_t n, bytes;
    struct history_step *steps;
    size_t nsteps, steps_alloc;
    bool last;
};

/* Frees the batch. */
void scan_empty (struct history_scan *s);
/* Reads the next batch; on the reader's thread. */
void history_scan_read (struct history *h, struct history_item *item);
