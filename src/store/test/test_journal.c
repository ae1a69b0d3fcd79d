/* test_journal.c - the content of the journal, its order, and refusals */
#include "store/test/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

static int setup (void **state)
{
    static struct harness h;

    harness_init (&h);
    harness_open (&h);
    *state = &h;
    return 0;
}

static int teardown (void **state)
{
    harness_release (*state);
    return 0;
}

struct seen {
    uint64_t ids[64];
    size_t njobs, nevents;
    size_t inactive;
    char last_key[64];
    char log[1024]; /* "1:submit 1:validate 2:..." */
    int stop_after; /* jobs; 0: never */
};

static int on_job (const struct journal_job_row *row, void *arg)
{
    struct seen *s = arg;

    assert_true (s->njobs < 64);
    s->ids[s->njobs++] = row->id;
    s->inactive += row->inactive;
    snprintf (s->last_key, sizeof (s->last_key), "%s", row->key ? row->key : "-");
    assert_int_equal (row->uid, 1000);
    for (size_t i = 0; i < row->jobspec_len; i++)
        assert_int_equal (row->jobspec[i],
                          'a' + (int)((row->of ? row->of : row->id) % 26));
    assert_int_equal (row->jobspec_len, row->inactive ? 0 : 300);
    return s->stop_after && (int)s->njobs == s->stop_after ? 7 : 0;
}

static int on_event (uint64_t id, double timestamp, const char *name, const char *context,
                     void *arg)
{
    struct seen *s = arg;
    size_t len = strlen (s->log);

    assert_int_equal (id, s->ids[s->njobs - 1]);
    if (strcmp (name, "submit") == 0) {
        assert_true (timestamp == 1000.0 + (double)id);
        assert_string_equal (context, "{\"userid\":1000}");
    }
    s->nevents++;
    snprintf (s->log + len, sizeof (s->log) - len, "%ju:%s ", (uintmax_t)id, name);
    return 0;
}

static struct seen load (struct harness *h, size_t recent)
{
    struct seen s = { 0 };
    struct error err = { 0 };

    if (journal_load (h->j, recent, on_job, on_event, &s, &err) != 0)
        fail_msg ("%s", err.text);
    return s;
}

/* Fails if a reply would be sent for a job that a restart does not know, or if events
 * come back in another order. */
static void test_reopen (void **state)
{
    struct harness *h = *state;

    for (uint64_t id = 1; id <= 3; id++)
        harness_submit (h, id, id == 3 ? "k3" : NULL);
    harness_event (h, 2, "depend");
    harness_event (h, 1, "depend");
    harness_event (h, 2, "alloc");
    harness_wait (h, 6);
    assert_int_equal (h->failed, 0);
    assert_int_equal (journal_waiting (h->j), 0);
    assert_null (journal_trouble (h->j));
    harness_close (h);
    harness_open (h);
    struct seen s = load (h, 0);
    assert_int_equal (s.njobs, 3);
    assert_string_equal (s.log,
                         "1:submit 1:validate 1:depend 2:submit 2:validate 2:depend "
                         "2:alloc 3:submit 3:validate ");
    assert_string_equal (s.last_key, "k3");
    assert_int_equal (journal_last_id (h->j), 3);
    harness_event (h, 1, "clean"); /* the numbering of events continues */
    harness_wait (h, 7);
    s = load (h, 0);
    assert_non_null (strstr (s.log, "1:submit 1:validate 1:depend 1:clean 2:submit"));
}

/* Fails if ended jobs fill the broker's memory at its start, or vanish from the
 * listing. */
static void test_recent (void **state)
{
    struct harness *h = *state;
    struct journal_txn *t;

    for (uint64_t id = 1; id <= 10; id++)
        harness_submit (h, id, NULL);
    for (uint64_t id = 1; id <= 8; id++) {
        t = journal_txn_create ();
        if (id == 3)
            journal_txn_inactive (t, 99); /* an unknown job does no harm */
        else
            journal_txn_inactive (t, id);
        assert_int_equal (journal_commit (h->j, t, 0, harness_done, h), 0);
    }
    harness_wait (h, 18);
    struct seen s = load (h, 2);
    static const uint64_t want[] = { 3, 7, 8, 9, 10 };
    assert_int_equal (s.njobs, 5);
    assert_memory_equal (s.ids, want, sizeof (want));
    assert_int_equal (s.inactive, 2);
    assert_int_equal (load (h, 0).njobs, 3);
    assert_int_equal (load (h, SIZE_MAX).njobs, 10);
    s = (struct seen){ .stop_after = 2 };
    assert_int_equal (journal_load (h->j, 2, on_job, on_event, &s, NULL), 7);
    assert_int_equal (s.njobs, 2);
}

