/* journal_private.h - what journal.c, journal_txn.c, writer.c, reader.c, schema.c
 * and load.c share
 *
 *     loop thread                      writer thread                       reader thread
 *     journal_commit  --> queue  -->  batch: BEGIN, all of it, COMMIT
 *     journal_read    ----------------------------------------> reads --> SELECT
 *     journal_dispatch <-- done  <--  (in order of commit)  <------------'
 *
 * `lock` guards the fields between the marks below; each other field belongs to one
 * thread.
 */
#pragma once

#include <pthread.h>
#include <sqlite3.h>

#include "store/head.h"
#include "store/journal.h"
#include "store/rowsum.h"
#include "store/wal.h"

#define STRING(x) STRING_OF (x)
#define STRING_OF(x) #x

#define JOURNAL_WAITING_MAX 100000
#define JOURNAL_WAITING_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define JOURNAL_READS_MAX 10000
#define JOURNAL_BATCH_MAX 4096      /* transactions in one commit */
#define JOURNAL_KEY_SECONDS 86400.0 /* lifetime of an Idempotency-Key */

enum op_kind { OP_JOB, OP_JOB_OF, OP_KEEP_IDS, OP_EVENT, OP_INACTIVE, OP_PRUNE, OP_SETTING };

/* One row to write. Both texts are stored behind the struct. */
struct op {
    struct op *next;
    enum op_kind kind;
    uint32_t uid;
    uint64_t id;
    uint64_t of; /* for OP_JOB_OF */
    double time; /* wall clock of an event, else journal_now() */
    const char *name; /* of a key, an event or a setting; or NULL */
    const char *text; /* jobspec, context or value; or NULL */
    size_t text_len;
    char data[];
};

/* A completion on its way to journal_dispatch(). */
struct item {
    struct item *prev, *next;
    /* runs the callback, frees */
    void (*complete) (struct journal *j, struct item *item);
    void (*discard) (struct item *item);
};

struct journal_txn {
    struct item item; /* first: the txn is its own completion */
    struct op *ops, *last;
    size_t bytes;
    int flags;
    journal_done_f done;
    void *arg;
    int rc;            /* of the commit; before it, the first trouble in building */
    struct error *err; /* when rc < 0; NULL: no memory for one */
};

struct old_query {
    bool all; /* all ended jobs; else those that are old or surplus: */
    int64_t jobs;
    double since;      /* only jobs that ended before */
    double keys_since; /* older keys are forgotten */
    uint64_t after;
    size_t max, n;
    journal_old_f done;
    struct journal_ended list[];
};

struct read_request {
    struct item item;
    uint64_t id;
    int want;
    journal_record_f done;
    struct old_query
        *old; /* for journal_old(), journal_ended(); NULL: a look-up of a job */
    void *arg;
    int rc;
    struct journal_record rec;
    struct journal_record_event *events;
    /* jobspec, then names and contexts; rec points into it */
    char *text;
};

enum stmt {
    STMT_BEGIN,
    STMT_COMMIT,
    STMT_ROLLBACK,
    STMT_PROBE,
    STMT_JOB,
    STMT_KEEP_IDS,
    STMT_JOBSPEC,
    STMT_EVENT,
    STMT_TOTAL,
    STMT_INACTIVE,
    STMT_PRUNE_SUMS,
    STMT_PRUNE_EVENTS,
    STMT_PRUNE_JOBSPEC,
    STMT_PRUNE_JOB,
    STMT_SET,
    STMT_UNSET,
    STMT_WRITE_COUNT
};
enum read_stmt { READ_JOB, READ_JOBSPEC, READ_EVENTS, READ_OLD, READ_ENDED, READ_COUNT };

struct journal {
    char *path;
    int lock_fd;
    dev_t dev; /* of the file at path, as it was opened */
    ino_t ino;
    void (*wake) (void *arg);
    void *wake_arg;

    /* -- loop thread -- */
    struct key *keys; /* (uid, key) -> id, in order of time */
    uint64_t last_id;
    double clock_base, clock_opened; /* see journal_now(); by clock_boot() */
    char trouble_shown[ERROR_TEXT_MAX + 64];

