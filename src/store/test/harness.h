/* harness.h - a directory, a journal and a small loop for the journal's tests */
#pragma once

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <cmocka.h>

#include "common/clock.h"
#include "common/io.h"
#include "store/journal.h"

#define DEADLINE 30.0 /* seconds; a wait that takes longer has failed */

struct harness {
    char dir[64];
    char path[96];
    int wakefd;
    struct journal *j;
    int completed, failed, last_rc;
    struct error last_err;
};

static inline void harness_wake (void *arg)
{
    struct harness *h = arg;
    uint64_t one = 1;

    assert_int_equal (io_write_all (h->wakefd, &one, sizeof (one)), 0);
}

static inline void harness_open (struct harness *h)
{
    struct error err = { 0 };

    h->j = journal_open (h->path, harness_wake, h, &err);
    if (!h->j)
        fail_msg ("%s", err.text);
}

static inline void harness_init (struct harness *h)
{
    memset (h, 0, sizeof (*h));
    snprintf (h->dir, sizeof (h->dir), "/tmp/fluxq-test-journal.XXXXXX");
    assert_non_null (mkdtemp (h->dir));
    snprintf (h->path, sizeof (h->path), "%s/journal.sqlite", h->dir);
    h->wakefd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true (h->wakefd >= 0);
}

static inline void harness_close (struct harness *h)
{
    journal_close (h->j);
    h->j = NULL;
}

static inline void harness_release (struct harness *h)
{
    harness_close (h);
    close (h->wakefd);
    assert_int_equal (io_remove_tree (h->dir, NULL), 0);
}

/* One turn of the loop: completions, or nothing after 100 ms. */
static inline void harness_turn (struct harness *h)
{
    struct pollfd p = { .fd = h->wakefd, .events = POLLIN };
    uint64_t n;

    if (poll (&p, 1, 100) == 1)
        assert_int_equal (read (h->wakefd, &n, sizeof (n)), sizeof (n));
    journal_dispatch (h->j);
}

static inline void harness_wait (struct harness *h, int completed)
{
    double end = clock_mono () + DEADLINE;

    while (h->completed < completed) {
        harness_turn (h);
        if (clock_mono () > end)
            fail_msg ("%d of %d completions in %g s", h->completed, completed, DEADLINE);
    }
}

static inline void harness_done (int rc, const struct error *err, void *arg)
{
    struct harness *h = arg;

    h->completed++;
    h->last_rc = rc;
    if (rc < 0) {
        h->failed++;
        h->last_err = *err;
    }
}

static inline struct journal_txn *harness_job (uint64_t id, uint32_t uid, const char *key,
                                               size_t size)
{
    static char text[2 * 1024 * 1024];
    struct journal_txn *t = journal_txn_create ();

    assert_non_null (t);
    assert_true (size <= sizeof (text));
    memset (text, 'a' + (int)(id % 26), size);
    journal_txn_job (t, id, uid, key, text, size);
    journal_txn_event (t, id, 1000.0 + (double)id, "submit", "{\"userid\":1000}");
    journal_txn_event (t, id, 1000.25 + (double)id, "validate", NULL);
    return t;
}

static inline void harness_submit (struct harness *h, uint64_t id, const char *key)
{
    assert_int_equal (journal_commit (h->j, harness_job (id, 1000, key, 300),
                                      JOURNAL_MAY_FAIL, harness_done, h),
                      0);
}

static inline void harness_event (struct harness *h, uint64_t id, const char *name)
{
    struct journal_txn *t = journal_txn_create ();

    journal_txn_event (t, id, 5.0, name, NULL);
    assert_int_equal (journal_commit (h->j, t, 0, harness_done, h), 0);
}
