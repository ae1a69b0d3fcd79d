/* history_query.c - the thread that reads: scans, and jobs that are missing
 *
 *     plan(): the conditions as SQL
 *       |-- an index helps: list_ids() --> at most LISTED_MAX: add_listed(), by id
 *       '-- no index, or more: add_walked(), along the table
 */
#include <utlist.h>

#include "common/log.h"
#include "store/history_private.h"
#include "store/history_scan.h"

#define LISTED_MAX 100000 /* ids that a scan lists first */
#define BATCH_BYTES ((size_t)1 << 20)

/* -- conditions -- */

static void add_value (struct history_scan *s, struct scan_value v)
{
    if (s->nvalues == s->values_alloc) {
        size_t alloc = s->values_alloc ? 2 * s->values_alloc : 16;
        struct scan_value *more = reallocarray (s->values, alloc, sizeof (*more));
        if (!more) {
            s->item.rc = -ENOMEM;
            return;
        }
        s->values = more;
        s->values_alloc = alloc;
    }
    s->values[s->nvalues++] = v;
}

static void add_time (struct history_scan *s, const char *sql, double t)
{
    strbuf_adds (&s->cond, sql);
    add_value (s, (struct scan_value){ SCAN_REAL, .real = t });
}

/* A "+" keeps SQLite from the column's index. */
static void add_words (struct history_scan *s, const char *column, bool by_index,
                       const struct history_words *w)
{
    if (w->n == 0)
        return;
    strbuf_addf (&s->cond, " AND %s%s IN (", by_index ? "" : "+", column);
    for (size_t i = 0; i < w->n; i++) {
        strbuf_adds (&s->cond, i ? ",?" : "?");
        add_value (s, (struct scan_value){ SCAN_TEXT, .text = w->v[i] });
    }
    strbuf_addch (&s->cond, ')');
}

static bool asks_ids (const struct history_filter *f)
{
    return f->nids > 0 || f->nranges > 0 || f->ntasks > 0;
}

#define PHASE(phase) (UINT32_C (1) << (phase))
#define WAITED PHASE (JOB_PENDING)
#define RAN PHASE (JOB_RUNNING)

static void add_states (struct history_scan *s, bool by_index)
{
    bool first = true;

    strbuf_addf (&s->cond, "%sstate IN (", by_index ? "" : "+");
    for (unsigned phase = 0; phase < 32; phase++) {
        if (!(s->f.states & ~(WAITED | RAN) & PHASE (phase)))
            continue;
        strbuf_addf (&s->cond, "%s%u", first ? "" : ",", phase);
        first = false;
    }
    strbuf_addch (&s->cond, ')');
}

/* The span of time for jobs that ended in it. */
static void add_ended (struct history_scan *s)
{
    if (s->f.since > 0)
        add_time (s, " AND end_time >= ?", s->f.since);
    if (s->f.until > 0)
        add_time (s, " AND end_time <= ?", s->f.until);
}

/* The states that a job had before its end: it waited or ran at some time of the span. */
static void add_earlier_states (struct history_scan *s)
{
    if (s->f.states & WAITED) {
        strbuf_adds (&s->cond, " OR (submit_time IS NOT NULL");
        if (s->f.until > 0)
            add_time (s, " AND submit_time <= ?", s->f.until);
        if (s->f.since > 0)
            add_time (s, " AND coalesce(start_time, end_time) >= ?", s->f.since);
        strbuf_addch (&s->cond, ')');
    }
    if (s->f.states & RAN) {
        strbuf_adds (&s->cond, " OR (start_time IS NOT NULL");
        if (s->f.until > 0)
            add_time (s, " AND start_time <= ?", s->f.until);
        if (s->f.since > 0)
            add_time (s, " AND end_time >= ?", s->f.since);
        strbuf_addch (&s->cond, ')');
    }
}

