/* list.c - GET /v1/jobs: filters, orders and pages jobs, as JSON or TSV
 */
#include "broker/api/api.h"
#include "broker/api/columns.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "common/parse.h"

#define LIMIT_DEFAULT 100000
#define BODY_MAX (64 << 20)
#define DIRECT_MAX 5000 /* rows; up to this many are sent in one piece */
#define CHUNK (31 * 1024) /* bytes sent at a time: a little less than HTTP_POOL_SIZE */
#define PASS_SECONDS 0.005
#define ROWS_A_LOOK 64 /* rows between two looks at the clock */
#define AHEAD 4        /* rows, see fetch_ahead() */
#define KEYS_AHEAD 16  /* jobs, see fetch_keys() */
#define CACHE_LINE 64

/* A row with its sort key, so that comparisons need no access to the job. */
struct row {
    int group; /* running, waiting, ended */
    int64_t priority;
    uint64_t turn; /* orders rows of equal priority */
    uint64_t id;
    struct entry *e;
};

struct listing {
    struct broker *b;
    struct row *rows;
    size_t total, shown, at;
    uint64_t removed; /* entries_removed() for which the rows' entries are valid */
    bool written;     /* a row has been written */
    struct strbuf sb; /* not yet sent */
    const struct column *list[COLUMNS_MAX];
    size_t n;
    bool tsv;
    int64_t limit;
    int64_t after;
    struct api_filter filter;
};

static int parse_fields (struct listing *l, const char *text, struct error *err)
{
    if (!text) {
        const struct column *all = columns_all (&l->n);
        for (size_t i = 0; i < l->n; i++)
            l->list[i] = &all[i];
        return 0;
    }
    while (*text) {
        size_t len = strcspn (text, ",");
        const struct column *c = column_find (text, len);
        if (!c)
            return error_set (err, EINVAL, "fields: '%.*s' is unknown",
                              (int)MIN (len, 40), text);
        for (size_t i = 0; i < l->n; i++) /* the cost of a row depends on its fields */
            if (l->list[i] == c)
                return error_set (err, EINVAL, "fields: %s is there twice", c->name);
        l->list[l->n++] = c;
        text += len + (text[len] == ',');
    }
    return 0;
}

static int parse_query (struct listing *l, struct http_request *req, struct error *err)
{
    const char *format = http_request_query (req, "format");
    const char *limit = http_request_query (req, "limit");
    const char *after = http_request_query (req, "after");

    l->limit = LIMIT_DEFAULT;
    if (format && strcmp (format, "json") != 0 && strcmp (format, "tsv") != 0)
        return error_set (err, EINVAL, "format: '%s' is neither json nor tsv", format);
    l->tsv = format && !strcmp (format, "tsv");
    if (limit && parse_int (limit, 1, 10000000, &l->limit, "limit", err) < 0)
        return -EINVAL;
    if (after && parse_int (after, 0, INT64_MAX, &l->after, "after", err) < 0)
        return -EINVAL;
    const char *state = http_request_query (req, "state");
    const char *ids = http_request_query (req, "ids");
    if (parse_fields (l, http_request_query (req, "fields"), err) < 0)
        return -EINVAL;
    return api_filter_init (&l->filter, l->b, req, http_request_query (req, "user"),
                            state ? state
                            : ids ? "all"
                                  : "active",
                            http_request_query (req, "queue"),
                            http_request_query (req, "name"), ids, err);
}

