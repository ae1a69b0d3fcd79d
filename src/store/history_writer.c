/* history_writer.c - the thread that commits and removes; see history_private.h
 *
 *     take_work() --> commit_batch() --> remove_old(), give_back(), while nothing waits
 *         ^                |
 *         '-- back-off ----'  the disk refuses: the batch stays, and is tried again
 */
#include <math.h>
#include <time.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "store/checkpoint.h"
#include "store/history_private.h"

#define BATCH_MAX 1024  /* jobs in one commit */
#define LINGER 0.1      /* seconds that a row waits for others */
#define LINGER_ROWS 256 /* ... unless there are as many */
#define BACKOFF_MIN 0.1 /* seconds */
#define BACKOFF_MAX 5.0
#define CLOSE_TRIES 10  /* after a stop, BACKOFF_MIN apart */
#define REMOVE_SLICE 64 /* jobs in one transaction */

struct work {
    struct history_item *batch; /* kept while the disk refuses */
    size_t count;
    double backoff; /* seconds; 0: commits succeed */
    double last_try;
    int close_tries;
    bool removing; /* removal, and giving back, are under way: */
    double before;
    bool giving_back;
};

/* -- rows -- */

static void bind_text (sqlite3_stmt *st, int index, const char *text)
{
    if (text)
        sqlite3_bind_text (st, index, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null (st, index);
}

static void bind_number (sqlite3_stmt *st, int index, int64_t n)
{
    if (n != HISTORY_NONE)
        sqlite3_bind_int64 (st, index, n);
    else
        sqlite3_bind_null (st, index);
}

static void bind_time (sqlite3_stmt *st, int index, double t)
{
    if (t > 0)
        sqlite3_bind_double (st, index, t);
    else
        sqlite3_bind_null (st, index);
}

static int run (sqlite3_stmt *st)
{
    errno = 0;
    sqlite3_step (st);
    int sys = errno;
    int rc = sqlite3_reset (st);
    sqlite3_clear_bindings (st);
    errno = sys; /* for history_error() */
    return rc;
}

static int run_for (sqlite3_stmt *st, int64_t id)
{
    sqlite3_bind_int64 (st, 1, id);
    return run (st);
}

static int exec (struct history *h, const char *sql)
{
    errno = 0;
    return sqlite3_exec (h->db, sql, NULL, NULL, NULL);
}

static int write_step (struct history *h, int64_t id, int number,
                       const struct history_step *s)
{
    sqlite3_stmt *st = h->put_step;

    sqlite3_bind_int64 (st, 1, id);
    sqlite3_bind_int (st, 2, number);
    bind_number (st, 3, s->attempt);
    bind_text (st, 4, s->step);
    bind_text (st, 5, s->name);
    bind_time (st, 6, s->begin);
    bind_time (st, 7, s->end);
    bind_number (st, 8, s->ntasks);
    bind_number (st, 9, s->nnodes);
    bind_number (st, 10, s->status);
    bind_text (st, 11, s->usage);
    return run (st);
}

static int write_job (struct history *h, const struct history_job *job)
{
    sqlite3_stmt *st = h->put_job;
    int index = 0;

    for (const struct history_column *c = history_columns; c->name; c++) {
        const char *at = (const char *)job + c->at;
        index++;
        if (c->kind == HISTORY_NUMBER)
            bind_number (st, index, *(const int64_t *)at);
        else if (c->kind == HISTORY_TIME)
            bind_time (st, index, *(const double *)at);
        else
            bind_text (st, index, *(const char *const *)at);
    }
    int rc = run (st);
    if (rc == SQLITE_OK)
        rc = run_for (h->drop_steps, job->id);
    for (size_t i = 0; rc == SQLITE_OK && i < job->nsteps; i++)
        rc = write_step (h, job->id, (int)i, &job->steps[i]);
    return rc;
}

/* -- trouble -- */

static void set_trouble (struct history *h, const struct error *err)
{
    pthread_mutex_lock (&h->lock);
    bool first = !h->troubled;
    if (first)
        h->trouble_since = clock_wall ();
    h->troubled = true;
    h->trouble = *err;
    pthread_mutex_unlock (&h->lock);
    if (first)
        log_error ("%s", err->text);
}

static void clear_trouble (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    bool was = h->troubled;
    h->troubled = false;
    pthread_mutex_unlock (&h->lock);
    if (was)
        log_info ("history: %s: commits succeed again", h->path);
}

/* -- the batch -- */

/* A commit to a removed file would be lost when the process ends. */
static int check_there (const struct history *h, struct error *err)
{
    struct stat st;

    if (stat (h->path, &st) == 0 && st.st_dev == h->dev && st.st_ino == h->ino)
        return 0;
    return error_set (err, ESTALE,
                      "history: %s was removed or replaced while the broker runs: put it "
                      "back, or restart the broker, which then makes a new one of the "
                      "jobs in the journal",
                      h->path);
}

/* Whether the same commit would fail again whatever the disk does. */
static bool is_lasting (int rc)
{
    rc &= 0xff;
    return rc == SQLITE_CONSTRAINT || rc == SQLITE_TOOBIG || rc == SQLITE_MISMATCH
           || rc == SQLITE_RANGE || rc == SQLITE_MISUSE;
}

/* Commits all of the batch, or nothing. *ret_bad: the job at fault; NULL: the disk is. */
static int attempt (struct history *h, struct work *w, struct history_item **ret_bad,
                    struct error *err)
{
    struct history_item *item;

    *ret_bad = NULL;
    int rc = check_there (h, err);
    if (rc < 0)
        return rc;
    rc = w->backoff > 0 ? checkpoint_run (h->db, h->data_fd, SQLITE_CHECKPOINT_TRUNCATE)
                        : SQLITE_OK; /* a commit failed: the log begins again, empty */
    if (rc == SQLITE_OK)
        rc = exec (h, "BEGIN IMMEDIATE");
    DL_FOREACH (w->batch, item) {
        if (rc != SQLITE_OK)
            break;
        rc = write_job (h, &CONTAINER_OF (item, struct history_put, item)->job);
        if (rc != SQLITE_OK && is_lasting (rc))
            *ret_bad = item;
    }
    if (rc == SQLITE_OK)
        rc = exec (h, "COMMIT");
    if (rc == SQLITE_OK)
        return 0;
    rc = history_error (h, h->db, rc, err);
    if (!sqlite3_get_autocommit (h->db))
        exec (h, "ROLLBACK");
    return rc;
}

/* The jobs are on disk, or this one never will be. */
static void finish (struct history *h, struct work *w, struct history_item *one, int rc)
{
    struct history_item *list = w->batch, *item;
    size_t n = w->count;

    if (one) {
        DL_DELETE (w->batch, one);
        list = NULL;
        DL_APPEND (list, one);
        n = 1;
    } else {
        w->batch = NULL;
    }
    w->count -= n;
    DL_FOREACH (list, item)
        item->rc = rc;
    pthread_mutex_lock (&h->lock);
    bool first = !h->done;
    DL_CONCAT (h->done, list);
    h->waiting -= n;
    pthread_mutex_unlock (&h->lock);
    if (first && h->wake)
        h->wake (h->wake_arg);
}

static void commit_batch (struct history *h, struct work *w)
{
    struct history_item *bad;
    struct error err = { 0 };
    int rc = 0;

    while (w->batch && (rc = attempt (h, w, &bad, &err)) < 0 && bad) {
        log_error ("history: job %jd is refused: %s",
                   (intmax_t)CONTAINER_OF (bad, struct history_put, item)->job.id,
                   err.text);
        finish (h, w, bad, -EINVAL);
        rc = 0;
    }
    w->last_try = clock_mono ();
    if (rc < 0) {
        set_trouble (h, &err);
        w->backoff = w->backoff > 0 ? MIN (2 * w->backoff, BACKOFF_MAX) : BACKOFF_MIN;
        return;
    }
    w->backoff = 0;
    clear_trouble (h);
    if (w->batch)
        finish (h, w, NULL, 0);
}

/* -- removal -- */

static bool is_idle (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    bool idle = !h->queue && !h->stop;
    pthread_mutex_unlock (&h->lock);
    return idle;
}

/* The time of the newest job beyond the limit; 0: there is none. */
static double time_beyond (struct history *h, int64_t jobs)
{
    sqlite3_stmt *st = NULL;
    double t = 0;

    if (jobs > 0
        && sqlite3_prepare_v2 (
               h->db,
               "SELECT ended_time FROM job ORDER BY ended_time DESC LIMIT 1 OFFSET ?", -1,
               &st, NULL)
               == SQLITE_OK) {
        sqlite3_bind_int64 (st, 1, jobs);
        if (sqlite3_step (st) == SQLITE_ROW)
            t = sqlite3_column_double (st, 0);
    }
    sqlite3_finalize (st);
    return t;
}

static void take_request (struct history *h, struct work *w)
{
    pthread_mutex_lock (&h->lock);
    bool due = h->keep_due;
    double before = h->keep_before;
    int64_t jobs = h->keep_jobs;
    bool compact = h->compact;
    h->keep_due = h->compact = false;
    pthread_mutex_unlock (&h->lock);
    if (due) {
        double beyond = time_beyond (h, jobs);
        w->removing = true;
        w->before = MAX (before, beyond > 0 ? nextafter (beyond, INFINITY) : 0);
    }
    w->giving_back |= compact;
}

/* Removes the oldest jobs in one transaction; *ret_n: how many. */
static int remove_slice (struct history *h, double before, size_t *ret_n)
{
    int64_t ids[REMOVE_SLICE];
    double last = 0;
    size_t n = 0;

    sqlite3_bind_double (h->oldest, 1, before);
    sqlite3_bind_int (h->oldest, 2, REMOVE_SLICE);
    while (n < REMOVE_SLICE && sqlite3_step (h->oldest) == SQLITE_ROW) {
        ids[n++] = sqlite3_column_int64 (h->oldest, 0);
        last = sqlite3_column_double (h->oldest, 1);
    }
    int rc = sqlite3_reset (h->oldest);
    *ret_n = n;
    if (rc != SQLITE_OK || n == 0)
        return rc;
    rc = exec (h, "BEGIN IMMEDIATE");
    for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
        rc = run_for (h->drop_steps, ids[i]);
        if (rc == SQLITE_OK)
            rc = run_for (h->drop_job, ids[i]);
    }
    sqlite3_bind_double (h->forget, 1, last);
    if (rc == SQLITE_OK)
        rc = run (h->forget);
    if (rc == SQLITE_OK)
        rc = exec (h, "COMMIT");
    if (!sqlite3_get_autocommit (h->db))
        exec (h, "ROLLBACK");
    return rc;
}

