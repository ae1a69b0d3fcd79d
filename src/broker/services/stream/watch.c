/* watch.c - requests that wait: for a job's result, for changes, for a commit
 *
 * The waiter of a request is attached to it as aux; when the client leaves, the waiter
 * goes.
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/stream/watch.h"
#include "common/clock.h"

struct state {
    struct watcher *watchers; /* GET /v1/watch */
};

struct slot {
    struct waiter *waiters; /* GET /v1/jobs/ID/wait */
};

static struct service_place place;
SERVICE_STATE_OF (struct state)
SERVICE_SLOT_OF (struct slot)

/* -- GET /v1/jobs/ID/wait -- */

struct waiter {
    struct http_request *req;
    struct entry *e;
    struct waiter *prev, *next;
};

static json_t *result_json (const struct broker *b, struct http_request *req,
                            const struct entry *e)
{
    const struct job *job = entry_job (e);
    char text[300] = "";
    if (privacy_sees (b, http_request_uid (req), e, PRIVATE_ARGUMENTS))
        job_result_text (job, text, sizeof (text));
    return json_pack ("{s:I s:s s:i s:s}", "id", (json_int_t)entry_id (e), "state",
                      job_phase_name (job_result_phase (job)), "exit_code",
                      job_exit_code (job), "text", text);
}

static void waiter_left (struct http_request *req, void *arg)
{
    struct waiter *w = arg;
    (void)req;
    DL_DELETE (slot_of (w->e)->waiters, w);
    free (w);
}

static void write_result (const struct broker *b, struct http_request *req,
                          const struct entry *e)
{
    json_t *value = result_json (b, req, e);
    autofree char *text = value ? json_dumps (value, JSON_COMPACT) : NULL;

    json_decref (value);
    if (text)
        http_stream_write (req, text, strlen (text));
}

/* The answer is a stream, so that the broker notices when the client goes. It ends empty
 * when the broker stops. */
static void wait_for_result (struct broker *b, struct entry *e, struct http_request *req)
{
    struct waiter *w;

    if (entry_is_result_told (e)) {
        api_reply_json (req, 200, result_json (b, req, e));
        return;
    }
    if (!(w = calloc (1, sizeof (*w)))) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    w->req = req;
    w->e = e;
    DL_APPEND (slot_of (e)->waiters, w);
    http_stream_begin (req, "application/json", waiter_left, w);
}

static void answer_wait (struct api_look *l, struct entry *e,
                         const struct journal_record *rec)
{
    (void)rec;
    if (entry_find (l->b, l->id)) { /* after its record was on disk */
        wait_for_result (l->b, e, l->req);
    } else if (entry_job (e)->state != JOB_INACTIVE) {
        http_reply_header (l->req, "Retry-After", "1");
        http_reply_problem (l->req, 503, "busy", "job %ju is being accepted",
                            (uintmax_t)l->id);
    } else { /* the job ended long ago */
        api_reply_json (l->req, 200, result_json (l->b, l->req, e));
    }
}

static void api_job_wait (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    uint64_t id = 0;
    uint32_t task;
    if (api_old_task (b, req, path, &id, &task)) {
        api_look_up (b, req, path, answer_wait);
        return;
    }
    struct entry *e = api_entry (b, req, path, &id);
    if (e)
        wait_for_result (b, e, req);
    else if (id)
        api_look_up (b, req, path, answer_wait);
}

/* The job has its result. Or it leaves the table without one, or the broker stops: then the
 * clients ask again. */
static void end_waiters (struct broker *b, struct entry *e)
{
    struct slot *slot = slot_of (e);
    struct waiter *w, *next;

    DL_FOREACH_SAFE (slot->waiters, w, next)
    {
        DL_DELETE (slot->waiters, w);
        if (entry_is_result_told (e))
            write_result (b, w->req, e);
        http_stream_end (w->req);
        free (w);
    }
}

/* -- GET /v1/watch -- */

