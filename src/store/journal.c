/* journal.c - the loop's side of the journal: queues, completions, keys; see journal.h */
#include <sys/stat.h>
#include <time.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "store/journal_private.h"

/* -- idempotency keys -- */

struct key {
    UT_hash_handle hh;
    uint64_t id;
    double time;
    size_t len;
    char text[]; /* uid (4 bytes), then the key */
};

static void key_text (char text[4 + JOURNAL_KEY_MAX], uint32_t uid, const char *key,
                      size_t len)
{
    memcpy (text, &uid, sizeof (uid));
    memcpy (text + sizeof (uid), key, len);
}

static void key_remove (struct journal *j, struct key *k)
{
    HASH_DEL (j->keys, k);
    free (k);
}

/* The journal's own time, for the age of keys: it resumes at the time of the last submit
 * and advances only while a broker runs. A wall clock that is set to another year, or a
 * machine that was off for a week, does not age a key. */
static double journal_now (const struct journal *j)
{
    return j->clock_base + (clock_boot () - j->clock_opened);
}

/* uthash keeps the order of insertion, which is that of time: the oldest keys come
 * first. */
static void keys_forget_old (struct journal *j)
{
    double since = journal_now (j) - JOURNAL_KEY_SECONDS;

    while (j->keys && j->keys->time < since)
        key_remove (j, j->keys);
}

static struct key *key_find (struct journal *j, uint32_t uid, const char *key)
{
    char text[4 + JOURNAL_KEY_MAX];
    size_t len = strlen (key);
    struct key *k = NULL;

    if (len > JOURNAL_KEY_MAX)
        return NULL;
    key_text (text, uid, key, len);
    HASH_FIND (hh, j->keys, text, 4 + len, k);
    return k;
}

static int key_add (struct journal *j, uint32_t uid, const char *key, uint64_t id,
                    double time)
{
    size_t len = strlen (key);
    struct key *old = key_find (j, uid, key);
    struct key *k = len <= JOURNAL_KEY_MAX ? calloc (1, sizeof (*k) + 4 + len) : NULL;

    if (!k)
        return len <= JOURNAL_KEY_MAX ? -ENOMEM : 0;
    if (old)
        key_remove (j, old);
    k->id = id;
    k->time = time;
    k->len = 4 + len;
    key_text (k->text, uid, key, len);
    HASH_ADD_KEYPTR (hh, j->keys, k->text, k->len, k);
    return 0;
}

uint64_t journal_find_key (struct journal *j, uint32_t uid, const char *key)
{
    keys_forget_old (j);
    struct key *k = key ? key_find (j, uid, key) : NULL;
    return k ? k->id : 0;
}

/* -- completions -- */

void journal_post (struct journal *j, struct item *item)
{
    pthread_mutex_lock (&j->lock);
    bool first = !j->done;
    DL_APPEND (j->done, item);
    pthread_mutex_unlock (&j->lock);
    if (first && j->wake)
        j->wake (j->wake_arg);
}

void journal_dispatch (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    struct item *done = j->done;
    j->done = NULL;
    pthread_mutex_unlock (&j->lock);
    while (done) {
        struct item *item = done;
        DL_DELETE (done, item);
        item->complete (j, item);
    }
}

static void txn_complete (struct journal *j, struct item *item)
{
    static const struct error no_memory = { .code = ENOMEM,
                                            .text = "journal: out of memory" };
    struct journal_txn *t = CONTAINER_OF (item, struct journal_txn, item);

    for (struct op *op = t->rc < 0 ? t->ops : NULL; op; op = op->next) {
        struct key *k =
            op->kind == OP_JOB && op->name ? key_find (j, op->uid, op->name) : NULL;
        if (k && k->id == op->id)
            key_remove (j, k);
    }
    if (t->done)
        t->done (t->rc, t->rc == 0 ? NULL : t->err ? t->err : &no_memory, t->arg);
    journal_txn_destroy (t);
}

/* -- commits -- */

/* Returns the error that keeps the transaction from the writer, or 0. */
static int refusal (struct journal *j, const struct journal_txn *t, int flags)
{
    if (!t)
        return -ENOMEM;
    if (t->rc < 0)
        return t->rc;
    if (!(flags & JOURNAL_MAY_FAIL))
        return 0;
    pthread_mutex_lock (&j->lock);
    bool full = j->waiting >= JOURNAL_WAITING_MAX
                || j->waiting_bytes + t->bytes > JOURNAL_WAITING_BYTES_MAX;
    pthread_mutex_unlock (&j->lock);
    return full ? -EAGAIN : 0;
}

