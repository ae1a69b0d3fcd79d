/* history.c - adds ended jobs to the history; see history.h
 *
 *     a job has ended, on disk --.
 *     walk: all ended jobs of    |--> ids --> journal_read() --> row --> history_put()
 *     the journal that the       |
 *     history lacks -------------'
 *
 * The walk, at the start and after trouble, compares the journal with the history itself,
 * so a job that ended just before a kill -9, or while the history's disk refused, is found
 * whatever the reason. The journal removes only jobs that the history has (retention.c).
 * Writing a job twice does no harm.
 *
 * A history that cannot be opened stops no job: its state is shown, the journal keeps the
 * jobs, and a timer tries again.
 */
#include "broker/services/history/history.h"

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/history/history_row.h"
#include "common/clock.h"

#define EVERY_SECONDS 60
#define READING_MAX 16   /* look-ups at a time: they hold the loop for about 2 ms */
#define WAITING_MAX 1024 /* rows that wait for the history's disk */
#define QUEUE_MAX 100000 /* ids; beyond them a walk follows */
#define WALK_SLICE HISTORY_LACKS_MAX

struct state {
    struct history *h; /* NULL: not open */
    struct error why;  /* ... for this reason */
    uv_async_t wake;
    bool has_wake;
    struct broker_timer timer;
    uint64_t *queue; /* ids to read, from first on */
    size_t first, n, alloc;
    size_t ending;   /* jobs that are inactive, but not yet on disk */
    uint64_t marked; /* jobs that have become inactive since the start */
    size_t reading, waiting;
    bool walk_due, walking;
    uint64_t walk_after;
};

struct slot {
    bool ending; /* counted in state.ending */
};

static struct service_place place;

/* -- settings -- */