struct watcher {
    struct broker *b;
    struct http_request *req;
    struct api_filter filter;
    struct watcher *prev, *next;
};

static void watcher_free (struct watcher *w)
{
    api_filter_release (&w->filter);
    free (w);
}

static void watcher_left (struct http_request *req, void *arg)
{
    struct watcher *w = arg;
    (void)req;
    DL_DELETE (state_of (w->b)->watchers, w);
    watcher_free (w);
}

static void api_watch (struct broker *b, struct http_request *req,
                       const struct api_path *path)
{
    struct error err = { 0 };
    struct watcher *w = calloc (1, sizeof (*w));

    (void)path;
    if (!w) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    w->b = b;
    w->req = req;
    if (api_filter_init (&w->filter, b, req, http_request_query (req, "user"), NULL,
                         http_request_query (req, "queue"), NULL,
                         http_request_query (req, "ids"), &err)
        < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        watcher_free (w);
        return;
    }
    DL_APPEND (state_of (b)->watchers, w);
    http_stream_begin (req, "application/x-ndjson", watcher_left, w);
    http_stream_write (req, "{\"sync\":true}\n", 14);
}

void watch_event (struct broker *b, const struct entry *e, const char *name)
{
    struct state *state = state_of (b);
    struct watcher *w, *next;
    char line[256];

    if (!state->watchers)
        return;
    int len =
        snprintf (line, sizeof (line),
                  "{\"id\":%ju,\"event\":\"%s\",\"state\":\"%s\",\"timestamp\":%.6f}\n",
                  (uintmax_t)entry_id (e), name,
                  job_phase_name (job_phase (entry_job (e))), clock_wall ());
    DL_FOREACH_SAFE (state->watchers, w, next)
    {
        if (api_filter_match (&w->filter, e))
            http_stream_write (w->req, line, (size_t)len);
    }
}

/* The broker stops: ends all streams. */
static void stop (struct broker *b)
{
    struct state *state = state_of (b);
    struct watcher *w, *next;
    struct entry *e;

    entries_each (ENTRIES_ALL, b, e)
        end_waiters (b, e);
    DL_FOREACH_SAFE (state->watchers, w, next)
    {
        DL_DELETE (state->watchers, w);
        http_stream_end (w->req);
        watcher_free (w);
    }
}

/* -- replies that need this turn's commit -- */

struct later {
    struct http_request *req; /* NULL: the client left */
    json_t *value;
};

static void later_left (void *aux)
{
    ((struct later *)aux)->req = NULL;
}

static void later_reply (void *arg)
{
    struct later *l = arg;
    if (l->req) {
        http_request_set_aux (l->req, NULL, NULL);
        api_reply_json (l->req, 200, l->value);
    } else {
        json_decref (l->value);
    }
    free (l);
}

void watch_reply_after_commit (struct broker *b, struct http_request *req, json_t *value)
{
    struct later *l = calloc (1, sizeof (*l));
    if (!l || !value) {
        free (l);
        json_decref (value);
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    l->req = req;
    l->value = value;
    http_request_set_aux (req, l, later_left);
    broker_after_commit (b, later_reply, l);
}

static bool listens (const struct broker *b, const struct entry *e)
{
    (void)e;
    return state_of (b)->watchers;
}

static void committed (struct broker *b, struct entry *e,
                       const char (*names)[EVENT_NAME_MAX], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        watch_event (b, e, names[i]);
}

static const struct service_act acts[] = { { BROKER_ACT_RESULT, end_waiters },
                                           { 0, NULL } };

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}/wait", api_job_wait, ROLE_USER, NULL },
    { "GET", "/v1/watch", api_watch, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_watch = {
    .name = "watch",
    .place = &place,
    .state_size = sizeof (struct state),
    .slot_size = sizeof (struct slot),
    .stop = stop,
    .goes = end_waiters,
    .listens = listens,
    .committed = committed,
    .acts = acts,
    .routes = routes,
};
