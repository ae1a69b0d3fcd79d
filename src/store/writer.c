/* writer.c - the thread that commits; see journal_private.h
 *
 *            queue empty: wait
 *     .------------------------------.
 *     v                              |
 *    IDLE --take_work()--> ATTEMPT --+-- committed: completions, checkpoint when idle
 *                            ^       |
 *                            |       +-- one broke a rule: it fails, the rest goes again
 *                            |       +-- it may be in the log all the same: settle()
 *      take_work(): 100 ms   |       |
 *      to 5 s, sooner for    |       +-- the disk refused: those that may fail do so,
 *      one that may fail     |           the rest is tried again at once, then
 *                            '------ BACK OFF
 */
#include <sys/stat.h>
#include <time.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "store/checkpoint.h"
#include "store/journal_private.h"

#define BACKOFF_MIN 0.1 /* seconds */
#define BACKOFF_MAX 5.0
#define CLOSE_TRIES 10        /* after a stop, BACKOFF_MIN apart */
#define CHECKPOINT_PAGES 1000 /* size of the WAL, when idle */
#define CHECKPOINT_PAGES_BUSY 16384

struct work {
    struct item *batch; /* of journal_txn, in order; kept while the disk refuses */
    size_t count;
    double last_try; /* clock_mono() */
    double backoff;  /* 0: commits succeed */
    int close_tries;
};

static struct journal_txn *txn_of (struct item *item)
{
    return CONTAINER_OF (item, struct journal_txn, item);
}

/* -- one transaction's rows -- */

