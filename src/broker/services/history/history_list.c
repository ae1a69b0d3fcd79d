/* history_list.c - GET /v1/history, and GET /v1/jobs/ID of a job that only the history has
 *
 *     request --> scan --> on_batch() --> the answer, in one piece if the batch is the last
 *                  ^          |
 *                  '-- drain -'  else as a stream: a batch when the client has read the
 *                                one before
 *
 * Jobs get into the history a moment after their end. A list begins when it has those that
 * have ended before the request, or after BEHIND_MAX.
 */
#include <math.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/core/service.h"
#include "broker/services/history/history.h"
#include "broker/services/history/history_fields.h"
#include "common/clock.h"
#include "common/parse.h"

#define LIMIT_DEFAULT 100000
#define BODY_MAX ((size_t)9 << 20) /* of a batch */
#define TIME_MAX 1e11              /* unix time */
#define BEHIND_MAX 1.0             /* seconds of waiting for the history */
#define LOOK_AGAIN 0.01            /* seconds */

struct listing {
    struct history_viewer viewer;
    struct http_request *req; /* NULL: the client has gone */
    struct history_scan *scan;
    const struct history_field *list[HISTORY_FIELDS_MAX];
    size_t n;
    bool tsv, steps, streams;
    bool busy; /* a batch is under way */
    bool one;  /* GET /v1/jobs/ID: one job, and 404 if there is none */
    uint64_t one_id;
    int64_t left; /* rows */
    bool written; /* a row was written */
    int64_t last_id;
    struct strbuf sb;
    uint64_t mark;   /* the jobs that had ended at the request, see history_mark() */
    double deadline; /* of the wait for them */
    struct listing *prev, *next;
};

static void listing_free (struct listing *l)
{
    history_scan_destroy (l->scan);
    strbuf_release (&l->sb);
    free (l);
}

/* -- the question -- */

static int parse_time (const char *text, const char *what, double *ret, struct error *err)
{
    char *end = NULL;

    if (!text)
        return 0;
    *ret = strtod (text, &end);
    if (end == text || *end || !isfinite (*ret) || *ret < 0 || *ret > TIME_MAX)
        return error_set (err, EINVAL, "%s: '%.40s' is not a unix time", what, text);
    return 0;
}

static int parse_flags (struct listing *l, struct http_request *req, struct error *err)
{
    const char *format = http_request_query (req, "format");
    const char *steps = http_request_query (req, "steps");

    if (format && strcmp (format, "json") != 0 && strcmp (format, "tsv") != 0)
        return error_set (err, EINVAL, "format: '%s' is neither json nor tsv", format);
    l->tsv = format && !strcmp (format, "tsv");
    if (steps && strcmp (steps, "0") != 0 && strcmp (steps, "1") != 0)
        return error_set (err, EINVAL, "steps: '%s' is neither 0 nor 1", steps);
    l->steps = steps && *steps == '1';
    if (l->steps && l->tsv)
        return error_set (err, EINVAL, "steps: only in JSON");
    return 0;
}

/* A list without names is a mistake: it would mean no job here, and all in the history. */
static int take_words (struct history_words *to, const struct namelist *from,
                       const char *what, struct error *err)
{
    if (from->text && from->n == 0)
        return error_set (err, EINVAL, "%s: names nobody", what);
    *to = (struct history_words){ (const char *const *)from->v, from->n };
    return 0;
}

/* The ids, ranges and tasks of a request, in the form of the history. Free each. */
struct asked_ids {
    uint64_t *ids;
    struct history_range *ranges;
    struct history_tasks *tasks;
    size_t ntasks;
};

static void asked_release (struct asked_ids *a)
{
    for (size_t i = 0; a->tasks && i < a->ntasks; i++)
        free ((void *)a->tasks[i].tasks);
    free (a->tasks);
    free (a->ranges);
    free (a->ids);
}

static int add_tasks (struct history_tasks *to, const struct id_part *part)
{
    uint32_t *tasks = calloc (idset_count (part->tasks) + 1, sizeof (*tasks));

    *to = (struct history_tasks){ .array = part->array, .tasks = tasks };
    if (!tasks)
        return -ENOMEM;
    IDSET_FOREACH (part->tasks, task)
    {
        tasks[to->n++] = task;
    }
    return 0;
}

