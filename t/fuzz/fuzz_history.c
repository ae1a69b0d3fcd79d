/* fuzz_history.c - a history with hostile content, older versions of its schema, and any filter
 *
 * Parser: store/history_schema.c store/history_query.c store/history_scan.c store/history.c
 *
 * As in fuzz_journal.c the input has changes to a small history; after a zero byte it has a
 * filter. Rows that are read are in order and match the filter's user and ids.
 */
#include "fuzz_sql.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io.h"
#include "common/log.h"
#include "store/history.h"

static char dir[64] = "/dev/shm/fluxq-fuzz-history.XXXXXX", path[96];
static struct strbuf whole; /* the history before a change */
static int wakefd;

static const char *const statements[] = {
    "UPDATE job SET user = ?2, account = ?2 WHERE id = ?1",
    "UPDATE job SET name = CAST (?2 AS BLOB) WHERE id = ?1",
    "UPDATE job SET state = ?2 WHERE id = ?1",
    "UPDATE job SET end_time = ?2, ended_time = ?2 WHERE id = ?1",
    "UPDATE job SET start_time = ?2 WHERE id = ?1",
    "UPDATE job SET array_job = ?1, array_task = ?2 WHERE id = 1",
    "UPDATE job SET id = ?1 WHERE id = 2",
    "UPDATE job SET nodes = ?2, ncores = ?2, userid = ?2 WHERE id = ?1",
    "UPDATE job SET nodelist = NULL, result_text = ?2",
    "UPDATE step SET usage = ?2, name = ?2, begin_time = ?2",
    "UPDATE step SET number = ?1, step = ?2",
    "UPDATE forgotten SET ended_time = ?2",
    "DELETE FROM forgotten",
    "DROP TABLE step",
    "ALTER TABLE job DROP COLUMN components",
    "ALTER TABLE job DROP COLUMN wckey",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 2",
    "PRAGMA user_version = 9",
    "PRAGMA application_id = 1",
};

static void wake (void *arg)
{
    (void)arg;
    assert (eventfd_write (wakefd, 1) == 0);
}

/* Turns of the loop until *done, or until the data base takes nothing. */
static void wait_until (struct history *h, const bool *done)
{
    for (int i = 0; !*done && !history_trouble (h); i++) {
        struct pollfd p = { .fd = wakefd, .events = POLLIN };
        eventfd_t n;
        assert (i < 1000); /* nothing completes */
        if (poll (&p, 1, 20) == 1)
            eventfd_read (wakefd, &n);
        history_dispatch (h);
    }
}

static void on_put (int rc, void *arg)
{
    assert (rc == 0 || rc == -ECANCELED);
    *(bool *)arg = true;
}

static void put_job (struct history *h, int64_t id)
{
    const struct history_step steps[] = { { .step = "batch", .name = "b", .begin = 5 },
                                          { .step = "0", .usage = "{\"user\":1}" } };
    const struct history_job job = { .id = id,
                                     .array_job = id == 3 ? 3 : HISTORY_NONE,
                                     .array_task = HISTORY_NONE,
                                     .userid = 1000,
                                     .user = "ann",
                                     .name = "x",
                                     .queue = "batch",
                                     .state = 4,
                                     .first_time = 100.0 * (double)id,
                                     .submit_time = 100,
                                     .start_time = 110,
                                     .end_time = 120,
                                     .ended_time = 121,
                                     .nodelist = "n1",
                                     .steps = steps,
                                     .nsteps = 2 };
    static bool done; /* history_close() ends the put that waits */

    done = false;
    assert (history_put (h, &job, on_put, &done) == 0);
    wait_until (h, &done);
}

static void clean_up (void)
{
    io_remove_tree (dir, NULL);
}

static void start (void)
{
    struct error err = { 0 };

    wakefd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert (wakefd >= 0 && mkdtemp (dir));
    atexit (clean_up);
    snprintf (path, sizeof (path), "%s/history", dir);
    struct history *h = history_open (path, wake, NULL, &err);
    assert (h);
    for (int64_t id = 1; id <= 3; id++)
        put_job (h, id);
    history_close (h);
    strbuf_init (&whole, 1 << 20);
    assert (io_read_file (path, &whole, 1 << 20, &err) == 0);
}

