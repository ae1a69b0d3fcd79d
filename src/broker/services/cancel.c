/* cancel.c - POST /v1/cancel: cancels jobs, or signals jobs or steps
 *
 * A cancelled job is reported as done when the event is committed; a signalled job when
 * its agent has delivered the signal, and as failed after SIGNAL_SECONDS without an
 * answer.
 */
#include <signal.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/cancelling.h"
#include "broker/services/stream/watch.h"
#include "common/clock.h"
#include "common/printable.h"

#define PASS_SECONDS 0.005 /* of a turn */
#define TARGETS_A_LOOK 32  /* targets between two looks at the clock */
#define NOTE_MAX 4096
#define SIGNAL_SECONDS 5.0

struct state {
    struct cancelling *signalling; /* requests that wait for agents, oldest first */
    struct broker_timer overdue;   /* ends the wait of the oldest */
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

/* A signal sent to a job's agent. */
struct telling {
    struct cancelling *c; /* NULL: answered without waiting for it */
    uint64_t id;
    struct telling *prev, *next;
};

static void cancelling_free (struct cancelling *c)
{
    struct telling *t;

    DL_FOREACH (c->tellings, t)
        t->c = NULL;
    json_decref (c->done);
    json_decref (c->failed);
    free (c->list);
    free (c->note);
    free (c);
}

/* The requested action. */
struct action {
    int64_t signum, step;
    const char *whom, *note; /* or NULL */
};

/* As in scancel: only SIGKILL reaches the batch script without --batch or --full. */
static enum exec_whom whom_of (const struct action *a)
{
    if (a->whom && !strcmp (a->whom, "batch"))
        return EXEC_WHOM_BATCH;
    if (a->whom && !strcmp (a->whom, "steps"))
        return EXEC_WHOM_STEPS;
    return a->whom && !strcmp (a->whom, "full") ? EXEC_WHOM_FULL
           : a->signum == SIGKILL               ? EXEC_WHOM_FULL
                                                : EXEC_WHOM_TASKS;
}

static struct cancelling *cancelling_create (struct broker *b, struct http_request *req,
                                             const struct api_path *path,
                                             const struct action *a)
{
    struct cancelling *c = calloc (1, sizeof (*c));

    if (!c)
        return NULL;
    c->b = b;
    c->req = req;
    c->roles = path->route->roles;
    c->signum = a->signum;
    c->whom = whom_of (a);
    c->step = a->step;
    c->done = json_array ();
    c->failed = json_array ();
    if (!c->done || !c->failed || (a->note && !(c->note = strdup (a->note)))) {
        cancelling_free (c);
        return NULL;
    }
    return c;
}

static int cancel_for_good (struct cancelling *c, struct entry *e)
{
    const struct job *job = entry_job (e);

    /* The job is ending; but a job that would be requeued after a failed start must be
     * cancelled. */
    if (job->state == JOB_CLEANUP && !job->requeue)
        return 0;
    int rc = broker_exception (c->b, e, "cancel", http_request_uid (c->req), c->note);
    if (rc < 0)
        cancelling_failed (c, entry_id (e), "busy", "job %ju: %s",
                           (uintmax_t)entry_id (e), strerror (-rc));
    return rc;
}

/* -- signals -- */

static void answer (struct cancelling *c);

/* Reports agents without an answer as failed. */
static void answer_now (struct cancelling *c, const char *why)
{
    struct telling *t;

    while ((t = c->tellings)) {
        DL_DELETE (c->tellings, t);
        t->c = NULL;
        cancelling_failed (c, t->id, "agent-unreachable", "job %ju: %s", (uintmax_t)t->id,
                           why);
    }
    DL_DELETE (state_of (c->b)->signalling, c);
    answer (c);
    cancelling_free (c);
}

static void signals_overdue (struct broker *b)
{
    struct state *state = state_of (b);
    double now = clock_mono ();

    while (state->signalling && state->signalling->until <= now)
        answer_now (state->signalling,
                    "its agent does not answer; the signal may still reach it");
    if (state->signalling)
        broker_timer_set (&state->overdue, state->signalling->until - now);
}

/* All targets have been worked off: answers now, or when the agents have answered. */
static void conclude (struct cancelling *c)
{
    struct state *state = state_of (c->b);

    if (c->tellings && !broker_is_dead (c->b)) {
        c->until = clock_mono () + SIGNAL_SECONDS;
        DL_APPEND (state->signalling, c);
        if (!state->overdue.is_set)
            broker_timer_set (&state->overdue, SIGNAL_SECONDS);
        return;
    }
    answer (c);
    cancelling_free (c);
}

static void stop (struct broker *b)
{
    struct cancelling *c, *next;

    DL_FOREACH_SAFE (state_of (b)->signalling, c, next)
    {
        answer_now (c, "the broker stops; the signal may still reach it");
    }
}

static void told (struct cancelling *c, uint64_t id, int rc)
{
    if (rc == 0)
        json_array_append_new (c->done, json_integer ((json_int_t)id));
    else if (rc == -ENOENT && c->step != EXEC_NO_STEP)
        cancelling_failed (c, id, "wrong-state", "job %ju: step %jd does not run",
                           (uintmax_t)id, (intmax_t)c->step);
    else if (rc == -ENOENT)
        cancelling_failed (c, id, "wrong-state", "job %ju: its batch script does not run",
                           (uintmax_t)id);
    else if (rc == -ESRCH)
        cancelling_failed (c, id, "wrong-state", "job %ju has ended already",
                           (uintmax_t)id);
    else
        cancelling_failed (c, id, "agent-unreachable", "job %ju: its agent: %s",
                           (uintmax_t)id, strerror (-rc));
}

static void on_told (int rc, void *arg)
{
    struct telling *t = arg;
    struct cancelling *c = t->c;

    if (c) {
        DL_DELETE (c->tellings, t);
        told (c, t->id, rc);
    }
    free (t);
    if (c && c->until > 0 && !c->tellings)
        answer_now (c, "");
}

static int signal_one (struct cancelling *c, struct entry *e)
{
    struct error err = { 0 };
    struct telling *t = calloc (1, sizeof (*t));

    if (!t)
        return -ENOMEM;
    *t = (struct telling){ .c = c, .id = entry_id (e) };
    DL_APPEND (c->tellings, t);
    if (broker_ops (c->b)->signal (broker_exec (c->b), entry_exec_job (e), (int)c->signum,
                                   c->whom, c->step, on_told, t, &err)
        < 0) {
        cancelling_failed (c, entry_id (e), err.code == EBUSY ? "busy" : "wrong-state",
                           "job %ju: %s", (uintmax_t)entry_id (e), err.text);
        DL_DELETE (c->tellings, t);
        free (t);
    }
    return 0;
}

/* 1: the result follows later. */
static int cancel_one (struct cancelling *c, struct entry *e)
{
    const struct job *job = entry_job (e);

    uintmax_t id = entry_id (e);

    if (c->signum == 0 && c->step == EXEC_NO_STEP)
        return cancel_for_good (c, e);
    if (job->array && idset_count (job->array->running) > 0)
        return 0; /* they are targets, too */
    if (!job->started || !entry_exec_job (e)) {
        cancelling_failed (c, entry_id (e), "wrong-state",
                           "job %ju does not run yet: no signal can reach it", id);
        return -ESRCH;
    }
    if (c->whom == EXEC_WHOM_BATCH && entry_exec_job (e)->js
        && !jobspec_is_batch (entry_exec_job (e)->js)) {
        cancelling_failed (c, entry_id (e), "wrong-state",
                           "job %ju is a command: it has no batch script", id);
        return -ENOENT;
    }
    int rc = signal_one (c, e);
    if (rc < 0)
        cancelling_failed (c, entry_id (e), "busy", "job %ju: %s", id, strerror (-rc));
    return rc < 0 ? rc : 1;
}

static void cancel_try (struct cancelling *c, const struct target *t)
{
    struct entry *e = entry_find (c->b, t->id);
    uintmax_t id = t->id;

    if (e)
        audit_note_job (c->req, e);
    else if (t->named)
        audit_note_id (c->req, t->id);
    if (!e || !privacy_sees (c->b, http_request_uid (c->req), e, PRIVATE_JOBS)) {
        if (t->named)
            cancelling_failed (c, t->id, "unknown-job", "there is no job %ju", id);
    } else if (!api_may (c->b, c->req, c->roles, e)) {
        cancelling_failed (c, entry_id (e), "not-owner", "job %ju belongs to %s", id,
                           entry_job (e)->user);
    } else if (entry_job (e)->state == JOB_INACTIVE
               || (entry_job (e)->finished && !entry_job (e)->requeue)) {
        if (t->named)
            cancelling_failed (c, entry_id (e), "wrong-state",
                               "job %ju has ended already", id);
    } else if (cancel_one (c, e) == 0) {
        json_array_append_new (c->done, json_integer ((json_int_t)entry_id (e)));
    }
}

/* Works off some targets; true: all are done. */
static bool go_on (struct cancelling *c)
{
    double begin = clock_mono ();

    while (c->at < c->n && clock_mono () - begin < PASS_SECONDS) {
        for (size_t i = 0; i < TARGETS_A_LOOK && c->at < c->n; i++, c->at++)
            if (c->at == 0 || c->list[c->at].id != c->list[c->at - 1].id)
                cancel_try (c, &c->list[c->at]);
    }
    return c->at == c->n;
}

static void answer (struct cancelling *c)
{
    if (broker_is_dead (c->b)) {
        http_reply_problem (c->req, 503, "busy", "the broker has stopped before the end");
        return;
    }
    watch_reply_after_commit (
        c->b, c->req, json_pack ("{s:O s:O}", "done", c->done, "failed", c->failed));
}

/* Works off one piece for each commit: the outer actions are work, too, and the disk must
 * keep up. */
static void go_on_after_commit (void *arg)
{
    struct cancelling *c = arg;

    if (broker_is_dead (c->b) || go_on (c))
        conclude (c);
    else
        broker_after_commit (c->b, go_on_after_commit, c);
}

/* The request needs a filter, from operators and users alike. */
static int read_filter (struct broker *b, struct http_request *req, json_t *body,
                        struct api_filter *f, struct error *err)
{
    const char *ids = NULL, *user = NULL, *state = NULL, *queue = NULL, *name = NULL;
    struct {
        const char *key, **value;
    } texts[] = { { "ids", &ids },
                  { "user", &user },
                  { "state", &state },
                  { "queue", &queue },
                  { "name", &name } };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        if (json_get_string (body, texts[i].key, texts[i].value, JSON_OPTIONAL_KEY,
                             "request", err)
            < 0)
            return -EINVAL;
    if (!ids && !user && !state && !queue && !name)
        return error_set (err, EINVAL,
                          "name jobs, or a user, state, queue or name to select them");
    return api_filter_init (f, b, req, user, state, queue, name, ids, err);
}

static int read_action (json_t *body, struct action *a, struct error *err)
{
    static const char *const whoms[] = { "tasks", "steps", "batch", "full" };
    const enum json_need opt = JSON_OPTIONAL_KEY;
    size_t i = 0;

    if (json_get_int (body, "signal", 1, 64, &a->signum, opt, "request", err) < 0
        || json_get_int (body, "step", 0, UINT32_MAX, &a->step, opt, "request", err) < 0
        || json_get_string (body, "whom", &a->whom, opt, "request", err) < 0
        || json_get_string (body, "note", &a->note, opt, "request", err) < 0
        || (a->note && printable_check (a->note, "note", err) < 0))
        return -EINVAL;
    while (a->whom && i < ARRAY_SIZE (whoms) && strcmp (whoms[i], a->whom) != 0)
        i++;
    if (a->whom && i == ARRAY_SIZE (whoms))
        return error_set (err, EINVAL,
                          "request.whom: is not tasks, steps, batch or full");
    if (a->whom && (a->signum == 0 || a->step != EXEC_NO_STEP))
        return error_set (err, EINVAL, "request.whom: is for signals to whole jobs");
    return 0;
}

static void api_cancel (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    static const char *const keys[] = { "ids",    "user", "state", "queue", "name",
                                        "signal", "whom", "step",  "note",  NULL };
    struct cancelling *c = NULL;
    struct api_filter f = { 0 };
    struct error err = { 0 };
    struct action a = { .step = EXEC_NO_STEP };
    autojson json_t *body = api_body (req, keys);

    if (!body)
        return;
    if (read_action (body, &a, &err) < 0 || read_filter (b, req, body, &f, &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    if (a.signum != 0 || a.step != EXEC_NO_STEP)
        audit_note_action (req, "signal");
    if (a.note && strlen (a.note) > NOTE_MAX) {
        http_reply_problem (req, 400, "bad-request", "note: at most %d bytes", NOTE_MAX);
    } else if (!(c = cancelling_create (b, req, path, &a))
               || cancelling_collect (c, &f) < 0) {
        http_reply_problem (req, 503, "busy", "out of memory");
        if (c)
            cancelling_free (c);
    } else {
        go_on_after_commit (c);
    }
    api_filter_release (&f);
}

static const struct api_route routes[] = {
    { "POST", "/v1/cancel", api_cancel, ROLE_OWNER | ROLE_OPERATOR, "cancel" },
    { 0 },
};

const struct broker_service service_cancel = {
    .name = "cancel",
    .place = &place,
    .state_size = sizeof (struct state),
    .timer = offsetof (struct state, overdue),
    .on_timer = signals_overdue,
    .stop = stop,
    .routes = routes,
};
