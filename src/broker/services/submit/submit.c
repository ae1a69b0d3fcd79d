/* submit.c - POST /v1/jobs: check, number, write, then answer
 *
 *   body --> jobspec --> queue --> can it run? --> user --> journal --> 201 {"id":N}
 *
 * This file has the checks; submit_write.c has the rest.
 */
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/api/audit_note.h"
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/service.h"
#include "broker/services/depend/antecedents.h"
#include "broker/services/depend/depend.h"
#include "broker/services/submit/submission.h"
#include "common/parse.h"
#include "launch/launcher.h"

#define PENDING_MAX 1000000
#define LARGE (128 * 1024) /* bytes; parsing more takes over a millisecond or two */

struct submits {
    struct submission *keyed; /* with an Idempotency-Key, and not on disk yet */
};

static struct service_place place;
SERVICE_STATE_OF (struct submits)

static void client_left (void *aux)
{
    struct submission *s = aux;
    s->gone = true;
}

static void user_known (int rc, const struct exec_user *user, void *arg)
{
    struct submission *s = arg;
    char text[200];

    if (s->gone) {
        submission_detach (s);
        submission_free (s);
    } else if (broker_is_dead (s->b)) {
        submission_refuse (s, 503, "busy", "the broker is about to stop");
    } else if (rc == -ENOENT) {
        snprintf (text, sizeof (text), "uid %u has no entry in this machine's passwd",
                  (unsigned)s->terms.uid);
        submission_refuse (s, 403, "not-owner", text);
    } else if (rc < 0) {
        snprintf (text, sizeof (text), "uid %u cannot be looked up now: %s",
                  (unsigned)s->terms.uid, strerror (-rc));
        submission_retry_after (s, "5");
        submission_refuse (s, 503, "busy", text);
    } else {
        submission_write (s, user);
    }
}

/* The antecedents exist, or not. */
static void antecedents_known (int rc, struct antecedents *found, uint64_t unknown,
                               void *arg)
{
    struct submission *s = arg;
    char text[100];

    depend_set_found (s->e, found);
    if (s->gone) {
        submission_detach (s);
        submission_free (s);
    } else if (broker_is_dead (s->b) || rc < 0) {
        submission_retry_after (s, "1");
        submission_refuse (s, 503, "busy",
                           "the job's dependencies cannot be looked up now");
    } else if (unknown) {
        snprintf (text, sizeof (text), "dependency: there is no job %ju",
                  (uintmax_t)unknown);
        submission_refuse (s, 422, "unknown-job", text);
    } else if (antecedents_resolve_tasks (s->b, found, &entry_jobspec (s->e)->depend,
                                          &s->err)
               < 0) {
        submission_refuse_for (s, 422, "unknown-job");
    } else {
        users_find (broker_users (s->b), s->terms.uid, user_known, s);
    }
}

static void find_antecedents (struct submission *s)
{
    const struct dependencies *list = &entry_jobspec (s->e)->depend;

    if (depend_has_room (s->b, list->n)) {
        antecedents_find (s->b, list, NULL, &s->terms.uid, antecedents_known, s);
        return;
    }
    submission_retry_after (s, "10");
    submission_refuse (s, 429, "busy", "too many jobs already wait for other jobs");
}

/* Only root can start processes of other users. */
static bool refuse_foreign (struct broker *b, struct http_request *req)
{

    if (broker_ops (b)->runs_here && launcher_is_on ()
        && (http_request_uid (req) < launcher_min_uid ()
            || http_request_uid (req) == broker_uid (b))) {
        http_reply_problem (req, 403, "not-permitted",
                            "uid %u may not run jobs here: users from uid %u on may, "
                            "except the broker's own (min-uid in fluxq.yaml)",
                            (unsigned)http_request_uid (req),
                            (unsigned)launcher_min_uid ());
        return true;
    }
    if (!broker_ops (b)->runs_here || broker_serves_all (b)
        || http_request_uid (req) == broker_uid (b))
        return false;
    http_reply_problem (req, 403, "not-owner",
                        "this broker belongs to uid %u and runs jobs for that user only; "
                        "you are uid %u",
                        (unsigned)broker_uid (b), (unsigned)http_request_uid (req));
    return true;
}

/* A key that the user gave before: answers with the first id, and makes no job. */
static bool repeated (struct broker *b, struct http_request *req, const char *key)
{
    char text[64];
    struct submission *s;

    if (!key)
        return false;
    DL_FOREACH (state_of (b)->keyed, s) {
        if (s->terms.uid == http_request_uid (req) && !strcmp (s->key, key)) {
            http_reply_header (req, "Retry-After", "1");
            http_reply_problem (
                req, 409, "busy",
                "the first submit with this Idempotency-Key is being written; "
                "ask again in a second");
            return true;
        }
    }
    uint64_t id = journal_find_key (broker_journal (b), http_request_uid (req), key);
    if (!id)
        return false;
    audit_note_id (req, id);
    snprintf (text, sizeof (text), "{\"id\":%ju,\"repeated\":true}", (uintmax_t)id);
    http_reply (req, 200, NULL, text, strlen (text));
    return true;
}