static int on_setting (const char *name, const char *value, void *arg)
{
    char *log = arg;
    size_t len = strlen (log);

    snprintf (log + len, 256 - len, "%s=%s ", name, value);
    return 0;
}

/* Fails if a drained node accepts jobs again after a restart. */
static void test_settings (void **state)
{
    struct harness *h = *state;
    struct journal_txn *t = journal_txn_create ();
    char log[256] = "";

    journal_txn_setting (t, "drain/n1", "bad fan");
    journal_txn_setting (t, "drain/n2", "");
    journal_txn_setting (t, "drain/n1", "bad fan, again");
    journal_txn_setting (t, "drain/n3", "x");
    journal_txn_setting (t, "drain/n3", NULL);
    assert_false (journal_txn_empty (t));
    assert_int_equal (journal_commit (h->j, t, 0, harness_done, h), 0);
    harness_wait (h, 1);
    assert_int_equal (journal_load_settings (h->j, on_setting, log, NULL), 0);
    assert_string_equal (log, "drain/n1=bad fan, again drain/n2= ");
}

/* Fails if one bad submit also fails the others in its group commit. */
static void test_bad_one_fails_alone (void **state)
{
    struct harness *h = *state;

    harness_submit (h, 1, NULL);
    harness_wait (h, 1);
    for (uint64_t id = 2; id <= 50; id++)
        harness_submit (h, id, NULL);
    harness_submit (h, 1, "again"); /* given twice */
    harness_submit (h, 51, NULL);
    harness_submit (h, 20, NULL); /* twice in one batch */
    harness_submit (h, 52, NULL);
    assert_int_equal (journal_find_key (h->j, 1000, "again"), 1);
    harness_wait (h, 54);
    assert_int_equal (h->failed, 2);
    assert_int_equal (h->last_err.code, EEXIST);
    assert_null (journal_trouble (h->j));
    assert_int_equal (journal_find_key (h->j, 1000, "again"), 0);
    struct seen s = load (h, 0);
    assert_int_equal (s.njobs, 52);
    assert_int_equal (s.nevents, 104); /* neither submit left anything */
}

/* Fails if a retried submit makes two jobs, or if another user's key counts
 * as the user's own. */
static void test_keys (void **state)
{
    struct harness *h = *state;
    char text[JOURNAL_KEY_MAX + 2];

    assert_int_equal (journal_find_key (h->j, 1000, "a"), 0);
    harness_submit (h, 1, "a");
    assert_int_equal (journal_find_key (h->j, 1000, "a"), 1); /* before its commit */
    assert_int_equal (journal_find_key (h->j, 1001, "a"), 0);
    assert_int_equal (journal_find_key (h->j, 1000, "aa"), 0);
    assert_int_equal (journal_find_key (h->j, 1000, NULL), 0);
    memset (text, 'k', sizeof (text));
    text[JOURNAL_KEY_MAX + 1] = '\0';
    assert_int_equal (journal_find_key (h->j, 1000, text), 0);
    assert_int_equal (journal_commit (h->j, harness_job (2, 1000, text, 10),
                                      JOURNAL_MAY_FAIL, harness_done, h),
                      -EINVAL);
    text[JOURNAL_KEY_MAX] = '\0';
    harness_submit (h, 2, text);
    harness_wait (h, 2);
    harness_close (h);
    harness_open (h);
    assert_int_equal (journal_find_key (h->j, 1000, "a"), 1);
    assert_int_equal (journal_find_key (h->j, 1000, text), 2);
}