static int remember_keys (struct journal *j, const struct journal_txn *t)
{
    int rc = 0;

    keys_forget_old (j);
    for (struct op *op = t->ops; op && rc == 0; op = op->next) {
        op->time = op->kind == OP_EVENT ? op->time : journal_now (j);
        if (op->kind == OP_JOB && op->name)
            rc = key_add (j, op->uid, op->name, op->id, op->time);
    }
    return rc;
}

int journal_commit (struct journal *j, struct journal_txn *t, int flags,
                    journal_done_f done, void *arg)
{
    int rc = refusal (j, t, flags);

    if (rc == 0)
        rc = remember_keys (j, t);
    if (rc < 0) {
        journal_txn_destroy (t);
        if (flags & JOURNAL_MAY_FAIL)
            return rc;
        log_error ("journal: cannot keep what has happened: %s", strerror (-rc));
        abort ();
    }
    t->flags = flags;
    t->done = done;
    t->arg = arg;
    t->item.complete = txn_complete;
    pthread_mutex_lock (&j->lock);
    DL_APPEND (j->queue, &t->item);
    j->waiting++;
    j->waiting_bytes += t->bytes;
    if (flags & JOURNAL_MAY_FAIL)
        j->queued_may_fail++;
    pthread_cond_signal (&j->work);
    pthread_mutex_unlock (&j->lock);
    return 0;
}

size_t journal_waiting (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    size_t waiting = j->waiting;
    pthread_mutex_unlock (&j->lock);
    return waiting;
}

const char *journal_trouble (struct journal *j)
{
    struct error err;
    char when[32] = "";

    pthread_mutex_lock (&j->lock);
    bool troubled = j->troubled;
    time_t since = (time_t)j->trouble_since;
    err = j->trouble;
    pthread_mutex_unlock (&j->lock);
    if (!troubled)
        return NULL;
    struct tm tm;
    if (localtime_r (&since, &tm))
        strftime (when, sizeof (when), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf (j->trouble_shown, sizeof (j->trouble_shown), "since %s: %s", when,
              err.text);
    return j->trouble_shown;
}

int journal_trouble_errno (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    int errnum = j->troubled ? j->trouble.code : 0;
    pthread_mutex_unlock (&j->lock);
    return errnum;
}

uint64_t journal_last_id (struct journal *j)
{
    return j->last_id;
}

/* -- look-ups -- */

static void read_complete (struct journal *j, struct item *item)
{
    struct read_request *r = CONTAINER_OF (item, struct read_request, item);

    (void)j;
    r->done (r->rc, r->rc == 0 ? &r->rec : NULL, r->arg);
    read_request_discard (item);
}

static int give_to_reader (struct journal *j, struct read_request *r)
{
    int rc = 0;

    pthread_mutex_lock (&j->lock);
    if (j->nreads >= JOURNAL_READS_MAX) {
        rc = -EAGAIN;
    } else {
        DL_APPEND (j->reads, &r->item);
        j->nreads++;
        pthread_cond_signal (&j->read_work);
    }
    pthread_mutex_unlock (&j->lock);
    if (rc < 0)
        read_request_discard (&r->item);
    return rc;
}

int journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                  void *arg)
{
    struct read_request *r = calloc (1, sizeof (*r));

    if (!r)
        return -ENOMEM;
    r->item.complete = read_complete;
    r->item.discard = read_request_discard;
    r->id = id;
    r->want = want;
    r->done = done;
    r->arg = arg;
    return give_to_reader (j, r);
}

static void old_complete (struct journal *j, struct item *item)
{
    struct read_request *r = CONTAINER_OF (item, struct read_request, item);

    (void)j;
    r->old->done (r->rc, r->old->list, r->old->n, r->arg);
    read_request_discard (item);
}

static int ask_old (struct journal *j, const struct old_query *query, size_t max,
                    void *arg)
{
    struct read_request *r = calloc (1, sizeof (*r));
    struct old_query *q = calloc (1, sizeof (*q) + max * sizeof (q->list[0]));

    if (!r || !q) {
        free (r);
        free (q);
        return -ENOMEM;
    }
    *q = *query;
    q->max = max;
    r->item.complete = old_complete;
    r->item.discard = read_request_discard;
    r->old = q;
    r->arg = arg;
    return give_to_reader (j, r);
}

