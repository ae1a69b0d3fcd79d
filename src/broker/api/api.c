/* api.c - the routes, and helpers of all of them
 */
#include "broker/api/api.h"
#include "broker/core/service.h"

#include "broker/api/audit_note.h"
#include "broker/api/caller.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "common/parse.h"

/* Whether path matches pattern; copies the "{}" segment to p. */
static bool path_matches (const char *pattern, const char *path, struct api_path *p)
{
    p->arg[0] = '\0';
    while (*pattern && *path) {
        if (pattern[0] == '{' && pattern[1] == '}') {
            size_t len = strcspn (path, "/");
            if (len == 0 || len >= sizeof (p->arg))
                return false;
            memcpy (p->arg, path, len);
            p->arg[len] = '\0';
            path += len;
            pattern += 2;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return !*pattern && !*path;
}

const struct api_route *api_find_route (const char *method, const char *path,
                                        struct api_path *ret)
{
    for (const struct broker_service **s = SERVICES_WITH (routes); *s; s++)
        for (const struct api_route *r = (*s)->routes; r->method; r++)
            if ((!method || !strcmp (r->method, method))
                && path_matches (r->pattern, path, ret)) {
                ret->route = r;
                return r;
            }
    return NULL;
}

static void serve (struct broker *b, struct http_request *req)
{
    const char *method = http_request_method (req), *path = http_request_path (req);
    struct api_path p, other;
    const struct api_route *r = api_find_route (method, path, &p);

    if (r && !api_may_some (b, req, r->roles))
        http_reply_problem (req, 403, "not-operator",
                            "only administrators may do this (operators: at the top of "
                            "fluxq.yaml)");
    else if (r && !services_any (refuses, b, req, r))
        r->fn (b, req, &p);
    else if (r)
        return;
    else if (api_find_route (NULL, path, &other))
        http_reply_problem (req, 405, "method-not-allowed", "%.20s is not for %s", method,
                            path);
    else
        http_reply_problem (req, 404, "not-found", "there is no %.200s here", path);
}

void api_handle (struct http_request *req, void *arg)
{
    struct broker *b = arg;
    struct api_path p;
    const struct api_route *r =
        api_find_route (http_request_method (req), http_request_path (req), &p);

    if (r && r->action && http_request_is_observed (req)
        && !audit_note_begin (req, r->action))
        return;
    if (caller_is_known (b, req, serve))
        serve (b, req);
}

/* The job if it is in memory and visible to the client. Hidden jobs look like jobs that
 * ended long ago. */
static struct entry *find_seen (struct broker *b, struct http_request *req, uint64_t id)
{
    struct entry *e = entry_find (b, id);

    return e && privacy_sees (b, http_request_uid (req), e, PRIVATE_JOBS) ? e : NULL;
}

bool api_old_task (struct broker *b, struct http_request *req,
                   const struct api_path *path, uint64_t *ret_array, uint32_t *ret_task)
{
    return strchr (path->arg, '_')
           && array_name_parse (path->arg, ret_array, ret_task, "job id", NULL) == 0
           && !find_seen (b, req, *ret_array);
}

/* The job of the task, or its array while the task has not started. */
static struct entry *array_entry (struct broker *b, struct http_request *req,
                                  const char *text, uint64_t *ret_id)
{
    struct error err = { 0 };
    uint64_t id;
    uint32_t index;

    if (array_name_parse (text, &id, &index, "job id", &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return NULL;
    }
    struct entry *e = find_seen (b, req, id);
    const struct job_array *a = e ? entry_job (e)->array : NULL;
    if (!a || !idset_has (a->spec.tasks, index)) {
        http_reply_problem (req, 404, "unknown-job",
                            e && !a ? "job %ju is not an array"
                            : a     ? "array %ju has no task %u"
                                : "array %ju does not exist, or no longer exists; its "
                                  "tasks have numbers of their own",
                            (uintmax_t)id, index);
        return NULL;
    }
    bool waits = idset_has (a->waiting, index) || idset_has (a->cancelled, index);
    uint64_t own = waits ? entry_id (e) : job_array_task_id (a, entry_id (e), index);
    if (ret_id)
        *ret_id = own;
    if ((e = entry_find (b, own)))
        audit_note_job (req, e);
    e = find_seen (b, req, own);
    if (!e && !ret_id)
        http_reply_problem (req, 404, "unknown-job",
                            "task %u of array %ju has ended long ago", index,
                            (uintmax_t)id);
    return e;
}

struct entry *api_entry (struct broker *b, struct http_request *req,
                         const struct api_path *path, uint64_t *ret_id)
{
    struct error err = { 0 };
    struct entry *e;
    int64_t id;

    if (strchr (path->arg, '_'))
        return array_entry (b, req, path->arg, ret_id);
    if (parse_int (path->arg, 1, INT64_MAX, &id, "job id", &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return NULL;
    }
    if (ret_id)
        *ret_id = (uint64_t)id;
    if ((e = entry_find (b, (uint64_t)id)))
        audit_note_job (req, e);
    if (!(e = find_seen (b, req, (uint64_t)id)) && !ret_id)
        http_reply_problem (req, 404, "unknown-job", "there is no job %jd", (intmax_t)id);
    return e;
}

json_t *api_body (struct http_request *req, const char *const allowed[])
{
    struct error err = { 0 };
    size_t len;
    const char *text = http_request_body (req, &len);
    json_t *o = json_parse (len ? text : "{}", len ? len : 2, "request", &err);

    if (o && !json_is_object (o))
        error_set (&err, EINVAL, "request: expected an object, got %s",
                   json_type_name (o));
    if (o && json_is_object (o) && json_only_keys (o, allowed, "request", &err) == 0)
        return o;
    json_decref (o);
    http_reply_problem (req, 400, "bad-request", "%s", err.text);
    return NULL;
}

const char *api_action (struct http_request *req, json_t *body, const char *one,
                        const char *other)
{
    struct error err = { 0 };
    const char *action = NULL;
    if (json_get_string (body, "action", &action, JSON_REQUIRED, "request", &err) > 0
        && strcmp (action, one) != 0 && (!other || strcmp (action, other) != 0))
        error_set (&err, EINVAL, "action: '%s' is not %s%s%s", action, one,
                   other ? ", nor " : "", other ? other : "");
    if (!err.code) {
        const char *word = strcmp (action, one) ? other : one;
        audit_note_action (req, word);
        return word;
    }
    http_reply_problem (req, 400, "bad-request", "%s", err.text);
    return NULL;
}

void api_reply_json (struct http_request *req, int status, json_t *value)
{
    char *text = value ? json_dumps (value, JSON_COMPACT) : NULL;
    json_decref (value);
    if (text)
        http_reply_take (req, status, NULL, text, strlen (text));
    else
        http_reply_problem (req, 503, "busy", "out of memory");
}

json_t *api_text_or_null (const struct strbuf *sb)
{
    return sb->len && !sb->err ? json_string (sb->buf) : json_null ();
}

/* Small machines accept more names than they have nodes, so that the error is the first
 * unknown name. */
#define HOSTS_LEAST ((size_t)1024)

struct hostlist *api_hosts (struct broker *b, const char *text, struct error *err)
{
    return hostlist_decode (
        text, MAX (machine_node_count (broker_graph (b)), HOSTS_LEAST), err);
}

/* -- replies that need a transaction of their own -- */

struct setting {
    struct broker *b;
    struct http_request *req; /* NULL: the client left */
};

static void setting_left (void *aux)
{
    ((struct setting *)aux)->req = NULL;
}

static void setting_done (int rc, const struct error *err, void *arg)
{
    struct setting *s = arg;
    broker_work_ends (s->b);
    if (s->req) {
        http_request_set_aux (s->req, NULL, NULL);
        if (rc < 0)
            http_reply_problem (s->req, 503, "journal",
                                "done, but the change is lost at the next start: %s",
                                err ? err->text : strerror (-rc));
        else
            http_reply (s->req, 200, NULL, "{}", 2);
    }
    free (s);
}

void api_commit_setting (struct broker *b, struct http_request *req,
                         struct journal_txn *t)
{
    struct setting *s = calloc (1, sizeof (*s));
    if (!s) {
        journal_txn_destroy (t);
        http_reply_problem (req, 503, "journal",
                            "done, but it will be forgotten at the next start: out of "
                            "memory");
        return;
    }
    s->b = b;
    broker_work_begins (b);
    s->req = req;
    http_request_set_aux (req, s, setting_left);
    int rc = journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, setting_done, s);
    if (rc < 0)
        setting_done (rc, NULL, s);
}

/* -- filters -- */

/* The phases of all states in these groups (bits of enum job_group). */
static uint32_t phases_of (unsigned groups)
{
    uint32_t phases = 0;

    for (int p = JOB_PENDING; p <= JOB_REQUEUED; p++)
        if (groups & 1U << job_phase_group ((enum job_phase)p))
            phases |= 1U << p;
    return phases;
}

static int parse_states (const char *text, uint32_t *ret, struct error *err)
{
    static const struct {
        const char *word;
        unsigned groups;
    } words[] = {
        { "active", 1U << JOB_GROUP_PENDING | 1U << JOB_GROUP_RUNNING },
        { "pending", 1U << JOB_GROUP_PENDING },
        { "running", 1U << JOB_GROUP_RUNNING },
        { "finished", 1U << JOB_GROUP_FINISHED },
        { "all", ~0U },
    };
    *ret = 0;
    while (*text) {
        char word[32];
        size_t len = strcspn (text, ",");
        snprintf (word, sizeof (word), "%.*s", (int)MIN (len, sizeof (word) - 1), text);
        uint32_t before = *ret;
        for (size_t i = 0; i < ARRAY_SIZE (words); i++)
            if (!strcasecmp (word, words[i].word))
                *ret |= phases_of (words[i].groups);
        int phase = job_phase_from_name (word);
        if (phase >= 0 && *ret == before)
            *ret |= 1U << phase;
        if (*ret == before && phase < 0)
            return error_set (
                err, EINVAL,
                "state '%s' is unknown; known are active, pending, running, "
                "finished, all and the states that fluxq-queue shows",
                word);
        text += len + (text[len] == ',');
    }
    return 0;
}

int api_filter_init (struct api_filter *f, struct broker *b, struct http_request *req,
                     const char *user, const char *state, const char *queue,
                     const char *name, const char *ids, struct error *err)
{
    *f = (struct api_filter){ .b = b, .me = http_request_uid (req) };
    f->own = user && strcmp (user, "me") == 0;
    if ((state && parse_states (state, &f->phases, err) < 0)
        || (user && !f->own && namelist_parse (&f->user, user, "user", err) < 0)
        || (queue && namelist_parse (&f->queue, queue, "queue", err) < 0)
        || (name && namelist_parse (&f->name, name, "name", err) < 0)
        || (ids && *ids && !(f->ids = job_ids_parse (b, ids, err)))) {
        api_filter_release (f);
        return -EINVAL;
    }
    return 0;
}

void api_filter_release (struct api_filter *f)
{
    namelist_release (&f->user);
    namelist_release (&f->queue);
    namelist_release (&f->name);
    job_ids_destroy (f->ids);
    f->ids = NULL;
}

enum job_phase api_row_phase (const struct job *job)
{
    bool never = job->array && job->state == JOB_INACTIVE
                 && idset_count (job->array->cancelled) > 0;

    return never ? JOB_CANCELLED : job_phase (job);
}

bool api_filter_match (const struct api_filter *f, const struct entry *e)
{
    const struct job *job = entry_job (e);

    if (f->ids && !job_ids_has (f->ids, entry_id (e)))
        return false;
    if (!privacy_sees (f->b, f->me, e, PRIVATE_JOBS))
        return false;
    if (f->phases && !(f->phases & 1U << api_row_phase (job)))
        return false;
    if ((f->own && f->me != job->userid)
        || (f->user.text && !namelist_has (&f->user, job->user)))
        return false;
    if (f->queue.text && !namelist_has (&f->queue, job->queue))
        return false;
    return !f->name.text || namelist_has (&f->name, job->name);
}