static void add_span (struct history_scan *s, bool state_index)
{
    if (s->f.since > 0) /* for the indexes; end_time <= ended_time */
        add_time (s, s->by_index ? " AND ended_time >= ?" : " AND +ended_time >= ?",
                  s->f.since);
    if (s->f.states == 0) {
        if (s->f.since > 0)
            add_time (s, " AND end_time >= ?", s->f.since);
        if (s->f.until > 0)
            add_time (s, " AND submit_time <= ?", s->f.until);
        return;
    }
    if (!(s->f.states & (WAITED | RAN))) {
        strbuf_adds (&s->cond, " AND ");
        add_states (s, state_index);
        add_ended (s);
        return;
    }
    strbuf_adds (&s->cond, " AND ((");
    add_states (s, false);
    add_ended (s);
    strbuf_addch (&s->cond, ')');
    add_earlier_states (s);
    strbuf_addch (&s->cond, ')');
}

/* Chooses the one index: of the condition that usually leaves the fewest jobs. */
static void add_conditions (struct history_scan *s, bool by_index)
{
    const struct history_filter *f = &s->f;
    bool free_ = by_index && !asks_ids (f);

    s->cond.len = 0;
    s->nvalues = 0;
    s->by_index = free_;
    strbuf_adds (&s->cond, "1");
    if (f->by_userid) {
        strbuf_addf (&s->cond, " AND %suserid = ?", free_ ? "" : "+");
        add_value (s, (struct scan_value){ SCAN_INT, .number = f->userid });
        free_ = false;
    }
    const struct {
        const char *column;
        const struct history_words *words;
        bool has_index;
    } lists[] = { { "user", &f->users, true },
                  { "account", &f->accounts, true },
                  { "name", &f->names, true },
                  { "queue", &f->queues, false } };
    for (size_t i = 0; i < ARRAY_SIZE (lists); i++) {
        bool use = free_ && lists[i].has_index && lists[i].words->n > 0;
        add_words (s, lists[i].column, use, lists[i].words);
        free_ &= !use;
    }
    add_span (s, free_);
}

static bool has_index (const struct history_filter *f)
{
    return asks_ids (f) || f->by_userid || f->users.n > 0 || f->accounts.n > 0
           || f->names.n > 0 || f->since > 0
           || (f->states && !(f->states & (WAITED | RAN | PHASE (JOB_COMPLETED))));
}

/* -- statements -- */

/* Prepares "HEAD WHERE conditions TAIL" and binds the values of the conditions. */
static sqlite3_stmt *prepare (struct history *h, const struct history_scan *s,
                              const char *head, const char *tail)
{
    autostrbuf struct strbuf sql = STRBUF_INIT (1 << 20);
    sqlite3_stmt *st = NULL;
    int rc = SQLITE_OK;

    strbuf_addf (&sql, "%s WHERE %s %s", head, s->cond.buf, tail);
    if (sql.err || s->cond.err
        || sqlite3_prepare_v2 (h->rdb, sql.buf, -1, &st, NULL) != SQLITE_OK)
        return NULL;
    for (size_t i = 0; rc == SQLITE_OK && i < s->nvalues; i++) {
        const struct scan_value *v = &s->values[i];
        int at = (int)i + 1;
        rc = v->kind == SCAN_TEXT ? sqlite3_bind_text (st, at, v->text, -1, SQLITE_STATIC)
             : v->kind == SCAN_REAL ? sqlite3_bind_double (st, at, v->real)
                                    : sqlite3_bind_int64 (st, at, v->number);
    }
    if (rc == SQLITE_OK)
        return st;
    sqlite3_finalize (st);
    return NULL;
}

static int read_error (struct history *h)
{
    struct error err = { 0 };
    int rc = history_error (h, h->rdb, sqlite3_extended_errcode (h->rdb), &err);

    log_warning ("reading: %s", err.text);
    return rc;
}

/* -- lists of ids -- */

static int add_id (struct history_scan *s, uint64_t id)
{
    if (s->nids == s->ids_alloc) {
        size_t alloc = s->ids_alloc ? 2 * s->ids_alloc : 256;
        uint64_t *more = reallocarray (s->ids, alloc, sizeof (*more));
        if (!more)
            return -ENOMEM;
        s->ids = more;
        s->ids_alloc = alloc;
    }
    s->ids[s->nids++] = id;
    return 0;
}

static bool has_task (const struct history_tasks *t, int64_t task)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->tasks[mid] == task)
            return true;
        if (t->tasks[mid] < task)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* Adds the ids that the statement yields, of these tasks only unless NULL. The list ends
 * one id beyond LISTED_MAX. */
