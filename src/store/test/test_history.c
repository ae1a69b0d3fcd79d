/* test_history.c - the history of ended jobs: what is written is found, and nothing is lost */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "common/clock.h"
#include "common/io.h"
#include "job/job.h"
#include "store/history.h"

#define DEADLINE 30.0 /* seconds; a wait that takes longer has failed */

struct fixture {
    char dir[64];
    char path[96];
    int wakefd;
    struct history *h;
    int put, refused, canceled; /* completions */
};

static void wake (void *arg)
{
    struct fixture *x = arg;
    uint64_t one = 1;

    assert_int_equal (io_write_all (x->wakefd, &one, sizeof (one)), 0);
}

static void open_history (struct fixture *x)
{
    struct error err = { 0 };

    x->h = history_open (x->path, wake, x, &err);
    if (!x->h)
        fail_msg ("%s", err.text);
}

static int setup (void **state)
{
    struct fixture *x = calloc (1, sizeof (*x));

    assert_non_null (x);
    snprintf (x->dir, sizeof (x->dir), "/tmp/fluxq-test-history.XXXXXX");
    assert_non_null (mkdtemp (x->dir));
    snprintf (x->path, sizeof (x->path), "%s/history.db", x->dir);
    x->wakefd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    *state = x;
    open_history (x);
    return 0;
}

static int teardown (void **state)
{
    struct fixture *x = *state;

    history_close (x->h);
    close (x->wakefd);
    assert_int_equal (io_remove_tree (x->dir, NULL), 0);
    free (x);
    return 0;
}

static void reopen (struct fixture *x)
{
    history_close (x->h);
    open_history (x);
}

/* One turn of the loop: completions, or nothing after 100 ms. */
static void turn (struct fixture *x)
{
    struct pollfd p = { .fd = x->wakefd, .events = POLLIN };
    uint64_t n;

    if (poll (&p, 1, 100) == 1)
        assert_int_equal (read (x->wakefd, &n, sizeof (n)), sizeof (n));
    history_dispatch (x->h);
}

#define WAIT_UNTIL(x, condition)                                                         \
    do {                                                                                 \
        double end_ = clock_mono () + DEADLINE;                                          \
        while (!(condition)) {                                                           \
            turn (x);                                                                    \
            if (clock_mono () > end_)                                                    \
                fail_msg ("not in %g s: %s", DEADLINE, #condition);                      \
        }                                                                                \
    } while (0)

static void on_put (int rc, void *arg)
{
    struct fixture *x = arg;

    x->put += rc == 0;
    x->refused += rc == -EINVAL;
    x->canceled += rc == -ECANCELED;
}

/* A job of 100 s that was submitted at 1000 * id and waited 10 s. */
static struct history_job job_of (int64_t id)
{
    return (struct history_job){ .id = id,
                                 .array_job = HISTORY_NONE,
                                 .array_task = HISTORY_NONE,
                                 .userid = 1000 + id % 2,
                                 .user = id % 2 ? "ann" : "bob",
                                 .account = id % 3 ? NULL : "physics",
                                 .name = id % 5 ? "small" : "large",
                                 .queue = id % 7 ? "batch" : "debug",
                                 .state = id % 4 ? JOB_COMPLETED : JOB_FAILED,
                                 .first_time = 1000.0 * (double)id,
                                 .submit_time = 1000.0 * (double)id,
                                 .start_time = 1000.0 * (double)id + 10,
                                 .end_time = 1000.0 * (double)id + 110,
                                 .ended_time = 1000.0 * (double)id + 111,
                                 .cancelled_by = HISTORY_NONE };
}

static void put (struct fixture *x, const struct history_job *job)
{
    int n = x->put;

    assert_int_equal (history_put (x->h, job, on_put, x), 0);
    WAIT_UNTIL (x, x->put > n);
}

/* Jobs first to last. */
static void put_many (struct fixture *x, int64_t first, int64_t last)
{
    int n = x->put + (int)(last - first) + 1;

    for (int64_t id = first; id <= last; id++) {
        struct history_job job = job_of (id);
        while (history_put (x->h, &job, on_put, x) == -EAGAIN)
            turn (x);
    }
    WAIT_UNTIL (x, x->put >= n);
}

/* -- scans -- */

struct found {
    char ids[512]; /* "1 2 3", cut */
    size_t n, batches;
    bool last;
    int rc;
    int64_t last_id;
    void (*check) (const struct history_job *job);
};

static void on_rows (int rc, const struct history_job *jobs, size_t n, bool last,
                     void *arg)
{
    struct found *f = arg;

    f->rc = rc;
    f->last = last;
    f->batches++;
    assert_true (n <= HISTORY_BATCH);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen (f->ids);
        assert_true (jobs[i].id > f->last_id);
        f->last_id = jobs[i].id;
        f->n++;
        snprintf (f->ids + len, sizeof (f->ids) - len, "%s%jd", len ? " " : "",
                  (intmax_t)jobs[i].id);
        if (f->check)
            f->check (&jobs[i]);
    }
}

