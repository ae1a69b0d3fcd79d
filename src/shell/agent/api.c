/* api.c - the requests that rank 0 answers, listed in agent_api.h */
#include <inttypes.h>

#include "common/parse.h"
#include "common/sha256.h"
#include "shell/agent/root.h"

#define TEXT "text/plain"
#define STEPS_TEXT_MAX (4u << 20)

/* The last nonces used, so that an overheard request cannot be sent again. The first half
 * of each nonce suffices; only a holder of the key can add one. */
struct api_nonces {
    uint64_t v[API_NONCES];
    uint32_t n;
    uint32_t next;
};

void api_nonces_destroy (struct api_nonces *nonces)
{
    free (nonces);
}

/* False: the nonce was used before. */
static bool nonce_is_new (struct root *root, const char *hex)
{
    uint8_t raw[16];
    if (!root->nonces && !(root->nonces = calloc (1, sizeof (*root->nonces))))
        return false;
    struct api_nonces *seen = root->nonces;
    if (hex_decode (hex, raw, sizeof (raw)) < 0)
        return false;
    uint64_t nonce = wire_get_u64 (raw);
    for (uint32_t i = 0; i < seen->n; i++)
        if (seen->v[i] == nonce)
            return false;
    seen->v[seen->next] = nonce;
    seen->next = (seen->next + 1) % API_NONCES;
    seen->n = MIN (seen->n + 1, (uint32_t)API_NONCES);
    return true;
}

static bool is_authentic (struct root *root, const struct http_request *req)
{
    char nonce[33];
    return req->auth[0]
           && agent_auth_check (root->agent->key, req->method, req->target, req->auth,
                                nonce)
           && nonce_is_new (root, nonce);
}

static void refuse (struct conn *conn, const struct error *err)
{
    char text[ERROR_TEXT_MAX + 2];
    snprintf (text, sizeof (text), "%s\n", err->text);
    server_reply (conn, err->code == EBUSY ? 409 : 400, TEXT, text);
}

/* The request is carried out, unless err is set. */
static void finish (struct conn *conn, const struct error *err)
{
    if (err->code)
        refuse (conn, err);
    else
        server_reply (conn, 204, NULL, NULL);
}

/* Reads an integer parameter. 1; 0: absent; negative: invalid, with the reason. */
static int get_int (const struct http_request *req, const char *name, int64_t min,
                    int64_t max, int64_t *ret, struct error *err)
{
    char value[32];
    int rc = http_query (req, name, value, sizeof (value));
    if (rc < 0)
        return error_set (err, EINVAL, "%s: not one integer", name);
    if (rc == 0)
        return 0;
    rc = parse_int (value, min, max, ret, name, err);
    return rc < 0 ? rc : 1;
}

static void need (struct conn *conn, const char *name)
{
    struct error err;
    error_set (&err, EINVAL, "%s is missing", name);
    refuse (conn, &err);
}

static void do_stream (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    int64_t offset = 0, output = 1;
    struct error err = { 0 };
    if (get_int (req, "offset", 0, INT64_MAX, &offset, &err) < 0
        || get_int (req, "output", 0, 1, &output, &err) < 0) {
        refuse (conn, &err);
    } else if ((uint64_t)offset > root->spool.len) {
        error_set (&err, EINVAL,
                   "offset: %" PRId64 " is past the end, which is at %" PRIu64, offset,
                   root->spool.len);
        refuse (conn, &err);
    } else if ((uint64_t)offset < root->spool.released) {
        error_set (&err, EINVAL,
                   "offset: the output before %" PRIu64 " has been released",
                   root->spool.released);
        refuse (conn, &err);
    } else if (server_stream (conn, req, (uint64_t)offset, output != 0) < 0) {
        server_reply (conn, 503, TEXT, "too many streams, try again later\n");
    }
}

static void do_status (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    char text[160];
    const struct jobstate *js = &root->js;
    bool started = js->phase >= JOB_RUN && js->phase < JOB_OVER;
    (void)req;
    snprintf (text, sizeof (text),
              "{\"ranks\":%" PRIu32 ",\"joined\":%" PRIu32 ",\"running\":%" PRIu32
              ",\"finished\":%s,\"length\":%" PRIu64 ",\"released\":%" PRIu64 "}\n",
              js->nranks, js->njoined, started ? js->nrunning : 0,
              js->phase == JOB_OVER ? "true" : "false", root->spool.len,
              root->spool.released);
    server_reply (conn, 200, "application/json", text);
}