static int add_ids (struct history *h, struct history_scan *s, sqlite3_stmt *st,
                    const struct history_tasks *tasks)
{
    int step = SQLITE_DONE;
    int rc = 0;

    while (rc == 0 && s->nids <= LISTED_MAX && (step = sqlite3_step (st)) == SQLITE_ROW)
        if (!tasks || has_task (tasks, sqlite3_column_int64 (st, 1)))
            rc = add_id (s, (uint64_t)sqlite3_column_int64 (st, 0));
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        rc = read_error (h);
    sqlite3_reset (st);
    return rc;
}

static void bind_last (const struct history_scan *s, sqlite3_stmt *st, int index,
                       uint64_t n)
{
    sqlite3_bind_int64 (st, (int)s->nvalues + index, (int64_t)MIN (n, INT64_MAX));
}

static int add_range (struct history *h, struct history_scan *s, sqlite3_stmt *st,
                      uint64_t first, uint64_t last)
{
    bind_last (s, st, 1, first);
    bind_last (s, st, 2, last);
    return add_ids (h, s, st, NULL);
}

static int list_asked (struct history *h, struct history_scan *s)
{
    sqlite3_stmt *range = prepare (h, s, "SELECT id FROM job", "AND id BETWEEN ? AND ?");
    sqlite3_stmt *array =
        prepare (h, s, "SELECT id, array_task FROM job", "AND array_job = ?");
    int rc = range && array ? 0 : read_error (h);

    for (size_t i = 0; rc == 0 && i < s->f.nids; i++) {
        rc = add_range (h, s, range, s->f.ids[i], s->f.ids[i]);
        bind_last (s, array, 1, s->f.ids[i]);
        if (rc == 0)
            rc = add_ids (h, s, array, NULL);
    }
    for (size_t i = 0; rc == 0 && i < s->f.nranges; i++)
        rc = add_range (h, s, range, s->f.ranges[i].first, s->f.ranges[i].last);
    for (size_t i = 0; rc == 0 && i < s->f.ntasks; i++) {
        bind_last (s, array, 1, s->f.tasks[i].array);
        rc = add_ids (h, s, array, &s->f.tasks[i]);
    }
    sqlite3_finalize (range);
    sqlite3_finalize (array);
    return rc;
}

static int list_found (struct history *h, struct history_scan *s)
{
    sqlite3_stmt *st = prepare (h, s, "SELECT id FROM job", "AND +id > ?");
    int rc = st ? 0 : read_error (h);

    if (rc == 0) {
        bind_last (s, st, 1, s->f.after);
        rc = add_ids (h, s, st, NULL);
    }
    sqlite3_finalize (st);
    return rc;
}