static struct found scan_with (struct fixture *x, const struct history_filter *filter,
                               void (*check) (const struct history_job *job))
{
    struct history_scan *s = history_scan_create (x->h, filter);
    struct found f = { .check = check };

    assert_non_null (s);
    while (!f.last) {
        size_t batches = f.batches;
        assert_int_equal (history_scan_next (s, on_rows, &f), 0);
        WAIT_UNTIL (x, f.batches > batches);
    }
    history_scan_destroy (s);
    return f;
}

#define FILTER(...) (&(struct history_filter){ __VA_ARGS__ })
#define WORDS(...)                                                                       \
    {                                                                                    \
        (const char *const[]){ __VA_ARGS__ },                                            \
            sizeof ((const char *const[]){ __VA_ARGS__ }) / sizeof (char *)              \
    }
#define assert_found(x, ids_, ...)                                                       \
    do {                                                                                 \
        struct found f_ = scan_with (x, FILTER (__VA_ARGS__), NULL);                     \
        assert_int_equal (f_.rc, 0);                                                     \
        assert_string_equal (f_.ids, ids_);                                              \
    } while (0)

static void check_all (const struct history_job *job)
{
    const char *base = (const char *)job;
    int64_t n = 0;

    for (const struct history_column *c = history_columns; c->name; c++) {
        n++;
        if (c->kind == HISTORY_NUMBER)
            assert_int_equal (*(const int64_t *)(base + c->at), n);
        else if (c->kind == HISTORY_TIME)
            assert_true (*(const double *)(base + c->at) == (double)n + 0.5);
        else
            assert_string_equal (*(const char *const *)(base + c->at), c->name);
    }
    assert_int_equal (job->nsteps, 2);
    assert_string_equal (job->steps[0].step, "batch");
    assert_string_equal (job->steps[1].usage, "{\"user\":1}");
    assert_int_equal (job->steps[1].attempt, 1);
    assert_true (job->steps[1].begin == 1.25 && job->steps[1].end == 2.5);
    assert_null (job->steps[0].usage);
}

static void check_second (const struct history_job *job)
{
    assert_string_equal (job->name, "again");
    assert_null (job->user);
    assert_int_equal (job->nsteps, 0);
    assert_int_equal (job->array_job, HISTORY_NONE);
    assert_true (job->start_time == 0);
}

/* Each member of a job comes back as it was, also in a new process; a second write
 * replaces all of the first. */
