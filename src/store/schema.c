/* schema.c - the journal's tables, and opening them; see journal_private.h */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/log.h"
#include "store/checkpoint.h"
#include "store/journal_private.h"

#define SCHEMA_VERSION 3
#define APPLICATION_ID 0x666c7871 /* "flxq" */
#define EVENT_SUM "rowsum (seq, id, timestamp, name, context)"
#define JOB_SUM                                                                          \
    "rowsum (id, uid, key, spec, (SELECT text FROM jobspec s WHERE s.id = job.id))"

/* Version 2: job.spec. The jobspec has a table of its own, so that marking a job inactive
 * does not write it again. The tasks of an array share the array's jobspec: job.spec
 * names it. An id is never given twice, even if old jobs are deleted one day:
 * AUTOINCREMENT. Events of all jobs are appended in the order of commit. Version 3: sum
 * is a row's rowsum (rowsum.h). total, in the last event of each commit, is the sum
 * modulo 2^64 over all rows of job and event; in other events it is that sum as of their
 * own insertion. Any missing or changed row shows there. job.ended is in the journal's
 * own time. Free pages are given back in pieces. An event of job 0 belongs to the journal
 * itself. */
/* clang-format off */
static const char schema[] =
    "BEGIN;"
    "CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, uid INTEGER NOT NULL,"
    " inactive INTEGER NOT NULL DEFAULT 0, key TEXT, submitted REAL NOT NULL,"
    " spec INTEGER, sum INTEGER, ended REAL);"
    "CREATE INDEX job_by_activity ON job (inactive, id);"
    "CREATE INDEX job_by_spec ON job (spec) WHERE spec IS NOT NULL;"
    "CREATE INDEX job_by_key ON job (submitted) WHERE key IS NOT NULL;"
    "CREATE TABLE jobspec (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL,"
    " timestamp REAL NOT NULL, name TEXT NOT NULL, context TEXT, sum INTEGER,"
    " total INTEGER);"
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

static const char from_version_2[] =
    "BEGIN;"
    "ALTER TABLE job ADD COLUMN sum INTEGER;"
    "ALTER TABLE job ADD COLUMN ended REAL;"
    "ALTER TABLE event ADD COLUMN sum INTEGER;"
    "ALTER TABLE event ADD COLUMN total INTEGER;"
    "UPDATE event SET sum = " EVENT_SUM ";"
    "UPDATE job SET sum = " JOB_SUM ";"
    "CREATE INDEX job_by_spec ON job (spec) WHERE spec IS NOT NULL;"
    "PRAGMA user_version = 3;"
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
    [STMT_JOB] =
        "INSERT INTO job (id, uid, key, submitted, spec, sum) VALUES (?, ?, ?, ?, ?, ?)",
    [STMT_KEEP_IDS] =
        "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'job' AND seq < ?1",
    [STMT_JOBSPEC] = "INSERT INTO jobspec (id, text) VALUES (?, ?)",
    [STMT_EVENT] =
        "INSERT INTO event (seq, id, timestamp, name, context, sum, total)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
    [STMT_TOTAL] = "UPDATE event SET total = ? WHERE seq = ?",
    [STMT_INACTIVE] = "UPDATE job SET inactive = 1, ended = ?2 WHERE id = ?1",
    [STMT_PRUNE_SUMS] =
        "SELECT sum FROM event WHERE id = ?1 UNION ALL SELECT sum FROM job WHERE id = ?1",
    [STMT_PRUNE_EVENTS] = "DELETE FROM event WHERE id = ?",
    [STMT_PRUNE_JOBSPEC] = "DELETE FROM jobspec WHERE id = ?",
    [STMT_PRUNE_JOB] = "DELETE FROM job WHERE id = ?",
    [STMT_SET] = "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
    [STMT_UNSET] = "DELETE FROM setting WHERE name = ?",
};