    /* -- under lock -- */
    pthread_mutex_t lock;
    pthread_cond_t work, read_work;
    struct item *queue; /* of journal_txn, DL */
    size_t waiting, waiting_bytes;
    size_t queued_may_fail; /* in queue */
    struct item *reads;     /* of read_request, DL */
    size_t nreads;
    struct item *done; /* DL */
    bool stop;
    bool compact; /* requested */
    bool troubled;
    double trouble_since; /* wall clock */
    struct error trouble;
    /* -- end of lock -- */

    pthread_t writer, reader;
    bool writer_runs, reader_runs;

    /* -- writer thread -- */
    sqlite3 *db;
    sqlite3_stmt *stmts[STMT_WRITE_COUNT];
    int head_fd;
    int data_fd;              /* the database file, see checkpoint.h */
    bool head_known;          /* read at the start, from an earlier broker */
    struct journal_head head; /* as of the last commit, or the one under way */
    int wal_pages;
    bool unsettled; /* the log may hold a transaction that failed */
    bool checkpoint_failed;
    uint64_t event_total; /* event_total of the last event written */
    bool pruned;      /* or free pages from before the start are possible */
    bool giving_back; /* giving back free pages, until none is left */

    /* -- reader thread -- */
    sqlite3 *rdb;
    sqlite3_stmt *rstmts[READ_COUNT];
};

/* schema.c */
/* Opens the file, makes or checks the schema, prepares; fills db, rdb, stmts, head,
 * last_id. */
int schema_open (struct journal *j, struct error *err);
void schema_close (struct journal *j);
/* The path with a suffix; the caller frees it. NULL: no memory. */
char *schema_beside (const struct journal *j, const char *suffix);
/* Takes the flock on PATH-lock. */
int schema_lock (struct journal *j, struct error *err);
int schema_open_db (const struct journal *j, int flags, sqlite3 **ret, struct error *err);
/* Opens another read-only connection, for start-up. */
int schema_open_reader (const struct journal *j, sqlite3 **ret, struct error *err);
int schema_prepare (const struct journal *j, sqlite3 *db, const char *const sql[],
                    size_t n, sqlite3_stmt *ret[], struct error *err);
/* Sum over all rows of job and event. */
int schema_total (const struct journal *j, sqlite3 *db, uint64_t *ret, struct error *err);
/* The number that the query yields first; -1: the data base cannot be read. */
int64_t schema_number (sqlite3 *db, const char *sql);
/* The version of the file's schema, 0: the file is empty. -EPROTO: the data base is not one of
 * fluxq, or of a newer one. */
int schema_version (const struct journal *j, sqlite3 *db, int64_t *ret,
                    struct error *err);
/* Writes one more event, which has that sum. */
int schema_seal (const struct journal *j, sqlite3 *db, struct error *err);
/* Reserves all ids up to last, whatever is in the tables. */
int schema_keep_ids (const struct journal *j, sqlite3 *db, uint64_t last, struct error *err);
/* Explains sqlite's rc for a person; returns the negative errno. Uses errno, too. */
int schema_error (const struct journal *j, sqlite3 *db, int rc, struct error *err);

/* load.c */
#define SELECT_EVENTS                                                                    \
    "SELECT timestamp, name, context, seq, sum FROM event WHERE id = ? ORDER BY seq"
/* Whether a row of SELECT_EVENTS matches its checksum. */
bool schema_event_is_whole (sqlite3_stmt *st, uint64_t id);
/* Calls fn for each (uid, key, id, time) younger than `since`, by time. */
int schema_load_keys (struct journal *j, double since,
                      int (*fn) (struct journal *j, uint32_t uid, const char *key,
                                 uint64_t id, double time),
                      struct error *err);

static inline uint64_t event_sum (int64_t seq, uint64_t id, double time, const char *name,
                                  size_t name_len, const char *context, size_t len)
{
    uint64_t sum = rowsum_int (rowsum_int (ROWSUM_START, seq), (int64_t)id);

    sum = rowsum_text (rowsum_real (sum, time), name, name_len);
    return rowsum_text (sum, context, len);
}

/* writer.c, reader.c: the threads' functions; arg is the struct journal */
void *journal_writer (void *arg);
void *journal_reader (void *arg);
void read_request_discard (struct item *item);

/* journal.c */
/* Passes a completion to journal_dispatch(); takes j->lock itself. */
void journal_post (struct journal *j, struct item *item);
void items_discard (struct item *list);
