/* schema.c - the journal's tables, and opening them; see journal_private.h */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/strbuf.h"
#include "store/journal_private.h"

#define SCHEMA_VERSION 2
#define APPLICATION_ID 0x666c7871 /* "flxq" */
#define STRING(x) STRING_OF (x)
#define STRING_OF(x) #x

/* Version 2: job.spec. The jobspec has a table of its own so that marking a job inactive does not write it
 * again, and the tasks of an array have the array's: job.spec names it. An id is never given twice, also when old jobs are deleted one day:
 * AUTOINCREMENT. Events of all jobs are appended in the order of commit. */
/* clang-format off */
static const char schema[] =
    "BEGIN;"
    "CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, uid INTEGER NOT NULL,"
    " inactive INTEGER NOT NULL DEFAULT 0, key TEXT, submitted REAL NOT NULL,"
    " spec INTEGER);"
    "CREATE INDEX job_by_activity ON job (inactive, id);"
    "CREATE INDEX job_by_key ON job (submitted) WHERE key IS NOT NULL;"
    "CREATE TABLE jobspec (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL,"
    " timestamp REAL NOT NULL, name TEXT NOT NULL, context TEXT);"
    "CREATE INDEX event_by_job ON event (id);"
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "PRAGMA application_id = " STRING (APPLICATION_ID) ";"
    "PRAGMA user_version = " STRING (SCHEMA_VERSION) ";"
    "COMMIT;";

static const char from_version_1[] =
    "BEGIN;"
    "ALTER TABLE job ADD COLUMN spec INTEGER;"
    "PRAGMA user_version = 2;"
    "COMMIT;";
/* clang-format on */

static const char writer_pragmas[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 0;"        /* writer.c chooses the moment */
    "PRAGMA journal_size_limit = 67108864;" /* shrink the WAL after a rush */
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -4096;";

static const char *const statements[STMT_WRITE_COUNT] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_PROBE] = ("PRAGMA user_version = " STRING (SCHEMA_VERSION)),
    [STMT_JOB] = "INSERT INTO job (id, uid, key, submitted) VALUES (?, ?, ?, ?)",
    [STMT_JOB_OF] = "INSERT INTO job (id, uid, submitted, spec) VALUES (?, ?, ?, ?)",
    [STMT_KEEP_IDS] =
        "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'job' AND seq < ?1",
    [STMT_JOBSPEC] = "INSERT INTO jobspec (id, text) VALUES (?, ?)",
    [STMT_EVENT] =
        "INSERT INTO event (seq, id, timestamp, name, context) VALUES (?, ?, ?, ?, ?)",
    [STMT_INACTIVE] = "UPDATE job SET inactive = 1 WHERE id = ?",
    [STMT_SET] = "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
    [STMT_UNSET] = "DELETE FROM setting WHERE name = ?",
};

#define SELECT_EVENTS                                                                    \
    "SELECT timestamp, name, context FROM event WHERE id = ? ORDER BY seq"

static const char *const read_statements[READ_COUNT] = {
    [READ_JOB] = "SELECT uid, inactive FROM job WHERE id = ?",
    [READ_JOBSPEC] = ("SELECT s.text FROM job j JOIN jobspec s"
                      " ON s.id = coalesce(j.spec, j.id) WHERE j.id = ?"),
    [READ_EVENTS] = SELECT_EVENTS,
};

int schema_error (const struct journal *j, sqlite3 *db, int rc, struct error *err)
{
    int primary = rc & 0xff;
    int sys = primary == SQLITE_IOERR ? errno : 0;
    const char *text = db ? sqlite3_errmsg (db) : sqlite3_errstr (rc);

    if (db && sqlite3_system_errno (db) != 0)
        sys = sqlite3_system_errno (db);
    if (primary == SQLITE_FULL
        || (primary == SQLITE_IOERR && (sys == ENOSPC || sys == EDQUOT)))
        return error_set (
            err, ENOSPC,
            "journal: disk full (%s): free some space there; what was accepted "
            "is safe, nothing new is until then",
            j->path);
    if (primary == SQLITE_CONSTRAINT)
        return error_set (err, EEXIST, "journal: %s: %s", j->path, text);
    if (primary == SQLITE_NOMEM)
        return error_set (err, ENOMEM, "journal: %s: out of memory", j->path);
    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT)
        return error_set (
            err, EPROTO,
            "journal: %s: %s: restore it from a backup, or move it away to start "
            "with an empty one",
            j->path, text);
    if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        return error_set (err, EBUSY, "journal: %s: %s by another program", j->path,
                          text);
    if (sys != 0)
        return error_errno (err, sys, "journal: %s: %s", j->path, text);
    return error_set (err, EIO, "journal: %s: %s", j->path, text);
}