static void test_columns (void **state)
{
    struct fixture *x = *state;
    const struct history_step steps[] = {
        { .attempt = 0, .step = "batch", .name = "script" },
        { .attempt = 1, .step = "0", .begin = 1.25, .end = 2.5, .usage = "{\"user\":1}" }
    };
    struct history_job job = { .steps = steps, .nsteps = 2 };
    int64_t n = 0;

    for (const struct history_column *c = history_columns; c->name; c++) {
        char *at = (char *)&job + c->at;
        n++;
        if (c->kind == HISTORY_NUMBER)
            *(int64_t *)at = n;
        else if (c->kind == HISTORY_TIME)
            *(double *)at = (double)n + 0.5;
        else
            *(const char **)at = c->name;
    }
    put (x, &job);
    reopen (x);
    assert_int_equal (scan_with (x, FILTER (.steps = true), check_all).n, 1);
    job =
        (struct history_job){ .id = job.id, .array_job = HISTORY_NONE, .name = "again" };
    put (x, &job);
    assert_int_equal (scan_with (x, FILTER (.steps = true), check_second).n, 1);
}

/* The file is readable for its owner only. */
static void test_mode (void **state)
{
    struct fixture *x = *state;
    struct stat st;

    assert_int_equal (stat (x->path, &st), 0);
    assert_int_equal (st.st_mode & 0777, 0600);
}

static void test_filters (void **state)
{
    struct fixture *x = *state;

    put_many (x, 1, 12);
    assert_found (x, "1 2 3 4 5 6 7 8 9 10 11 12", .after = 0);
    assert_found (x, "11 12", .after = 10);
    assert_found (x, "1 3 5 7 9 11", .users = WORDS ("ann"));
    assert_found (x, "7 9 11", .users = WORDS ("ann"), .after = 5);
    assert_found (x, "", .users = WORDS ("eve"));
    assert_found (x, "2 4 6 8 10 12", .by_userid = true, .userid = 1000);
    assert_found (x, "3 6 9 12", .accounts = WORDS ("physics"));
    assert_found (x, "6 12", .accounts = WORDS ("physics"), .users = WORDS ("bob", "x"));
    assert_found (x, "5 10", .names = WORDS ("large"));
    assert_found (x, "7", .queues = WORDS ("debug"));
    assert_found (x, "4 8 12", .states = 1U << JOB_FAILED);
    assert_found (x, "3 6 7 9", .ids = (const uint64_t[]){ 3, 99 }, .nids = 2,
                  .ranges = (const struct history_range[]){ { 6, 7 }, { 9, 9 } },
                  .nranges = 2);
    assert_found (x, "6", .ids = (const uint64_t[]){ 3, 6 }, .nids = 2,
                  .users = WORDS ("bob"));
}

/* The meaning of a span of time, without and with states. */
static void test_times (void **state)
{
    struct fixture *x = *state;

    put_many (x, 1, 5); /* job 3: 3000 submitted, 3010 to 3110 run */
    assert_found (x, "3 4 5", .since = 3110);
    assert_found (x, "4 5", .since = 3110.5);
    assert_found (x, "1 2 3", .until = 3000);
    assert_found (x, "1 2", .until = 2999);
    assert_found (x, "3", .since = 3001, .until = 3002);
    assert_found (x, "", .since = 3001, .until = 3002, .states = 1U << JOB_COMPLETED);
    assert_found (x, "3", .since = 3001, .until = 3200, .states = 1U << JOB_COMPLETED);
    assert_found (x, "", .since = 3001, .until = 3200, .states = 1U << JOB_FAILED);
    assert_found (x, "3", .since = 3001, .until = 3002, .states = 1U << JOB_PENDING);
    assert_found (x, "", .since = 3011, .until = 3012, .states = 1U << JOB_PENDING);
    assert_found (x, "3", .since = 3011, .until = 3012, .states = 1U << JOB_RUNNING);
    assert_found (x, "3 4", .since = 3011, .until = 4200, .users = WORDS ("ann", "bob"),
                  .states = 1U << JOB_RUNNING | 1U << JOB_FAILED);
}