static void sql (const char *path, const char *text)
{
    sqlite3 *db;

    assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
    assert_int_equal (sqlite3_exec (db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close (db);
}

/* Fails if keys are kept forever, or forgotten too early. */
static void test_old_keys (void **state)
{
    struct harness *h = *state;

    harness_submit (h, 1, "day");
    harness_submit (h, 2, "hour");
    harness_submit (h, 3, "now"); /* the journal's time continues here */
    harness_wait (h, 3);
    harness_close (h);
    sql (h->path, "UPDATE job SET submitted = submitted - 86402 WHERE id = 1;"
                  "UPDATE job SET submitted = submitted - 86397 WHERE id = 2;");
    harness_open (h);
    assert_int_equal (journal_find_key (h->j, 1000, "day"), 0);
    assert_int_equal (journal_find_key (h->j, 1000, "hour"), 2);
    double end = clock_mono () + DEADLINE;
    while (journal_find_key (h->j, 1000, "hour")
           != 0) { /* the key's day ends within a few seconds */
        harness_turn (h);
        assert_true (clock_mono () < end);
    }
    harness_submit (h, 4, "day");
    assert_int_equal (journal_find_key (h->j, 1000, "day"), 4);
    harness_wait (h, 4);
}

/* Fails if an hour of a wrong wall clock, or a week without a broker, makes the
 * journal forget all keys, so that each repeated submit is a second job. */
static void test_clock_jump (void **state)
{
    struct harness *h = *state;

    harness_submit (h, 1, "a");
    harness_wait (h, 1);
    harness_close (h);
    sql (h->path, "UPDATE job SET submitted = submitted - 1000000000");
    harness_open (h);
    assert_int_equal (journal_find_key (h->j, 1000, "a"), 1);
    harness_submit (h, 2, "b");
    harness_wait (h, 2);
    harness_close (h);
    harness_open (h);
    assert_int_equal (journal_find_key (h->j, 1000, "a"), 1);
    assert_int_equal (journal_find_key (h->j, 1000, "b"), 2);
}

struct lookup {
    int calls, rc;
    size_t nevents, len;
    char names[128];
};

static void on_record (int rc, const struct journal_record *rec, void *arg)
{
    struct lookup *l = arg;

    l->calls++;
    l->rc = rc;
    if (!rec)
        return;
    l->nevents = rec->nevents;
    l->len = rec->jobspec ? rec->jobspec_len : 0;
    l->names[0] = '\0';
    for (size_t i = 0; i < rec->nevents; i++) {
        size_t len = strlen (l->names);
        snprintf (l->names + len, sizeof (l->names) - len, "%s%s ", rec->events[i].name,
                  rec->events[i].context ? rec->events[i].context : "");
    }
}

static struct lookup look_up (struct harness *h, uint64_t id, int want)
{
    struct lookup l = { 0 };
    double end = clock_mono () + DEADLINE;

    assert_int_equal (journal_read (h->j, id, want, on_record, &l), 0);
    while (l.calls == 0 && clock_mono () < end)
        harness_turn (h);
    assert_int_equal (l.calls, 1);
    return l;
}

/* Fails if fluxq-show of a job that left the broker's memory fails or mixes jobs. */
static void test_read (void **state)
{
    struct harness *h = *state;

    harness_submit (h, 1, NULL);
    assert_int_equal (journal_commit (h->j, harness_job (2, 5, NULL, 1500000),
                                      JOURNAL_MAY_FAIL, harness_done, h),
                      0);
    for (int i = 0; i < 40; i++)
        harness_event (h, 2, "x");
    harness_wait (h, 42);
    struct lookup l = look_up (h, 1, JOURNAL_JOBSPEC | JOURNAL_EVENTS);
    assert_int_equal (l.rc, 0);
    assert_int_equal (l.len, 300);
    assert_string_equal (l.names, "submit{\"userid\":1000} validate ");
    l = look_up (h, 2, JOURNAL_JOBSPEC | JOURNAL_EVENTS);
    assert_int_equal (l.len, 1500000);
    assert_int_equal (l.nevents, 42);
    l = look_up (h, 2, JOURNAL_EVENTS);
    assert_int_equal (l.len, 0);
    assert_int_equal (l.nevents, 42);
    l = look_up (h, 2, JOURNAL_JOBSPEC);
    assert_int_equal (l.len, 1500000);
    assert_int_equal (l.nevents, 0);
    assert_int_equal (look_up (h, 2, 0).rc, 0);
    assert_int_equal (look_up (h, 3, JOURNAL_EVENTS).rc, -ENOENT);
}

/* Fails if two brokers write one journal. */
static void test_second_broker (void **state)
{
    struct harness *h = *state;
    struct error err = { 0 };
    struct stat st;

    assert_null (journal_open (h->path, NULL, NULL, &err));
    assert_int_equal (err.code, EBUSY);
    assert_non_null (strstr (err.text, h->path));
    assert_int_equal (stat (h->path, &st), 0);
    assert_int_equal (st.st_mode & 0777, 0600);
    harness_submit (h, 1, NULL); /* the first broker is not disturbed */
    harness_wait (h, 1);
    assert_int_equal (h->failed, 0);
}

static int refused (const char *path)
{
    struct error err = { 0 };
    struct journal *j = journal_open (path, NULL, NULL, &err);

    journal_close (j);
    assert_true (j || strstr (err.text, path));
    return j ? 0 : err.code;
}

static void ignore (const char *line, void *arg)
{
    (void)line;
    (void)arg;
}

static int check (const char *path, bool mend)
{
    struct error err = { 0 };

    return journal_check (path, mend, (struct journal_say){ .line = ignore }, &err);
}

/* Fails if a journal of a newer version, or another program's file, is written. */
static void test_foreign_files (void **state)
{
    struct harness *h = *state;
    struct error err = { 0 };
    char path[160];

    harness_close (h);
    sql (h->path, "PRAGMA user_version = 99");
    assert_int_equal (refused (h->path), EPROTO);
    assert_int_equal (check (h->path, false), -EPROTO);
    assert_int_equal (check (h->path, true), -EPROTO); /* a repair would lose data */
    sql (h->path, "PRAGMA user_version = 3; PRAGMA application_id = 1");
    assert_int_equal (check (h->path, true), -EPROTO);
    snprintf (path, sizeof (path), "%s/other", h->dir);
    sql (path, "CREATE TABLE mine (x)");
    assert_int_equal (refused (path), EPROTO);
    snprintf (path, sizeof (path), "%s/text", h->dir);
    static char text[8192];
    memset (text, 'x', sizeof (text));
    assert_int_equal (io_write_file_atomic (path, text, sizeof (text), 0600, &err), 0);
    assert_int_equal (refused (path), EPROTO);
    snprintf (path, sizeof (path), "%s/none/journal", h->dir);
    assert_int_equal (refused (path), ENOENT);
    assert_int_equal (refused (h->dir), EISDIR);
}

/* A damaged counter of ids gives no id twice. */
static void test_damaged_counter (void **state)
{
    struct harness *h = *state;

    for (uint64_t id = 1; id <= 3; id++)
        harness_submit (h, id, NULL);
    harness_wait (h, 3);
    for (int i = 0; i < 2; i++) {
        harness_close (h);
        sql (h->path, i ? "UPDATE sqlite_sequence SET seq = -5"
                        : "UPDATE sqlite_sequence SET seq = 1");
        harness_open (h);
        assert_int_equal (journal_last_id (h->j), 3);
    }
}

static int any_setting (const char *name, const char *value, void *arg)
{
    (void)arg;
    assert_true (name && value);
    return 0;
}

/* A damaged row of a setting is an error, and no text that is missing. */
static void test_damaged_setting (void **state)
{
    struct harness *h = *state;
    struct error err = { 0 };

    harness_close (h);
    sql (h->path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
                  " replace (sql, ' NOT NULL', '') WHERE name = 'setting'");
    sql (h->path, "INSERT INTO setting VALUES ('a', NULL)");
    harness_open (h);
    assert_int_equal (journal_load_settings (h->j, any_setting, NULL, &err), -EBADMSG);
    assert_non_null (strstr (err.text, "the setting 'a'"));
}

static void commit (struct harness *h, struct journal_txn *t)
{
    assert_int_equal (journal_commit (h->j, t, 0, harness_done, h), 0);
    harness_wait (h, h->completed + 1);
    assert_int_equal (h->failed, 0);
}

/* Fails if each task of an array has a copy of a script of megabytes, or none, or if
 * another job gets the id of a future task after a restart. */
static void test_shared_jobspec (void **state)
{
    struct harness *h = *state;
    struct journal_txn *t = harness_job (4, 1000, NULL, 300);

    journal_txn_keep_ids (t, 14);
    commit (h, t);
    t = journal_txn_create ();
    journal_txn_job_of (t, 5, 1000, 4);
    journal_txn_event (t, 5, 1005.0, "submit", "{\"userid\":1000}");
    journal_txn_keep_ids (t, 9); /* lower than before: no change */
    commit (h, t);
    assert_int_equal (look_up (h, 5, JOURNAL_JOBSPEC | JOURNAL_EVENTS).len, 300);
    harness_close (h);
    harness_open (h);
    struct seen s = load (h, 10);
    assert_int_equal (s.njobs, 2);
    assert_string_equal (s.log, "4:submit 4:validate 5:submit ");
    assert_int_equal (journal_last_id (h->j), 14);
    harness_submit (h, 15, NULL);
    harness_wait (h, 3);
    assert_int_equal (load (h, 10).njobs, 3);
}

/* Fails if data of an older fluxq is not read, or is lost. */
static void test_version_1 (void **state)
{
    struct harness *h = *state;

    harness_submit (h, 1, NULL);
    harness_wait (h, 1);
    harness_close (h);
    sql (h->path, "DROP INDEX job_by_spec; ALTER TABLE job DROP COLUMN spec;"
                  "ALTER TABLE job DROP COLUMN sum;"
                  "ALTER TABLE job DROP COLUMN ended; ALTER TABLE event DROP COLUMN sum;"
                  "ALTER TABLE event DROP COLUMN total; PRAGMA user_version = 1");
    harness_open (h);
    assert_int_equal (load (h, 10).njobs, 1);
    struct journal_txn *t = journal_txn_create ();
    journal_txn_job_of (t, 2, 1000, 1);
    commit (h, t);
    assert_int_equal (look_up (h, 2, JOURNAL_JOBSPEC).len, 300);
    harness_close (h);
    harness_open (h); /* once more, in the present format */
    assert_int_equal (load (h, 10).njobs, 2);
}

static void check_order (int rc, const struct error *err, void *arg)
{
    static uintptr_t expected;

    (void)err;
    assert_int_equal (rc, 0);
    assert_int_equal ((uintptr_t)arg, expected);
    expected++;
}

/* Fails if completions are out of order, or if commits wait for the disk one by one.
 * Also shows the use of an empty transaction. */
static void test_order (void **state)
{
    struct harness *h = *state;

    for (uintptr_t i = 0; i < 2000; i++)
        assert_int_equal (journal_commit (h->j, harness_job (i + 1, 1000, NULL, 100),
                                          i % 3 ? 0 : JOURNAL_MAY_FAIL, check_order,
                                          (void *)i),
                          0);
    struct journal_txn *t = journal_txn_create ();
    assert_true (journal_txn_empty (t));
    assert_int_equal (journal_commit (h->j, t, JOURNAL_MAY_FAIL, harness_done, h), 0);
    harness_wait (h, 1);
    check_order (0, NULL, (void *)(uintptr_t)2000);
}

static int give (struct harness *h, int flags, int id)
{
    return journal_commit (h->j, harness_job ((uint64_t)id, 1000, NULL, 1024 * 1024), flags,
                           harness_done, h);
}

/* Fails if a stuck disk makes the broker grow without limit. */
static void test_bound (void **state)
{
    struct harness *h = *state;
    sqlite3 *db;
    int given = 0;

    assert_int_equal (sqlite3_open (h->path, &db), SQLITE_OK); /* blocks the writer */
    assert_int_equal (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    /* A transaction that may fail does so when the writer has waited 2 s for the
     * lock, and makes room. */
    for (; given < 200; given++)
        assert_int_equal (give (h, 0, given + 1), 0);
    assert_int_equal (give (h, JOURNAL_MAY_FAIL, ++given), 0);
    for (; given < 256; given++)
        assert_int_equal (give (h, 0, given + 1), 0);
    assert_int_equal (give (h, JOURNAL_MAY_FAIL, 300), -EAGAIN);
    harness_event (h, 1, "x"); /* past events are always accepted */
    assert_int_equal (sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close (db);
    harness_wait (h, given + 1);
}

/* Fails if transactions from just before the end are lost. */
static void test_close_commits (void **state)
{
    struct harness *h = *state;

    for (uint64_t id = 1; id <= 20; id++)
        harness_submit (h, id, NULL);
    harness_close (h);
    harness_open (h);
    assert_int_equal (load (h, 0).njobs, 20);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_reopen, setup, teardown),
        cmocka_unit_test_setup_teardown (test_recent, setup, teardown),
        cmocka_unit_test_setup_teardown (test_settings, setup, teardown),
        cmocka_unit_test_setup_teardown (test_bad_one_fails_alone, setup, teardown),
        cmocka_unit_test_setup_teardown (test_keys, setup, teardown),
        cmocka_unit_test_setup_teardown (test_old_keys, setup, teardown),
        cmocka_unit_test_setup_teardown (test_clock_jump, setup, teardown),
        cmocka_unit_test_setup_teardown (test_read, setup, teardown),
        cmocka_unit_test_setup_teardown (test_second_broker, setup, teardown),
        cmocka_unit_test_setup_teardown (test_foreign_files, setup, teardown),
        cmocka_unit_test_setup_teardown (test_damaged_counter, setup, teardown),
        cmocka_unit_test_setup_teardown (test_damaged_setting, setup, teardown),
        cmocka_unit_test_setup_teardown (test_shared_jobspec, setup, teardown),
        cmocka_unit_test_setup_teardown (test_version_1, setup, teardown),
        cmocka_unit_test_setup_teardown (test_order, setup, teardown),
        cmocka_unit_test_setup_teardown (test_bound, setup, teardown),
        cmocka_unit_test_setup_teardown (test_close_commits, setup, teardown),
    };

    return cmocka_run_group_tests_name ("journal", tests, NULL, NULL);
}