static int by_number (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int plan (struct history *h, struct history_scan *s)
{
    int rc = 0;

    s->planned = true;
    s->last_id = s->f.after;
    if (has_index (&s->f)) {
        add_conditions (s, true);
        rc = s->item.rc < 0     ? s->item.rc
             : asks_ids (&s->f) ? list_asked (h, s)
                                : list_found (h, s);
        s->listed = rc == 0 && s->nids <= LISTED_MAX;
    }
    if (s->listed && s->nids > 1)
        qsort (s->ids, s->nids, sizeof (*s->ids), by_number);
    if (!s->listed && rc == 0) {
        add_conditions (s, false);
        rc = s->item.rc;
    }
    return rc;
}

/* -- rows -- */

static const char *copy_column (struct history_scan *s, sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text (st, column);
    size_t len = (size_t)sqlite3_column_bytes (st, column);
    char *copy = text ? scan_room (&s->batch, len + 1) : NULL;

    if (text && !copy)
        s->item.rc = -ENOMEM;
    s->bytes += len;
    return copy ? memcpy (copy, text, len + 1) : NULL;
}

static int64_t number_of (sqlite3_stmt *st, int column)
{
    return sqlite3_column_type (st, column) == SQLITE_NULL
               ? HISTORY_NONE
               : sqlite3_column_int64 (st, column);
}

static void read_steps (struct history *h, struct history_scan *s,
                        struct history_job *job)
{
    sqlite3_stmt *st = h->get_steps;

    sqlite3_bind_int64 (st, 1, job->id);
    job->steps = NULL; /* finish_batch() sets it */
    while (s->item.rc == 0 && sqlite3_step (st) == SQLITE_ROW) {
        if (s->nsteps == s->steps_alloc) {
            size_t alloc = s->steps_alloc ? 2 * s->steps_alloc : 64;
            struct history_step *more = reallocarray (s->steps, alloc, sizeof (*more));
            if (!more) {
                s->item.rc = -ENOMEM;
                break;
            }
            s->steps = more;
            s->steps_alloc = alloc;
        }
        s->steps[s->nsteps++] =
            (struct history_step){ .attempt = number_of (st, 0),
                                   .step = copy_column (s, st, 1),
                                   .name = copy_column (s, st, 2),
                                   .begin = sqlite3_column_double (st, 3),
                                   .end = sqlite3_column_double (st, 4),
                                   .ntasks = number_of (st, 5),
                                   .nnodes = number_of (st, 6),
                                   .status = number_of (st, 7),
                                   .usage = copy_column (s, st, 8) };
        job->nsteps++;
    }
    sqlite3_reset (st);
}

static void add_row (struct history *h, struct history_scan *s, sqlite3_stmt *st)
{
    struct history_job *job = &s->jobs[s->n++];
    int i = 0;

    *job = (struct history_job){ 0 };
    for (const struct history_column *c = history_columns; c->name; c++, i++) {
        char *at = (char *)job + c->at;
        if (c->kind == HISTORY_NUMBER)
            *(int64_t *)at = number_of (st, i);
        else if (c->kind == HISTORY_TIME)
            *(double *)at = sqlite3_column_double (st, i);
        else
            *(const char **)at = copy_column (s, st, i);
    }
    s->last_id = (uint64_t)job->id;
    s->bytes += sizeof (*job);
    if (s->f.steps)
        read_steps (h, s, job);
}

static bool is_full (const struct history_scan *s)
{
    return s->n == HISTORY_BATCH || s->bytes >= BATCH_BYTES || s->item.rc < 0;
}

/* A job that was removed since is left out. */
static void add_listed (struct history *h, struct history_scan *s)
{
    while (s->at < s->nids && !is_full (s)) {
        uint64_t id = s->ids[s->at++];
        if (id <= s->last_id) /* was there, or is named twice */
            continue;
        sqlite3_bind_int64 (h->get_job, 1, (int64_t)id);
        int step = sqlite3_step (h->get_job);
        if (step == SQLITE_ROW)
            add_row (h, s, h->get_job);
        else if (step != SQLITE_DONE)
            s->item.rc = read_error (h);
        sqlite3_reset (h->get_job);
    }
    s->last = s->at == s->nids;
}

static int in_range (const void *key, const void *range)
{
    uint64_t id = *(const uint64_t *)key;
    const struct history_range *r = range;

    return id < r->first ? -1 : id > r->last;
}

static int of_array (const void *key, const void *tasks)
{
    return by_number (key, &((const struct history_tasks *)tasks)->array);
}

/* Whether the id of the row is one of those that the filter names. */
static bool is_asked (const struct history_filter *f, sqlite3_stmt *st)
{
    uint64_t id = (uint64_t)sqlite3_column_int64 (st, 0),
             array = (uint64_t)sqlite3_column_int64 (st, 1);

    if (!asks_ids (f))
        return true;
    const struct history_tasks *t =
        f->ntasks ? bsearch (&array, f->tasks, f->ntasks, sizeof (*t), of_array) : NULL;
    return (f->nids && bsearch (&id, f->ids, f->nids, sizeof (id), by_number))
           || (f->nids && bsearch (&array, f->ids, f->nids, sizeof (id), by_number))
           || (f->nranges
               && bsearch (&id, f->ranges, f->nranges, sizeof (*f->ranges), in_range))
           || (t && has_task (t, sqlite3_column_int64 (st, 2)));
}

static void add_walked (struct history *h, struct history_scan *s)
{
    autostrbuf struct strbuf head = STRBUF_INIT (4096);
    int step = SQLITE_DONE;

    strbuf_adds (&head, "SELECT ");
    history_add_columns (&head);
    strbuf_adds (&head, " FROM job");
    sqlite3_stmt *st = prepare (h, s, head.buf, "AND id > ? ORDER BY id");
    if (!st) {
        s->item.rc = read_error (h);
        return;
    }
    bind_last (s, st, 1, s->last_id);
    while (!is_full (s) && (step = sqlite3_step (st)) == SQLITE_ROW)
        if (is_asked (&s->f, st))
            add_row (h, s, st);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        s->item.rc = read_error (h);
    s->last = step == SQLITE_DONE;
    sqlite3_finalize (st);
}

/* Points the jobs to their steps: the list does not grow any more. */
static void finish_batch (struct history_scan *s)
{
    size_t at = 0;

    for (size_t i = 0; i < s->n && s->steps; i++) {
        s->jobs[i].steps = s->steps + at;
        at += s->jobs[i].nsteps;
    }
}

void history_scan_read (struct history *h, struct history_item *item)
{
    struct history_scan *s = CONTAINER_OF (item, struct history_scan, item);

    item->rc = 0;
    scan_empty (s);
    sqlite3_exec (h->rdb, "BEGIN", NULL, NULL, NULL); /* reads one consistent snapshot */
    if (!s->planned)
        item->rc = plan (h, s);
    if (item->rc == 0 && s->listed)
        add_listed (h, s);
    else if (item->rc == 0)
        add_walked (h, s);
    sqlite3_exec (h->rdb, "COMMIT", NULL, NULL, NULL);
    finish_batch (s);
}

/* -- missing jobs -- */

struct question {
    struct history_item item;
    history_lacks_f done;
    void *arg;
    size_t n;
    struct journal_ended jobs[];
};

static void question_read (struct history *h, struct history_item *item)
{
    struct question *q = CONTAINER_OF (item, struct question, item);
    double forgotten = 0;
    size_t kept = 0;

    item->rc = sqlite3_step (h->forgotten) == SQLITE_ROW ? 0 : read_error (h);
    if (item->rc == 0)
        forgotten = sqlite3_column_double (h->forgotten, 0);
    sqlite3_reset (h->forgotten);
    for (size_t i = 0; item->rc == 0 && i < q->n; i++) {
        if (q->jobs[i].last_time <= forgotten)
            continue;
        sqlite3_bind_int64 (h->lacks, 1, (int64_t)q->jobs[i].id);
        sqlite3_bind_double (h->lacks, 2, q->jobs[i].first_time);
        int step = sqlite3_step (h->lacks);
        sqlite3_reset (h->lacks);
        if (step == SQLITE_DONE)
            q->jobs[kept++] = q->jobs[i];
        else if (step != SQLITE_ROW)
            item->rc = read_error (h);
    }
    q->n = item->rc == 0 ? kept : 0;
}

static void question_complete (struct history_item *item)
{
    struct question *q = CONTAINER_OF (item, struct question, item);

    q->done (item->rc, q->jobs, item->rc == 0 ? q->n : 0, q->arg);
    free (q);
}

int history_lacks (struct history *h, const struct journal_ended *jobs, size_t n,
                   history_lacks_f done, void *arg)
{
    struct question *q = calloc (1, sizeof (*q) + n * sizeof (*jobs));

    if (!q)
        return -ENOMEM;
    q->item.read = question_read;
    q->item.complete = question_complete;
    q->done = done;
    q->arg = arg;
    q->n = n;
    memcpy (q->jobs, jobs, n * sizeof (*jobs));
    int rc = history_ask (h, &q->item);
    if (rc < 0)
        free (q);
    return rc;
}

void *history_reader (void *arg)
{
    struct history *h = arg;

    pthread_mutex_lock (&h->lock);
    for (;;) {
        while (!h->reads && !h->stop)
            pthread_cond_wait (&h->read_work, &h->lock);
        if (h->stop)
            break;
        struct history_item *item = h->reads;
        DL_DELETE (h->reads, item);
        pthread_mutex_unlock (&h->lock);
        item->read (h, item);
        history_post (h, item);
        pthread_mutex_lock (&h->lock);
    }
    pthread_mutex_unlock (&h->lock);
    return NULL;
}