/* -- one broker at a time -- */

static int lock_file (struct journal *j, struct error *err)
{
    autofree char *path = NULL;
    char pid[32] = "";

    if (asprintf (&path, "%s-lock", j->path) < 0) {
        path = NULL;
        return error_set (err, ENOMEM, "journal: out of memory");
    }
    j->lock_fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (j->lock_fd < 0)
        return error_errno (err, errno, "journal: %s", path);
    if (flock (j->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        int saved = errno;
        if (saved != EWOULDBLOCK)
            return error_errno (err, saved, "journal: %s", path);
        ssize_t n = pread (j->lock_fd, pid, sizeof (pid) - 1, 0);
        pid[n > 0 ? n : 0] = '\0';
        pid[strspn (pid, "0123456789")] = '\0';
        return error_set (err, EBUSY,
                          "journal: %s is in use by another fluxqd%s%s (it holds %s)",
                          j->path, pid[0] ? ", process " : "", pid, path);
    }
    /* For the message above only: on a full disk the file stays empty. */
    int n = snprintf (pid, sizeof (pid), "%d\n", (int)getpid ());
    if (ftruncate (j->lock_fd, 0) == 0 && pwrite (j->lock_fd, pid, (size_t)n, 0) < 0)
        errno = 0;
    return 0;
}

/* sqlite would make it readable for all, and gives -wal and -shm the mode of the main
 * file. */
static int create_file (const struct journal *j, struct error *err)
{
    autoclose int fd = open (j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat st;

    if (fd < 0)
        return error_errno (err, errno, "journal: %s", j->path);
    if (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "journal: %s is not a file", j->path);
    return 0;
}

/* -- opening -- */

static int get_int64 (const struct journal *j, sqlite3 *db, const char *sql, int64_t *ret,
                      struct error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2 (db, sql, -1, &st, NULL);

    if (rc == SQLITE_OK) {
        rc = sqlite3_step (st);
        *ret = rc == SQLITE_ROW ? sqlite3_column_int64 (st, 0) : 0;
        rc = sqlite3_finalize (st);
    }
    return rc == SQLITE_OK ? 0 : schema_error (j, db, rc, err);
}

static int exec (const struct journal *j, sqlite3 *db, const char *sql, struct error *err)
{
    int rc = sqlite3_exec (db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : schema_error (j, db, rc, err);
}

/* Make the tables in an empty file, accept ours, refuse all others. */
static int check_schema (struct journal *j, struct error *err)
{
    int64_t version, application, tables;
    int rc = get_int64 (j, j->db, "PRAGMA user_version", &version, err);

    if (rc == 0)
        rc = get_int64 (j, j->db, "PRAGMA application_id", &application, err);
    if (rc == 0)
        rc = get_int64 (j, j->db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc < 0)
        return rc;
    if (version == 0 && application == 0 && tables == 0) {
        rc = exec (j, j->db, writer_pragmas, err);
        return rc < 0 ? rc : exec (j, j->db, schema, err);
    }
    if (application != APPLICATION_ID)
        return error_set (err, EPROTO, "journal: %s: a data base, but not one of fluxq",
                          j->path);
    if (version > SCHEMA_VERSION)
        return error_set (
            err, EPROTO,
            "journal: %s: version %jd, written by a newer fluxq (this one knows "
            "%d)",
            j->path, (intmax_t)version, SCHEMA_VERSION);
    rc = exec (j, j->db, writer_pragmas, err);
    if (rc == 0 && version == 1)
        rc = exec (j, j->db, from_version_1, err);
    return rc;
}

static int open_db (const struct journal *j, int flags, sqlite3 **ret, struct error *err)
{
    int rc = sqlite3_open_v2 (j->path, ret, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc != SQLITE_OK)
        return schema_error (j, *ret, rc, err);
    sqlite3_extended_result_codes (*ret, 1);
    sqlite3_busy_timeout (*ret, 2000);
    return 0;
}

int schema_open_reader (const struct journal *j, sqlite3 **ret, struct error *err)
{
    int rc = open_db (j, SQLITE_OPEN_READONLY, ret, err);

    return rc < 0 ? rc : exec (j, *ret, "PRAGMA cache_size = -2048", err);
}

static int prepare (const struct journal *j, sqlite3 *db, const char *const sql[],
                    size_t n, sqlite3_stmt *ret[], struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc =
            sqlite3_prepare_v3 (db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &ret[i], NULL);
        if (rc != SQLITE_OK)
            return schema_error (j, db, rc, err);
    }
    return 0;
}

/* job.submitted is in the journal's own time. */
static int find_clock (struct journal *j, struct error *err)
{
    int64_t last;
    int rc = get_int64 (j, j->db,
                        "SELECT max(submitted) FROM"
                        " (SELECT submitted FROM job ORDER BY id DESC LIMIT 1000)",
                        &last, err);

    j->clock_base = last > 0 ? (double)last + 1 : clock_wall ();
    return rc;
}

int schema_open (struct journal *j, struct error *err)
{
    int64_t last_id;
    int rc = create_file (j, err);

    if (rc == 0)
        rc = lock_file (j, err);
    if (rc == 0)
        rc = open_db (j, SQLITE_OPEN_READWRITE, &j->db, err);
    if (rc == 0)
        rc = check_schema (j, err);
    if (rc == 0)
        rc = prepare (j, j->db, statements, STMT_WRITE_COUNT, j->stmts, err);
    if (rc == 0)
        rc = schema_open_reader (j, &j->rdb, err);
    if (rc == 0)
        rc = prepare (j, j->rdb, read_statements, READ_COUNT, j->rstmts, err);
    if (rc == 0)
        rc = get_int64 (j, j->db, "SELECT seq FROM sqlite_sequence WHERE name = 'job'",
                        &last_id, err);
    if (rc == 0)
        rc = get_int64 (j, j->db, "SELECT max(seq) FROM event", &j->seq, err);
    if (rc == 0)
        rc = find_clock (j, err);
    if (rc == 0)
        j->last_id = (uint64_t)last_id;
    return rc;
}

void schema_close (struct journal *j)
{
    for (size_t i = 0; i < READ_COUNT; i++)
        sqlite3_finalize (j->rstmts[i]);
    for (size_t i = 0; i < STMT_WRITE_COUNT; i++)
        sqlite3_finalize (j->stmts[i]);
    sqlite3_close (j->rdb);
    sqlite3_close (j->db); /* the last one: checkpoint */
}

/* -- loading -- */

int schema_load_keys (struct journal *j, double since,
                      int (*fn) (struct journal *j, uint32_t uid, const char *key,
                                 uint64_t id, double time),
                      struct error *err)
{
    sqlite3_stmt *st = NULL;
    int failed = 0;
    int rc = sqlite3_prepare_v2 (
        j->db,
        "SELECT uid, key, id, submitted FROM job WHERE key IS NOT NULL"
        " AND submitted >= ? ORDER BY submitted, id",
        -1, &st, NULL);

    if (rc != SQLITE_OK)
        return schema_error (j, j->db, rc, err);
    sqlite3_bind_double (st, 1, since);
    while (failed == 0 && (rc = sqlite3_step (st)) == SQLITE_ROW)
        failed =
            fn (j, (uint32_t)sqlite3_column_int64 (st, 0),
                (const char *)sqlite3_column_text (st, 1),
                (uint64_t)sqlite3_column_int64 (st, 2), sqlite3_column_double (st, 3));
    rc = sqlite3_finalize (st);
    if (failed < 0)
        return error_errno (err, -failed, "journal: %s", j->path);
    return rc == SQLITE_OK ? 0 : schema_error (j, j->db, rc, err);
}

/* Both branches walk the index job_by_activity in order of id, and are merged. */
static const char select_jobs[] =
    "SELECT j.id, j.uid, j.inactive, j.key, s.text, j.spec FROM job j"
    " JOIN jobspec s ON s.id = coalesce(j.spec, j.id) WHERE j.inactive = 0"
    " UNION ALL "
    "SELECT j.id, j.uid, j.inactive, j.key, NULL, j.spec FROM job j"
    " WHERE j.inactive = 1 AND j.id >= (SELECT min(id) FROM"
    " (SELECT id FROM job WHERE inactive = 1 ORDER BY id DESC LIMIT ?))"
    " ORDER BY 1";

static int load_events (sqlite3_stmt *st, uint64_t id, journal_event_f on_event,
                        void *arg)
{
    int rc = 0;

    sqlite3_bind_int64 (st, 1, (int64_t)id);
    while (rc == 0 && sqlite3_step (st) == SQLITE_ROW)
        rc = on_event (id, sqlite3_column_double (st, 0),
                       (const char *)sqlite3_column_text (st, 1),
                       (const char *)sqlite3_column_text (st, 2), arg);
    return rc;
}

static int load_job (sqlite3_stmt *st, journal_job_f on_job, void *arg, uint64_t *ret_id)
{
    struct journal_job_row row = {
        .id = (uint64_t)sqlite3_column_int64 (st, 0),
        .uid = (uint32_t)sqlite3_column_int64 (st, 1),
        .inactive = sqlite3_column_int (st, 2) != 0,
        .key = (const char *)sqlite3_column_text (st, 3),
        .jobspec = (const char *)sqlite3_column_text (st, 4),
        .of = (uint64_t)sqlite3_column_int64 (st, 5),
    };

    row.jobspec_len = (size_t)sqlite3_column_bytes (st, 4);
    *ret_id = row.id;
    return on_job (&row, arg);
}

int journal_load (struct journal *j, size_t recent, journal_job_f on_job,
                  journal_event_f on_event, void *arg, struct error *err)
{
    const char *const sql[] = { select_jobs, SELECT_EVENTS };
    sqlite3_stmt *st[2] = { NULL, NULL };
    sqlite3 *db = NULL;
    int stopped = 0;
    int step = SQLITE_DONE;
    int rc = schema_open_reader (j, &db, err);

    if (rc == 0)
        rc = prepare (j, db, sql, 2, st, err);
    if (rc == 0)
        sqlite3_bind_int64 (st[0], 1, (int64_t)MIN (recent, (size_t)INT64_MAX));
    while (rc == 0 && stopped == 0 && (step = sqlite3_step (st[0])) == SQLITE_ROW) {
        uint64_t id;
        stopped = load_job (st[0], on_job, arg, &id);
        if (stopped == 0)
            stopped = load_events (st[1], id, on_event, arg);
        int reset = sqlite3_reset (st[1]);
        if (reset != SQLITE_OK)
            rc = schema_error (j, db, reset, err);
    }
    if (rc == 0 && stopped == 0 && step != SQLITE_DONE)
        rc = schema_error (j, db, step, err);
    sqlite3_finalize (st[0]);
    sqlite3_finalize (st[1]);
    sqlite3_close (db);
    return rc < 0 ? rc : stopped;
}

int journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                           struct error *err)
{
    const char *const sql[] = { "SELECT name, value FROM setting ORDER BY name" };
    sqlite3_stmt *st = NULL;
    sqlite3 *db = NULL;
    int stopped = 0;
    int step = SQLITE_DONE;
    int rc = schema_open_reader (j, &db, err);

    if (rc == 0)
        rc = prepare (j, db, sql, 1, &st, err);
    while (rc == 0 && stopped == 0 && (step = sqlite3_step (st)) == SQLITE_ROW)
        stopped = fn ((const char *)sqlite3_column_text (st, 0),
                      (const char *)sqlite3_column_text (st, 1), arg);
    if (rc == 0 && stopped == 0 && step != SQLITE_DONE)
        rc = schema_error (j, db, step, err);
    sqlite3_finalize (st);
    sqlite3_close (db);
    return rc < 0 ? rc : stopped;
}
