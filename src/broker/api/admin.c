/* admin.c - requests about nodes, queues, and the broker itself
 */
#include <config.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/config/config.h"
#include "broker/core/broker.h"
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/reload.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/depend/array.h"
#include "broker/services/history.h"
#include "broker/services/nodes/nodes.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/reserve/reserve.h"
#include "broker/services/userlimits.h"
#include "common/clock.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/printable.h"

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

/* -- nodes -- */

/* Adds the reservation that has the node, or will have it. */
static void add_reservation (const struct broker *b, json_t *o, const char *node)
{
    const struct reservation *r = reserve_of_node (b, node);

    json_object_set_new (o, "reservation", r ? json_string (r->name) : json_null ());
    if (!r)
        return;
    json_object_set_new (o, "reservation_active", json_boolean (r->active));
    json_object_set_new (o, "reservation_start", json_real (r->start));
    json_object_set_new (o, "reservation_end", json_real (r->end));
    json_object_set_new (o, "maintenance", json_boolean (r->maintenance));
}

/* The reservation that gives out the node's free resources: it is active, and no job from
 * before it is left. */
static const struct reservation *reservation_of (const struct broker *b, int i)
{
    struct machine_node_info info;
    const struct reservation *r = machine_node_info (broker_graph (b), i, &info) == 0
                                      ? reserve_of_node (b, info.name)
                                      : NULL;

    return r && r->active && info.njobs == 0 ? r : NULL;
}

/* Used and free resources of the node, also in a reservation. */
static int node_info (const struct broker *b, int i, struct machine_node_info *ret)
{
    struct machine_node_info in;
    int rc = machine_node_info (broker_graph (b), i, ret);
    const struct reservation *r = reservation_of (b, i);

    if (!r)
        return rc;
    const struct machine *m = realm_machine (r->realm);
    if (machine_node_info (m, machine_node_find (m, ret->name), &in) < 0)
        return rc;
    in.name = ret->name;
    in.state = ret->state;
    in.reason = ret->reason;
    *ret = in;
    if (r->maintenance) {
        ret->cores_free = ret->gpus_free = 0;
        ret->memory_free = ret->cpu_milli_free = 0;
    }
    return rc;
}

static json_t *describe_places (const struct machine_place *list)
{
    json_t *o = json_object ();

    for (; list->level; list++)
        json_object_set_new (o, list->level, json_string (list->name));
    return o;
}

/* {"license": {"count": 4, "used": 1, "foreign": 0, "free": 3}}, from the machine that
 * node_info() uses. */
static json_t *describe_gres (const struct broker *b, int i,
                              const struct machine_node_info *n)
{
    const struct reservation *r = reservation_of (b, i);
    const struct machine *m = r ? realm_machine (r->realm) : broker_graph (b);
    int index = machine_node_find (m, n->name);
    json_t *o = json_object ();

    if (index < 0 && (index = i) >= 0)
        m = broker_graph (b);

    for (size_t k = 0; k < n->gres->n; k++) {
        const char *name = n->gres->v[k].name;
        struct machine_gres_info g = { 0 };
        if (!strcmp (name, GRES_CPU_MILLI)) /* see describe_node() */
            continue;
        machine_node_gres (m, index, name, &g);
        json_object_set_new (o, name,
                             json_pack ("{s:I s:I s:I s:I}", "count", (json_int_t)g.count,
                                        "used", (json_int_t)g.used, "foreign",
                                        (json_int_t)g.foreign, "free",
                                        r && r->maintenance ? 0 : (json_int_t)g.free));
    }
    return o;
}

static json_t *describe_node (const struct machine_node_info *n)
{
    return json_pack (
        "{s:s s:s s:s? s:o? s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I "
        "s:i s:b}",
        "name", n->name, "state", machine_node_state_name (n->state), "reason", n->reason,
        "places", describe_places (n->places), "cores", (json_int_t)n->cores,
        "cores_used", (json_int_t)n->cores_used, "cores_foreign",
        (json_int_t)n->cores_foreign, "cores_free", (json_int_t)n->cores_free,
        "cpu_milli_used", (json_int_t)n->cpu_milli_used, "cpu_milli_foreign",
        (json_int_t)n->cpu_milli_foreign, "cpu_milli_free", (json_int_t)n->cpu_milli_free,
        "gpus", (json_int_t)n->gpus, "gpus_used", (json_int_t)n->gpus_used,
        "gpus_foreign", (json_int_t)n->gpus_foreign, "gpus_free",
        (json_int_t)n->gpus_free, "memory_mib", (json_int_t)n->memory_mib, "memory_used",
        (json_int_t)n->memory_used, "memory_foreign", (json_int_t)n->memory_foreign,
        "memory_free", (json_int_t)n->memory_free, "njobs", (int)n->njobs, "exclusive",
        (int)n->exclusive);
}

