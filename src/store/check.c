/* check.c - checks a journal that no broker has open, and repairs it
 *
 * A damaged log leaves three journals to choose from: all of the log as if its checksums
 * were right, the log up to the damage, and the data base without a log. Each is made as
 * a copy, PATH-repair, and examined: SQLite's own integrity check, then the sum of each
 * row. The copy with the most whole events is used; damaged rows are removed from it and
 * named.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>

#include "common/printable.h"
#include "common/strbuf.h"
#include "store/journal_private.h"

#define SAY_MAX 200 /* lines of each kind */

enum choice { ALL_OF_LOG, LOG_TO_DAMAGE, NO_LOG, CHOICES };

static const char *const choice_names[CHOICES] = {
    [ALL_OF_LOG] = "with all of the log",
    [LOG_TO_DAMAGE] = "with the log up to the damage",
    [NO_LOG] = "without the log",
};

struct verdict {
    bool readable; /* SQLite reads it, and its integrity check succeeds */
    char trouble[200];
    int64_t events, bad_events, bad_jobs;
    int64_t last_seq, last_id;
    bool complete; /* the sum over all rows matches the last commit */
};

struct check {
    struct journal *j; /* path, lock and head of a journal that is not open */
    struct journal_say say;
    struct wal_state log;
};

PRINTF_LIKE (2, 3) static void say (const struct check *c, const char *fmt, ...)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);
    va_list ap;

    va_start (ap, fmt);
    strbuf_vaddf (&sb, fmt, ap);
    va_end (ap);
    if (sb.buf) /* a damaged text may have anything */
        printable_clean (sb.buf);
    c->say.line (sb.buf ? sb.buf : "out of memory", c->say.arg);
}

#define BAD_EVENTS                                                                       \
    " FROM event WHERE sum IS NOT rowsum (seq, id, timestamp, name, context)"
#define BAD_JOBS                                                                         \
    " FROM job WHERE sum IS NOT rowsum (id, uid, key, spec,"                             \
    " (SELECT text FROM jobspec s WHERE s.id = job.id))"

