/* test_retention.c - old ended jobs leave the journal, but not those that are still needed
 *
 * The journal's own part is fake: it lists the ids of `old`, and keeps those that are to go
 * in `pruned`. So is the history, which has all jobs but those from `lacks` on. */
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/services/history/history.h"

#define SLICE 16

static struct {
    uint64_t ids[100];
    size_t n;
    char pruned[1000];
    size_t npruned;
    unsigned looks, compacted;
    int64_t jobs;
    double keep;
    journal_old_f done; /* for the running query, or NULL */
    void *arg;
    uint64_t after;
    int rc;
    uint64_t lacks; /* 0: none */
    int history_rc;
} old;

extern const struct broker_service service_retention;

int __wrap_journal_old (struct journal *j, int64_t jobs, double keep, uint64_t after,
                        size_t max, journal_old_f done, void *arg);
int __wrap_history_missing (struct broker *b, const struct journal_ended *jobs, size_t n,
                            history_lacks_f done, void *arg);
void __wrap_journal_txn_prune (struct journal_txn *t, uint64_t id);
void __real_journal_txn_prune (struct journal_txn *t, uint64_t id);
void __wrap_journal_compact (struct journal *j);

int __wrap_journal_old (struct journal *j, int64_t jobs, double keep, uint64_t after,
                        size_t max, journal_old_f done, void *arg)
{
    (void)j;
    assert_int_equal (max, SLICE);
    assert_null (old.done); /* one query at a time */
    old.looks++;
    old.jobs = jobs;
    old.keep = keep;
    old.after = after;
    if (old.rc < 0)
        return old.rc;
    old.done = done;
    old.arg = arg;
    return 0;
}

void __wrap_journal_txn_prune (struct journal_txn *t, uint64_t id)
{
    size_t len = strlen (old.pruned);

    snprintf (old.pruned + len, sizeof (old.pruned) - len, "%ju ", (uintmax_t)id);
    old.npruned++;
    __real_journal_txn_prune (t, id);
}

int __wrap_history_missing (struct broker *b, const struct journal_ended *jobs, size_t n,
                            history_lacks_f done, void *arg)
{
    size_t at = 0;

    (void)b;
    while (at < n && (!old.lacks || jobs[at].id < old.lacks))
        at++;
    if (old.history_rc == 0)
        done (0, jobs + at, n - at, arg);
    return old.history_rc;
}

void __wrap_journal_compact (struct journal *j)
{
    (void)j;
    old.compacted++;
}

/* The journal answers the query, if there is one. */
static void answer (struct small *s)
{
    while (old.done) {
        journal_old_f done = old.done;
        struct journal_ended found[SLICE] = { 0 };
        size_t n = 0;

        old.done = NULL;
        for (size_t i = 0; i < old.n && n < SLICE; i++)
            if (old.ids[i] > old.after)
                found[n++].id = old.ids[i];
        done (0, found, n, old.arg);
        small_turn (s);
    }
}

static void list (uint64_t from, uint64_t to)
{
    for (uint64_t id = from; id <= to; id++)
        old.ids[old.n++] = id;
}

static void begin (struct small *s)
{
    struct error err = { 0 };

    memset (&old, 0, sizeof (old));
    small_set (s, "journal", json_pack ("{s:i s:i}", "jobs", 7, "keep", 3600));
    assert_int_equal (service_retention.begin (s->b, &err), 0);
}

/* The number of jobs removed since the start, as the status shows it. */
static int64_t removed (struct small *s)
{
    long countdown = small_spare ();
    autojson json_t *status = json_pack ("{s:{}}", "journal");

    service_retention.shows_status (s->b, 0, status);
    small_resume (countdown);
    return json_integer_value (
        json_object_get (json_object_get (status, "journal"), "removed"));
}

static void compact (struct small *s)
{
    struct client *c = client_ask (s, 0, "POST /v1/journal", "{\"action\":\"compact\"}");

    assert_int_equal (c->status, 202);
}

/* The first round is 5 s after the start, then one a minute; 16 jobs at a time,
 * while there are more. */
static void test_rounds (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 140);
    small_advance (s, 4);
    assert_int_equal (old.looks, 0);
    small_advance (s, 2);
    assert_int_equal (old.looks, 1);
    assert_int_equal (old.jobs, 7);
    assert_true (old.keep == 3600);
    answer (s);
    assert_int_equal (old.looks, 3);
    assert_int_equal (old.npruned, 40);
    assert_int_equal (removed (s), 40);
    assert_non_null (strstr (old.pruned, "101 102 "));
    old.n = 0;
    small_advance (s, 60);
    answer (s);
    assert_int_equal (old.looks, 4);
    assert_int_equal (removed (s), 40);
    assert_int_equal (old.compacted, 0);
    small_destroy (s);
}