/* Ended jobs with ids above ?1, each with the times of its first and last event. */
#define SELECT_ENDED                                                                     \
    "SELECT id,"                                                                         \
    " (SELECT timestamp FROM event e WHERE e.id = job.id ORDER BY seq LIMIT 1),"         \
    " (SELECT timestamp FROM event e WHERE e.id = job.id ORDER BY seq DESC LIMIT 1)"     \
    " FROM job WHERE inactive = 1 AND id > ?1"

static const char *const read_statements[READ_COUNT] = {
    [READ_JOB] = "SELECT uid, inactive FROM job WHERE id = ?",
    [READ_JOBSPEC] = ("SELECT s.text FROM job j JOIN jobspec s"
                      " ON s.id = coalesce(j.spec, j.id) WHERE j.id = ?"),
    [READ_EVENTS] = SELECT_EVENTS,
    /* Keeps the newest ?3; -1: all. */
    [READ_OLD] = (SELECT_ENDED
                  " AND (id <= (SELECT id FROM job WHERE inactive = 1 ORDER BY id DESC"
                  " LIMIT 1 OFFSET CASE WHEN ?3 > 0 THEN ?3 ELSE 9223372036854775807 END)"
                  " OR coalesce(ended, submitted) < ?4)"
                  " AND (key IS NULL OR submitted < ?5)"
                  " AND NOT EXISTS (SELECT 1 FROM job t WHERE t.spec = job.id)"
                  " ORDER BY id LIMIT ?2"),
    [READ_ENDED] = (SELECT_ENDED " ORDER BY id LIMIT ?2"),
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
        return error_set (err, ENOSPC,
                          "journal: disk full (%s): free some space there; accepted jobs "
                          "are safe, and submits fail until then",
                          j->path);
    if (primary == SQLITE_CONSTRAINT)
        return error_set (err, EEXIST, "journal: %s: %s", j->path, text);
    if (primary == SQLITE_NOMEM)
        return error_set (err, ENOMEM, "journal: %s: out of memory", j->path);
    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT)
        return error_set (
            err, EPROTO,
            "journal: %s: %s: see fluxq-ctl journal check, then repair it (fluxq-ctl "
            "journal repair) or restore a backup",
            j->path, text);
    if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        return error_set (err, EBUSY, "journal: %s: %s by another program", j->path,
                          text);
    if (sys != 0)
        return error_errno (err, sys, "journal: %s: %s", j->path, text);
    return error_set (err, EIO, "journal: %s: %s", j->path, text);
}

/* -- one broker at a time -- */

char *schema_beside (const struct journal *j, const char *suffix)
{
    char *path = NULL;

    return asprintf (&path, "%s%s", j->path, suffix) < 0 ? NULL : path;
}

int schema_lock (struct journal *j, struct error *err)
{
    autofree char *path = schema_beside (j, "-lock");
    char pid[32] = "";

    if (!path)
        return error_no_memory (err, "journal");
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
    /* Only for the message above: on a full disk the file stays empty. */
    int n = snprintf (pid, sizeof (pid), "%d\n", (int)getpid ());
    if (ftruncate (j->lock_fd, 0) == 0 && pwrite (j->lock_fd, pid, (size_t)n, 0) < 0)
        errno = 0;
    return 0;
}

/* sqlite would make the file readable for all, and gives -wal and -shm the mode of the
 * main file. */