/* The amounts as the executor counts them; null: it has no finer units. */
static void add_exact (const struct broker *b, json_t *o, const char *node)
{
    struct exec_amounts all, foreign;
    bool known = broker_ops (b)->amounts
                 && broker_ops (b)->amounts (broker_exec (b), node, &all, &foreign) == 0;

    json_object_set_new (
        o, "exact",
        known ? json_pack (
            "{s:I s:I s:I s:I s:I s:I}", "cpu_milli", (json_int_t)all.cpu_milli,
            "cpu_milli_foreign", (json_int_t)foreign.cpu_milli, "memory_bytes",
            (json_int_t)all.memory, "memory_bytes_foreign", (json_int_t)foreign.memory,
            "gpus", (json_int_t)all.gpus, "gpus_foreign", (json_int_t)foreign.gpus)
              : json_null ());
}

/* Adds the jobs on each node, from the allocations of the running jobs. at: nodes by
 * index. */
static void add_jobs (struct broker *b, uid_t viewer, json_t *const *at, size_t n)
{
    struct entry *e;

    entries_each (ENTRIES_ACTIVE, b, e) {
        if (!privacy_sees (b, viewer, e, PRIVATE_JOBS))
            continue;
        for (size_t k = 0; entry_alloc (e) && k < entry_alloc (e)->nranks; k++) {
            int i = machine_node_find (broker_graph (b), entry_alloc (e)->ranks[k].node);
            if (i >= 0 && (size_t)i < n && at[i])
                json_array_append_new (json_object_get (at[i], "jobs"),
                                       json_integer ((json_int_t)entry_id (e)));
        }
    }
}

/* Adds the node, unless the list already has it. */
static void add_node (struct broker *b, int i, const char *queue, json_t **at,
                      json_t *list)
{
    struct machine_node_info info;

    if (i < 0 || at[i] || node_info (b, i, &info) < 0
        || (queue && !queuenodes_has_node (b, info.properties, queue)))
        return;
    at[i] = describe_node (&info);
    json_object_set_new (at[i], "gres", describe_gres (b, i, &info));
    json_object_set_new (at[i], "queues", queuenodes_of_node (b, info.properties));
    add_reservation (b, at[i], info.name);
    add_exact (b, at[i], info.name);
    json_object_set_new (at[i], "jobs", json_array ());
    json_array_append_new (list, at[i]);
}

/* Describes these hosts, or all; of this queue, or of any. */
static json_t *describe_nodes (struct broker *b, uid_t viewer,
                               const struct hostlist *hosts, const char *queue)
{
    json_t *list = json_array (), **at = NULL;
    size_t n = 0;

    for (int i = machine_node_next (broker_graph (b), -1); i >= 0;
         i = machine_node_next (broker_graph (b), i))
        n = (size_t)i + 1;
    if (!list || !(at = calloc (n + 1, sizeof (json_t *)))) {
        json_decref (list);
        return NULL;
    }
    if (hosts) {
        for (size_t k = 0; k < hostlist_count (hosts); k++)
            add_node (b, machine_node_find (broker_graph (b), hostlist_nth (hosts, k)),
                      queue, at, list);
    } else {
        for (int i = machine_node_next (broker_graph (b), -1); i >= 0;
             i = machine_node_next (broker_graph (b), i))
            add_node (b, i, queue, at, list);
    }
    add_jobs (b, viewer, at, n);
    for (size_t i = 0; i < n; i++)
        if (at[i])
            privacy_scrub_member (b, viewer, at[i], "reason");
    free (at);
    return list;
}

static void api_nodes (struct broker *b, struct http_request *req,
                       const struct api_path *path)
{
    struct error err = { 0 };
    const char *names = http_request_query (req, "names");
    const char *queue = http_request_query (req, "queue");
    struct hostlist *hosts = names ? api_hosts (b, names, &err) : NULL;

    (void)path;
    if (names && !hosts) {
        http_reply_problem (req, 400, "bad-request", "names: %s", err.text);
        return;
    }
    for (size_t i = 0; hosts && i < hostlist_count (hosts); i++) {
        if (machine_node_find (broker_graph (b), hostlist_nth (hosts, i)) < 0) {
            http_reply_problem (req, 404, "unknown-node",
                                "no node is named %s; fluxq-info lists "
                                "them",
                                hostlist_nth (hosts, i));
            hostlist_destroy (hosts);
            return;
        }
    }
    if (queue && !config_find_queue (broker_config (b), queue)) {
        http_reply_problem (req, 404, "unknown-queue", "no queue is named %s", queue);
        hostlist_destroy (hosts);
        return;
    }
    json_t *list = describe_nodes (b, http_request_uid (req), hosts, queue);
    hostlist_destroy (hosts);
    api_reply_json (req, 200, json_pack ("{s:o}", "nodes", list));
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
    if (!err.code)
        return action;
    http_reply_problem (req, 400, "bad-request", "%s", err.text);
    return NULL;
}

