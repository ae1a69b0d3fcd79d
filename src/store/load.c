/* load.c - reads the journal when the broker starts; see journal_private.h */
#include <errno.h>

#include "store/journal_private.h"

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

/* Both branches walk the index job_by_activity in order of id, and SQLite merges them. */
static const char select_jobs[] =
    "SELECT j.id, j.uid, j.inactive, j.key, s.text, j.spec, j.sum FROM job j"
    " LEFT JOIN jobspec s ON s.id = coalesce(j.spec, j.id) WHERE j.inactive = 0"
    " UNION ALL "
    "SELECT j.id, j.uid, j.inactive, j.key, NULL, j.spec, j.sum FROM job j"
    " WHERE j.inactive = 1 AND j.id >= (SELECT min(id) FROM"
    " (SELECT id FROM job WHERE inactive = 1 ORDER BY id DESC LIMIT ?))"
    " ORDER BY 1";

static uint64_t text_column (uint64_t sum, sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text (st, column);

    return rowsum_text (sum, text, (size_t)sqlite3_column_bytes (st, column));
}

bool schema_event_is_whole (sqlite3_stmt *st, uint64_t id)
{
    uint64_t sum = rowsum_int (ROWSUM_START, sqlite3_column_int64 (st, 3));

    sum = rowsum_int (sum, (int64_t)id);
    sum = rowsum_real (sum, sqlite3_column_double (st, 0));
    sum = text_column (text_column (sum, st, 1), st, 2);
    return sum == (uint64_t)sqlite3_column_int64 (st, 4);
}

/* Whether a row of select_jobs is whole; the jobspec of an ended job is not read. */
static bool job_is_whole (sqlite3_stmt *st)
{
    bool own = sqlite3_column_type (st, 5) == SQLITE_NULL;

    if (sqlite3_column_int (st, 2) != 0)
        return true;
    uint64_t sum = rowsum_int (ROWSUM_START, sqlite3_column_int64 (st, 0));
    sum = text_column (rowsum_int (sum, sqlite3_column_int64 (st, 1)), st, 3);
    sum =
        own ? rowsum_text (sum, NULL, 0) : rowsum_int (sum, sqlite3_column_int64 (st, 5));
    sum = own ? text_column (sum, st, 4) : rowsum_text (sum, NULL, 0);
    return sum == (uint64_t)sqlite3_column_int64 (st, 6)
           && sqlite3_column_type (st, 4) != SQLITE_NULL;
}

static int damaged (const struct journal *j, uint64_t id, const char *what,
                    struct error *err)
{
    return error_set (
        err, EBADMSG,
        "journal: %s is damaged: %s of job %ju differs from the written data. "
        "'fluxq-ctl journal check' shows details, 'fluxq-ctl journal repair' "
        "continues without it, or restore a backup",
        j->path, what, (uintmax_t)id);
}

static int load_events (const struct journal *j, sqlite3_stmt *st, uint64_t id,
                        journal_event_f on_event, void *arg, struct error *err)
{
    int rc = 0;

    sqlite3_bind_int64 (st, 1, (int64_t)id);
    while (rc == 0 && sqlite3_step (st) == SQLITE_ROW)
        rc = !schema_event_is_whole (st, id)
                 ? damaged (j, id, "an event", err)
                 : on_event (id, sqlite3_column_double (st, 0),
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
        rc = schema_prepare (j, db, sql, 2, st, err);
    if (rc == 0)
        sqlite3_bind_int64 (st[0], 1, (int64_t)MIN (recent, (size_t)INT64_MAX));
    while (rc == 0 && stopped == 0 && (step = sqlite3_step (st[0])) == SQLITE_ROW) {
        uint64_t id = 0;
        if (!job_is_whole (st[0]))
            rc = damaged (j, (uint64_t)sqlite3_column_int64 (st[0], 0), "the jobspec",
                          err);
        else
            stopped = load_job (st[0], on_job, arg, &id);
        if (rc == 0 && stopped == 0)
            stopped = load_events (j, st[1], id, on_event, arg, err);
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

/* Settings have no checksum: a damaged row may lack a text that the schema wants. */
static int load_setting (const struct journal *j, sqlite3_stmt *st, journal_setting_f fn,
                         void *arg, int *ret_stopped, struct error *err)
{
    const char *name = (const char *)sqlite3_column_text (st, 0);
    const char *value = (const char *)sqlite3_column_text (st, 1);

    if (!name || !value)
        return error_set (err, EBADMSG,
                          "journal: %s is damaged: the setting '%.60s' has no value. "
                          "'fluxq-ctl journal check' shows details; restore a backup",
                          j->path, name ? name : "");
    *ret_stopped = fn (name, value, arg);
    return 0;
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
        rc = schema_prepare (j, db, sql, 1, &st, err);
    while (rc == 0 && stopped == 0 && (step = sqlite3_step (st)) == SQLITE_ROW)
        rc = load_setting (j, st, fn, arg, &stopped, err);
    if (rc == 0 && stopped == 0 && step != SQLITE_DONE)
        rc = schema_error (j, db, step, err);
    sqlite3_finalize (st);
    sqlite3_close (db);
    return rc < 0 ? rc : stopped;
}