static bool is_sound (sqlite3 *db, char trouble[200])
{
    sqlite3_stmt *st = NULL;
    bool ok = false;

    trouble[0] = '\0';
    if (sqlite3_prepare_v2 (db, "PRAGMA integrity_check(1)", -1, &st, NULL) == SQLITE_OK
        && sqlite3_step (st) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text (st, 0);
        ok = text && !strcmp (text, "ok");
        snprintf (trouble, 200, "%s", ok || !text ? "" : text);
    }
    sqlite3_finalize (st);
    if (!ok && !trouble[0])
        snprintf (trouble, 200, "%s", sqlite3_errmsg (db));
    for (char *p = trouble; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    return ok;
}

static struct verdict examine (const struct check *c, sqlite3 *db)
{
    struct verdict v = { 0 };
    uint64_t total = 0;

    v.readable = is_sound (db, v.trouble);
    v.events = schema_number (db, "SELECT count(*) FROM event");
    v.bad_events = schema_number (db, "SELECT count(*)" BAD_EVENTS);
    v.bad_jobs = schema_number (db, "SELECT count(*)" BAD_JOBS);
    v.last_seq = schema_number (db, "SELECT max(seq) FROM event");
    v.last_id = schema_number (db, "SELECT seq FROM sqlite_sequence WHERE name = 'job'");
    v.complete =
        schema_total (c->j, db, &total, NULL) == 0
        && (v.last_seq == 0
            || (int64_t)total
                   == schema_number (db, "SELECT total FROM event ORDER BY seq DESC"));
    v.readable = v.readable && v.events >= 0 && v.bad_events >= 0 && v.bad_jobs >= 0;
    return v;
}

/* Reports rows that do not match their checksum. */
static void say_bad_rows (const struct check *c, sqlite3 *db)
{
    sqlite3_stmt *st = NULL;
    int n = 0;

    if (sqlite3_prepare_v2 (db, "SELECT id" BAD_JOBS, -1, &st, NULL) == SQLITE_OK)
        for (n = 0; sqlite3_step (st) == SQLITE_ROW && n < SAY_MAX; n++)
            say (c, "job %jd: its jobspec is damaged; the job is lost",
                 (intmax_t)sqlite3_column_int64 (st, 0));
    sqlite3_finalize (st);
    st = NULL;
    if (sqlite3_prepare_v2 (db, "SELECT seq, id, name" BAD_EVENTS, -1, &st, NULL)
        == SQLITE_OK)
        for (n = 0; sqlite3_step (st) == SQLITE_ROW && n < SAY_MAX; n++)
            say (c, "job %jd: event %jd (%s) is damaged and lost",
                 (intmax_t)sqlite3_column_int64 (st, 1),
                 (intmax_t)sqlite3_column_int64 (st, 0),
                 (const char *)sqlite3_column_text (st, 2));
    sqlite3_finalize (st);
}

/* Reports events that the head knows and the journal lacks. */
static void say_tail (const struct check *c, const struct verdict *v)
{
    const struct journal_head *h = &c->j->head;

    if (!c->j->head_known)
        say (c,
             "%s-head is missing or damaged: it is not known whether the end is "
             "complete",
             c->j->path);
    else if (v->last_seq < h->seq)
        say (c, "events %jd to %jd are lost", (intmax_t)v->last_seq + 1, (intmax_t)h->seq);
    if (v->readable && !v->complete && v->bad_events == 0 && v->bad_jobs == 0)
        say (c, "rows are missing: the sum over all rows is not that of the last commit");
    if (v->last_id >= 0 && (uint64_t)v->last_id < h->last_id)
        say (c, "jobs %jd to %ju are lost", (intmax_t)v->last_id + 1,
             (uintmax_t)h->last_id);
}

/* Opens the copy's or the journal's own file. NULL: failed. */
static sqlite3 *open_file (const char *path, int flags, struct error *err)
{
    struct journal j = { .path = (char *)path };
    sqlite3 *db = NULL;

    if (schema_open_db (&j, flags, &db, err) < 0) {
        sqlite3_close (db);
        return NULL;
    }
    sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return db;
}

static int copy_file (const char *from, const char *to, struct error *err)
{
    struct stat st;
    autoclose int in = open (from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = 1;

    if (in < 0)
        return errno == ENOENT ? 0 : error_errno (err, errno, "%s", from);
    autoclose int out = open (to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0 || fstat (in, &st) < 0)
        return error_errno (err, errno, "%s", to);
    for (off_t left = st.st_size; left > 0 && n > 0; left -= n)
        n = sendfile (out, in, NULL, (size_t)MIN (left, (off_t)1 << 30));
    if (n < 0 || fsync (out) < 0)
        return error_errno (err, errno, "%s", to);
    return 0;
}

/* PATH SUFFIX, in a text of fixed size: paths of the state directory are short. */
struct name {
    char text[4200];
};

static struct name named (const struct check *c, const char *suffix)
{
    struct name n;

    snprintf (n.text, sizeof (n.text), "%s%s", c->j->path, suffix);
    return n;
}

static int copy (const struct check *c, const char *from, const char *to, struct error *err)
{
    return copy_file (named (c, from).text, named (c, to).text, err);
}

static void remove_copy (const struct check *c)
{
    unlink (named (c, "-repair").text);
    unlink (named (c, "-repair-wal").text);
    unlink (named (c, "-repair-shm").text);
}

/* Makes one of the three copies, and opens it. */
static sqlite3 *make (const struct check *c, enum choice which, struct error *err)
{
    remove_copy (c);
    if (copy (c, "", "-repair", err) < 0
        || (which != NO_LOG && copy (c, "-wal", "-repair-wal", err) < 0)
        || (which == ALL_OF_LOG && wal_mend (named (c, "-repair-wal").text, err) < 0))
        return NULL;
    return open_file (named (c, "-repair").text, SQLITE_OPEN_READWRITE, err);
}

static int64_t worth (const struct verdict *v)
{
    return v->readable ? v->events - v->bad_events + 1 : 0;
}

/* Chooses the copy. -EBADMSG: none can be read. */
static int choose (const struct check *c, enum choice *ret, struct verdict *ret_v,
                   struct error *err)
{
    *ret_v = (struct verdict){ 0 };
    for (int i = c->log.broken ? ALL_OF_LOG : LOG_TO_DAMAGE; i < CHOICES; i++) {
        struct verdict v = { 0 };
        sqlite3 *db = make (c, (enum choice)i, err);
        if (db)
            v = examine (c, db);
        sqlite3_close (db);
        if (worth (&v) > worth (ret_v)) {
            *ret_v = v;
            *ret = (enum choice)i;
        }
    }
    remove_copy (c);
    *err = (struct error){ 0 };
    return worth (ret_v) > 0
               ? 0
               : error_set (err, EBADMSG,
                            "%s: SQLite cannot read it, with or without its log: restore a "
                            "backup", c->j->path);
}

static const char clean_up[] =
    "BEGIN;"
    "CREATE TEMP TABLE bad AS SELECT id" BAD_JOBS ";"
    "DELETE FROM event WHERE id IN (SELECT id FROM bad);"
    "DELETE FROM jobspec WHERE id IN (SELECT id FROM bad);"
    "DELETE FROM job WHERE id IN (SELECT id FROM bad);"
    "DELETE" BAD_EVENTS ";";

/* Makes the chosen copy the journal. */
static int put_in_place (struct check *c, enum choice which, struct error *err)
{
    sqlite3 *db = make (c, which, err);
    int rc = db ? 0 : -EIO;

    if (rc == 0 && sqlite3_exec (db, clean_up, NULL, NULL, NULL) != SQLITE_OK)
        rc = error_set (err, EIO, "%s-repair: %s", c->j->path, sqlite3_errmsg (db));
    if (rc == 0) /* the ids of lost jobs are taken, too */
        rc = schema_keep_ids (c->j, db, c->j->head.reserved, err);
    if (rc == 0)
        rc = schema_seal (c->j, db, err);
    if (rc == 0
        && (sqlite3_exec (db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK
            || sqlite3_wal_checkpoint_v2 (db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL)
                   != SQLITE_OK))
        rc = error_set (err, EIO, "%s-repair: %s", c->j->path, sqlite3_errmsg (db));
    if (rc == 0) {
        c->j->head.seq = schema_number (db, "SELECT max(seq) FROM event");
        c->j->head.total = (uint64_t)schema_number (
            db, "SELECT total FROM event ORDER BY seq DESC LIMIT 1");
    }
    sqlite3_close (db);
    if (rc < 0)
        return rc;
    /* Without its log the damaged file is no journal any more, even if the next step
     * fails. */
    unlink (named (c, "-wal").text);
    unlink (named (c, "-shm").text);
    if (rename (named (c, "-repair").text, c->j->path) < 0)
        return error_errno (err, errno, "%s", c->j->path);
    remove_copy (c);
    c->j->head.reserved = MAX (c->j->head.reserved, c->j->head.last_id);
    rc = head_write (c->j->head_fd, &c->j->head, true);
    return rc < 0 ? error_errno (err, -rc, "%s-head", c->j->path) : 0;
}

static int keep_damaged (const struct check *c, struct error *err)
{
    static const char *const suffixes[] = { "", "-wal", "-head" };
    char mark[64], to[80];
    time_t now = time (NULL);
    struct tm tm;

    gmtime_r (&now, &tm);
    strftime (mark, sizeof (mark), ".damaged-%Y%m%dT%H%M%S", &tm);
    for (size_t i = 0; i < ARRAY_SIZE (suffixes); i++) {
        snprintf (to, sizeof (to), "%s%s", mark, suffixes[i]);
        if (copy (c, suffixes[i], to, err) < 0)
            return -EIO;
    }
    say (c, "the old file is kept as %s%s", c->j->path, mark);
    return 0;
}

/* Examines the journal in place, without a change. */
static struct verdict look (const struct check *c, struct error *err)
{
    struct verdict v = { 0 };
    sqlite3 *db = open_file (c->j->path, SQLITE_OPEN_READWRITE, err);
    int64_t version;

    if (db && schema_version (c->j, db, &version, err) != -EPROTO)
        v = examine (c, db);
    if (db && v.readable)
        say_bad_rows (c, db);
    sqlite3_close (db);
    return v;
}

static bool is_whole (const struct check *c, const struct verdict *v)
{
    return v->readable && v->bad_events == 0 && v->bad_jobs == 0 && v->complete
           && !c->log.later
           && (!c->j->head_known || v->last_seq >= c->j->head.seq);
}

static int repair (struct check *c, struct error *err)
{
    enum choice which = LOG_TO_DAMAGE;
    struct verdict v;
    int rc = keep_damaged (c, err);

    if (rc == 0)
        rc = choose (c, &which, &v, err);
    if (rc < 0)
        return rc;
    sqlite3 *db = make (c, which, err);
    if (db)
        say_bad_rows (c, db);
    sqlite3_close (db);
    say_tail (c, &v);
    rc = put_in_place (c, which, err);
    if (rc == 0)
        say (c, "%s is repaired, %s: %jd events, the last job is %jd", c->j->path,
             choice_names[which], (intmax_t)(v.events - v.bad_events),
             (intmax_t)v.last_id);
    return rc;
}

static int check (struct check *c, bool mend, struct error *err)
{
    struct error ignored = { 0 };
    struct verdict v = { 0 };
    enum choice which;

    if (c->log.later || c->log.broken)
        say (c, "%s-wal: frame %u of %u is damaged", c->j->path, c->log.good + 1,
             c->log.frames);
    if (!c->log.broken)
        v = look (c, &ignored);
    if (ignored.code == EPROTO) /* nothing that a repair could keep */
        return error_set (err, EPROTO, "%s", ignored.text);
    if (!c->log.broken && !v.readable)
        say (c, "%s: %s", c->j->path, v.trouble[0] ? v.trouble : ignored.text);
    if (!c->log.broken && is_whole (c, &v)) {
        say (c, "%s is intact: %jd events, the last job is %jd", c->j->path,
             (intmax_t)v.events, (intmax_t)v.last_id);
        return 0;
    }
    if (mend)
        return repair (c, err);
    if (choose (c, &which, &v, err) < 0)
        return -err->code;
    if (c->log.broken && is_whole (c, &v) && which != ALL_OF_LOG && !c->log.later) {
        say (c, "this is the end of a write that a crash cut short: nothing is lost");
        return 0;
    }
    say_tail (c, &v);
    return error_set (err, EBADMSG,
                      "%s is damaged; 'fluxq-ctl journal repair' would leave %jd events, "
                      "the last job %jd (%s)",
                      c->j->path, (intmax_t)(v.events - v.bad_events), (intmax_t)v.last_id,
                      choice_names[which]);
}

int journal_check (const char *path, bool mend, struct journal_say lines,
                   struct error *err)
{
    struct journal j = {
        .path = (char *)path, .lock_fd = -1, .head_fd = -1, .data_fd = -1
    };
    struct check c = { .j = &j, .say = lines };
    int rc = access (path, F_OK) < 0 ? error_errno (err, errno, "%s", path) : 0;

    if (rc == 0)
        rc = schema_lock (&j, err);
    if (rc == 0)
        rc = wal_scan (named (&c, "-wal").text, &c.log, err);
    if (rc == 0) {
        rc = j.head_fd = head_open (named (&c, "-head").text, &j.head, &j.head_known, err);
        rc = MIN (rc, 0);
    }
    if (rc == 0)
        rc = check (&c, mend, err);
    if (j.head_fd >= 0)
        close (j.head_fd);
    if (j.lock_fd >= 0)
        close (j.lock_fd);
    return rc;
}