static int take_ids (struct asked_ids *a, struct history_filter *f,
                     const struct job_ids *ids)
{
    int rc = 0;

    if (!ids)
        return 0;
    a->ids = calloc (ids->named.n + 1, sizeof (*a->ids));
    a->ranges = calloc (ids->ranges.n + 1, sizeof (*a->ranges));
    a->tasks = calloc (ids->nparts + 1, sizeof (*a->tasks));
    if (!a->ids || !a->ranges || !a->tasks)
        return -ENOMEM;
    for (size_t i = 0; i < ids->named.n; i++)
        a->ids[f->nids++] = ids->named.v[i].first;
    for (size_t i = 0; i < ids->ranges.n; i++)
        a->ranges[f->nranges++] =
            (struct history_range){ ids->ranges.v[i].first, ids->ranges.v[i].last };
    for (size_t i = 0; rc == 0 && i < ids->nparts; i++)
        rc = add_tasks (&a->tasks[a->ntasks++], &ids->parts[i]);
    f->ids = a->ids;
    f->ranges = a->ranges;
    f->tasks = a->tasks;
    f->ntasks = a->ntasks;
    return rc;
}

/* Each phase: the same as no state. */
static uint32_t states_of (uint32_t phases)
{
    const uint32_t all = (UINT32_C (1) << (JOB_REQUEUED + 1)) - 1;

    return (phases & all) == all ? 0 : phases;
}

static int make_scan (struct listing *l, struct history *h, const struct api_filter *from,
                      const struct namelist *account, struct history_filter *f,
                      struct error *err)
{
    struct asked_ids asked = { 0 };

    if (take_words (&f->users, &from->user, "user", err) < 0
        || take_words (&f->queues, &from->queue, "queue", err) < 0
        || take_words (&f->names, &from->name, "name", err) < 0
        || take_words (&f->accounts, account, "account", err) < 0)
        return -EINVAL;
    f->by_userid = from->own;
    f->userid = from->me;
    f->states = states_of (from->phases);
    if (take_ids (&asked, f, from->ids) == 0)
        l->scan = history_scan_create (h, f);
    asked_release (&asked);
    return l->scan ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int parse_query (struct listing *l, struct http_request *req, struct history *h,
                        struct error *err)
{
    const char *limit = http_request_query (req, "limit");
    const char *after = http_request_query (req, "after");
    const char *account = http_request_query (req, "account");
    struct history_filter f = { 0 };
    struct namelist accounts = { 0 };
    struct api_filter from;
    int64_t above = 0;
    int n = history_fields_parse (http_request_query (req, "fields"), l->list, err);

