/* test_journal_faults.c - a full disk, a failing disk, kill -9 in the middle.
 *
 * Needs a tmpfs of 1 MiB: root, or user namespaces. Without both the test is skipped as a
 * whole.
 */
#include "store/test/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define SKIPPED 77 /* automake's exit status of a test that cannot run */

/* Enters a mount namespace of its own, so that no mount is left in any case. */
static int private_mounts (void)
{
    if (unshare (CLONE_NEWNS | (geteuid () != 0 ? CLONE_NEWUSER : 0)) < 0)
        return -errno;
    /* In a chroot "/" is not a mount point; new mounts then stay below it anyway. */
    if (mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 && errno != EINVAL)
        return -errno;
    return 0;
}

static void fill (const char *dir, char path[128])
{
    static char block[4096];

    snprintf (path, 128, "%s/filler", dir);
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true (fd >= 0);
    while (write (fd, block, sizeof (block)) > 0)
        ;
    assert_int_equal (errno, ENOSPC);
    close (fd);
}

static int count_job (const struct journal_job_row *row, void *arg)
{
    int *n = arg;

    assert_int_equal (row->jobspec_len, row->inactive ? 0 : 300);
    n[0]++;
    return 0;
}

static int count_event (uint64_t id, double timestamp, const char *name,
                        const char *context, void *arg)
{
    int *n = arg;

    (void)id;
    (void)timestamp;
    (void)context;
    n[1]++;
    n[2] += strcmp (name, "finish") == 0;
    return 0;
}

static void wait_for_trouble (struct harness *h, bool wanted)
{
    double end = clock_mono () + DEADLINE;

    while ((journal_trouble (h->j) != NULL) != wanted) {
        harness_turn (h);
        assert_true (clock_mono () < end);
    }
}

/* Submits until a submit fails. Returns the number of accepted submits. */
static int submit_until_full (struct harness *h, uint64_t *id)
{
    int before = h->completed;
    int accepted = 0;

    while (h->failed == 0) {
        harness_submit (h, (*id)++, "key");
        harness_wait (h, ++before);
        accepted += h->last_rc == 0;
        assert_true (accepted < 100000);
    }
    return accepted;
}

/* Fails if a full disk loses past events, writes half a submit, blocks a submit, or
 * gives no message. */
static void test_disk_full (void **state)
{
    struct harness h;
    char filler[128];
    uint64_t id = 1;
    int n[3] = { 0 };

    (void)state;
    harness_init (&h);
    assert_int_equal (mount ("tmpfs", h.dir, "tmpfs", 0, "size=1m"), 0);
    harness_open (&h);
    harness_submit (&h, id++, NULL);
    harness_wait (&h, 1);
    assert_int_equal (h.failed, 0);
    fill (h.dir, filler);
    int accepted = 1 + submit_until_full (&h, &id);
    assert_int_equal (h.last_err.code, ENOSPC);
    assert_non_null (strstr (h.last_err.text, "disk full"));
    assert_non_null (strstr (h.last_err.text, h.path));
    assert_non_null (strstr (journal_trouble (h.j), "disk full"));
    assert_int_equal (journal_find_key (h.j, 1000, "key"), 0);

    int before = h.completed;
    harness_event (&h, 1, "finish"); /* has happened: must not be lost */
    harness_submit (&h, id++, NULL); /* queued behind it, but answered soon */
    harness_event (&h, 1, "finish");
    harness_wait (&h, before + 1);
    assert_int_equal (h.last_rc, -ENOSPC);
    assert_int_equal (journal_waiting (h.j), 2);
    int failed = h.failed;
    assert_int_equal (unlink (filler), 0);
    harness_wait (&h, before + 3);
    assert_int_equal (h.failed, failed);
    wait_for_trouble (&h, false);
    harness_submit (&h, id++, NULL);
    harness_wait (&h, before + 4);
    assert_int_equal (h.last_rc, 0);
    accepted++;
    harness_close (&h);
    harness_open (&h);
    assert_int_equal (journal_load (h.j, 0, count_job, count_event, n, NULL), 0);
    assert_int_equal (n[0], accepted);
    assert_int_equal (n[1], 2 * accepted + 2);
    assert_int_equal (n[2], 2);
    harness_close (&h);
    assert_int_equal (umount2 (h.dir, MNT_DETACH), 0);
    harness_release (&h);
}

/* Fails if a disk that is full at the start, or at the end, blocks the broker. */
static void test_full_at_start_and_end (void **state)
{
    struct harness h;
    struct error err = { 0 };
    char filler[128];

    (void)state;
    harness_init (&h);
    assert_int_equal (mount ("tmpfs", h.dir, "tmpfs", 0, "size=1m"), 0);
    fill (h.dir, filler);
    assert_null (journal_open (h.path, NULL, NULL, &err));
    assert_int_equal (err.code, ENOSPC);
    assert_int_equal (unlink (filler), 0);
    harness_open (&h);
    fill (h.dir, filler);
    uint64_t id = 1;
    submit_until_full (&h, &id);
    harness_event (&h, 1, "finish");
    double start = clock_mono ();
    harness_close (&h);
    assert_true (clock_mono () - start < 10);
    assert_int_equal (unlink (filler), 0);
    harness_open (&h);
    harness_close (&h);
    assert_int_equal (umount2 (h.dir, MNT_DETACH), 0);
    harness_release (&h);
}

/* Fails if another disk error counts as success. (A file size limit makes writes fail
 * with EFBIG, which sqlite reports as an I/O error.) */