static void bind_text (sqlite3_stmt *st, int index, const char *text, size_t len)
{
    if (text)
        sqlite3_bind_text64 (st, index, text, len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null (st, index);
}

static void bind_string (sqlite3_stmt *st, int index, const char *s)
{
    bind_text (st, index, s, s ? strlen (s) : 0);
}

static int run (struct journal *j, enum stmt which)
{
    sqlite3_stmt *st = j->stmts[which];

    errno = 0;
    sqlite3_step (st);
    int sys = errno;
    int rc = sqlite3_reset (st);
    sqlite3_clear_bindings (st); /* they point into a transaction that will be freed */
    errno = sys; /* for schema_error(): sqlite forgets it after a failed COMMIT */
    return rc;
}

/* Writes a job with its jobspec, or one that shares another job's. */
static int write_job (struct journal *j, const struct op *op)
{
    sqlite3_stmt *st = j->stmts[STMT_JOB];
    bool own = op->kind == OP_JOB;
    const char *text = op->text ? op->text : "";
    uint64_t sum = rowsum_int (rowsum_int (ROWSUM_START, (int64_t)op->id), op->uid);

    sum = rowsum_text (sum, op->name, op->name ? strlen (op->name) : 0);
    sum = own ? rowsum_text (sum, NULL, 0) : rowsum_int (sum, (int64_t)op->of);
    sum = rowsum_text (sum, own ? text : NULL, op->text_len);
    sqlite3_bind_int64 (st, 1, (int64_t)op->id);
    sqlite3_bind_int64 (st, 2, op->uid);
    bind_string (st, 3, op->name);
    sqlite3_bind_double (st, 4, op->time);
    if (!own)
        sqlite3_bind_int64 (st, 5, (int64_t)op->of);
    sqlite3_bind_int64 (st, 6, (int64_t)sum);
    j->head.total += sum;
    j->head.last_id = MAX (j->head.last_id, op->id);
    int rc = run (j, STMT_JOB);
    if (rc != SQLITE_OK || !own)
        return rc;
    st = j->stmts[STMT_JOBSPEC];
    sqlite3_bind_int64 (st, 1, (int64_t)op->id);
    bind_text (st, 2, text, op->text_len);
    return run (j, STMT_JOBSPEC);
}

static int write_event (struct journal *j, const struct op *op)
{
    sqlite3_stmt *st = j->stmts[STMT_EVENT];
    size_t len = op->name ? strlen (op->name) : 0;
    uint64_t sum = event_sum (++j->head.seq, op->id, op->time, op->name, len, op->text,
                              op->text_len);

    sqlite3_bind_int64 (st, 1, j->head.seq);
    sqlite3_bind_int64 (st, 2, (int64_t)op->id);
    sqlite3_bind_double (st, 3, op->time);
    bind_text (st, 4, op->name, len);
    bind_text (st, 5, op->text, op->text_len);
    sqlite3_bind_int64 (st, 6, (int64_t)sum);
    j->head.total += sum;
    j->event_total = j->head.total;
    sqlite3_bind_int64 (st, 7, (int64_t)j->event_total);
    return run (j, STMT_EVENT);
}

/* Writes the sum over all rows to the last event, including rows behind it. Without an
 * event, adds one of job 0. */
static int write_total (struct journal *j, int64_t before)
{
    static const struct op none = { .kind = OP_EVENT, .name = "journal" };

    if (j->head.seq == before)
        return write_event (j, &none);
    if (j->event_total == j->head.total)
        return SQLITE_OK;
    sqlite3_bind_int64 (j->stmts[STMT_TOTAL], 1, (int64_t)j->head.total);
    sqlite3_bind_int64 (j->stmts[STMT_TOTAL], 2, j->head.seq);
    return run (j, STMT_TOTAL);
}

static int run_for (struct journal *j, enum stmt which, uint64_t id)
{
    sqlite3_bind_int64 (j->stmts[which], 1, (int64_t)id);
    return run (j, which);
}

static int prune_rows (struct journal *j, uint64_t id)
{
    sqlite3_stmt *st = j->stmts[STMT_PRUNE_SUMS];

    sqlite3_bind_int64 (st, 1, (int64_t)id);
    while (sqlite3_step (st) == SQLITE_ROW)
        j->head.total -= (uint64_t)sqlite3_column_int64 (st, 0);
    int rc = sqlite3_reset (st);
    if (rc == SQLITE_OK)
        rc = run_for (j, STMT_PRUNE_EVENTS, id);
    if (rc == SQLITE_OK && id != 0)
        rc = run_for (j, STMT_PRUNE_JOBSPEC, id);
    return rc == SQLITE_OK && id != 0 ? run_for (j, STMT_PRUNE_JOB, id) : rc;
}

/* Deletes the job's rows, and the journal's own events, of which only the last
 * matters. */
static int prune (struct journal *j, uint64_t id)
{
    int rc = prune_rows (j, id);

    j->pruned = true;
    return rc == SQLITE_OK ? prune_rows (j, 0) : rc;
}

static int write_op (struct journal *j, const struct op *op)
{
    sqlite3_stmt *st;

    switch (op->kind) {
    case OP_JOB:
    case OP_JOB_OF:
        return write_job (j, op);
    case OP_KEEP_IDS:
        return run_for (j, STMT_KEEP_IDS, op->id);
    case OP_EVENT:
        return write_event (j, op);
    case OP_INACTIVE:
        sqlite3_bind_int64 (j->stmts[STMT_INACTIVE], 1, (int64_t)op->id);
        sqlite3_bind_double (j->stmts[STMT_INACTIVE], 2, op->time);
        return run (j, STMT_INACTIVE);
    case OP_PRUNE:
        return prune (j, op->id);
    case OP_SETTING:
        st = j->stmts[op->text ? STMT_SET : STMT_UNSET];
        bind_string (st, 1, op->name);
        if (op->text)
            bind_text (st, 2, op->text, op->text_len);
        return run (j, op->text ? STMT_SET : STMT_UNSET);
    }
    return SQLITE_MISUSE;
}

/* -- the batch -- */

/* Whether the same commit would fail again whatever the disk does. */
static bool is_lasting (int rc)
{
    rc &= 0xff;
    return rc == SQLITE_CONSTRAINT || rc == SQLITE_TOOBIG || rc == SQLITE_MISMATCH
           || rc == SQLITE_RANGE || rc == SQLITE_MISUSE;
}

/* A COMMIT that fails at its end (fdatasync, growth of the log's index) leaves whole
 * frames in the log: this process ignores them, but a start after a crash would not. A
 * frame that could not be written is not whole. */
static bool may_be_in_log (int rc)
{
    return !is_lasting (rc) && (rc & 0xff) != SQLITE_FULL && (rc & 0xff) != SQLITE_BUSY
           && rc != SQLITE_IOERR_WRITE;
}

static int sync_log (struct journal *j)
{
    sqlite3_file *f = NULL;
    int rc = sqlite3_file_control (j->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f);

    if (rc == SQLITE_OK && f && f->pMethods)
        rc = f->pMethods->xSync (f, SQLITE_SYNC_NORMAL);
    return rc;
}

/* Resolves may_be_in_log(). After a failed fdatasync the kernel may call pages clean that
 * never reached the disk, so nothing written since the last commit is used again:
 * committed frames go to the data base, and the log begins again, empty. Until that has
 * succeeded, nothing else is written. A checkpoint that fails begins again from the first
 * frame (checkpoint.h). */
static int settle (struct journal *j, struct error *err)
{
    if (!j->unsettled)
        return 0;
    errno = 0;
    int rc = checkpoint_run (j->db, j->data_fd, SQLITE_CHECKPOINT_TRUNCATE);
    if (rc == SQLITE_OK)
        rc = sync_log (j);
    if (rc != SQLITE_OK)
        return schema_error (j, j->db, rc, err);
    j->wal_pages = 0;
    j->unsettled = false;
    return 0;
}

/* Reserves all ids of a commit outside of the journal before the commit. */
static int reserve_ids (struct journal *j, const struct work *w, struct error *err)
{
    struct journal_head h = j->head;
    struct item *item;
    uint64_t last = 0;

    DL_FOREACH (w->batch, item) {
        for (const struct op *op = txn_of (item)->ops; op; op = op->next)
            if (op->kind == OP_JOB || op->kind == OP_JOB_OF || op->kind == OP_KEEP_IDS)
                last = MAX (last, op->id);
    }
    if (last <= h.reserved)
        return 0;
    h.reserved = MIN (last, (uint64_t)INT64_MAX - HEAD_BLOCK) + HEAD_BLOCK;
    int rc = head_write (j->head_fd, &h, true);
    if (rc < 0)
        return error_errno (err, -rc, "journal: %s-head", j->path);
    j->head.reserved = h.reserved;
    return 0;
}

/* A commit to a removed file would be lost when the process ends. */
static int check_there (const struct journal *j, struct error *err)
{
    struct stat st;

    if (stat (j->path, &st) == 0 && st.st_dev == j->dev && st.st_ino == j->ino)
        return 0;
    return error_set (err, ESTALE,
                      "journal: %s was removed or replaced while the broker runs: put it "
                      "back; nothing is accepted until then",
                      j->path);
}

/* Commits all of the batch, or nothing. An empty batch writes a page all the same, to try
 * a disk that refused. *ret_bad: the transaction at fault, or NULL: the disk is. */
static int attempt (struct journal *j, struct work *w, struct item **ret_bad,
                    struct error *err)
{
    struct item *item;
    bool writes = false;

    *ret_bad = NULL;
    int rc = check_there (j, err);
    if (rc == 0)
        rc = settle (j, err);
    if (rc == 0)
        rc = reserve_ids (j, w, err);
    if (rc < 0)
        return rc;
    struct journal_head before = j->head;
    rc = run (j, STMT_BEGIN);
    if (rc == SQLITE_OK && !w->batch)
        rc = run (j, STMT_PROBE);
    DL_FOREACH (w->batch, item) {
        if (rc != SQLITE_OK)
            break;
        writes |= txn_of (item)->ops != NULL;
        for (struct op *op = txn_of (item)->ops; op && rc == SQLITE_OK; op = op->next)
            rc = write_op (j, op);
        if (rc != SQLITE_OK && is_lasting (rc))
            *ret_bad = item;
    }
    if (rc == SQLITE_OK && writes)
        rc = write_total (j, before.seq);
    if (rc == SQLITE_OK) {
        rc = run (j, STMT_COMMIT);
        if (rc == SQLITE_OK)
            return 0;
        j->unsettled = may_be_in_log (rc);
    }
    rc = schema_error (j, j->db, rc, err);
    j->head = before;
    if (!sqlite3_get_autocommit (j->db)) /* some errors have rolled back already */
        run (j, STMT_ROLLBACK);
    return rc;
}

/* Takes one transaction out of the batch and posts it. */
static void finish (struct journal *j, struct work *w, struct item *item, int rc,
                    const struct error *err)
{
    struct journal_txn *t = txn_of (item);
    size_t bytes = t->bytes;

    DL_DELETE (w->batch, item);
    w->count--;
    t->rc = rc;
    if (rc < 0) {
        t->err = malloc (sizeof (*t->err));
        if (t->err)
            *t->err = *err;
    }
    pthread_mutex_lock (&j->lock);
    j->waiting--;
    j->waiting_bytes -= bytes;
    pthread_mutex_unlock (&j->lock);
    journal_post (j, item);
}

/* All of the batch is on disk: takes the lock and wakes the loop once for all of it. */
static void finish_batch (struct journal *j, struct work *w)
{
    struct item *item;
    size_t bytes = 0;

    if (!w->batch)
        return;
    DL_FOREACH (w->batch, item) {
        txn_of (item)->rc = 0;
        bytes += txn_of (item)->bytes;
    }
    pthread_mutex_lock (&j->lock);
    bool first = !j->done;
    DL_CONCAT (j->done, w->batch);
    j->waiting -= w->count;
    j->waiting_bytes -= bytes;
    pthread_mutex_unlock (&j->lock);
    w->batch = NULL;
    w->count = 0;
    if (first && j->wake)
        j->wake (j->wake_arg);
}

/* Undoes each transaction that may fail, or reports that it may not be undone. */
static size_t fail_those_that_may (struct journal *j, struct work *w, int rc,
                                   const struct error *why)
{
    struct item *item, *next;
    struct error err = *why, ignored = { 0 };
    size_t failed = 0;

    if (settle (j, &ignored) < 0)
        rc = error_set (&err, EINPROGRESS,
                        "it is not known yet whether the job is on disk (%s): repeat the "
                        "request with the same Idempotency-Key, or check before you "
                        "submit again",
                        why->text);

    DL_FOREACH_SAFE (w->batch, item, next)
    {
        if (txn_of (item)->flags & JOURNAL_MAY_FAIL) {
            finish (j, w, item, rc, &err);
            failed++;
        }
    }
    return failed;
}

static void set_trouble (struct journal *j, const struct error *err)
{
    pthread_mutex_lock (&j->lock);
    bool first = !j->troubled;
    if (first)
        j->trouble_since = clock_wall ();
    j->troubled = true;
    j->trouble = *err;
    pthread_mutex_unlock (&j->lock);
    if (first)
        log_error ("%s", err->text);
}

static void clear_trouble (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    bool was = j->troubled;
    j->troubled = false;
    pthread_mutex_unlock (&j->lock);
    if (was)
        log_info ("journal: %s: commits succeed again", j->path);
}

static void commit_batch (struct journal *j, struct work *w)
{
    struct error err = { 0 };
    struct item *bad;
    int rc;

    if (!w->batch && w->backoff == 0)
        return; /* only give_back() wanted it */
    while ((rc = attempt (j, w, &bad, &err)) < 0) {
        if (bad) {
            log_error ("journal: a transaction is refused: %s", err.text);
            finish (j, w, bad, rc, &err);
            if (!w->batch)
                break;
            continue;
        }
        set_trouble (j, &err);
        w->backoff = w->backoff > 0 ? MIN (2 * w->backoff, BACKOFF_MAX) : BACKOFF_MIN;
        if (fail_those_that_may (j, w, rc, &err) == 0 || !w->batch)
            break;
    }
    w->last_try = clock_mono ();
    if (rc == 0) {
        w->backoff = 0;
        clear_trouble (j);
        head_write (j->head_fd, &j->head, false); /* an older head does no harm */
        finish_batch (j, w);
    }
}

/* -- checkpoints: the WAL goes into the data base when nobody waits, or when it is long
 * -- */

static int on_wal (void *arg, sqlite3 *db, const char *name, int pages)
{
    struct journal *j = arg;

    (void)db;
    (void)name;
    j->wal_pages = pages;
    return SQLITE_OK;
}

static void maybe_checkpoint (struct journal *j)
{
    if (j->wal_pages < CHECKPOINT_PAGES)
        return;
    pthread_mutex_lock (&j->lock);
    bool idle = !j->queue;
    pthread_mutex_unlock (&j->lock);
    if (!idle && j->wal_pages < CHECKPOINT_PAGES_BUSY)
        return;
    int rc = checkpoint_run (j->db, j->data_fd, SQLITE_CHECKPOINT_PASSIVE);
    bool failed = rc != SQLITE_OK && rc != SQLITE_BUSY && rc != SQLITE_LOCKED;
    if (failed && !j->checkpoint_failed) {
        struct error err = { 0 };
        schema_error (j, j->db, rc, &err);
        log_warning ("checkpoint: %s", err.text);
    }
    j->checkpoint_failed = failed;
    j->wal_pages = 0;
}

/* -- free pages after pruning -- */

#define VACUUM_PAGES 32 /* in each piece: a few milliseconds */

/* Whether there is a reason to: it was requested, or a fifth of the file is free, which
 * is checked after a removal. */
static bool begin_to_give_back (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    bool asked = j->compact;
    j->compact = false;
    pthread_mutex_unlock (&j->lock);
    if (!asked && !j->pruned)
        return false;
    j->pruned = false;
    int64_t nfree = schema_number (j->db, "PRAGMA freelist_count");
    return nfree > 0
           && (asked
               || (nfree > 1000
                   && nfree > schema_number (j->db, "PRAGMA page_count") / 5));
}

static bool is_idle (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    bool idle = !j->queue && !j->stop;
    pthread_mutex_unlock (&j->lock);
    return idle;
}

/* Gives back piece by piece until a transaction waits, and resumes after it. After an
 * error it tries again after the next commit. */
static void give_back (struct journal *j)
{
    int rc = SQLITE_OK;

    if (!j->giving_back)
        j->giving_back = begin_to_give_back (j);
    while (j->giving_back && rc == SQLITE_OK && is_idle (j)) {
        rc = sqlite3_exec (j->db, "PRAGMA incremental_vacuum(" STRING (VACUUM_PAGES) ")",
                           NULL, NULL, NULL);
        if (j->wal_pages >= CHECKPOINT_PAGES)
            maybe_checkpoint (j);
        if (rc == SQLITE_OK && schema_number (j->db, "PRAGMA freelist_count") > 0)
            continue;
        j->giving_back = false;
        j->wal_pages = CHECKPOINT_PAGES; /* a checkpoint shrinks the file */
        maybe_checkpoint (j);
    }
}

/* -- the loop -- */

/* Whether it is time to commit; else waits once. Called with the lock held. */
static bool wait_for_work (struct journal *j, struct work *w)
{
    if (w->backoff == 0) {
        if (w->batch || j->queue || j->compact)
            return true;
        pthread_cond_wait (&j->work, &j->lock);
        return false;
    }
    double wait = w->backoff;
    if (j->queued_may_fail > 0 || j->stop)
        wait = BACKOFF_MIN;
    double due = w->last_try + wait;
    double left = due - clock_mono ();
    if (left <= 0)
        return true;
    struct timespec ts;
    clock_gettime (CLOCK_MONOTONIC, &ts);
    left += (double)ts.tv_nsec / 1e9;
    ts.tv_sec += (time_t)left;
    ts.tv_nsec = (long)((left - (double)(time_t)left) * 1e9);
    pthread_cond_timedwait (&j->work, &j->lock, &ts);
    return false;
}

/* Waits until there is something to try, and moves waiting transactions into the batch.
 * False: end. */
static bool take_work (struct journal *j, struct work *w)
{
    bool go_on = true;

    pthread_mutex_lock (&j->lock);
    if (j->stop && w->backoff > 0)
        w->close_tries++;
    do {
        if (j->stop && ((!w->batch && !j->queue) || w->close_tries > CLOSE_TRIES))
            go_on = false;
    } while (go_on && !wait_for_work (j, w));
    while (go_on && j->queue && w->count < JOURNAL_BATCH_MAX) {
        struct item *item = j->queue;
        DL_DELETE (j->queue, item);
        DL_APPEND (w->batch, item);
        w->count++;
        if (txn_of (item)->flags & JOURNAL_MAY_FAIL)
            j->queued_may_fail--;
    }
    pthread_mutex_unlock (&j->lock);
    return go_on;
}

void *journal_writer (void *arg)
{
    struct journal *j = arg;
    struct work w = { 0 };

    sqlite3_wal_hook (j->db, on_wal, j);
    while (take_work (j, &w)) {
        commit_batch (j, &w);
        if (w.backoff == 0) {
            maybe_checkpoint (j);
            give_back (j);
        }
    }
    if (w.count > 0)
        log_error (
            "journal: %s: closed without %zu transactions that could not be written",
            j->path, w.count);
    items_discard (w.batch);
    return NULL;
}
