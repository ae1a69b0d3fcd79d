/* test_wal.c - which damage of SQLite's log is told from the end that a power cut leaves */
#include "store/wal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/io.h"
#include "common/macros.h"

#define FRAME (24 + 4096)
#define OLD 40 /* frames of the first generation; each is a transaction */

static char dir[64], log_path[96];
static sqlite3 *db;

static void run (const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg ("%s: %s", sql, why);
}

static int setup (void **state)
{
    char path[80];

    (void)state;
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-wal.XXXXXX");
    assert_non_null (mkdtemp (dir));
    snprintf (path, sizeof (path), "%s/x.db", dir);
    snprintf (log_path, sizeof (log_path), "%s-wal", path);
    assert_int_equal (sqlite3_open (path, &db), SQLITE_OK);
    run ("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;"
         "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x); CREATE TABLE big (x);"
         "INSERT INTO t VALUES (1); PRAGMA wal_checkpoint (RESTART)");
    for (int i = 0; i < OLD; i++)
        run ("UPDATE t SET x = x + 1");
    run (
        "PRAGMA wal_checkpoint (RESTART)"); /* the next write begins another generation */
    return 0;
}

static int teardown (void **state)
{
    (void)state;
    sqlite3_close (db);
    return io_remove_tree (dir, NULL) == 0 ? 0 : -1;
}

/* Reads or writes the frame of this number, from 0. */
static void frame_get (unsigned number, uint8_t frame[FRAME])
{
    int fd = open (log_path, O_RDONLY | O_CLOEXEC);

    assert_true (fd >= 0);
    assert_int_equal (pread (fd, frame, FRAME, 32 + (off_t)number * FRAME), FRAME);
    close (fd);
}

static void frame_put (unsigned number, const uint8_t frame[FRAME])
{
    int fd = open (log_path, O_WRONLY | O_CLOEXEC);

    assert_true (fd >= 0);
    assert_int_equal (pwrite (fd, frame, FRAME, 32 + (off_t)number * FRAME), FRAME);
    close (fd);
}

static struct wal_state scan (void)
{
    struct wal_state w;
    struct error err = { 0 };

    if (wal_scan (log_path, &w, &err) < 0)
        fail_msg ("%s", err.text);
    return w;
}

/* One transaction of several frames. */
static void add_big (void)
{
    run ("INSERT INTO big WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
         " WHERE i < 12) SELECT randomblob (1500) FROM n");
}

/* Fails if a cut that took back the first frame of the last transaction, where a frame of
 * the generation before is now, counts as the loss of a transaction. */
static void test_power_cut (void **state)
{
    uint8_t old[FRAME];

    (void)state;
    run ("UPDATE t SET x = 0");
    unsigned good = scan ().good;
    assert_int_equal (good, 1);
    frame_get (good, old);
    assert_true (old[4] || old[5] || old[6] || old[7]); /* it ends a transaction */
    add_big ();
    assert_in_range (scan ().good, good + 3, OLD);
    frame_put (good, old);
    struct wal_state w = scan ();
    assert_int_equal (w.good, good);
    assert_true (w.broken);
    assert_false (w.later);
}

/* Fails if damage in front of a whole transaction goes unseen: in the content, in the
 * salts, or when old frames are in the place of a transaction that was on disk. */
static void test_damage (void **state)
{
    uint8_t old[FRAME], whole[FRAME], frame[FRAME];
    static const unsigned bytes[] = { 8, 9, 11, 12, 15, 24 + 100 };

    (void)state;
    run ("UPDATE t SET x = 0");
    unsigned good = scan ().good;
    frame_get (good, old);
    run ("UPDATE t SET x = 1");
    add_big ();
    run ("UPDATE t SET x = 2");
    assert_false (scan ().broken);
    frame_get (good, whole);
    for (size_t i = 0; i < ARRAY_SIZE (bytes); i++) {
        memcpy (frame, whole, FRAME);
        frame[bytes[i]] ^= 0x10;
        frame_put (good, frame);
        struct wal_state w = scan ();
        assert_int_equal (w.good, good);
        assert_true (w.later);
    }
    frame_put (good, old);
    assert_true (scan ().later);
    frame_put (good, whole);
    assert_false (scan ().broken);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_power_cut, setup, teardown),
        cmocka_unit_test_setup_teardown (test_damage, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
