/* history_private.h - what history.c, history_schema.c, history_writer.c and
 * history_query.c share
 *
 *     loop thread                      writer thread                  reader thread
 *     history_put    --> queue  -->  after a moment: BEGIN, all of it, COMMIT
 *     history_keep   ------------->  removes, while the queue is empty
 *     history_lacks, history_scan_next --> reads ------------------->  SELECT
 *     history_dispatch <-- done  <-----'------------------------------'
 *
 * `lock` guards the fields between the marks below; each other field belongs to one
 * thread.
 */
#pragma once

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "common/strbuf.h"
#include "store/history.h"

/* An operation, and later its completion. */
struct history_item {
    struct history_item *prev, *next;
    int rc;
    /* Reads for it; on the reader thread. */
    void (*read) (struct history *h, struct history_item *item);
    /* Runs the callback with rc, frees. */
    void (*complete) (struct history_item *item);
};

struct history_put {
    struct history_item item;
    struct history_job job; /* texts are behind the struct */
    history_done_f done;
    void *arg;
};

struct history {
    char *path;
    dev_t dev; /* of the file at path, as it was opened */
    ino_t ino;
    int data_fd; /* the file, see checkpoint.h; -1: not opened */
    void (*wake) (void *arg);
    void *wake_arg;
    char trouble_shown[ERROR_TEXT_MAX + 64]; /* loop thread */

    /* -- under lock -- */
    pthread_mutex_t lock;
    pthread_cond_t work, read_work;
    struct history_item *queue; /* of struct history_put, DL */
    double since;               /* clock_mono() when the first of the queue came */
    size_t waiting;
    struct history_item *reads; /* DL */
    struct history_item *done;  /* DL */
    bool stop;
    bool keep_due, compact; /* requested */
    double keep_before;
    int64_t keep_jobs;
    uint64_t removed;
    bool troubled;
    double trouble_since; /* wall clock */
    struct error trouble;
    /* -- end of lock -- */

    pthread_t writer, reader;
    bool writer_runs, reader_runs;

    /* -- writer thread -- */
    sqlite3 *db;
    sqlite3_stmt *put_job, *put_step, *drop_steps, *drop_job, *oldest, *forget;

    /* -- reader thread -- */
    sqlite3 *rdb;
    sqlite3_stmt *lacks, *forgotten, *get_job, *get_steps;
};

/* history.c */
/* Passes a completion to history_dispatch(). */
void history_post (struct history *h, struct history_item *item);
/* Hands the item to the reader. 0, -ESHUTDOWN. */
int history_ask (struct history *h, struct history_item *item);

/* history_schema.c */
/* Opens the file, makes or checks the schema, prepares the statements. */
int history_schema_open (struct history *h, struct error *err);
void history_schema_close (struct history *h);
/* Explains sqlite's rc for a person; returns the negative errno. Uses errno, too. */
int history_error (const struct history *h, sqlite3 *db, int rc, struct error *err);
/* "id, array_job, ..." */
void history_add_columns (struct strbuf *sb);
/* The number that the query yields first; -1: the data base cannot be read. */
int64_t history_number (sqlite3 *db, const char *sql);

/* history_writer.c, history_query.c: the threads' functions; arg is the struct history */
void *history_writer (void *arg);
void *history_reader (void *arg);
