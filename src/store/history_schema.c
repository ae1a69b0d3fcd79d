/* history_schema.c - the history's tables, and opening them; see history_private.h */
#include <fcntl.h>
#include <unistd.h>

#include "common/log.h"
#include "store/checkpoint.h"
#include "store/history_private.h"
#include "store/wal.h"

#define SCHEMA_VERSION "3"
#define SCHEMA_VERSION_NUMBER 3
#define APPLICATION_ID "1718384744" /* "flxh" */
#define APPLICATION_ID_NUMBER 1718384744

#define NUMBER(member) #member, HISTORY_NUMBER, offsetof(struct history_job, member)
#define TIME(member) #member, HISTORY_TIME, offsetof(struct history_job, member)
#define TEXT(member) #member, HISTORY_TEXT, offsetof(struct history_job, member)

const struct history_column history_columns[] = {
    { NUMBER (id) },
    { NUMBER (array_job) },
    { NUMBER (array_task) },
    { TEXT (array_tasks) },
    { NUMBER (userid) },
    { NUMBER (groupid) },
    { TEXT (user) },
    { TEXT (account) },
    { TEXT (qos) },
    { TEXT (wckey) },
    { TEXT (name) },
    { TEXT (queue) },
    { NUMBER (state) },
    { NUMBER (status) },
    { NUMBER (exit_code) },
    { TIME (first_time) },
    { TIME (submit_time) },
    { TIME (eligible_time) },
    { TIME (start_time) },
    { TIME (end_time) },
    { TIME (ended_time) },
    { TIME (time_limit) },
    { NUMBER (nodes) },
    { NUMBER (ntasks) },
    { NUMBER (ncores) },
    { NUMBER (cpu_milli) },
    { NUMBER (gpus) },
    { NUMBER (memory_mib) },
    { NUMBER (asked_nodes) },
    { NUMBER (asked_ntasks) },
    { NUMBER (asked_ncores) },
    { NUMBER (asked_cpu_milli) },
    { NUMBER (asked_gpus) },
    { NUMBER (asked_memory_mib) },
    { TEXT (nodelist) },
    { TEXT (cwd) },
    { TEXT (comment) },
    { TEXT (exception) },
    { TEXT (result_text) },
    { NUMBER (restarts) },
    { NUMBER (urgency) },
    { NUMBER (priority) },
    { NUMBER (cancelled_by) },
    { TEXT (licenses) },
    { TEXT (extra) },
    { TEXT (mcs_label) },
    { TEXT (admin_comment) },
    { TEXT (components) },
    { 0 },
};
_Static_assert(ARRAY_SIZE (history_columns) <= HISTORY_COLUMNS_MAX, "room for all");

/* The columns of `job` are those of history_columns. Each index ends with ended_time,
 * since most questions are about a span of time; a job is in its indexes once, so one
 * more index costs about 30 bytes a job. `forgotten` is the ended_time of the newest job
 * that was removed. */
/* clang-format off */
static const char schema[] =
    "BEGIN;"
    "CREATE TABLE job (id INTEGER PRIMARY KEY, array_job INTEGER, array_task INTEGER,"
    " array_tasks TEXT, userid INTEGER, groupid INTEGER, user TEXT, account TEXT, qos TEXT, wckey TEXT,"
    " name TEXT, queue TEXT, state INTEGER, status INTEGER, exit_code INTEGER,"
    " first_time REAL, submit_time REAL, eligible_time REAL, start_time REAL,"
    " end_time REAL, ended_time REAL, time_limit REAL, nodes INTEGER, ntasks INTEGER, ncores INTEGER,"
    " cpu_milli INTEGER, gpus INTEGER, memory_mib INTEGER, asked_nodes INTEGER,"
    " asked_ntasks INTEGER, asked_ncores INTEGER, asked_cpu_milli INTEGER,"
    " asked_gpus INTEGER, asked_memory_mib INTEGER, nodelist TEXT, cwd TEXT,"
    " comment TEXT, exception TEXT, result_text TEXT, restarts INTEGER, urgency INTEGER, priority INTEGER,"
    " cancelled_by INTEGER, licenses TEXT, extra TEXT, mcs_label TEXT, admin_comment TEXT,"
    " components TEXT);"
    "CREATE INDEX job_by_time ON job (ended_time);"
    "CREATE INDEX job_by_userid ON job (userid, ended_time);"
    "CREATE INDEX job_by_user ON job (user, ended_time);"
    "CREATE INDEX job_by_account ON job (account, ended_time) WHERE account IS NOT NULL;"
    "CREATE INDEX job_by_name ON job (name, ended_time);"
    "CREATE INDEX job_by_state ON job (state, ended_time);"
    "CREATE INDEX job_by_array ON job (array_job, array_task) WHERE array_job IS NOT NULL;"
    "CREATE TABLE step (job INTEGER NOT NULL, number INTEGER NOT NULL, attempt INTEGER,"
    " step TEXT, name TEXT, begin_time REAL, end_time REAL, ntasks INTEGER,"
    " nnodes INTEGER, status INTEGER, usage TEXT, PRIMARY KEY (job, number))"
    " WITHOUT ROWID;"
    "CREATE TABLE forgotten (one INTEGER PRIMARY KEY, ended_time REAL NOT NULL);"
    "INSERT INTO forgotten VALUES (1, 0);"
    "PRAGMA application_id = " APPLICATION_ID ";"
    "PRAGMA user_version = " SCHEMA_VERSION ";"
    "COMMIT;";