static void do_steps (struct root *root, struct conn *conn,
                      const struct http_request *req)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (STEPS_TEXT_MAX);
    int64_t fresh = 0;
    struct error err = { 0 };
    if (get_int (req, "fresh", 0, 1, &fresh, &err) < 0) {
        refuse (conn, &err);
        return;
    }
    root_describe_steps (root, fresh, &sb);
    if (sb.err)
        server_reply (conn, 503, TEXT, "too many steps run\n");
    else
        server_reply (conn, 200, TEXT, sb.buf);
}

/* "tasks", "steps", "batch" or "full"; absent: *ret stays. */
static int get_whom (const struct http_request *req, enum tasks_whom *ret,
                     struct error *err)
{
    static const struct {
        const char *word;
        enum tasks_whom whom;
    } words[] = { { "tasks", TASKS_STEPS },
                  { "steps", TASKS_ONLY_STEPS },
                  { "batch", TASKS_BATCH },
                  { "full", TASKS_ALL } };
    char value[16];
    int rc = http_query (req, "whom", value, sizeof (value));
    for (size_t i = 0; rc > 0 && i < ARRAY_SIZE (words); i++) {
        if (strcmp (words[i].word, value) == 0) {
            *ret = words[i].whom;
            return 0;
        }
    }
    return rc == 0 ? 0 : error_set (err, EINVAL, "whom: not tasks, steps, batch or full");
}

static void reply_found (struct conn *conn, int rc, const char *what)
{
    char text[64];
    snprintf (text, sizeof (text), "there is no %s now\n", what);
    if (rc < 0)
        server_reply (conn, 404, TEXT, text);
    else
        server_reply (conn, 204, NULL, NULL);
}

static void do_signal (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    int64_t sig, step = -1;
    enum tasks_whom whom = TASKS_ALL;
    struct error err = { 0 };
    int rc = get_int (req, "signal", 1, 64, &sig, &err);
    if (rc < 0 || get_whom (req, &whom, &err) < 0
        || get_int (req, "step", 0, UINT32_MAX, &step, &err) < 0) {
        refuse (conn, &err);
    } else if (rc == 0) {
        need (conn, "signal");
    } else if (root->js.phase != JOB_RUN && root->js.phase != JOB_TERM) {
        server_reply (conn, 503, TEXT, "the job's tasks are not running\n");
    } else {
        rc = step < 0 ? root_signal (root, (int)sig, whom)
                      : steps_signal (root->steps, (uint32_t)step, (int)sig);
        reply_found (conn, rc, step < 0 ? "batch script" : "such step");
    }
}

static char *query_copy (const struct http_request *req, const char *name)
{
    char value[HTTP_TARGET_MAX];
    return http_query (req, name, value, sizeof (value)) == 1 ? strdup (value) : NULL;
}

static void do_node (struct root *root, struct conn *conn, const struct http_request *req)
{
    int64_t rank = 0, ntasks = 0;
    struct error err = { 0 };
    struct launch_node node = { .name = query_copy (req, "name"),
                                .cores = query_copy (req, "cores"),
                                .gpus = query_copy (req, "gpus"),
                                .gres = query_copy (req, "gres"),
                                .gpu_type = query_copy (req, "gpu_type") };
    int rc = get_int (req, "rank", 1, INT32_MAX, &rank, &err);
    if (rc == 1)
        rc = get_int (req, "ntasks", 0, INT32_MAX, &ntasks, &err);
    if (rc == 0 || (rc > 0 && !node.name))
        rc = error_set (&err, EINVAL, "rank, ntasks and name are needed");
    node.ntasks = (uint32_t)ntasks;
    if (rc > 0)
        root_resize_node (root, (uint32_t)rank, &node, &err);
    launch_node_release (&node); /* unless root_resize_node() has kept it */
    finish (conn, &err);
}

static void do_resize (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    int64_t generation = 0, nodes = 0;
    char value[32];
    double grace = 0;
    struct error err = { 0 };
    int rc = get_int (req, "generation", 1, UINT32_MAX, &generation, &err);
    if (rc == 1)
        rc = get_int (req, "nodes", 1, INT32_MAX, &nodes, &err);
    if (rc == 0)
        rc = error_set (&err, EINVAL, "generation and nodes are needed");
    if (rc > 0 && http_query (req, "grace", value, sizeof (value)) == 1)
        rc = parse_fsd (value, &grace, "grace", &err);
    if (rc >= 0)
        root_resize (root, (uint32_t)generation, (uint32_t)nodes, grace, &err);
    finish (conn, &err);
}

static void do_cancel (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    int64_t step;
    struct error err = { 0 };
    int rc = get_int (req, "step", 0, UINT32_MAX, &step, &err);
    if (rc == 0)
        need (conn, "step");
    else if (rc < 0)
        refuse (conn, &err);
    else
        reply_found (conn, steps_cancel (root->steps, (uint32_t)step), "such step");
}