static void test_disk_fails (void **state)
{
    struct harness h;
    struct rlimit old, tight = { 256 * 1024, RLIM_INFINITY };
    uint64_t id = 1;
    int n[3] = { 0 };

    (void)state;
    signal (SIGXFSZ, SIG_IGN);
    harness_init (&h);
    assert_int_equal (getrlimit (RLIMIT_FSIZE, &old), 0);
    tight.rlim_max = old.rlim_max;
    harness_open (&h);
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &tight), 0);
    int accepted = submit_until_full (&h, &id);
    assert_non_null (strstr (journal_trouble (h.j), "File too large"));
    int before = h.completed;
    harness_event (&h, 1, "finish");
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &old), 0);
    harness_wait (&h, before + 1);
    assert_int_equal (h.last_rc, 0);
    assert_int_equal (journal_load (h.j, 0, count_job, count_event, n, NULL), 0);
    assert_int_equal (n[0], accepted);
    assert_int_equal (n[1], 2 * accepted + 1);
    harness_release (&h);
}

/* -- kill -9 -- */

#define EVENTS 4
#define STREAM 5000 /* bytes of a jobspec */

struct report {
    struct harness *h;
    uint64_t id;
    int fd;
};

static void report_id (int rc, const struct error *err, void *arg)
{
    struct report *r = arg;

    (void)err;
    if (rc < 0 || io_write_all (r->fd, &r->id, sizeof (r->id)) < 0)
        _exit (1);
    r->h->completed++;
    free (r);
}

/* Runs in the child: commits jobs eight at a time until it is killed, and reports
 * each id that is done. */
static void write_until_killed (struct harness *h, int fd)
{
    static char text[STREAM];

    memset (text, 'j', sizeof (text));
    h->j = journal_open (h->path, harness_wake, h, NULL);
    if (!h->j)
        _exit (2);
    int given = 0;
    for (uint64_t id = journal_last_id (h->j) + 1;; id++) {
        struct journal_txn *t = journal_txn_create ();
        struct report *r = malloc (sizeof (*r));
        if (!t || !r)
            _exit (3);
        *r = (struct report){ h, id, fd };
        journal_txn_job (t, id, 1000, NULL, text, sizeof (text));
        for (int i = 0; i < EVENTS; i++)
            journal_txn_event (t, id, i, "event", "{\"n\":1}");
        journal_commit (h->j, t, JOURNAL_MAY_FAIL, report_id, r);
        for (given++; given - h->completed >= 8;)
            harness_turn (h);
    }
}

struct census {
    uint64_t max_reported, seen, events;
    uint64_t last;
};

static int census_job (const struct journal_job_row *row, void *arg)
{
    struct census *c = arg;

    assert_int_equal (c->events % EVENTS, 0); /* the previous job was complete */
    assert_int_equal (row->id, c->last + 1);
    assert_int_equal (row->jobspec_len, row->inactive ? 0 : STREAM);
    c->last = row->id;
    c->seen++;
    return 0;
}

static int census_event (uint64_t id, double timestamp, const char *name,
                         const char *context, void *arg)
{
    struct census *c = arg;

    (void)id;
    assert_true (timestamp == (double)(c->events % EVENTS));
    assert_string_equal (name, "event");
    assert_string_equal (context, "{\"n\":1}");
    c->events++;
    return 0;
}

static uint64_t run_and_kill (struct harness *h)
{
    int fds[2];
    uint64_t id, last = 0;
    uint32_t delay;

    assert_int_equal (pipe (fds), 0);
    pid_t pid = fork ();
    assert_true (pid >= 0);
    if (pid == 0) {
        close (fds[0]);
        write_until_killed (h, fds[1]);
    }
    close (fds[1]);
    assert_int_equal (getrandom (&delay, sizeof (delay), 0), sizeof (delay));
    struct timespec ts = { .tv_nsec = 1000000L + (long)(delay % 60000000) };
    assert_int_equal (io_read_all (fds[0], &last, sizeof (last)),
                      sizeof (last)); /* the child writes */
    nanosleep (&ts, NULL);            /* the kill must come at a random moment */
    assert_int_equal (kill (pid, SIGKILL), 0);
    while (io_read_all (fds[0], &id, sizeof (id)) == sizeof (id))
        last = id;
    int status;
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_true (WIFSIGNALED (status));
    close (fds[0]);
    return last;
}

/* Fails if an id that a user got is missing after a crash, or if its job is
 * incomplete. */
static void test_kill (void **state)
{
    struct harness h;

    (void)state;
    harness_init (&h);
    for (int round = 0; round < 50; round++) {
        struct census c = { .max_reported = run_and_kill (&h) };
        harness_open (&h);
        assert_int_equal (journal_load (h.j, 0, census_job, census_event, &c, NULL), 0);
        assert_true (c.seen >= c.max_reported);
        assert_int_equal (c.events, c.seen * EVENTS);
        assert_int_equal (journal_last_id (h.j), c.seen);
        harness_close (&h);
    }
    harness_release (&h);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_disk_full),
        cmocka_unit_test (test_full_at_start_and_end),
        cmocka_unit_test (test_disk_fails),
        cmocka_unit_test (test_kill),
    };

    int rc = private_mounts ();
    if (rc < 0) {
        printf ("1..0 # SKIP a mount namespace cannot be made here: %s\n",
                strerror (-rc));
        return SKIPPED;
    }
    return cmocka_run_group_tests_name ("journal_faults", tests, NULL, NULL);
}