/* Jobs in memory stay, and jobs on which a waiting job depends. A list full of such
 * jobs does not end the round. */
static void test_needed (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    for (int i = 0; i < SLICE; i++)
        small_submit (s, "duration: 0");
    small_submit (s, "duration: 0, dependencies: [{scheme: afterany, value: \"3\"}]");
    small_turn (s);
    entry_remove (s->b, entry_find (s->b, 4));
    list (1, SLICE);
    list (201, 202);
    small_advance (s, 6);
    answer (s);
    assert_string_equal (old.pruned, "4 201 202 ");
    small_destroy (s);
}

/* A job that the history does not have stays; also while the history cannot say. */
static void test_lacking (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 110);
    old.lacks = 108;
    small_advance (s, 6);
    answer (s);
    assert_string_equal (old.pruned, "101 102 103 104 105 106 107 ");
    old.pruned[0] = '\0';
    old.history_rc = -EAGAIN;
    small_advance (s, 60);
    answer (s);
    assert_string_equal (old.pruned, "");
    old.history_rc = 0;
    old.lacks = 0;
    small_advance (s, 60);
    answer (s);
    assert_non_null (strstr (old.pruned, "108 109 110 "));
    assert_int_equal (s->b->under_way, 0);
    small_destroy (s);
}

/* Runs on demand; after the round the journal's space is given back, once. */
static void test_compact (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 120);
    compact (s);
    assert_int_equal (old.looks, 1);
    compact (s); /* one round serves both requests */
    assert_int_equal (old.looks, 1);
    assert_int_equal (old.compacted, 0);
    answer (s);
    assert_int_equal (old.npruned, 20);
    assert_int_equal (old.compacted, 1);
    small_advance (s, 6);
    answer (s);
    assert_int_equal (old.compacted, 1);
    small_destroy (s);
}

/* If the journal cannot answer now, the next round asks again. */
/* The history gets ended jobs a moment later than the journal: a request looks again. */
static void test_compact_later (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 110);
    old.lacks = 105;
    compact (s);
    answer (s);
    assert_int_equal (old.npruned, 4);
    assert_int_equal (old.compacted, 0);
    old.n = 0;
    list (105, 110);
    old.lacks = 0;
    small_advance (s, 6);
    answer (s);
    assert_int_equal (old.npruned, 10);
    assert_int_equal (old.compacted, 1);

    /* A history that never gets them does not keep the request for ever. */
    old.lacks = 105;
    compact (s);
    answer (s);
    for (int i = 0; i < 20; i++) {
        small_advance (s, 6);
        answer (s);
    }
    assert_int_equal (old.compacted, 2);
    small_destroy (s);
}

static void test_busy (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 102);
    old.rc = -EAGAIN;
    small_advance (s, 6);
    assert_int_equal (old.looks, 1);
    assert_int_equal (s->b->under_way, 0);
    old.rc = 0;
    small_advance (s, 60);
    answer (s);
    assert_int_equal (removed (s), 2);
    small_destroy (s);
}

/* The broker stops during a query: no further query follows. */
static void test_stopping (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    begin (s);
    list (101, 140);
    small_advance (s, 6);
    s->b->stopping = true;
    answer (s);
    assert_int_equal (old.looks, 1);
    assert_int_equal (old.npruned, SLICE);
    small_advance (s, 120);
    assert_int_equal (old.looks, 1);
    assert_int_equal (s->b->under_way, 0);
    small_destroy (s);
}

/* Needed jobs also stay without memory, and a later round removes the others. */
static void scenario (struct small *s)
{
    begin (s);
    small_submit (s, "duration: 0");
    small_submit (s, "duration: 0");
    small_submit (s, "duration: 0, dependencies: [{scheme: afterany, value: \"1\"}]");
    small_turn (s);
    list (1, 20);
    for (int i = 0; i < 3; i++) {
        small_advance (s, 60);
        old.pruned[0] = '\0';
        answer (s);
        assert_true (!entry_find (s->b, 1) || strncmp (old.pruned, "1 ", 2) != 0);
    }
    assert_true (removed (s) >= 17);
    assert_int_equal (s->b->under_way, 0);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_rounds),        cmocka_unit_test (test_needed),
        cmocka_unit_test (test_lacking),       cmocka_unit_test (test_compact),
        cmocka_unit_test (test_compact_later), cmocka_unit_test (test_busy),
        cmocka_unit_test (test_stopping),      cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