struct settings {
    double keep;  /* seconds, 0: forever */
    int64_t jobs; /* maximum number, 0: unlimited */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key mapping[] = {
    { "keep", value_seconds, AT (keep), 0, CONFIG_YEARS_MAX, NULL },
    { "jobs", value_int, AT (jobs), 0, INT64_C (1000000000), NULL },
    { 0 },
};
#undef AT

static const struct config_key keys[] = {
    { "history", value_mapping, 0, sizeof (struct settings), 0, 0, mapping },
    { 0 },
};

static const struct settings defaults = { .keep = 365 * 86400.0, .jobs = 10000000 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct state)
SERVICE_SLOT_OF (struct slot)

struct history *history_of (const struct broker *b)
{
    return state_of (b)->h;
}

const char *history_why (const struct broker *b)
{
    struct state *s = state_of (b);

    return s->h ? history_trouble (s->h) : s->why.text[0] ? s->why.text : NULL;
}

/* -- the queue of ids -- */

/* Without memory, or beyond the limit, a later walk finds the job. */
static void add (struct state *s, uint64_t id)
{
    if (s->first > 0 && s->n == s->alloc) {
        memmove (s->queue, s->queue + s->first, (s->n - s->first) * sizeof (*s->queue));
        s->n -= s->first;
        s->first = 0;
    }
    if (s->n == s->alloc) {
        size_t alloc = s->alloc ? 2 * s->alloc : 64;
        uint64_t *more =
            alloc <= QUEUE_MAX ? reallocarray (s->queue, alloc, sizeof (*more)) : NULL;
        if (!more) {
            s->walk_due = true;
            return;
        }
        s->queue = more;
        s->alloc = alloc;
    }
    s->queue[s->n++] = id;
}

static size_t queued (const struct state *s)
{
    return s->n - s->first;
}

static void pump (struct broker *b);

/* A row that the data base refuses for good is logged there: its job stays in the
 * journal. */
static void put_done (int rc, void *arg)
{
    struct broker *b = arg;

    (void)rc;
    state_of (b)->waiting--;
    pump (b);
}

static void record_read (int rc, const struct journal_record *rec, void *arg)
{
    struct broker *b = arg;
    struct state *s = state_of (b);

    broker_work_ends (b);
    s->reading--;
    if (rc == 0 && s->h && !broker_is_dead (b) && rec->jobspec) {
        rc = history_row_put (s->h, rec, put_done, b);
        s->waiting += rc == 0;
    }
    if (rc < 0 && rc != -ENOENT && rc != -EINVAL) /* the timer starts it */
        s->walk_due = true;
    pump (b);
}

static void read_next (struct broker *b, struct state *s)
{
    uint64_t id = s->queue[s->first++];

    s->first = s->first == s->n ? (s->n = 0) : s->first;
    if (journal_read (broker_journal (b), id, JOURNAL_JOBSPEC | JOURNAL_EVENTS,
                      record_read, b)
        < 0) {
        s->walk_due = true;
        return;
    }
    s->reading++;
    broker_work_begins (b);
}

/* -- the walk -- */

static void lacking (int rc, const struct journal_ended *jobs, size_t n, void *arg)
{
    struct broker *b = arg;
    struct state *s = state_of (b);

    broker_work_ends (b);
    s->walking = false;
    for (size_t i = 0; rc == 0 && i < n; i++)
        add (s, jobs[i].id);
    if (rc < 0)
        s->walk_due = true;
    else
        pump (b); /* the walk goes on when the queue is empty */
}

static void walked (int rc, const struct journal_ended *jobs, size_t n, void *arg)
{
    struct broker *b = arg;
    struct state *s = state_of (b);

    broker_work_ends (b);
    s->walk_after = rc == 0 && n == WALK_SLICE ? jobs[n - 1].id : 0;
    if (rc == 0 && n > 0 && s->h && !broker_is_dead (b)) {
        broker_work_begins (b);
        rc = history_lacks (s->h, jobs, n, lacking, b);
        if (rc == 0)
            return;
        broker_work_ends (b);
    }
    s->walking = false;
    if (rc < 0)
        s->walk_due = true;
}

/* From the beginning, or on from the last slice. */
static void walk (struct broker *b)
{
    struct state *s = state_of (b);

    broker_work_begins (b);
    s->walking = true;
    if (journal_ended (broker_journal (b), s->walk_after, WALK_SLICE, walked, b) < 0) {
        broker_work_ends (b);
        s->walking = false;
        s->walk_due = true;
    }
}

static void pump (struct broker *b)
{
    struct state *s = state_of (b);

    if (!s->h || broker_is_stopping (b) || broker_is_dead (b))
        return;
    while (queued (s) > 0 && s->reading < READING_MAX && s->waiting < WAITING_MAX)
        read_next (b, s);
    if (queued (s) == 0 && !s->walking && s->walk_after > 0)
        walk (b);
}

static void set_ending (struct broker *b, struct entry *e, bool ending)
{
    struct slot *slot = slot_of (e);
    struct state *s = state_of (b);

    if (slot->ending == ending)
        return;
    slot->ending = ending;
    s->ending += ending ? 1 : (size_t)-1;
    s->marked += ending;
}

static void event (struct broker *b, struct entry *e, const struct job_change *change)
{
    if (entry_job (e)->state == JOB_INACTIVE && change->before != JOB_INACTIVE)
        set_ending (b, e, true);
}

static void goes (struct broker *b, struct entry *e)
{
    set_ending (b, e, false);
}

static void ended (struct broker *b, struct entry *e)
{
    struct state *s = state_of (b);

    set_ending (b, e, false);
    if (!s->h) /* opening it starts a walk */
        return;
    add (s, entry_id (e));
    pump (b);
}

struct question {
    struct broker *b;
    history_lacks_f done;
    void *arg;
};

static void answered (int rc, const struct journal_ended *jobs, size_t n, void *arg)
{
    struct question *q = arg;

    for (size_t i = 0; i < n; i++)
        add (state_of (q->b), jobs[i].id);
    q->done (rc, jobs, n, q->arg);
    pump (q->b);
    free (q);
}

int history_missing (struct broker *b, const struct journal_ended *jobs, size_t n,
                     history_lacks_f done, void *arg)
{
    struct history *h = state_of (b)->h;
    struct question *q = h ? malloc (sizeof (*q)) : NULL;

    if (!q)
        return -EAGAIN;
    *q = (struct question){ b, done, arg };
    int rc = history_lacks (h, jobs, n, answered, q);
    if (rc < 0)
        free (q);
    return rc;
}

/* -- opening -- */

static void woken (uv_async_t *wake)
{
    struct broker *b = wake->data;

    if (state_of (b)->h)
        history_dispatch (state_of (b)->h);
}

static void wake (void *arg)
{
    uv_async_send (arg);
}

static void open_history (struct broker *b)
{
    struct state *s = state_of (b);
    struct error err = { 0 };
    autofree char *path = NULL;

    if (asprintf (&path, "%s/history.db", broker_state_dir (b)) < 0)
        path = NULL;
    s->h = path ? history_open (path, wake, &s->wake, &err) : NULL;
    if (!s->h && strcmp (s->why.text, err.text) != 0)
        log_error ("%s; ended jobs stay in the journal", err.text);
    s->why = err;
    s->walk_due = true;
}

static void on_timer (struct broker *b)
{
    const struct settings *set = settings_of (b);
    struct state *s = state_of (b);

    broker_timer_set (&s->timer, EVERY_SECONDS);
    if (!s->h)
        open_history (b);
    if (!s->h || broker_is_stopping (b))
        return;
    history_keep (s->h, set->keep > 0 ? clock_wall () - set->keep : 0, set->jobs);
    if (s->walk_due && !s->walking && s->walk_after == 0) {
        s->walk_due = false;
        walk (b);
    }
    pump (b);
}

static int begin (struct broker *b, struct error *err)
{
    struct state *s = state_of (b);

    if (uv_async_init (broker_loop (b), &s->wake, woken) < 0)
        return error_set (err, ENOMEM, "history: out of memory");
    s->wake.data = b;
    s->has_wake = true;
    open_history (b);
    broker_timer_set (&s->timer, 0);
    return 0;
}

static void close_history (struct broker *b)
{
    struct state *s = state_of (b);
    struct history *h = s->h;

    if (h)
        history_dispatch (h);
    s->h = NULL;
    history_close (h);
    if (s->has_wake)
        uv_close ((uv_handle_t *)&s->wake, NULL);
    s->has_wake = false;
}

static void release (struct broker *b)
{
    free (state_of (b)->queue);
}

/* -- what users see -- */

uint64_t history_mark (const struct broker *b)
{
    return state_of (b)->marked;
}

/* Jobs get in nearly in the order of their ends: READING_MAX of them overtake each other. */
bool history_is_behind (const struct broker *b, uint64_t mark)
{
    const struct state *s = state_of (b);
    uint64_t under_way = s->ending + queued (s) + s->reading + s->waiting;

    return s->h && !history_why (b) && under_way > 0
           && s->marked < mark + READING_MAX + under_way;
}

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    const struct state *s = state_of (b);
    size_t waiting = queued (s) + s->reading + s->waiting;

    (void)viewer;
    json_object_set_new (
        status, "history",
        json_pack ("{s:I s:I s:I s:s?}", "waiting", (json_int_t)waiting, "bytes",
                   (json_int_t)(s->h ? history_bytes (s->h) : 0), "removed",
                   (json_int_t)(s->h ? history_removed (s->h) : 0), "trouble",
                   history_why (b)));
}

const struct broker_service service_history = {
    .name = "history",
    .place = &place,
    .state_size = sizeof (struct state),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .timer = offsetof (struct state, timer),
    .on_timer = on_timer,
    .begin = begin,
    .close = close_history,
    .release = release,
    .event = event,
    .ended = ended,
    .goes = goes,
    .shows_status = shows_status,
};
