/* test_checkpoint.c - a checkpoint on a disk that loses what a failed sync did not write */
#include "store/checkpoint.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/macros.h"

#define ROWS "200" /* added at once */

/* The database file, as its last successful sync left it. A sync that fails restores this
 * content: the disk lost the rest, and the kernel calls its pages clean. */
static struct {
    char path[64];
    char *content;
    size_t len;
    int fail; /* number of syncs that fail */
    int fd;
    const sqlite3_io_methods *real;
} disk;

static char dir[64];

static void remember (void)
{
    struct stat st;
    int fd = open (disk.path, O_RDONLY | O_CLOEXEC);

    assert_true (fd >= 0 && fstat (fd, &st) == 0);
    disk.len = (size_t)st.st_size;
    disk.content = realloc (disk.content, disk.len + 1);
    assert_int_equal (read (fd, disk.content, disk.len), st.st_size);
    close (fd);
}

static void lose (void)
{
    int fd = open (disk.path, O_WRONLY | O_CLOEXEC);

    assert_true (fd >= 0);
    assert_int_equal (pwrite (fd, disk.content, disk.len, 0), (ssize_t)disk.len);
    assert_int_equal (ftruncate (fd, (off_t)disk.len), 0);
    close (fd);
}

static int fake_sync (sqlite3_file *f, int flags)
{
    if (disk.fail > 0) {
        disk.fail--;
        lose ();
        return SQLITE_IOERR_FSYNC;
    }
    int rc = disk.real->xSync (f, flags);
    remember ();
    return rc;
}

static void use_fake_sync (sqlite3 *db)
{
    static sqlite3_io_methods fake;
    sqlite3_file *f = NULL;

    assert_int_equal (sqlite3_file_control (db, "main", SQLITE_FCNTL_FILE_POINTER, &f),
                      SQLITE_OK);
    disk.real = f->pMethods;
    fake = *f->pMethods;
    fake.xSync = fake_sync;
    f->pMethods = &fake;
}

static sqlite3 *open_db (void)
{
    sqlite3 *db = NULL;

    assert_int_equal (sqlite3_open (disk.path, &db), SQLITE_OK);
    assert_int_equal (sqlite3_exec (db,
                                    "PRAGMA journal_mode = WAL;"
                                    "PRAGMA synchronous = FULL;"
                                    "PRAGMA wal_autocheckpoint = 0;",
                                    NULL, NULL, NULL),
                      SQLITE_OK);
    return db;
}

static void run (sqlite3 *db, const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg ("%s: %s", sql, why);
}

static void add_rows (sqlite3 *db)
{
    run (db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
             " WHERE i < " ROWS ") INSERT INTO t SELECT NULL, hex(zeroblob(300))"
             " FROM n");
}

static char *text_of (sqlite3 *db, const char *sql)
{
    static char text[64];
    sqlite3_stmt *st = NULL;

    assert_int_equal (sqlite3_prepare_v2 (db, sql, -1, &st, NULL), SQLITE_OK);
    if (sqlite3_step (st) == SQLITE_ROW)
        snprintf (text, sizeof (text), "%s", (const char *)sqlite3_column_text (st, 0));
    else
        snprintf (text, sizeof (text), "%s", sqlite3_errmsg (db));
    sqlite3_finalize (st);
    return text;
}

static int setup (void **state)
{
    (void)state;
    snprintf (dir, sizeof (dir), "/tmp/fluxq-checkpoint.XXXXXX");
    if (!mkdtemp (dir))
        return -1;
    snprintf (disk.path, sizeof (disk.path), "%.40s/db", dir);
    disk.fd = open (disk.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return disk.fd < 0 ? -1 : 0;
}

static int teardown (void **state)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    char path[80];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (ends); i++) {
        snprintf (path, sizeof (path), "%s%s", disk.path, ends[i]);
        unlink (path);
    }
    free (disk.content);
    disk.content = NULL;
    close (disk.fd);
    return rmdir (dir);
}

static sqlite3 *open_table (void)
{
    sqlite3 *db = open_db ();

    use_fake_sync (db);
    run (db, "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)");
    assert_int_equal (checkpoint_run (db, disk.fd, SQLITE_CHECKPOINT_TRUNCATE),
                      SQLITE_OK);
    return db;
}

/* Closes both, and reads what is on the disk. */
static void expect_rows (sqlite3 *db, sqlite3 *reader, const char *n)
{
    assert_int_equal (checkpoint_run (db, disk.fd, SQLITE_CHECKPOINT_TRUNCATE),
                      SQLITE_OK);
    sqlite3_close (reader);
    sqlite3_close (db);
    db = open_db ();
    assert_string_equal (text_of (db, "PRAGMA integrity_check"), "ok");
    assert_string_equal (text_of (db, "SELECT count(*) FROM t"), n);
    sqlite3_close (db);
}

/* A reader makes the first checkpoint end early, without a sync. The pages that it moved
 * are lost with the sync that fails, and must be moved again. */
static void test_pages_of_an_early_end (void **state)
{
    sqlite3 *db = open_table (), *reader = open_db ();

    (void)state;
    add_rows (db);
    run (reader, "BEGIN");
    assert_string_equal (text_of (reader, "SELECT count(*) FROM t"), ROWS);
    add_rows (db);
    assert_int_equal (checkpoint_run (db, disk.fd, SQLITE_CHECKPOINT_PASSIVE), SQLITE_OK);
    run (reader, "COMMIT");
    disk.fail = 1;
    assert_int_equal (checkpoint_run (db, disk.fd, SQLITE_CHECKPOINT_TRUNCATE),
                      SQLITE_IOERR);
    expect_rows (db, reader, "400");
}

/* SQLite hides a failure of the checkpoint after a COMMIT. */
static void test_after_a_commit (void **state)
{
    sqlite3 *db = open_table (), *reader = open_db ();

    (void)state;
    checkpoint_automatically (db, disk.fd);
    add_rows (db);
    run (reader, "BEGIN");
    assert_string_equal (text_of (reader, "SELECT count(*) FROM t"), ROWS);
    for (int i = 0; i < 40; i++)
        add_rows (db); /* more than 1,000 frames: the checkpoints end early */
    run (reader, "COMMIT");
    disk.fail = 1;
    add_rows (db);
    assert_int_equal (disk.fail, 0);
    expect_rows (db, reader, "8400");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_pages_of_an_early_end, setup, teardown),
        cmocka_unit_test_setup_teardown (test_after_a_commit, setup, teardown),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