static void do_limit (struct root *root, struct conn *conn,
                      const struct http_request *req)
{
    char value[32];
    double seconds = 0;
    struct error err = { 0 };
    int rc = http_query (req, "seconds", value, sizeof (value));
    if (rc == 0) {
        need (conn, "seconds");
        return;
    }
    if (rc < 0)
        error_set (&err, EINVAL, "seconds: not a number of seconds");
    else
        parse_fsd (value, &seconds, "seconds", &err);
    if (err.code)
        refuse (conn, &err);
    else if (root_limit (root, seconds) < 0)
        server_reply (conn, 409, TEXT, "the job ends already\n");
    else
        server_reply (conn, 204, NULL, NULL);
}

static void do_terminate (struct root *root, struct conn *conn,
                          const struct http_request *req)
{
    static const char *const reasons[] = { "cancelled", "timeout", "lost", "oom",
                                           "startfail" };
    char reason[16], value[32], text[80];
    double grace = root->agent->launch.grace;
    struct error err = { 0 };
    size_t i = 0;
    if (http_query (req, "reason", reason, sizeof (reason)) != 1) {
        need (conn, "reason");
        return;
    }
    while (i < ARRAY_SIZE (reasons) && strcmp (reason, reasons[i]) != 0)
        i++;
    int rc = http_query (req, "grace", value, sizeof (value));
    if (i == ARRAY_SIZE (reasons))
        error_set (&err, EINVAL, "reason: %s is not a reason to end a job", reason);
    else if (rc < 0)
        error_set (&err, EINVAL, "grace: not a number of seconds");
    else if (rc > 0)
        parse_fsd (value, &grace, "grace", &err);
    if (err.code) {
        refuse (conn, &err);
        return;
    }
    if (strcmp (reason, "startfail") == 0) {
        if (root_stop_joining (root) < 0)
            server_reply (conn, 409, TEXT, "all have joined\n");
        else
            server_reply (conn, 204, NULL, NULL);
        return;
    }
    snprintf (text, sizeof (text), "%s on request",
              strcmp (reason, "cancelled") == 0 ? "cancelled" : "ended");
    server_reply (conn, 204, NULL, NULL);
    root_terminate (root, reason, text, grace);
}

static void do_release (struct root *root, struct conn *conn,
                        const struct http_request *req)
{
    int64_t offset;
    struct error err = { 0 };
    int rc = get_int (req, "offset", 0, INT64_MAX, &offset, &err);
    if (rc == 0) {
        need (conn, "offset");
        return;
    }
    if (rc > 0 && root_release (root, (uint64_t)offset) < 0)
        error_set (&err, EINVAL, "offset: %" PRId64 " is past the end", offset);
    finish (conn, &err);
}

static void do_client (struct root *root, struct conn *conn,
                       const struct http_request *req)
{
    enum job_phase phase = root->js.phase;
    if (!req->upgrade)
        server_reply (conn, 400, TEXT,
                      "/v1/client needs Connection: Upgrade and Upgrade: " AGENT_PROTOCOL
                      "\n");
    else if (phase == JOB_JOIN && !root->js.reported)
        server_reply (conn, 409, TEXT, "the job's tasks have not been started\n");
    else if (phase != JOB_RUN && phase != JOB_JOIN)
        server_reply (conn, 409, TEXT, "the job is ending\n");
    else if (client_listener_adopted (root->listener) >= CLIENTS_ADOPTED_MAX)
        server_reply (conn, 503, TEXT, "too many clients, try again later\n");
    else {
        root_confirm (root); /* a broker that lets a client in has read FRAME_READY */
        server_upgrade (conn);
    }
}

static const struct {
    const char *method;
    const char *path;
    void (*fn) (struct root *root, struct conn *conn, const struct http_request *req);
} routes[] = {
    { "GET", "/v1/stream", do_stream },    { "GET", "/v1/status", do_status },
    { "POST", "/v1/signal", do_signal },   { "POST", "/v1/terminate", do_terminate },
    { "POST", "/v1/release", do_release }, { "GET", "/v1/client", do_client },
    { "POST", "/v1/limit", do_limit },     { "POST", "/v1/cancel", do_cancel },
    { "POST", "/v1/node", do_node },       { "POST", "/v1/resize", do_resize },
    { "GET", "/v1/steps", do_steps },
};

void api_request (void *ctx, struct conn *conn, const struct http_request *req)
{
    struct root *root = ctx;
    if (!is_authentic (root, req)) {
        server_reply (conn, 401, TEXT,
                      "not signed with this job's key, or used before\n");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE (routes); i++) {
        if (http_is (req, routes[i].method, routes[i].path)) {
            routes[i].fn (root, conn, req);
            return;
        }
    }
    server_reply (conn, 404, TEXT, "no such request\n");
}