static struct submission *submission_create (struct broker *b, uid_t uid, const char *key)
{
    struct submission *s = calloc (1, sizeof (*s));
    if (!s)
        return NULL;
    s->b = b;
    broker_work_begins (b);
    s->terms.uid = uid;
    if ((key && !(s->key = strdup (key))) || !(s->e = entry_new ())) {
        submission_free (s);
        return NULL;
    }
    return s;
}

static int read_query (struct submission *s, struct error *err)
{
    const char *urgency = http_request_query (s->req, "urgency");
    const char *allow = http_request_query (s->req, "allow-infeasible");
    const char *test = http_request_query (s->req, "test-only");
    int64_t value = 16;

    if (urgency && parse_int (urgency, 0, 31, &value, "urgency", err) < 0)
        return -EINVAL;
    s->terms.urgency = (int)value;
    s->terms.is_user = http_request_guest (s->req) == 0;
    s->terms.allow_infeasible = allow && strcmp (allow, "0") != 0;
    s->test_only = test && strcmp (test, "0") != 0;
    if (s->test_only)
        audit_note_reads (s->req);
    return 0;
}

/* The text for the journal: the jobspec as received and checked, unless something was
 * added. Encoding costs a quarter of a submit. */
static char *keep_text (const struct submission *s)
{
    size_t len = 0;
    const char *body = s->req ? http_request_body (s->req, &len) : s->foreign.jobspec;

    if (!s->req)
        len = strlen (body);
    return s->terms.completed ? jobspec_encode (entry_jobspec (s->e))
                              : strndup (body, len);
}

static void parse (struct submission *s)
{
    size_t len;
    const char *body = http_request_body (s->req, &len);
    struct jobspec *js = jobspec_parse (body, len, &s->err);
    if (js && jobspec_check_names (js, &s->err) < 0) {
        jobspec_destroy (js);
        js = NULL;
    }
    entry_set_jobspec (s->e, js);
}

static void parse_work (uv_work_t *w)
{
    parse (w->data);
}

static void judge (struct submission *s)
{
    const char *code = "bad-jobspec", *full = s->test_only ? NULL : pause_refusal (s->b);

    if (full) {
        submission_retry_after (s, "5");
        submission_refuse (s, 503, "paused", full);
        return;
    }
    bool good =
        entry_jobspec (s->e) && submit_check (s->b, s->e, &s->terms, &code, &s->err) == 0;
    if (good && !(s->text = keep_text (s)))
        good = error_no_memory (&s->err, NULL) == 0;
    if (!good)
        submission_refuse_for (s, 422, code);
    else if (entry_jobspec (s->e)->depend.n && !s->test_only)
        find_antecedents (s);
    else
        users_find (broker_users (s->b), s->terms.uid, user_known, s);
}

static void parse_done (uv_work_t *w, int status)
{
    struct submission *s = w->data;

    if (status < 0 || broker_is_dead (s->b))
        submission_refuse (s, 503, "busy", "the broker is about to stop");
    else
        judge (s);
}

/* -- adopted jobs, see adopt.c -- */

void submit_foreign (struct broker *b, struct submit_foreign *f)
{
    struct submission *s = submission_create (b, f->uid, f->key);
    bool full = entries_count (b).pending >= PENDING_MAX || broker_is_stopping (b);

    if (s) {
        s->terms.urgency = f->urgency;
        s->foreign = *f;
        s->terms.made_outside = true;
        s->foreign.name = strdup (f->name);
    }
    if (!s || !s->foreign.name || full) {
        if (s)
            submission_free (s);
        else
            free (f->jobspec);
        f->done (0, 429, full ? "the queue is full" : "out of memory", f->arg);
        return;
    }
    entry_set_jobspec (s->e, jobspec_parse (f->jobspec, strlen (f->jobspec), &s->err));
    judge (s);
}

static void api_submit (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    struct error err = { 0 };
    const char *key = http_request_header (req, "Idempotency-Key");
    size_t len;

    (void)path;
    http_request_body (req, &len);
    if (key && (strlen (key) > 200 || !*key)) {
        http_reply_problem (req, 400, "bad-request",
                            "Idempotency-Key: 1 to 200 characters");
        return;
    }
    if (refuse_foreign (b, req) || repeated (b, req, key))
        return;
    if (entries_count (b).pending >= PENDING_MAX || broker_is_stopping (b)) {
        http_reply_header (req, "Retry-After", "10");
        http_reply_problem (req, 429, "busy",
                            broker_is_stopping (b) ? "the broker is about to stop"
                                                   : "the queue is full");
        return;
    }
    struct submission *s = submission_create (b, http_request_uid (req), key);
    if (!s) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    s->req = req;
    if (read_query (s, &err) < 0) {
        submission_refuse (s, 400, "bad-request", err.text);
        return;
    }
    http_request_set_aux (req, s, client_left);
    if (key) {
        s->keyed = &state_of (b)->keyed;
        DL_APPEND (*s->keyed, s);
    }
    s->work.data = s;
    if (len > LARGE
        && uv_queue_work (broker_loop (b), &s->work, parse_work, parse_done) == 0)
        return;
    parse (s);
    judge (s);
}

static const struct api_route routes[] = {
    { "POST", "/v1/jobs", api_submit, ROLE_USER, "submit" },
    { 0 },
};

const struct broker_service service_submit = {
    .name = "submit",
    .place = &place,
    .state_size = sizeof (struct submits),
    .routes = routes,
};
