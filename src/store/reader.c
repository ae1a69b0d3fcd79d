/* reader.c - the thread that looks up jobs beside the writer; see journal_private.h */
#include <utlist.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "store/journal_private.h"

#define RECORD_TEXT_MAX ((size_t)1 << 30)
#define NO_TEXT SIZE_MAX

void read_request_discard (struct item *item)
{
    struct read_request *r = CONTAINER_OF (item, struct read_request, item);

    free (r->old);
    free (r->events);
    free (r->text);
    free (r);
}

/* Appends a column's text with its NUL to sb; returns its offset there, or NO_TEXT for
 * null. The address of sb changes while it grows, so offsets become pointers at the
 * end. */
static size_t add_column (struct strbuf *sb, sqlite3_stmt *st, int column)
{
    const unsigned char *text = sqlite3_column_text (st, column);
    size_t place = sb->len;

    if (!text)
        return NO_TEXT;
    strbuf_add (sb, text, (size_t)sqlite3_column_bytes (st, column));
    strbuf_addch (sb, '\0');
    return place;
}

static const char *at_place (const char *text, size_t place)
{
    return place == NO_TEXT ? NULL : text + place;
}

static int read_job (struct journal *j, struct read_request *r)
{
    sqlite3_stmt *st = j->rstmts[READ_JOB];

    sqlite3_bind_int64 (st, 1, (int64_t)r->id);
    int rc = sqlite3_step (st);
    if (rc == SQLITE_ROW) {
        r->rec.id = r->id;
        r->rec.uid = (uint32_t)sqlite3_column_int64 (st, 0);
        r->rec.inactive = sqlite3_column_int (st, 1) != 0;
    }
    sqlite3_reset (st);
    return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? -ENOENT : -EIO;
}

static int read_jobspec (struct journal *j, struct read_request *r, struct strbuf *sb)
{
    sqlite3_stmt *st = j->rstmts[READ_JOBSPEC];

    sqlite3_bind_int64 (st, 1, (int64_t)r->id);
    int rc = sqlite3_step (st);
    if (rc == SQLITE_ROW) {
        add_column (sb, st, 0);
        r->rec.jobspec_len = (size_t)sqlite3_column_bytes (st, 0);
    }
    sqlite3_reset (st);
    return rc == SQLITE_ROW ? 0 : -EIO;
}

/* An event whose texts are still offsets in a strbuf. */
struct placed_event {
    double timestamp;
    size_t name, context;
};

struct placed_events {
    struct placed_event *list;
    size_t n, alloc;
};

static int read_event (sqlite3_stmt *st, struct strbuf *sb, struct placed_events *events)
{
    if (array_reserve (&events->list, &events->alloc, events->n + 1,
                       sizeof (*events->list))
        < 0)
        return -ENOMEM;
    struct placed_event *e = &events->list[events->n++];
    e->timestamp = sqlite3_column_double (st, 0);
    e->name = add_column (sb, st, 1);
    e->context = add_column (sb, st, 2);
    return 0;
}

static int read_events (struct journal *j, uint64_t id, struct strbuf *sb,
                        struct placed_events *events)
{
    sqlite3_stmt *st = j->rstmts[READ_EVENTS];
    int step = SQLITE_ROW;
    int rc = 0;

    sqlite3_bind_int64 (st, 1, (int64_t)id);
    while (rc == 0 && (step = sqlite3_step (st)) == SQLITE_ROW)
        rc = schema_event_is_whole (st, id) ? read_event (st, sb, events) : -EIO;
    sqlite3_reset (st);
    return rc == 0 && step != SQLITE_DONE ? -EIO : rc;
}

/* Turns the offsets into the record's pointers. Takes the text out of sb. */
static int finish_record (struct read_request *r, struct strbuf *sb,
                          const struct placed_events *events)
{
    int err = sb->err;

    r->text = strbuf_detach (sb);
    if (!r->text)
        return err ? err : -ENOMEM;
    if (r->want & JOURNAL_JOBSPEC)
        r->rec.jobspec = r->text;
    if (events->n == 0)
        return 0;
    r->events = calloc (events->n, sizeof (*r->events));
    if (!r->events)
        return -ENOMEM;
    for (size_t i = 0; i < events->n; i++) {
        r->events[i].timestamp = events->list[i].timestamp;
        r->events[i].name = at_place (r->text, events->list[i].name);
        r->events[i].context = at_place (r->text, events->list[i].context);
    }
    r->rec.events = r->events;
    r->rec.nevents = events->n;
    return 0;
}

static int read_all (struct journal *j, struct read_request *r)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (RECORD_TEXT_MAX);
    struct placed_events events = { 0 };

    sqlite3_exec (j->rdb, "BEGIN", NULL, NULL, NULL); /* reads one consistent snapshot */
    int rc = read_job (j, r);
    if (rc == 0 && (r->want & JOURNAL_JOBSPEC))
        rc = read_jobspec (j, r, &sb);
    if (rc == 0 && (r->want & JOURNAL_EVENTS))
        rc = read_events (j, r->id, &sb, &events);
    if (rc < 0 && rc != -ENOENT)
        log_warning ("journal: %s: reading job %ju: %s", j->path, (uintmax_t)r->id,
                     sqlite3_errmsg (j->rdb));
    sqlite3_exec (j->rdb, "COMMIT", NULL, NULL, NULL);
    if (rc == 0)
        rc = finish_record (r, &sb, &events);
    free (events.list);
    return rc;
}

static int read_old (struct journal *j, struct old_query *q)
{
    sqlite3_stmt *st = j->rstmts[q->all ? READ_ENDED : READ_OLD];
    int step = SQLITE_DONE;

    sqlite3_bind_int64 (st, 1, (int64_t)q->after);
    sqlite3_bind_int64 (st, 2, (int64_t)q->max);
    if (!q->all) {
        sqlite3_bind_int64 (st, 3, q->jobs);
        sqlite3_bind_double (st, 4, q->since);
        sqlite3_bind_double (st, 5, q->keys_since);
    }
    while (q->n < q->max && (step = sqlite3_step (st)) == SQLITE_ROW)
        q->list[q->n++] = (struct journal_ended){ (uint64_t)sqlite3_column_int64 (st, 0),
                                                  sqlite3_column_double (st, 1),
                                                  sqlite3_column_double (st, 2) };
    sqlite3_reset (st);
    return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : -EIO;
}

void *journal_reader (void *arg)
{
    struct journal *j = arg;

    pthread_mutex_lock (&j->lock);
    for (;;) {
        while (!j->reads && !j->stop)
            pthread_cond_wait (&j->read_work, &j->lock);
        if (j->stop)
            break;
        struct item *item = j->reads;
        DL_DELETE (j->reads, item);
        j->nreads--;
        pthread_mutex_unlock (&j->lock);
        struct read_request *r = CONTAINER_OF (item, struct read_request, item);
        r->rc = r->old ? read_old (j, r->old) : read_all (j, r);
        journal_post (j, item);
        pthread_mutex_lock (&j->lock);
    }
    pthread_mutex_unlock (&j->lock);
    return NULL;
}
