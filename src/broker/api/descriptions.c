/* descriptions.c - GET /v1/descriptions: what GET /v1/jobs/ID says, of many jobs
 *
 *     start --> read_some() --BATCH records--> on_record() ... --> go_on()
 *                   ^                                               |   '--> the end
 *                   '----------- the client has read <--------------'
 *
 * The records are in the journal. A batch is read while the loop serves others; the next
 * one follows when the client has read the text of this one.
 */
#include "broker/api/api.h"
#include "broker/api/job_json.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"

#define BATCH 16 /* jobs: their descriptions take a few milliseconds of the loop */
#define TEXT_MAX (256 << 20)

struct descriptions {
    struct broker *b;
    struct http_request *req; /* NULL: the client has left */
    uid_t viewer;
    uint64_t *ids;
    size_t n, at;
    size_t reading; /* records that the journal has not returned yet */
    bool written;
    struct strbuf sb; /* not yet sent */
};

static void descriptions_free (struct descriptions *d)
{
    strbuf_release (&d->sb);
    free (d->ids);
    free (d);
}

static void on_close (struct http_request *req, void *arg)
{
    struct descriptions *d = arg;

    (void)req;
    d->req = NULL;
    if (d->reading == 0)
        descriptions_free (d);
}

static void end (struct descriptions *d)
{
    struct http_request *req = d->req;

    if (d->sb.len > 0)
        http_stream_write (req, d->sb.buf, d->sb.len);
    http_stream_end (req);
    descriptions_free (d);
}

static void read_some (struct descriptions *d);

static void on_drain (struct http_request *req, void *arg)
{
    http_stream_on_drain (req, NULL);
    read_some (arg);
}

/* After a batch. An answer that cannot be completed ends early, and its JSON is cut. */
static void go_on (struct descriptions *d)
{
    if (!d->req) {
        descriptions_free (d);
    } else if (d->sb.err) {
        http_stream_end (d->req);
        descriptions_free (d);
    } else if (d->at == d->n) {
        strbuf_adds (&d->sb, "]}");
        end (d);
    } else if (d->sb.len == 0) { /* nothing that could drain */
        read_some (d);
    } else {
        http_stream_on_drain (d->req, on_drain);
        http_stream_write (d->req, d->sb.buf, d->sb.len);
        strbuf_reset (&d->sb);
    }
}

static void add (struct descriptions *d, struct entry *e,
                 const struct journal_record *rec)
{
    json_t *job = job_json (d->b, d->viewer, e, rec);
    autofree char *text = job ? json_dumps (job, JSON_COMPACT) : NULL;

    json_decref (job);
    if (!text) {
        d->sb.err = -ENOMEM;
        return;
    }
    strbuf_adds (&d->sb, d->written ? ",\n" : "");
    strbuf_adds (&d->sb, text);
    d->written = true;
}

/* Jobs that have gone meanwhile are left out. */
static void on_record (int rc, const struct journal_record *rec, void *arg)
{
    struct descriptions *d = arg;
    bool wanted = d->req && !d->sb.err && !broker_is_dead (d->b);
    struct entry *e = wanted && rc == 0 ? entry_find (d->b, rec->id) : NULL;

    broker_work_ends (d->b);
    if (e && rec->jobspec)
        add (d, e, rec);
    else if (wanted && rc < 0 && rc != -ENOENT)
        d->sb.err = rc;
    if (--d->reading == 0)
        go_on (d);
}

static void read_some (struct descriptions *d)
{
    int rc = 0;

    while (rc == 0 && d->at < d->n && d->reading < BATCH) {
        rc = journal_read (broker_journal (d->b), d->ids[d->at],
                           JOURNAL_JOBSPEC | JOURNAL_EVENTS, on_record, d);
        if (rc < 0)
            break;
        d->at++;
        d->reading++;
        broker_work_begins (d->b);
    }
    if (rc < 0)
        d->sb.err = rc;
    if (d->reading == 0)
        go_on (d);
}

static int by_id (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static int collect (struct descriptions *d, struct http_request *req, struct error *err)
{
    struct api_filter filter;
    struct entry *e;

    if (api_filter_init (
            &filter, d->b, req, http_request_query (req, "user"),
            http_request_query (req, "state"), http_request_query (req, "queue"),
            http_request_query (req, "name"), http_request_query (req, "ids"), err)
        < 0)
        return -EINVAL;
    d->ids = calloc (entries_count (d->b).all + 1, sizeof (*d->ids));
    if (d->ids)
        entries_each (ENTRIES_ALL, d->b, e)
            if (api_filter_match (&filter, e))
                d->ids[d->n++] = entry_id (e);
    api_filter_release (&filter);
    if (!d->ids)
        return -ENOMEM;
    qsort (d->ids, d->n, sizeof (*d->ids), by_id);
    return 0;
}

static void api_descriptions (struct broker *b, struct http_request *req,
                              const struct api_path *path)
{
    struct error err = { 0 };
    struct descriptions *d = calloc (1, sizeof (*d));

    (void)path;
    int rc = -ENOMEM;
    if (d) {
        *d = (struct descriptions){ .b = b, .req = req };
        d->viewer = http_request_uid (req);
        strbuf_init (&d->sb, TEXT_MAX);
        rc = collect (d, req, &err);
    }
    if (rc == 0) {
        strbuf_adds (&d->sb, "{\"jobs\":[");
        http_stream_begin (req, "application/json", on_close, d);
        read_some (d);
        return;
    }
    if (rc == -EINVAL)
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
    else
        http_reply_problem (req, 503, "busy", "out of memory");
    if (d)
        descriptions_free (d);
}

static const struct api_route routes[] = {
    { "GET", "/v1/descriptions", api_descriptions, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_descriptions = {
    .name = "descriptions",
    .routes = routes,
};