    l->n = n < 0 ? 0 : (size_t)n;
    l->left = LIMIT_DEFAULT;
    if (n < 0 || parse_flags (l, req, err) < 0
        || (limit && parse_int (limit, 1, 10000000, &l->left, "limit", err) < 0)
        || (after && parse_int (after, 0, INT64_MAX, &above, "after", err) < 0)
        || parse_time (http_request_query (req, "since"), "since", &f.since, err) < 0
        || parse_time (http_request_query (req, "until"), "until", &f.until, err) < 0
        || (account && namelist_parse (&accounts, account, "account", err) < 0))
        return -EINVAL;
    f.after = (uint64_t)above;
    f.steps = l->steps;
    int rc = api_filter_init (
        &from, l->viewer.b, req, http_request_query (req, "user"),
        http_request_query (req, "state"), http_request_query (req, "queue"),
        http_request_query (req, "name"), http_request_query (req, "ids"), err);
    if (rc == 0) {
        rc = make_scan (l, h, &from, &accounts, &f, err);
        api_filter_release (&from);
    }
    namelist_release (&accounts);
    return rc;
}

/* -- the answer -- */

static void next_batch (struct listing *l);

static void add_row (struct listing *l, const struct history_job *job)
{
    if (l->tsv) {
        history_fields_add_tsv (&l->viewer, job, l->list, l->n, &l->sb);
    } else {
        if (l->written && !l->one)
            strbuf_adds (&l->sb, ",\n");
        history_fields_add_json (&l->viewer, job, l->list, l->n, l->steps, &l->sb);
    }
    l->written = true;
    l->left--;
    l->last_id = job->id;
}

/* true: the answer is complete. */
static bool add_batch (struct listing *l, const struct history_job *jobs, size_t n,
                       bool last)
{
    bool more = !last;

    for (size_t i = 0; i < n; i++) {
        if (!history_is_seen (&l->viewer, &jobs[i])
            || !(history_has_row (&jobs[i]) || l->one))
            continue;
        if (l->left == 0) {
            more = true;
            break;
        }
        add_row (l, &jobs[i]);
    }
    if (l->left > 0 && !last)
        return false;
    if (!l->tsv && !l->one && more)
        strbuf_addf (&l->sb, "],\"next\":%jd}", (intmax_t)l->last_id);
    else if (!l->tsv && !l->one)
        strbuf_adds (&l->sb, "],\"next\":null}");
    return true;
}

static void reply (struct listing *l)
{
    size_t len = l->sb.len;
    bool failed = l->sb.err != 0;
    char *text = failed ? NULL : strbuf_detach (&l->sb);

    if (l->one && !l->written)
        http_reply_problem (l->req, 404, "unknown-job", "there is no job %ju",
                            (uintmax_t)l->one_id);
    else if (text)
        http_reply_take (l->req, 200, l->tsv ? "text/tab-separated-values" : NULL, text,
                         len);
    else
        http_reply_problem (l->req, 503, "busy", "out of memory");
    if (l->one && !l->written)
        free (text);
}

static void stream_closed (struct http_request *req, void *arg)
{
    struct listing *l = arg;

    (void)req;
    l->req = NULL;
    if (!l->busy)
        listing_free (l);
}

static void stream_drained (struct http_request *req, void *arg)
{
    http_stream_on_drain (req, NULL);
    next_batch (arg);
}

static void go_on_with_stream (struct listing *l)
{
    if (!l->streams) {
        l->streams = true;
        http_request_set_aux (l->req, NULL, NULL);
        http_stream_begin (l->req,
                           l->tsv ? "text/tab-separated-values" : "application/json",
                           stream_closed, l);
    }
    if (l->sb.len == 0) { /* nothing that could drain */
        next_batch (l);
        return;
    }
    http_stream_on_drain (l->req, stream_drained);
    http_stream_write (l->req, l->sb.buf, l->sb.len);
    strbuf_reset (&l->sb);
}

static void finish (struct listing *l)
{
    struct http_request *req = l->req;

    if (!l->streams) {
        http_request_set_aux (req, NULL, NULL);
        reply (l);
    } else {
        if (l->sb.len > 0)
            http_stream_write (req, l->sb.buf, l->sb.len);
        http_stream_end (req);
    }
    listing_free (l);
}

/* The answer has begun, or not: then the client learns of the error. */
static void fail (struct listing *l, int rc)
{
    struct http_request *req = l->req;

    if (l->streams) {
        http_stream_end (req);
    } else {
        http_request_set_aux (req, NULL, NULL);
        http_reply_problem (req, 503, "history", "the history cannot be read: %s",
                            strerror (-rc));
    }
    listing_free (l);
}

static void on_batch (int rc, const struct history_job *jobs, size_t n, bool last,
                      void *arg)
{
    struct listing *l = arg;

    broker_work_ends (l->viewer.b);
    l->busy = false;
    if (!l->req) /* the client has left */
        listing_free (l);
    else if (rc < 0 || l->sb.err)
        fail (l, rc < 0 ? rc : -ENOMEM);
    else if (add_batch (l, jobs, n, last))
        finish (l);
    else
        go_on_with_stream (l);
}

static void next_batch (struct listing *l)
{
    /* The history closes before the streams. */
    int rc =
        history_of (l->viewer.b) ? history_scan_next (l->scan, on_batch, l) : -ESHUTDOWN;

    if (rc < 0) {
        fail (l, rc);
        return;
    }
    l->busy = true;
    broker_work_begins (l->viewer.b);
}

static void client_left (void *aux)
{
    ((struct listing *)aux)->req = NULL;
}

static void refuse (struct broker *b, struct http_request *req)
{
    const char *why = history_why (b);

    http_reply_problem (req, 503, "history", "%s", why ? why : "there is no history yet");
}

static struct listing *listing_create (struct broker *b, struct http_request *req)
{
    struct listing *l = calloc (1, sizeof (*l));

