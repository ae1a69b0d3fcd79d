/* runsteps.c - GET /v1/jobs/ID/steps: the steps that run now, asked from the job's agent
 *
 *   request --exec steps()--> agent --> ranks
 *      ^                        |
 *      +------ answer ----------+
 *
 * The broker keeps nothing of the answer. On local machines it comes from a process of the
 * user, who can write anything there about own jobs: the data is bounded here.
 */
#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/jobuse.h"
#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"

#define TEXT_MAX 65536 /* of one step */
#define WAITING_MAX 1000000000

struct asking {
    struct broker *b;
    struct http_request *req;
    uint64_t id;
};

/* The nodes of an idset of ranks, "node[0-3]"; a new reference. */
static json_t *nodes_json (const struct entry *e, const char *ranks)
{
    const struct rset *alloc = entry_alloc (e);
    struct idset *ids = alloc ? idset_decode (ranks, alloc->nranks, NULL) : NULL;
    struct hostlist *hl = ids ? hostlist_create () : NULL;
    autofree char *text = NULL;

    if (hl) {
        IDSET_FOREACH (ids, rank)
        {
            hostlist_append (hl, alloc->ranks[rank].node);
        }
        text = hostlist_encode (hl);
    }
    hostlist_destroy (hl);
    idset_destroy (ids);
    return json_string (text ? text : "");
}

/* "ranks IDSET" and the text of stepuse.h. NULL: not valid. */
static json_t *step_of (const struct entry *e, const char *text, size_t len)
{
    static const char ranks[] = "ranks ";
    const char *end = memchr (text, '\n', len);
    struct stepuse use;

    if (!end || strncmp (text, ranks, strlen (ranks)) != 0)
        return NULL;
    size_t skip = (size_t)(end - text) + 1;
    if (stepuse_decode (text + skip, len - skip, &use) < 0)
        return NULL;
    json_t *o = jobuse_step_json (e, &use, false);
    autofree char *list = strndup (text + strlen (ranks), skip - strlen (ranks) - 1);
    if (o && list) {
        json_object_set_new (o, "end", json_null ());
        json_object_set_new (o, "attempt", json_integer (entry_job (e)->restarts));
        json_object_set_new (o, "nodes", nodes_json (e, list));
    }
    stepuse_release (&use);
    return o;
}

/* The text of the agent: parts with an empty line between them. NULL: not valid. */
static json_t *steps_of (const struct entry *e, const char *text)
{
    static const char waiting[] = "waiting ";
    json_t *list = json_array ();
    const char *part = strstr (text, "\n\n");
    int64_t n;

    autofree char *number =
        part && !strncmp (text, waiting, strlen (waiting))
            ? strndup (text + strlen (waiting), (size_t)(part - text) - strlen (waiting))
            : NULL;
    if (!number || parse_int (number, 0, WAITING_MAX, &n, "", NULL) < 0) {
        json_decref (list);
        return NULL;
    }
    for (const char *end; part && part[2]; part = end) {
        part += 2;
        end = strstr (part, "\n\n");
        size_t len = end ? (size_t)(end - part) + 1 : strlen (part);
        json_t *o = len <= TEXT_MAX ? step_of (e, part, len) : NULL;
        if (o && json_array_size (list) < JOBUSE_STEPS_MAX)
            json_array_append_new (list, o);
        else
            json_decref (o);
    }
    return json_pack ("{s:I s:I s:o}", "id", (json_int_t)entry_id (e), "waiting",
                      (json_int_t)n, "steps", list);
}

static void answer (struct asking *a, struct entry *e, int rc, const char *text,
                    size_t len)
{
    autofree char *copy = rc == 0 ? strndup (text, len) : NULL;
    json_t *o = copy ? steps_of (e, copy) : NULL;
    uintmax_t id = a->id;

    if (o)
        api_reply_json (a->req, 200, o);
    else if (rc == -ESRCH)
        http_reply_problem (a->req, 409, "wrong-state", "job %ju has ended already", id);
    else if (rc == -ENOENT)
        http_reply_problem (a->req, 409, "wrong-state",
                            "job %ju: its agent is older and cannot list steps", id);
    else
        http_reply_problem (a->req, 503, "agent-unreachable", "job %ju: its agent: %s",
                            id, rc < 0 ? strerror (-rc) : "its answer is not valid");
}

static void on_steps (int rc, const char *text, size_t len, void *arg)
{
    struct asking *a = arg;
    struct entry *e = broker_is_dead (a->b) ? NULL : entry_find (a->b, a->id);

    if (e)
        answer (a, e, rc, text, len);
    else
        http_reply_problem (a->req, 503, "busy",
                            "the broker has stopped, or the job is "
                            "gone");
    free (a);
}

static void ask (struct broker *b, struct http_request *req, struct entry *e, bool fresh)
{
    struct asking *a = calloc (1, sizeof (*a));
    struct error err = { 0 };

    if (!a) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    *a = (struct asking){ .b = b, .req = req, .id = entry_id (e) };
    if (broker_ops (b)->steps (broker_exec (b), entry_exec_job (e), fresh, on_steps, a,
                               &err)
        < 0) {
        http_reply_problem (req, err.code == EBUSY ? 503 : 409,
                            err.code == EBUSY ? "busy" : "wrong-state", "job %ju: %s",
                            (uintmax_t)entry_id (e), err.text);
        free (a);
    }
}

static void api_steps (struct broker *b, struct http_request *req,
                       const struct api_path *path)
{
    struct entry *e = api_entry (b, req, path, NULL);
    const char *text = http_request_query (req, "fresh");
    struct error err = { 0 };
    int64_t fresh = 0;

    if (!e || !api_require (b, req, path, e))
        return;
    if (text && parse_int (text, 0, 1, &fresh, "fresh", &err) < 0)
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
    else if (!entry_job (e)->started || !entry_exec_job (e) || entry_job (e)->finished)
        http_reply_problem (req, 409, "wrong-state",
                            "job %ju does not run: there are no running steps",
                            (uintmax_t)entry_id (e));
    else
        ask (b, req, e, fresh);
}

static const struct api_route routes[] = {
    { "GET", "/v1/jobs/{}/steps", api_steps, ROLE_OWNER | ROLE_OPERATOR, NULL },
    { 0 },
};

const struct broker_service service_runsteps = {
    .name = "runsteps",
    .routes = routes,
};