/* An error is tried again at the next request; the trouble that commits have is shown. */
static void remove_old (struct history *h, struct work *w)
{
    size_t n = 0;

    while (w->removing && is_idle (h)) {
        int rc = remove_slice (h, w->before, &n);
        w->removing = rc == SQLITE_OK && n == REMOVE_SLICE;
        pthread_mutex_lock (&h->lock);
        h->removed += rc == SQLITE_OK ? n : 0;
        pthread_mutex_unlock (&h->lock);
        w->giving_back |= !w->removing
                          && history_number (h->db, "PRAGMA freelist_count")
                                 > history_number (h->db, "PRAGMA page_count") / 5;
    }
}

/* Gives free pages back in pieces of a few milliseconds. */
static void give_back (struct history *h, struct work *w)
{
    while (w->giving_back && !w->removing && is_idle (h)) {
        int rc = exec (h, "PRAGMA incremental_vacuum(32)");
        w->giving_back =
            rc == SQLITE_OK && history_number (h->db, "PRAGMA freelist_count") > 0;
        if (!w->giving_back) /* a checkpoint shrinks the file */
            checkpoint_run (h->db, h->data_fd, SQLITE_CHECKPOINT_PASSIVE);
    }
}

/* -- the loop -- */

/* Seconds until the rows of the queue are committed. Jobs that end one after another share
 * a commit: a row changes a page of the table and of each index, and the pages are written
 * once for all rows. The journal has the jobs meanwhile. */
