/* fuzz_journal.c - a journal with hostile content: changed bytes of its files, rows with any
 * values, schemas of older versions and missing tables
 *
 * Parser: store/schema.c store/load.c store/check.c store/head.c store/rowsum.c
 * Parser: store/wal.c
 *
 * The input is a list of changes to a small journal: 'b' FILE, offset and bytes; 's' or 'd' a
 * statement of SQL below with a number and a text. A changed journal is refused with a reason or opened; the
 * mended one is whole, and the rows that are read are in order.
 */
#include "fuzz_sql.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io.h"
#include "common/log.h"
#include "store/journal.h"
#include "store/rowsum.h"

#define FILES 3

static char dir[64] = "/dev/shm/fluxq-fuzz-journal.XXXXXX", path[96];
static const char *const suffixes[FILES] = { "", "-head", "-wal" };
static struct strbuf files[FILES]; /* of the journal before a change */

static const char *const rows[] = {
    "UPDATE event SET context = ?2 WHERE seq = ?1",
    "UPDATE event SET name = ?2 WHERE seq = ?1",
    "UPDATE event SET timestamp = ?2 WHERE seq = ?1",
    "UPDATE event SET id = ?2 WHERE seq = ?1",
    "UPDATE event SET seq = ?2 WHERE seq = ?1",
    "UPDATE event SET total = ?2 WHERE seq = ?1",
    "INSERT INTO event (seq, id, timestamp, name, context) VALUES (?1, 1, ?2, ?2, ?2)",
    "DELETE FROM event WHERE seq >= ?1",
    "UPDATE job SET uid = ?2 WHERE id = ?1",
    "UPDATE job SET inactive = ?2 WHERE id = ?1",
    "UPDATE job SET key = ?2 WHERE id = ?1",
    "UPDATE job SET spec = ?2 WHERE id = ?1",
    "UPDATE job SET submitted = ?2, ended = ?2 WHERE id = ?1",
    "UPDATE job SET id = ?1 WHERE id = 1",
    "DELETE FROM job WHERE id = ?1",
    "UPDATE jobspec SET text = ?2 WHERE id = ?1",
    "UPDATE jobspec SET text = CAST (?2 AS BLOB) WHERE id = ?1",
    "UPDATE setting SET value = ?2",
    "INSERT INTO setting VALUES (?2, ?1)",
    "UPDATE sqlite_sequence SET seq = ?1",
    /* checksums of changed rows */
    "UPDATE event SET sum = rowsum (seq, id, timestamp, name, context)",
    "UPDATE job SET sum = rowsum (id, uid, key, spec, (SELECT text FROM jobspec s WHERE"
    " s.id = job.id))",
};

/* A journal of another version, or of somebody else. */
static const char *const schemas[] = {
    "DROP TABLE jobspec",
    "DROP TABLE event",
    "CREATE TABLE other (x)",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 2",
    "PRAGMA user_version = 4",
    "PRAGMA application_id = 5",
    "PRAGMA journal_mode = DELETE",
    /* back to version 2, whose rows have no checksums */
    "DROP INDEX job_by_spec",
    "ALTER TABLE job DROP COLUMN sum",
    "ALTER TABLE job DROP COLUMN ended",
    "ALTER TABLE event DROP COLUMN sum",
    "ALTER TABLE event DROP COLUMN total",
    "ALTER TABLE job DROP COLUMN spec",
};

static void wake (void *arg)
{
    (void)arg;
}

static void name_file (size_t i, char ret[128])
{
    snprintf (ret, 128, "%s%s", path, suffixes[i]);
}

static void commit_job (struct journal *j, uint64_t id, const char *key)
{
    struct journal_txn *t = journal_txn_create ();

    journal_txn_job (t, id, 1000, key, "{\"version\":1}", 13);
    if (id == 3)
        journal_txn_job_of (t, 4, 1000, 3);
    journal_txn_event (t, id, 1000.5, "submit", "{\"userid\":1000}");
    journal_txn_event (t, id, 1001, "validate", NULL);
    if (id == 2)
        journal_txn_inactive (t, id);
    journal_txn_setting (t, "queue", "{\"batch\":true}");
    assert (journal_commit (j, t, 0, NULL, NULL) == 0);
}

static void clean_up (void)
{
    io_remove_tree (dir, NULL);
}

/* A last change is in the log only, as after a crash. */
static void leave_log (void)
{
    sqlite3 *db = NULL;

    assert (sqlite3_open (path, &db) == SQLITE_OK);
    sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    assert (sqlite3_exec (db, "UPDATE setting SET value = '{}'", NULL, NULL, NULL)
            == SQLITE_OK);
    sqlite3_close (db);
}