/* An array's id includes its tasks. */
static void test_arrays (void **state)
{
    struct fixture *x = *state;
    const uint32_t tasks[] = { 1, 3, 4 };

    put_many (x, 1, 3);
    for (int64_t task = 1; task <= 5; task++) {
        struct history_job job = job_of (10 + task);
        job.array_job = 10;
        job.array_task = task;
        put (x, &job);
    }
    assert_found (x, "11 12 13 14 15", .ids = (const uint64_t[]){ 10 }, .nids = 1);
    assert_found (x, "2 11 13 14", .ids = (const uint64_t[]){ 2 }, .nids = 1,
                  .tasks = (const struct history_tasks[]){ { 10, tasks, 3 } },
                  .ntasks = 1);
}

/* A scan of many jobs comes in batches, by id; it can be given up at any time. */
static void test_batches (void **state)
{
    struct fixture *x = *state;
    struct found f = { 0 };

    put_many (x, 1, 3000);
    struct found all = scan_with (x, FILTER (.steps = true), NULL);
    assert_int_equal (all.n, 3000);
    assert_true (all.batches >= 3000 / HISTORY_BATCH);
    assert_int_equal (scan_with (x, FILTER (.users = WORDS ("ann")), NULL).n, 1500);
    struct history_scan *s = history_scan_create (x->h, FILTER (.after = 0));
    assert_int_equal (history_scan_next (s, on_rows, &f), 0);
    history_scan_destroy (s);
    for (int i = 0; i < 3; i++)
        turn (x);
    assert_int_equal (f.batches, 0);
}

/* More jobs match than a scan lists: it walks the table, with the same result. */
static void test_walk (void **state)
{
    struct fixture *x = *state;
    const struct history_range all[] = { { 1, 300000 } };

    put_many (x, 1, 100500);
    assert_int_equal (scan_with (x, FILTER (.ranges = all, .nranges = 1), NULL).n,
                      100500);
    struct history_range most = { 2, 100450 };
    struct found f =
        scan_with (x, FILTER (.ranges = &most, .nranges = 1, .since = 1), NULL);
    assert_int_equal (f.n, 100449);
}

/* -- missing jobs, and removal -- */

struct lacking {
    bool answered;
    char ids[256];
};

static void on_lacking (int rc, const struct journal_ended *jobs, size_t n, void *arg)
{
    struct lacking *l = arg;

    assert_int_equal (rc, 0);
    l->answered = true;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen (l->ids);
        snprintf (l->ids + len, sizeof (l->ids) - len, "%ju ", (uintmax_t)jobs[i].id);
    }
}

static void assert_lacks (struct fixture *x, const struct journal_ended *jobs, size_t n,
                          const char *ids)
{
    struct lacking l = { 0 };

    assert_int_equal (history_lacks (x->h, jobs, n, on_lacking, &l), 0);
    WAIT_UNTIL (x, l.answered);
    assert_string_equal (l.ids, ids);
}

/* A job of an earlier journal with the same id is another job; a job that retention has
 * removed is not missing. */
static void test_lacks (void **state)
{
    struct fixture *x = *state;
    const struct journal_ended jobs[] = {
        { 1, 1000, 1111 }, { 2, 2000, 2111 }, { 3, 3000.5, 3111 }, { 4, 4000, 4111 }
    };

    put_many (x, 1, 3);
    assert_lacks (x, jobs, 4, "3 4 ");
    history_keep (x->h, 2500, 0);
    WAIT_UNTIL (x, history_removed (x->h) == 2);
    assert_lacks (x, jobs, 4, "3 4 ");
    reopen (x);
    assert_lacks (x, jobs, 4, "3 4 ");
    assert_found (x, "3", .after = 0);
}