static double linger (const struct history *h)
{
    return h->stop || h->waiting >= LINGER_ROWS ? 0 : h->since + LINGER - clock_mono ();
}

static void wait_for (struct history *h, double seconds)
{
    struct timespec ts;

    clock_gettime (CLOCK_MONOTONIC, &ts);
    seconds += (double)ts.tv_nsec / 1e9;
    ts.tv_sec += (time_t)seconds;
    ts.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9);
    pthread_cond_timedwait (&h->work, &h->lock, &ts);
}

/* Whether it is time to work; else waits once. Called with the lock held. */
static bool wait_for_work (struct history *h, const struct work *w)
{
    double left = 0;

    if (w->backoff > 0)
        left = w->last_try + (h->stop ? BACKOFF_MIN : w->backoff) - clock_mono ();
    else if (w->batch || h->keep_due || h->compact || w->removing || w->giving_back)
        return true;
    else if (h->queue)
        left = linger (h);
    else {
        pthread_cond_wait (&h->work, &h->lock);
        return false;
    }
    if (left <= 0)
        return true;
    wait_for (h, left);
    return false;
}

/* False: end. */
static bool take_work (struct history *h, struct work *w)
{
    bool go_on = true;

    pthread_mutex_lock (&h->lock);
    if (h->stop && w->backoff > 0)
        w->close_tries++;
    do {
        if (h->stop && ((!w->batch && !h->queue) || w->close_tries > CLOSE_TRIES))
            go_on = false;
    } while (go_on && !wait_for_work (h, w));
    while (go_on && h->queue && w->count < BATCH_MAX) {
        struct history_item *item = h->queue;
        DL_DELETE (h->queue, item);
        DL_APPEND (w->batch, item);
        w->count++;
    }
    pthread_mutex_unlock (&h->lock);
    return go_on;
}

void *history_writer (void *arg)
{
    struct history *h = arg;
    struct work w = { 0 };

    checkpoint_automatically (h->db, h->data_fd);
    while (take_work (h, &w)) {
        commit_batch (h, &w);
        if (w.backoff == 0) {
            take_request (h, &w);
            remove_old (h, &w);
            give_back (h, &w);
        }
    }
    pthread_mutex_lock (&h->lock);
    DL_CONCAT (w.batch, h->queue); /* history_close() cancels them */
    h->queue = w.batch;
    pthread_mutex_unlock (&h->lock);
    return NULL;
}