static void api_node_set (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    static const char *const keys[] = { "action", "reason", NULL };
    struct error err = { 0 };
    const char *action, *reason = NULL;
    struct journal_txn *t = NULL;
    autojson json_t *body = api_body (req, keys);

    if (!body || !(action = api_action (req, body, "drain", "resume")))
        return;
    json_get_string (body, "reason", &reason, JSON_OPTIONAL_KEY, "request", NULL);
    if (!strcmp (action, "drain") && (!reason || !*reason || strlen (reason) > 400)) {
        http_reply_problem (req, 400, "bad-request",
                            "a reason of 1 to 400 characters is required: users see it");
        return;
    }
    if (!strcmp (action, "drain") && printable_check (reason, "reason", &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    int rc = !strcmp (action, "drain") ? nodes_drain (b, path->arg, reason, &t, &err)
                                       : nodes_resume (b, path->arg, &t, &err);
    if (rc < 0) {
        journal_txn_destroy (t);
        http_reply_problem (req,
                            rc == -ENOENT   ? 404
                            : rc == -ENOMEM ? 503
                                            : 409,
                            rc == -ENOENT   ? "unknown-node"
                            : rc == -ENOMEM ? "busy"
                                            : "wrong-state",
                            "%s", err.text);
        return;
    }
    api_commit_setting (b, req, t);
}

/* -- queues -- */

struct queue_count {
    int pending, running;
    int64_t nodes;
};

/* null: whether an absent list is null instead of []. */
static json_t *names_json (char *const *list, bool null)
{
    if (!list && null)
        return json_null ();
    json_t *o = json_array ();
    for (; list && *list; list++)
        json_array_append_new (o, json_string (*list));
    return o;
}

static void api_queues (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    struct entry *e;
    autofree struct queue_count *counts =
        calloc (broker_config (b)->nqueues, sizeof (*counts));
    json_t *list = json_array ();

    (void)path;
    entries_each (ENTRIES_ALL, b, e) {
        if (!counts || entry_job (e)->state == JOB_INACTIVE)
            continue;
        struct queue_count *c = &counts[entry_queue (e)];
        if (array_is_whole (e))
            continue; /* its tasks are counted */
        bool waits = job_phase_group (job_phase (entry_job (e))) == JOB_GROUP_PENDING;
        c->pending += waits;
        c->running += !waits;
        c->nodes += entry_job (e)->state >= JOB_RUN ? entry_job (e)->nnodes : 0;
    }
    for (size_t i = 0; counts && i < broker_config (b)->nqueues; i++) {
        const struct config_queue *q = &broker_config (b)->queues[i];
        json_array_append_new (
            list,
            json_pack ("{s:s s:o s:o s:b s:b s:f s:f s:I s:i s:i s:i s:I}", "name",
                       q->name, "users", names_json (q->users, !q->groups), "groups",
                       names_json (q->groups, !q->users), "default", (int)q->is_default,
                       "started", (int)q->started, "default_time", q->default_time,
                       "max_time", q->max_time, "max_nodes", (json_int_t)q->max_nodes,
                       "priority", q->priority, "pending", counts[i].pending, "running",
                       counts[i].running, "nodes_used", (json_int_t)counts[i].nodes));
    }
    api_reply_json (req, 200, json_pack ("{s:o}", "queues", list));
}

static void api_queue_set (struct broker *b, struct http_request *req,
                           const struct api_path *path)
{
    static const char *const keys[] = { "action", NULL };
    int i = config_queue_index (broker_config (b), path->arg);
    const char *action;
    char name[300];

    if (i < 0) {
        http_reply_problem (req, 404, "unknown-queue", "no queue is named %s", path->arg);
        return;
    }
    autojson json_t *body = api_body (req, keys);
    if (!body || !(action = api_action (req, body, "start", "stop")))
        return;
    bool start = !strcmp (action, "start");
    broker_config (b)->queues[i].started = start;
    broker_config (b)->queues[i].operated = true;
    reserve_queue_set (b, (unsigned)i, start);
    broker_plan_due (b);
    struct journal_txn *t = journal_txn_create ();
    if (!t) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    snprintf (name, sizeof (name), "queue/%s", path->arg);
    journal_txn_setting (t, name, start ? "started" : "stopped");
    api_commit_setting (b, req, t);
}

/* -- the broker -- */

static json_int_t memory_kib (void)
{
    long pages = 0, resident = 0;
    autofclose FILE *f = fopen ("/proc/self/statm", "re");
    if (!f || fscanf (f, "%ld %ld", &pages, &resident) != 2)
        return 0;
    return (json_int_t)resident * (sysconf (_SC_PAGESIZE) / 1024);
}

static json_t *count_nodes (const struct broker *b)
{
    int n[3] = { 0 };
    struct machine_node_info info;
    for (int i = machine_node_next (broker_graph (b), -1); i >= 0;
         i = machine_node_next (broker_graph (b), i))
        if (machine_node_info (broker_graph (b), i, &info) == 0)
            n[info.state]++;
    return json_pack ("{s:i s:i s:i}", "up", n[MACHINE_NODE_UP], "drained",
                      n[MACHINE_NODE_DRAINED], "down", n[MACHINE_NODE_DOWN]);
}

static void api_status (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    const char *trouble = journal_trouble (broker_journal (b));
    json_t *listen = json_pack ("[s]", broker_socket_path (b));
    char tcp[300];

    (void)path;
    if (broker_config (b)->listen_host) {
        snprintf (tcp, sizeof (tcp), "http://%s:%u", broker_config (b)->listen_host,
                  (unsigned)broker_config (b)->listen_port);
        json_array_append_new (listen, json_string (tcp));
    }
    api_reply_json (
        req, 200,
        json_pack (
            "{s:s s:I s:f s:s s:s s:o s:{s:I s:I s:I} s:o s:{s:I s:I s:I s:s?} s:o? s:o? "
            "s:I s:b}",
            "version", PACKAGE_VERSION, "pid", (json_int_t)getpid (), "uptime",
            clock_wall () - broker_started_at (b), "executor", broker_ops (b)->name,
            "state_dir", broker_state_dir (b), "listen", listen, "jobs", "pending",
            (json_int_t)entries_count (b).pending, "running",
            (json_int_t)(entries_count (b).running - entries_count (b).whole), "finished",
            (json_int_t)entries_count (b).finished, "nodes", count_nodes (b), "journal",
            "waiting", (json_int_t)journal_waiting (broker_journal (b)), "bytes",
            (json_int_t)journal_bytes (broker_journal (b)), "removed",
            (json_int_t)history_removed (b), "trouble", trouble, "paused", pause_json (b),
            "usage", userlimits_json (b, http_request_uid (req)), "memory_kib",
            memory_kib (), "recovering", (int)broker_is_recovering (b)));
}

/* A job that has ended does not go on, even while its nodes are cleaned up. */
static size_t count_going_on (const struct broker *b)
{
    const struct entry *e;
    size_t n = 0;

    entries_each (ENTRIES_ACTIVE, b, e)
        n += entry_job (e)->state == JOB_RUN && !entry_job (e)->array
             && !entry_job (e)->finished;
    return n;
}

static void api_shutdown (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    (void)path;
    log_info ("uid %u requests a shutdown", (unsigned)http_request_uid (req));
    api_reply_json (req, 200,
                    json_pack ("{s:I}", "running", (json_int_t)count_going_on (b)));
    broker_stop (b);
}

static void api_reload (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    struct error err = { 0 };
    json_t *applied = json_array ();

    (void)path;
    if (broker_reload (b, applied, &err) < 0) {
        json_decref (applied);
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    api_reply_json (req, 200, json_pack ("{s:o}", "applied", applied));
}

static void api_journal (struct broker *b, struct http_request *req,
                         const struct api_path *path)
{
    struct error err = { 0 };
    size_t len;
    const char *body = http_request_body (req, &len);
    autojson json_t *o = json_parse (body, len, "request", &err);
    const char *action = NULL;

    (void)path;
    if (!o
        || json_get_string (o, "action", &action, JSON_REQUIRED, "request", &err) < 0) {
        http_reply_problem (req, 400, "bad-request", "%s", err.text);
        return;
    }
    if (strcmp (action, "compact") != 0) {
        http_reply_problem (req, 400, "bad-request", "action: '%s' is not compact",
                            action);
        return;
    }
    history_compact (b);
    api_reply_json (
        req, 202,
        json_pack ("{s:I}", "bytes", (json_int_t)journal_bytes (broker_journal (b))));
}

static const struct api_route routes[] = {
    { "GET", "/v1/nodes", api_nodes, false },
    { "POST", "/v1/nodes/{}", api_node_set, true },
    { "GET", "/v1/queues", api_queues, false },
    { "POST", "/v1/queues/{}", api_queue_set, true },
    { "GET", "/v1/status", api_status, false },
    { "POST", "/v1/shutdown", api_shutdown, true },
    { "POST", "/v1/reload", api_reload, true },
    { "POST", "/v1/journal", api_journal, true },
    { 0 },
};

const struct broker_service service_admin = {
    .name = "admin",
    .routes = routes,
};