static void test_keep (void **state)
{
    struct fixture *x = *state;

    put_many (x, 1, 500);
    history_keep (x->h, 0, 0);
    put_many (x, 501, 501);
    assert_int_equal (history_removed (x->h), 0);
    history_keep (x->h, 100.0 * 1000, 0);
    WAIT_UNTIL (x, history_removed (x->h) == 99);
    history_keep (x->h, 0, 10);
    WAIT_UNTIL (x, history_removed (x->h) == 491);
    assert_found (x, "492 493 494 495 496 497 498 499 500 501", .after = 0);
}

/* Removed jobs' room goes back to the file system while the history is in use. */
static void test_compact (void **state)
{
    struct fixture *x = *state;

    put_many (x, 1, 20000);
    reopen (x); /* a checkpoint: all is in the data base */
    int64_t before = history_bytes (x->h);
    history_keep (x->h, 0, 10);
    WAIT_UNTIL (x, history_removed (x->h) == 19990);
    history_compact (x->h);
    double end = clock_mono () + DEADLINE;
    struct stat st;
    while (stat (x->path, &st) == 0 && st.st_size > before / 4) {
        assert_true (clock_mono () < end);
        put_many (x, 30000, 30000);
        history_compact (x->h);
    }
}

/* -- trouble -- */

static void test_bad_file (void **state)
{
    struct fixture *x = *state;
    struct error err = { 0 };
    char garbage[8192];
    sqlite3 *db;

    history_close (x->h);
    x->h = NULL;
    assert_int_equal (sqlite3_open (x->path, &db), SQLITE_OK);
    assert_int_equal (sqlite3_exec (db, "PRAGMA user_version = 99", NULL, NULL, NULL), 0);
    sqlite3_close (db);
    assert_null (history_open (x->path, wake, x, &err));
    assert_int_equal (err.code, EPROTO);
    assert_non_null (strstr (err.text, "newer"));
    unlink (x->path);
    assert_int_equal (sqlite3_open (x->path, &db), SQLITE_OK);
    assert_int_equal (sqlite3_exec (db, "CREATE TABLE other (x)", NULL, NULL, NULL), 0);
    sqlite3_close (db);
    assert_null (history_open (x->path, wake, x, &err));
    assert_int_equal (err.code, EPROTO);
    memset (garbage, 'x', sizeof (garbage));
    assert_int_equal (
        io_write_file_atomic (x->path, garbage, sizeof (garbage), 0600, &err), 0);
    assert_null (history_open (x->path, wake, x, &err));
    assert_int_equal (err.code, EPROTO);
    assert_non_null (strstr (err.text, "move the file away"));
    unlink (x->path);
    open_history (x);
}

static void check_upgraded (const struct history_job *job)
{
    if (job->id == 1)
        assert_true (!job->licenses && !job->extra && !job->admin_comment);
    else
        assert_string_equal (job->licenses, "matlab:2");
    if (job->id == 2) {
        assert_string_equal (job->mcs_label, "m");
        assert_string_equal (job->components, "[{}]");
    }
    assert_string_equal (job->name, "kept");
}

/* A file of an older version keeps its jobs and gets the columns that it lacks. */
static void upgrade_from (struct fixture *x, const char *older)
{
    struct history_job job = { .id = 1, .name = "kept", .licenses = "lost" };
    sqlite3 *db;

    put (x, &job);
    history_close (x->h);
    x->h = NULL;
    assert_int_equal (sqlite3_open (x->path, &db), SQLITE_OK);
    assert_int_equal (sqlite3_exec (db, older, NULL, NULL, NULL), 0);
    sqlite3_close (db);
    open_history (x);
    job = (struct history_job){ .id = 2,
                                .name = "kept",
                                .licenses = "matlab:2",
                                .extra = "x",
                                .mcs_label = "m",
                                .admin_comment = "a",
                                .components = "[{}]" };
    put (x, &job);
    reopen (x);
    assert_int_equal (scan_with (x, FILTER (.steps = true), check_upgraded).n, 2);
}