static int by_order (const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->group != y->group)
        return x->group - y->group;
    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_id (const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void sort (struct row *rows, size_t n, int (*cmp) (const void *a, const void *b))
{
    size_t i = 1;
    while (i < n && cmp (&rows[i - 1], &rows[i]) < 0)
        i++;
    if (i < n) /* jobs are usually in order already */
        qsort (rows, n, sizeof (*rows), cmp);
}

/* Whether the tasks of the array have rows of their own: none of them waits, or was
 * cancelled before its start. */
static bool is_elsewhere (const struct entry *e)
{
    const struct job *job = entry_job (e);
    const struct job_array *a = job->array;

    return a && job->state >= JOB_RUN
           && (job->state < JOB_INACTIVE || idset_count (a->cancelled) == 0);
}

/* For functions that only prefetch: GCC takes them for functions without effect, and drops
 * their calls unless they are inlined. */
#define ALWAYS_INLINE inline __attribute__ ((always_inline))

static ALWAYS_INLINE void fetch (const void *p, size_t len)
{
    for (size_t at = 0; at < len; at += CACHE_LINE)
        __builtin_prefetch ((const char *)p + at);
}

/* Fetches what selects and orders the rows of later jobs: for the entry, then for its job. */
static ALWAYS_INLINE void fetch_keys (struct entry *const *list, size_t left)
{
    if (left > 2 * KEYS_AHEAD)
        fetch (list[2 * KEYS_AHEAD], sizeof (struct entry_head));
    if (left > KEYS_AHEAD && list[KEYS_AHEAD])
        fetch (entry_job (list[KEYS_AHEAD]), offsetof (struct job, shown));
}

static void set_key (struct row *row, struct entry *e)
{
    const struct job *job = entry_job (e);
    enum job_group group = job_phase_group (api_row_phase (job));
    bool waits = group == JOB_GROUP_PENDING;

    row->group = waits ? 1 : group == JOB_GROUP_FINISHED ? 2 : 0;
    row->priority = waits ? job->priority : 0;
    row->turn = waits && job->turn ? job->turn : entry_id (e);
    row->id = entry_id (e);
    row->e = e;
}

/* The matching rows. Pages (after=, limit=) are ordered by id, whole listings by the
 * listing's order. */
static struct row *collect (struct broker *b, const struct listing *l, size_t *ret_n)
{
    struct row *rows = calloc (entries_count (b).all + 1, sizeof (*rows));
    size_t all, n = 0;
    struct entry *const *list = entries_array (b, &all);

    if (!rows)
        return NULL;
    for (size_t i = 0; i < all; i++) {
        struct entry *e = list[i];
        fetch_keys (list + i, all - i);
        if (!e || entry_id (e) <= (uint64_t)l->after || is_elsewhere (e)
            || !api_filter_match (&l->filter, e))
            continue;
        set_key (&rows[n++], e);
    }
    bool paged = l->after > 0 || n > (size_t)l->limit;
    sort (rows, n, paged ? by_id : by_order);
    *ret_n = n;
    return rows;
}

static void listing_free (struct listing *l)
{
    api_filter_release (&l->filter);
    free (l->rows);
    strbuf_release (&l->sb);
    free (l);
}

static const char *content_type (const struct listing *l)
{
    return l->tsv ? "text/tab-separated-values" : NULL;
}

/* The row's job, or NULL if it has gone. */
static struct entry *entry_of (const struct listing *l, const struct row *row)
{
    return l->removed == entries_removed (l->b) ? row->e : entry_find (l->b, row->id);
}

/* Most of a row's time is the wait for memory: for its entry, then the entry's job, then
 * the job's texts. Fetches them for later rows while this one is rendered. */
static ALWAYS_INLINE void fetch_ahead (const struct listing *l)
{
    const struct row *row = &l->rows[l->at];
    size_t left = l->shown - l->at;

    if (l->removed != entries_removed (l->b))
        return;
    if (left > 3 * AHEAD)
        fetch (row[3 * AHEAD].e, services_slot_size ());
    if (left > 2 * AHEAD)
        fetch (entry_job (row[2 * AHEAD].e), sizeof (struct job));
    if (left > AHEAD) {
        const struct job *job = entry_job (row[AHEAD].e);
        fetch (job->user, 1);
        fetch (job->name, 1);
        fetch (job->queue, 1);
    }
}

/* Renders rows until max bytes or the time limit; true: all are done. Skips jobs that
 * have gone meanwhile. */
static bool render (struct listing *l, size_t max)
{
    double begin = clock_mono (), now = clock_wall ();

    if (l->at == 0 && !l->tsv)
        strbuf_adds (&l->sb, "{\"jobs\":[");
    for (; l->at < l->shown && l->sb.len < max; l->at++) {
        if (l->at % ROWS_A_LOOK == ROWS_A_LOOK - 1
            && clock_mono () - begin > PASS_SECONDS)
            break;
        fetch_ahead (l);
        struct entry *e = entry_of (l, &l->rows[l->at]);
        if (!e)
            continue;
        if (!l->tsv && l->written)
            strbuf_adds (&l->sb, ",\n");
        l->written = true;
        if (l->tsv)
            columns_add_tsv (l->b, l->filter.me, now, e, l->list, l->n, &l->sb);
        else
            columns_add_json (l->b, l->filter.me, now, e, l->list, l->n, &l->sb);
    }
    if (l->at < l->shown)
        return false;
    if (!l->tsv && l->shown < l->total)
        strbuf_addf (&l->sb, "],\"next\":%ju,\"total\":%zu}",
                     (uintmax_t)l->rows[l->shown - 1].id, l->total);
    else if (!l->tsv)
        strbuf_addf (&l->sb, "],\"next\":null,\"total\":%zu}", l->total);
    return true;
}

static void stream_closed (struct http_request *req, void *arg)
{
    (void)req;
    listing_free (arg);
}

static void stream_more (struct http_request *req, void *arg)
{
    struct listing *l = arg;
    bool last;

    do { /* writes at least one byte, so that on_drain follows */
        last = render (l, CHUNK);
    } while (!last && l->sb.len == 0);
    http_stream_write (req, l->sb.buf, l->sb.len);
    bool failed = l->sb.err != 0;
    strbuf_reset (&l->sb);
    if (last || failed) {
        http_stream_end (req);
        listing_free (l);
    }
}

/* Sends short listings in one piece, and long ones as the client reads them, a few
 * milliseconds and little memory at a time. */
static void reply (struct listing *l, struct http_request *req)
{
    if (l->shown > DIRECT_MAX) {
        http_stream_begin (req, l->tsv ? content_type (l) : "application/json",
                           stream_closed, l);
        http_stream_on_drain (req, stream_more);
        stream_more (req, l);
        return;
    }
    while (!render (l, SIZE_MAX))
        ;
    size_t len = l->sb.len;
    char *text = strbuf_detach (&l->sb);
    if (text)
        http_reply_take (req, 200, content_type (l), text, len);
    else
        http_reply_problem (req, 503, "busy", "out of memory");
    listing_free (l);
}

static void api_list (struct broker *b, struct http_request *req,
                      const struct api_path *path)
{
    struct error err = { 0 };
    struct listing *l = calloc (1, sizeof (*l));

    (void)path;
    if (!l) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    l->b = b;
    strbuf_init (&l->sb, BODY_MAX);
    if (parse_query (l, req, &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        listing_free (l);
    } else if (!(l->rows = collect (b, l, &l->total))) {
        http_reply_problem (req, 503, "busy", "out of memory");
        listing_free (l);
    } else {
        l->removed = entries_removed (b);
        l->shown = MIN (l->total, (size_t)l->limit);
        reply (l, req);
    }
}

static const struct api_route routes[] = {
    { "GET", "/v1/jobs", api_list, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_list = {
    .name = "list",
    .routes = routes,
};