/* clang-format on */

/* From version 1, and from version 2. */
static const char *const upgrades[] = { "BEGIN;"
                                        "ALTER TABLE job ADD COLUMN licenses TEXT;"
                                        "PRAGMA user_version = 2;"
                                        "COMMIT;",
                                        "BEGIN;"
                                        "ALTER TABLE job ADD COLUMN extra TEXT;"
                                        "ALTER TABLE job ADD COLUMN mcs_label TEXT;"
                                        "ALTER TABLE job ADD COLUMN admin_comment TEXT;"
                                        "ALTER TABLE job ADD COLUMN components TEXT;"
                                        "PRAGMA user_version = 3;"
                                        "COMMIT;" };
_Static_assert(ARRAY_SIZE (upgrades) == SCHEMA_VERSION_NUMBER - 1, "one a version");

static const char writer_pragmas[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;" /* the journal removes what is here */
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -8192;";

int history_error (const struct history *h, sqlite3 *db, int rc, struct error *err)
{
    int primary = rc & 0xff;
    int sys = primary == SQLITE_IOERR ? errno : 0;
    const char *text = db ? sqlite3_errmsg (db) : sqlite3_errstr (rc);

    if (db && sqlite3_system_errno (db) != 0)
        sys = sqlite3_system_errno (db);
    if (primary == SQLITE_FULL
        || (primary == SQLITE_IOERR && (sys == ENOSPC || sys == EDQUOT)))
        return error_set (err, ENOSPC,
                          "history: disk full (%s): free some space there; ended jobs "
                          "wait in the journal until then",
                          h->path);
    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT)
        return error_set (err, EPROTO,
                          "history: %s: %s: restore a backup, or move the file away; the "
                          "broker then makes a new one of the jobs in the journal",
                          h->path, text);
    if (primary == SQLITE_NOMEM)
        return error_set (err, ENOMEM, "history: %s: out of memory", h->path);
    if (primary == SQLITE_READONLY)
        return error_set (err, EROFS, "history: %s: %s", h->path, text);
    if (sys != 0)
        return error_errno (err, sys, "history: %s: %s", h->path, text);
    return error_set (err, EIO, "history: %s: %s", h->path, text);
}

int64_t history_number (sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t n = -1;

    if (sqlite3_prepare_v2 (db, sql, -1, &st, NULL) == SQLITE_OK
        && sqlite3_step (st) == SQLITE_ROW)
        n = sqlite3_column_int64 (st, 0);
    sqlite3_finalize (st);
    return n;
}