static void change (struct fuzz_input *in)
{
    struct error err = { 0 };
    sqlite3 *db = NULL;

    clean_up ();
    assert (mkdir (dir, 0700) == 0);
    assert (io_write_file_atomic (path, whole.buf, whole.len, 0600, &err) == 0);
    assert (sqlite3_open (path, &db) == SQLITE_OK);
    while (in->size > 0 && in->data[0] == 's') {
        fuzz_byte (in);
        fuzz_sql_run (db, in, statements, ARRAY_SIZE (statements));
    }
    sqlite3_close (db);
    while (in->size > 0 && in->data[0] == 'b') {
        fuzz_byte (in);
        uint32_t at = fuzz_number (in) % (uint32_t)whole.len;
        uint8_t byte = fuzz_byte (in);
        int fd = open (path, O_WRONLY | O_CLOEXEC);
        assert (fd >= 0 && pwrite (fd, &byte, 1, at) == 1);
        close (fd);
    }
}

/* -- reading -- */

struct seen {
    bool done, last;
    const struct history_filter *filter;
    int64_t id;
    int rc;
};

static void check_job (const struct seen *s, const struct history_job *job)
{
    const struct history_filter *f = s->filter;

    assert (job->id > s->id && (uint64_t)job->id > f->after);
    assert (!f->by_userid || job->userid == (int64_t)f->userid);
    if (f->users.n > 0) {
        bool found = false;
        for (size_t i = 0; i < f->users.n; i++)
            found = found || (job->user && !strcmp (job->user, f->users.v[i]));
        assert (found);
    }
    for (size_t i = 0; i < job->nsteps; i++)
        assert (!job->steps[i].usage || strlen (job->steps[i].usage) < 4096);
}

static void on_rows (int rc, const struct history_job *jobs, size_t n, bool last,
                     void *arg)
{
    struct seen *s = arg;

    assert (n <= HISTORY_BATCH);
    for (size_t i = 0; i < n; i++) {
        check_job (s, &jobs[i]);
        s->id = jobs[i].id;
    }
    s->rc = rc;
    s->last = last || rc < 0;
    s->done = true;
}

static void scan (struct history *h, const struct history_filter *f)
{
    static struct seen s;
    s = (struct seen){ .filter = f, .id = INT64_MIN };
    struct history_scan *scan = history_scan_create (h, f);

    assert (scan);
    while (!s.last && !history_trouble (h)) {
        s.done = false;
        assert (history_scan_next (scan, on_rows, &s) == 0);
        wait_until (h, &s.done);
    }
    history_scan_destroy (scan);
}

static void on_lacks (int rc, const struct journal_ended *lacking, size_t n, void *arg)
{
    (void)lacking;
    assert (rc < 0 || n <= 2);
    *(bool *)arg = true;
}

static void ask_lacks (struct history *h)
{
    const struct journal_ended jobs[] = { { 1, 100, 121 }, { 9, 5, 1e9 } };
    static bool done;

    done = false;

    if (history_lacks (h, jobs, 2, on_lacks, &done) == 0)
        wait_until (h, &done);
}

static void read_all (struct fuzz_input *in)
{
    struct error err = { 0 };
    struct history *h = history_open (path, wake, NULL, &err);

    if (!h) {
        fuzz_check_refusal (&err, "history: ");
        return;
    }
    uint8_t kinds = fuzz_byte (in), first = fuzz_byte (in);
    const uint64_t ids[] = { 1 + first % 4 };
    const struct history_range ranges[] = { { 1 + first / 4 % 4, 6 } };
    const uint32_t tasks[] = { first % 8 };
    const struct history_tasks of[] = { { 3, tasks, 1 } };
    autofree char *word = fuzz_line (in);
    const char *const words[] = { "ann", word };
    const struct history_filter f = {
        .users = { words, kinds & 1 ? 2 : 0 },
        .names = { words + 1, kinds & 2 ? 1 : 0 },
        .by_userid = kinds & 4,
        .userid = 1000,
        .states = kinds & 8 ? first : 0,
        .since = kinds & 16 ? first : 0,
        .until = kinds & 32 ? 100.0 + first : 0,
        .ids = ids,
        .nids = kinds & 64 ? 1 : 0,
        .ranges = ranges,
        .nranges = kinds & 64 ? 1 : 0,
        .tasks = of,
        .ntasks = kinds & 128 ? 1 : 0,
        .after = first % 3,
        .steps = first & 32,
    };
    scan (h, &f);
    ask_lacks (h);
    put_job (h, 7);
    history_keep (h, 0, 2);
    assert (history_bytes (h) > 0);
    history_close (h);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };

    log_set_level (LOG_LEVEL_ERROR);
    if (!path[0])
        start ();
    change (&in);
    if (in.size > 0)
        fuzz_byte (&in);
    read_all (&in);
    return 0;
}