    if (!l) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return NULL;
    }
    l->viewer = (struct history_viewer){ b, http_request_uid (req) };
    l->req = req;
    strbuf_init (&l->sb, BODY_MAX);
    return l;
}

static void begin (struct listing *l)
{
    if (!l->tsv && !l->one)
        strbuf_adds (&l->sb, "{\"jobs\":[");
    http_request_set_aux (l->req, l, client_left);
    next_batch (l);
}

/* -- jobs that have just ended -- */

struct state {
    struct listing *waiting; /* until the history has the jobs that have ended */
    struct broker_timer timer;
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

static void waiter_left (void *aux)
{
    struct listing *l = aux;

    DL_DELETE (state_of (l->viewer.b)->waiting, l);
    listing_free (l);
}

static void look_again (struct broker *b)
{
    struct state *s = state_of (b);
    struct listing *l, *next;

    DL_FOREACH_SAFE (s->waiting, l, next)
    {
        if (history_is_behind (b, l->mark) && clock_mono () < l->deadline)
            continue;
        DL_DELETE (s->waiting, l);
        begin (l);
    }
    if (s->waiting)
        broker_timer_set (&s->timer, LOOK_AGAIN);
}

/* Begins when the history has the jobs that have ended, so that no job is missing in the
 * list of those that run and in this one. */
static void begin_complete (struct broker *b, struct listing *l)
{
    struct state *s = state_of (b);

    l->mark = history_mark (b);
    if (!history_is_behind (b, l->mark)) {
        begin (l);
        return;
    }
    l->deadline = clock_mono () + BEHIND_MAX;
    http_request_set_aux (l->req, l, waiter_left);
    DL_APPEND (s->waiting, l);
    broker_timer_set (&s->timer, LOOK_AGAIN);
}

/* The server answers the requests that are left. */
static void stop (struct broker *b)
{
    struct state *s = state_of (b);
    struct listing *l, *next;

    DL_FOREACH_SAFE (s->waiting, l, next)
    {
        DL_DELETE (s->waiting, l);
        begin (l);
    }
}

static void api_history (struct broker *b, struct http_request *req,
                         const struct api_path *path)
{
    struct error err = { 0 };
    struct history *h = history_of (b);
    struct listing *l;

    (void)path;
    if (!h) {
        refuse (b, req);
    } else if (!(l = listing_create (b, req))) {
        ; /* answered */
    } else if (parse_query (l, req, h, &err) < 0) {
        http_reply_problem (req, err.code == ENOMEM ? 503 : 400,
                            err.code == ENOMEM ? "busy" : "bad-request", "%s", err.text);
        listing_free (l);
    } else {
        begin_complete (b, l);
    }
}

static bool shows_gone (struct broker *b, struct http_request *req, uint64_t id,
                        uint32_t task)
{
    struct history *h = history_of (b);
    const struct history_tasks tasks = { .array = id, .tasks = &task, .n = 1 };
    const struct history_range range = { id, id };
    struct history_filter f = { .steps = true };
    struct error err = { 0 };

    if (!h)
        return false;
    if (task != IDSET_END) {
        f.tasks = &tasks;
        f.ntasks = 1;
    } else {
        f.ranges = &range; /* without the tasks of an array */
        f.nranges = 1;
    }
    struct listing *l = listing_create (b, req);
    if (!l)
        return true;
    l->n = (size_t)history_fields_parse (NULL, l->list, &err);
    l->one = l->steps = true;
    l->one_id = id;
    l->left = 1;
    l->scan = history_scan_create (h, &f);
    if (l->scan) {
        begin (l);
    } else {
        http_reply_problem (req, 503, "busy", "out of memory");
        listing_free (l);
    }
    return true;
}

static const struct api_route routes[] = {
    { "GET", "/v1/history", api_history, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_history_list = {
    .name = "history_list",
    .place = &place,
    .state_size = sizeof (struct state),
    .timer = offsetof (struct state, timer),
    .on_timer = look_again,
    .stop = stop,
    .routes = routes,
    .shows_gone = shows_gone,
};