/* Makes the journal and keeps the content of its files. */
static void start (void)
{
    struct error err = { 0 };
    char name[128];

    assert (mkdtemp (dir));
    atexit (clean_up);
    snprintf (path, sizeof (path), "%s/journal", dir);
    struct journal *j = journal_open (path, wake, NULL, &err);
    assert (j);
    for (uint64_t id = 1; id <= 3; id++)
        commit_job (j, id, id == 1 ? "key" : NULL);
    journal_close (j);
    leave_log ();
    for (size_t i = 0; i < FILES; i++) {
        name_file (i, name);
        strbuf_init (&files[i], 1 << 20);
        assert (io_read_file (name, &files[i], 1 << 20, &err) == 0);
    }
}

static void restore (void)
{
    char name[128];

    clean_up ();
    assert (mkdir (dir, 0700) == 0);
    for (size_t i = 0; i < FILES; i++) {
        name_file (i, name);
        assert (io_write_file_atomic (name, files[i].buf, files[i].len, 0600, NULL) == 0);
    }
}

static void change_bytes (struct fuzz_input *in)
{
    size_t i = fuzz_byte (in) % FILES, len = fuzz_byte (in) % 32;
    uint32_t at = fuzz_number (in) % (uint32_t)files[i].len;
    char name[128];

    name_file (i, name);
    len = MIN (len, in->size);
    int fd = open (name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert (fd >= 0 && pwrite (fd, in->data, len, at) == (ssize_t)len);
    if (len == 0) /* a file that was cut off */
        assert (ftruncate (fd, at) == 0);
    close (fd);
    in->data += len;
    in->size -= len;
}

/* Whether the files are still those of SQLite and of our schema. */
static bool change (struct fuzz_input *in)
{
    sqlite3 *db = NULL;
    bool ours = true;

    assert (sqlite3_open (path, &db) == SQLITE_OK);
    rowsum_register (db);
    while (in->size > 0 && (in->data[0] == 's' || in->data[0] == 'd')) {
        if (fuzz_byte (in) == 's')
            fuzz_sql_run (db, in, rows, ARRAY_SIZE (rows));
        else {
            fuzz_sql_run (db, in, schemas, ARRAY_SIZE (schemas));
            ours = false;
        }
    }
    sqlite3_close (db);
    while (in->size > 0) {
        fuzz_byte (in);
        change_bytes (in);
        ours = false;
    }
    return ours;
}

/* -- reading -- */

static int on_job (const struct journal_job_row *row, void *arg)
{
    uint64_t *last = arg;

    assert (row->id > *last && row->id <= INT64_MAX);
    assert (row->inactive ? !row->jobspec : row->jobspec != NULL);
    assert (!row->jobspec || row->jobspec[row->jobspec_len] == '\0');
    *last = row->id;
    return 0;
}

static int on_event (uint64_t id, double timestamp, const char *name, const char *context,
                     void *arg)
{
    (void)timestamp, (void)arg;
    assert (id <= INT64_MAX && name);
    return context && strlen (context) > 1000 ? -ECANCELED : 0;
}

static int on_setting (const char *name, const char *value, void *arg)
{
    (void)arg;
    assert (name && value);
    return 0;
}

static bool read_all (void)
{
    struct error err = { 0 };
    struct journal *j = journal_open (path, wake, NULL, &err);
    uint64_t last = 0;

    if (!j) {
        fuzz_check_refusal (&err, "");
        return false;
    }
    if (journal_load (j, 10, on_job, on_event, &last, &err) < 0)
        assert (err.text[0] == '\0' || err.code > 0);
    journal_load_settings (j, on_setting, NULL, &err);
    journal_find_key (j, 1000, "key");
    assert (journal_last_id (j) >= last && journal_last_id (j) <= INT64_MAX);
    assert (journal_bytes (j) > 0);
    journal_close (j);
    return true;
}

static void on_line (const char *text, void *arg)
{
    (void)arg;
    assert (text[0] && !strchr (text, '\n'));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const struct journal_say say = { .line = on_line };
    struct fuzz_input in = { data, size };
    struct error err = { 0 };

    log_set_level (LOG_LEVEL_ERROR);
    if (!path[0])
        start ();
    restore ();
    bool ours = change (&in);
    read_all ();
    int rc = journal_check (path, false, say, &err);
    assert (rc == 0 || err.text[0]);
    rc = journal_check (path, true, say, &err);
    if (rc == 0)
        assert (read_all () || !ours);
    else
        fuzz_check_refusal (&err, "");
    return 0;
}