static int exec (const struct history *h, sqlite3 *db, const char *sql, struct error *err)
{
    errno = 0;
    int rc = sqlite3_exec (db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : history_error (h, db, rc, err);
}

/* SQLite would make the file readable for all, and gives -wal and -shm the mode of the
 * main file. */
static int create_file (struct history *h, struct error *err)
{
    struct stat st;

    h->data_fd = open (h->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (h->data_fd < 0)
        return error_errno (err, errno, "history: %s", h->path);
    if (fstat (h->data_fd, &st) < 0 || !S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "history: %s is not a file", h->path);
    h->dev = st.st_dev;
    h->ino = st.st_ino;
    return 0;
}

static int open_db (const struct history *h, int flags, sqlite3 **ret, struct error *err)
{
    int rc = sqlite3_open_v2 (h->path, ret, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc != SQLITE_OK)
        return history_error (h, *ret, rc, err);
    sqlite3_extended_result_codes (*ret, 1);
    sqlite3_busy_timeout (*ret, 2000);
    return 0;
}

/* Makes the tables in an empty file, accepts our own, refuses all others. */
static int check_schema (struct history *h, struct error *err)
{
    errno = 0;
    int64_t tables = history_number (h->db, "SELECT count(*) FROM sqlite_schema");
    if (tables < 0)
        return history_error (h, h->db, sqlite3_extended_errcode (h->db), err);
    int64_t version = history_number (h->db, "PRAGMA user_version");
    int64_t application = history_number (h->db, "PRAGMA application_id");
    if (version == 0 && application == 0 && tables == 0) {
        int rc = exec (h, h->db, "PRAGMA auto_vacuum = INCREMENTAL", err);
        if (rc == 0)
            rc = exec (h, h->db, writer_pragmas, err);
        return rc < 0 ? rc : exec (h, h->db, schema, err);
    }
    if (application != APPLICATION_ID_NUMBER)
        return error_set (err, EPROTO, "history: %s: a data base, but not a history",
                          h->path);
    if (version > SCHEMA_VERSION_NUMBER)
        return error_set (err, EPROTO,
                          "history: %s: version %jd, written by a newer fluxq (this one "
                          "knows %d)",
                          h->path, (intmax_t)version, SCHEMA_VERSION_NUMBER);
    int rc = exec (h, h->db, writer_pragmas, err);
    for (int64_t v = MAX (version, 1); rc == 0 && v < SCHEMA_VERSION_NUMBER; v++)
        rc = exec (h, h->db, upgrades[v - 1], err);
    return rc;
}

void history_add_columns (struct strbuf *sb)
{
    for (const struct history_column *c = history_columns; c->name; c++)
        strbuf_addf (sb, "%s%s", c == history_columns ? "" : ",", c->name);
}

static int prepare (const struct history *h, sqlite3 *db, const char *sql,
                    sqlite3_stmt **ret, struct error *err)
{
    int rc = sqlite3_prepare_v3 (db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

    return rc == SQLITE_OK ? 0 : history_error (h, db, rc, err);
}

/* The statements with all columns. */
static int prepare_rows (struct history *h, struct error *err)
{
    autostrbuf struct strbuf put = STRBUF_INIT (4096), get = STRBUF_INIT (4096);

    strbuf_adds (&put, "INSERT OR REPLACE INTO job (");
    history_add_columns (&put);
    strbuf_adds (&put, ") VALUES (");
    for (const struct history_column *c = history_columns; c->name; c++)
        strbuf_adds (&put, c == history_columns ? "?" : ",?");
    strbuf_addch (&put, ')');
    strbuf_adds (&get, "SELECT ");
    history_add_columns (&get);
    strbuf_adds (&get, " FROM job WHERE id = ?");
    if (put.err || get.err)
        return error_set (err, ENOMEM, "history: out of memory");
    int rc = prepare (h, h->db, put.buf, &h->put_job, err);
    return rc < 0 ? rc : prepare (h, h->rdb, get.buf, &h->get_job, err);
}

static int prepare_all (struct history *h, struct error *err)
{
    const struct {
        sqlite3 *db;
        sqlite3_stmt **st;
        const char *sql;
    } rows[] = {
        { h->db, &h->put_step,
          "INSERT INTO step (job, number, attempt, step, name, begin_time, end_time,"
          " ntasks, nnodes, status, usage) VALUES (?,?,?,?,?,?,?,?,?,?,?)" },
        { h->db, &h->drop_steps, "DELETE FROM step WHERE job = ?" },
        { h->db, &h->drop_job, "DELETE FROM job WHERE id = ?" },
        { h->db, &h->oldest,
          "SELECT id, ended_time FROM job WHERE ended_time < ?1"
          " ORDER BY ended_time LIMIT ?2" },
        { h->db, &h->forget,
          "UPDATE forgotten SET ended_time = ?1 WHERE ended_time < ?1" },
        { h->rdb, &h->lacks, "SELECT 1 FROM job WHERE id = ? AND first_time = ?" },
        { h->rdb, &h->forgotten, "SELECT ended_time FROM forgotten" },
        { h->rdb, &h->get_steps,
          "SELECT attempt, step, name, begin_time, end_time, ntasks, nnodes, status,"
          " usage FROM step WHERE job = ? ORDER BY number" },
    };
    int rc = prepare_rows (h, err);

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE (rows); i++)
        rc = prepare (h, rows[i].db, rows[i].sql, rows[i].st, err);
    return rc;
}

static int rewrite_log (const struct history *h, struct error *err)
{
    char *log = NULL;

    if (asprintf (&log, "%s-wal", h->path) < 0)
        return error_set (err, ENOMEM, "history: out of memory");
    int rc = wal_rewrite (log, err);
    if (rc > 0)
        checkpoint_drop_cache (h->data_fd);
    free (log);
    return rc < 0 ? rc : 0;
}

int history_schema_open (struct history *h, struct error *err)
{
    int rc = create_file (h, err);

    if (rc == 0)
        rc = rewrite_log (h, err);
    if (rc == 0)
        rc = open_db (h, SQLITE_OPEN_READWRITE, &h->db, err);
    if (rc == 0)
        rc = check_schema (h, err);
    if (rc == 0)
        rc = open_db (h, SQLITE_OPEN_READONLY, &h->rdb, err);
    return rc < 0 ? rc : prepare_all (h, err);
}

void history_schema_close (struct history *h)
{
    sqlite3_stmt *all[] = { h->put_job,   h->put_step, h->drop_steps, h->drop_job,
                            h->oldest,    h->forget,   h->lacks,      h->forgotten,
                            h->get_steps, h->get_job };

    for (size_t i = 0; i < ARRAY_SIZE (all); i++)
        sqlite3_finalize (all[i]);
    sqlite3_close (h->rdb);
    sqlite3_close (h->db); /* the last connection: checkpoints */
    if (h->data_fd >= 0)
        close (h->data_fd);
}