#define WITHOUT(column) "ALTER TABLE job DROP COLUMN " column ";"
#define WITHOUT_TEXTS                                                                    \
    WITHOUT ("extra")                                                                    \
    WITHOUT ("mcs_label") WITHOUT ("admin_comment") WITHOUT ("components")

static void test_upgrade_from_1 (void **state)
{
    upgrade_from (*state, WITHOUT_TEXTS WITHOUT ("licenses") "PRAGMA user_version = 1");
}

static void test_upgrade_from_2 (void **state)
{
    upgrade_from (*state, WITHOUT_TEXTS "UPDATE job SET licenses = NULL;"
                                        "PRAGMA user_version = 2");
}

/* While the file is away nothing is committed, and nothing fails; then all is. */
static void test_trouble (void **state)
{
    struct fixture *x = *state;
    char away[128];

    put_many (x, 1, 3);
    assert_null (history_trouble (x->h));
    snprintf (away, sizeof (away), "%s-away", x->path);
    assert_int_equal (rename (x->path, away), 0);
    for (int64_t id = 4; id <= 9; id++) {
        struct history_job job = job_of (id);
        assert_int_equal (history_put (x->h, &job, on_put, x), 0);
    }
    WAIT_UNTIL (x, history_trouble (x->h) != NULL);
    assert_non_null (strstr (history_trouble (x->h), "removed or replaced"));
    assert_int_equal (x->put, 3);
    assert_int_equal (history_waiting (x->h), 6);
    assert_int_equal (rename (away, x->path), 0);
    WAIT_UNTIL (x, x->put == 9);
    assert_null (history_trouble (x->h));
    assert_found (x, "1 2 3 4 5 6 7 8 9", .after = 0);
    assert_int_equal (rename (x->path, away), 0);
    struct history_job job = job_of (10);
    assert_int_equal (history_put (x->h, &job, on_put, x), 0);
    history_close (x->h); /* in time, although the disk refuses */
    x->h = NULL;
    assert_int_equal (x->canceled, 1);
    assert_int_equal (rename (away, x->path), 0);
    open_history (x);
}

/* Killed at any moment, the history has all jobs that it confirmed, whole. */
static void kill_once (struct fixture *x, int64_t first, useconds_t after)
{
    int fds[2], put_before = x->put;
    int64_t confirmed = first - 1, id;

    history_close (x->h);
    x->h = NULL;
    assert_int_equal (pipe (fds), 0);
    pid_t pid = fork ();
    if (pid == 0) {
        open_history (x);
        for (id = first;; id++) {
            struct history_job job = job_of (id);
            int before = x->put;
            history_put (x->h, &job, on_put, x);
            while (x->put == before)
                turn (x);
            if (write (fds[1], &id, sizeof (id)) != sizeof (id))
                _exit (0);
        }
    }
    close (fds[1]);
    usleep (after);
    kill (pid, SIGKILL);
    waitpid (pid, NULL, 0);
    while (read (fds[0], &id, sizeof (id)) == sizeof (id))
        confirmed = id;
    close (fds[0]);
    x->put = put_before;
    open_history (x);
    struct found f = scan_with (x, FILTER (.after = (uint64_t)first - 1), NULL);
    int64_t last = f.n > 0 ? f.last_id : first - 1;
    assert_true (last >= confirmed);
    assert_int_equal (f.n, last - first + 1);
}

static void test_kill (void **state)
{
    for (int i = 0; i < 12; i++)
        kill_once (*state, 1 + i * 100000, 20000U + (useconds_t)i * 13000U);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (test_columns),        TEST (test_mode),           TEST (test_filters),
        TEST (test_times),          TEST (test_arrays),         TEST (test_batches),
        TEST (test_walk),           TEST (test_lacks),          TEST (test_keep),
        TEST (test_compact),        TEST (test_bad_file),       TEST (test_trouble),
        TEST (test_upgrade_from_1), TEST (test_upgrade_from_2), TEST (test_kill),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