int journal_old (struct journal *j, int64_t jobs, double keep, uint64_t after, size_t max,
                 journal_old_f done, void *arg)
{
    const struct old_query q = { .jobs = jobs,
                                 .since = keep > 0 ? journal_now (j) - keep : 0,
                                 .keys_since = journal_now (j) - JOURNAL_KEY_SECONDS,
                                 .after = after,
                                 .done = done };

    return ask_old (j, &q, max, arg);
}

int journal_ended (struct journal *j, uint64_t after, size_t max, journal_old_f done,
                   void *arg)
{
    const struct old_query q = { .all = true, .after = after, .done = done };

    return ask_old (j, &q, max, arg);
}

void journal_compact (struct journal *j)
{
    pthread_mutex_lock (&j->lock);
    j->compact = true;
    pthread_cond_signal (&j->work);
    pthread_mutex_unlock (&j->lock);
}

int64_t journal_bytes (const struct journal *j)
{
    autofree char *log = schema_beside (j, "-wal");
    struct stat st;
    int64_t bytes = stat (j->path, &st) == 0 ? st.st_size : 0;

    return bytes + (log && stat (log, &st) == 0 ? st.st_size : 0);
}

/* -- open and close -- */

static int init_sync (struct journal *j)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init (&attr) != 0)
        return -ENOMEM;
    pthread_condattr_setclock (&attr, CLOCK_MONOTONIC);
    int rc = pthread_mutex_init (&j->lock, NULL);
    if (rc == 0)
        rc = pthread_cond_init (&j->work, &attr);
    if (rc == 0)
        rc = pthread_cond_init (&j->read_work, &attr);
    pthread_condattr_destroy (&attr);
    return -rc;
}

static int start_threads (struct journal *j, struct error *err)
{
    int rc = pthread_create (&j->writer, NULL, journal_writer, j);

    j->writer_runs = rc == 0;
    if (rc == 0) {
        rc = pthread_create (&j->reader, NULL, journal_reader, j);
        j->reader_runs = rc == 0;
    }
    if (rc != 0)
        return error_errno (err, rc, "journal: cannot start a thread");
    return 0;
}

struct journal *journal_open (const char *path, void (*wake) (void *arg), void *arg,
                              struct error *err)
{
    struct journal *j = calloc (1, sizeof (*j));

    if (!j || !(j->path = strdup (path)) || init_sync (j) < 0) {
        error_set (err, ENOMEM, "journal: out of memory");
        if (j)
            free (j->path);
        free (j);
        return NULL;
    }
    j->lock_fd = j->head_fd = j->data_fd = -1;
    j->pruned = true;
    j->wake = wake;
    j->wake_arg = arg;
    j->clock_opened = clock_boot ();
    if (schema_open (j, err) < 0
        || schema_load_keys (j, j->clock_base - JOURNAL_KEY_SECONDS, key_add, err) < 0
        || start_threads (j, err) < 0) {
        journal_close (j);
        return NULL;
    }
    return j;
}

void items_discard (struct item *list)
{
    while (list) {
        struct item *item = list;
        DL_DELETE (list, item);
        item->discard (item);
    }
}

void journal_close (struct journal *j)
{
    if (!j)
        return;
    pthread_mutex_lock (&j->lock);
    j->stop = true;
    pthread_cond_signal (&j->work);
    pthread_cond_signal (&j->read_work);
    pthread_mutex_unlock (&j->lock);
    if (j->writer_runs)
        pthread_join (j->writer, NULL);
    if (j->reader_runs)
        pthread_join (j->reader, NULL);
    schema_close (j);
    items_discard (j->queue);
    items_discard (j->reads);
    items_discard (j->done);
    while (j->keys)
        key_remove (j, j->keys);
    if (j->data_fd >= 0)
        close (j->data_fd);
    if (j->head_fd >= 0)
        close (j->head_fd);
    if (j->lock_fd >= 0)
        close (j->lock_fd);
    pthread_cond_destroy (&j->work);
    pthread_cond_destroy (&j->read_work);
    pthread_mutex_destroy (&j->lock);
    free (j->path);
    free (j);
}