static int create_file (struct journal *j, struct error *err)
{
    struct stat st;

    j->data_fd = open (j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (j->data_fd < 0)
        return error_errno (err, errno, "journal: %s", j->path);
    if (fstat (j->data_fd, &st) < 0 || !S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "journal: %s is not a file", j->path);
    j->dev = st.st_dev;
    j->ino = st.st_ino;
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

int64_t schema_number (sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t n = -1;

    if (sqlite3_prepare_v2 (db, sql, -1, &st, NULL) == SQLITE_OK
        && sqlite3_step (st) == SQLITE_ROW)
        n = sqlite3_column_int64 (st, 0);
    sqlite3_finalize (st);
    return n;
}

static int exec (const struct journal *j, sqlite3 *db, const char *sql, struct error *err)
{
    int rc = sqlite3_exec (db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : schema_error (j, db, rc, err);
}

/* Returns the sum over all rows, and the seq of the last event. */
int schema_total (const struct journal *j, sqlite3 *db, uint64_t *ret, struct error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2 (
        db, "SELECT sum FROM event UNION ALL SELECT sum FROM job", -1, &st, NULL);

    *ret = 0;
    while (rc == SQLITE_OK && (rc = sqlite3_step (st)) == SQLITE_ROW) {
        *ret += (uint64_t)sqlite3_column_int64 (st, 0);
        rc = SQLITE_OK;
    }
    rc = sqlite3_finalize (st);
    return rc == SQLITE_OK ? 0 : schema_error (j, db, rc, err);
}

int schema_seal (const struct journal *j, sqlite3 *db, struct error *err)
{
    char sql[256];
    uint64_t total, sum;
    int64_t seq;
    int rc = schema_total (j, db, &total, err);

    if (rc == 0)
        rc = get_int64 (j, db, "SELECT max(seq) FROM event", &seq, err);
    if (rc < 0)
        return rc;
    sum = event_sum (++seq, 0, 0, "journal", 7, NULL, 0);
    snprintf (sql, sizeof (sql),
              "INSERT INTO event (seq, id, timestamp, name, sum, total) VALUES"
              " (%jd, 0, 0, 'journal', %jd, %jd)",
              (intmax_t)seq, (intmax_t)sum, (intmax_t)(total + sum));
    return exec (j, db, sql, err);
}

/* Upgrades the file once; reads and writes all of it. Without room for VACUUM, free pages
 * stay in the file. */
static int upgrade (struct journal *j, int64_t version, struct error *err)
{
    int rc = version == 1 ? exec (j, j->db, from_version_1, err) : 0;

    log_info ("journal: %s: version %jd becomes %d", j->path, (intmax_t)version,
              SCHEMA_VERSION);
    if (rc == 0)
        rc = exec (j, j->db, from_version_2, err);
    if (rc == 0)
        rc = schema_seal (j, j->db, err);
    if (rc == 0 && sqlite3_exec (j->db, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", NULL, NULL, NULL)
               != SQLITE_OK)
        log_warning ("journal: %s: %s: the file will not shrink", j->path,
                     sqlite3_errmsg (j->db));
    return rc;
}

int schema_version (const struct journal *j, sqlite3 *db, int64_t *ret, struct error *err)
{
    int64_t version, application, tables;
    int rc = get_int64 (j, db, "PRAGMA user_version", &version, err);

    if (rc == 0)
        rc = get_int64 (j, db, "PRAGMA application_id", &application, err);
    if (rc == 0)
        rc = get_int64 (j, db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc < 0)
        return rc;
    *ret = version;
    if (version == 0 && application == 0 && tables == 0)
        return 0;
    if (application != APPLICATION_ID)
        return error_set (err, EPROTO, "journal: %s: a data base, but not one of fluxq",
                          j->path);
    if (version > SCHEMA_VERSION)
        return error_set (
            err, EPROTO,
            "journal: %s: version %jd, written by a newer fluxq (this one knows "
            "%d)",
            j->path, (intmax_t)version, SCHEMA_VERSION);
    *ret = MAX (version, 1);
    return 0;
}

/* Makes the tables in an empty file, accepts our own, refuses all others. */
static int check_schema (struct journal *j, struct error *err)
{
    int64_t version;
    int rc = schema_version (j, j->db, &version, err);

    /* Takes effect in an empty file, or at its next VACUUM; otherwise it would write. */
    if (rc == 0 && version == 0)
        rc = exec (j, j->db, "PRAGMA auto_vacuum = INCREMENTAL", err);
    if (rc == 0)
        rc = exec (j, j->db, writer_pragmas, err);
    if (rc == 0 && version == 0)
        return exec (j, j->db, schema, err);
    if (rc == 0 && version < SCHEMA_VERSION)
        rc = upgrade (j, version, err);
    return rc;
}

int schema_open_db (const struct journal *j, int flags, sqlite3 **ret,
                    struct error *err)
{
    int rc = sqlite3_open_v2 (j->path, ret, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc != SQLITE_OK)
        return schema_error (j, *ret, rc, err);
    sqlite3_extended_result_codes (*ret, 1);
    sqlite3_busy_timeout (*ret, 2000);
    rc = rowsum_register (*ret);
    return rc == SQLITE_OK ? 0 : schema_error (j, *ret, rc, err);
}

int schema_open_reader (const struct journal *j, sqlite3 **ret, struct error *err)
{
    int rc = schema_open_db (j, SQLITE_OPEN_READONLY, ret, err);

    return rc < 0 ? rc : exec (j, *ret, "PRAGMA cache_size = -2048", err);
}

int schema_prepare (const struct journal *j, sqlite3 *db, const char *const sql[],
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

/* -- state outside of the data base -- */

/* Called before sqlite sees the log, since sqlite would drop the part behind the
 * damage. */
static int scan_log (struct journal *j, struct wal_state *w, struct error *err)
{
    autofree char *log = schema_beside (j, "-wal");
    autofree char *head = schema_beside (j, "-head");

    if (!log || !head)
        return error_set (err, ENOMEM, "journal: out of memory");
    int rc = wal_rewrite (log, err);
    if (rc > 0)
        checkpoint_drop_cache (j->data_fd);
    if (rc >= 0)
        rc = wal_scan (log, w, err);
    if (rc == 0)
        rc = j->head_fd = head_open (head, &j->head, &j->head_known, err);
    if (rc < 0)
        return rc;
    if (w->later)
        return error_set (
            err, EBADMSG,
            "journal: %s is damaged at frame %u of %u: changes after it "
            "would be lost. 'fluxq-ctl journal check' lists them, 'fluxq-ctl "
            "journal repair' continues without them, or restore a backup",
            log, w->good + 1, w->frames);
    return 0;
}

/* The journal ends before the head. Either the log is damaged (it has traces of damage,
 * or its end is missing), or an older journal without a log has replaced this one. */
static int is_behind (struct journal *j, const struct wal_state *w, int64_t seq,
                      uint64_t last_id, struct error *err)
{
    if (!w->broken && (w->good == 0 || seq >= j->head.seq)) {
        log_warning ("journal: %s is not the one that was written last (it ends with event "
                     "%jd and job %ju; the other with %jd and %ju): an older one was "
                     "restored, or its -wal file is gone; new jobs have ids from %ju on",
                     j->path, (intmax_t)seq, (uintmax_t)last_id, (intmax_t)j->head.seq,
                     (uintmax_t)j->head.last_id, (uintmax_t)(j->head.reserved + 1));
        return 0;
    }
    return error_set (
        err, EBADMSG,
        "journal: %s-wal is damaged or cut short: events %jd to %jd are lost (jobs up to "
        "%ju were "
        "accepted, %ju is the last one left). 'fluxq-ctl journal check' shows details, "
        "'fluxq-ctl journal repair' continues without them, or restore a backup",
        j->path, (intmax_t)seq + 1, (intmax_t)j->head.seq, (uintmax_t)j->head.last_id,
        (uintmax_t)last_id);
}

int schema_keep_ids (const struct journal *j, sqlite3 *db, uint64_t last, struct error *err)
{
    char sql[256];

    snprintf (sql, sizeof (sql),
              "INSERT INTO sqlite_sequence (name, seq) SELECT 'job', 0 WHERE NOT EXISTS"
              " (SELECT 1 FROM sqlite_sequence WHERE name = 'job');"
              "UPDATE sqlite_sequence SET seq = %ju WHERE name = 'job' AND seq < %ju;",
              (uintmax_t)last, (uintmax_t)last);
    return exec (j, db, sql, err);
}

/* Compares the head with the journal, and updates it to the journal. */
static int take_head (struct journal *j, const struct wal_state *w, struct error *err)
{
    int64_t seq = 0, last_id = 0, then = 0, total = 0;
    char sql[128];
    int rc = get_int64 (j, j->db, "SELECT max(seq) FROM event", &seq, err);

    snprintf (sql, sizeof (sql), "SELECT total FROM event WHERE seq = %jd",
              (intmax_t)j->head.seq);
    if (rc == 0)
        rc = get_int64 (j, j->db, sql, &then, err);
    if (rc == 0) /* sqlite_sequence has no checksum */
        rc = get_int64 (j, j->db,
                        "SELECT max (0, (SELECT coalesce (max (id), 0) FROM job),"
                        " coalesce ((SELECT seq FROM sqlite_sequence WHERE name = 'job'),"
                        " 0))",
                        &last_id, err);
    if (rc == 0)
        rc = get_int64 (j, j->db, "SELECT total FROM event ORDER BY seq DESC LIMIT 1",
                        &total, err);
    if (rc < 0)
        return rc;
    j->last_id = (uint64_t)last_id;
    bool other = j->head_known
                 && (seq < j->head.seq || (then != 0 && (uint64_t)then != j->head.total));
    if (other && (rc = is_behind (j, w, seq, j->last_id, err)) < 0)
        return rc;
    if (other) { /* the next start will not see the difference */
        j->last_id = MAX (j->last_id, j->head.reserved);
        if ((rc = schema_keep_ids (j, j->db, j->last_id, err)) < 0)
            return rc;
    }
    j->head.seq = seq;
    j->head.total = (uint64_t)total;
    j->head.last_id = j->last_id;
    j->head.reserved = MAX (j->head.reserved, j->last_id);
    rc = head_write (j->head_fd, &j->head, true);
    return rc < 0 ? error_errno (err, -rc, "journal: %s-head", j->path) : 0;
}

/* The tables were only ever in the damaged log: they are not made again over it. */
static int refuse_lost (struct journal *j, const struct wal_state *w, struct error *err)
{
    int64_t tables = 1;
    int rc = 0;

    if ((w->broken || w->good > 0) && j->head_known && j->head.seq > 0)
        rc = get_int64 (j, j->db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    return rc == 0 && tables == 0 ? is_behind (j, w, 0, 0, err) : rc;
}

/* A refused file is left as it was. */
static void keep_log (struct journal *j, bool keep)
{
    sqlite3_db_config (j->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, NULL);
}

int schema_open (struct journal *j, struct error *err)
{
    struct wal_state w;
    int rc = create_file (j, err);

    if (rc == 0)
        rc = schema_lock (j, err);
    if (rc == 0)
        rc = scan_log (j, &w, err);
    if (rc == 0)
        rc = schema_open_db (j, SQLITE_OPEN_READWRITE, &j->db, err);
    if (rc == 0)
        keep_log (j, true);
    if (rc == 0)
        rc = refuse_lost (j, &w, err);
    if (rc == 0)
        rc = check_schema (j, err);
    if (rc == 0)
        rc = take_head (j, &w, err);
    if (rc < 0)
        return rc;
    keep_log (j, false);
    rc = schema_prepare (j, j->db, statements, STMT_WRITE_COUNT, j->stmts, err);
    if (rc == 0)
        rc = schema_open_reader (j, &j->rdb, err);
    if (rc == 0)
        rc = schema_prepare (j, j->rdb, read_statements, READ_COUNT, j->rstmts, err);
    if (rc == 0)
        rc = find_clock (j, err);
    return rc;
}

void schema_close (struct journal *j)
{
    for (size_t i = 0; i < READ_COUNT; i++)
        sqlite3_finalize (j->rstmts[i]);
    for (size_t i = 0; i < STMT_WRITE_COUNT; i++)
        sqlite3_finalize (j->stmts[i]);
    sqlite3_close (j->rdb);
    sqlite3_close (j->db); /* the last connection: checkpoints */
}
