/* nodes.c - the nodes of the machine: reports of executors, drains by operators
 *
 * The journal has drains as settings "drain/NAME" = reason; they hold whatever the
 * executor reports.
 */
#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/api/api.h"
#include "broker/core/recover.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "broker/services/nodes/avoid.h"
#include "broker/services/nodes/nodes.h"
#include "broker/services/nodes/suspects.h"
#include "broker/services/reserve/reserve.h"
#include "common/printable.h"

struct drain {
    UT_hash_handle hh;
    char *name, *reason;
};

struct nodes {
    struct drain *drains; /* by operators, by name */
};

static struct service_place place;
SERVICE_STATE_OF (struct nodes)

static struct drain *drain_find (struct broker *b, const char *name)
{
    struct drain *d;
    HASH_FIND_STR (state_of (b)->drains, name, d);
    return d;
}

static void drain_free (struct drain *d)
{
    if (!d)
        return;
    free (d->name);
    free (d->reason);
    free (d);
}

/* NULL: no memory. */
static struct drain *drain_create (const char *name, const char *reason)
{
    struct drain *d = calloc (1, sizeof (*d));

    if (d && (d->name = strdup (name)) && (d->reason = strdup (reason)))
        return d;
    drain_free (d);
    return NULL;
}

static void drain_drop (struct broker *b, struct drain *d)
{
    HASH_DELETE (hh, state_of (b)->drains, d);
    drain_free (d);
}

/* Replaces an earlier drain of the node. */
static void drain_keep (struct broker *b, struct drain *d)
{
    struct drain *old = drain_find (b, d->name);

    if (old)
        drain_drop (b, old);
    HASH_ADD_KEYPTR (hh, state_of (b)->drains, d->name, strlen (d->name), d);
}

static void release (struct broker *b)
{
    struct nodes *n = state_of (b);
    struct drain *d, *next;

    HASH_ITER (hh, n->drains, d, next)
        drain_drop (b, d);
}

static int load_setting (const char *name, const char *value, void *arg)
{
    if (strncmp (name, "drain/", 6) != 0)
        return 0;
    struct drain *d = drain_create (name + 6, value);
    if (!d)
        return -ENOMEM;
    drain_keep (arg, d);
    return 0;
}

static int load (struct broker *b, struct error *err)
{
    return journal_load_settings (broker_journal (b), load_setting, b, err);
}

/* Executors report each change of a node once. */
static void applied (int rc)
{
    if (rc == -ENOMEM)
        broker_no_memory ("a change of a node");
}

/* Sets the state for new jobs: a drain by an operator overrides only "up". */
static void set_state (struct broker *b, int index, const char *name,
                       enum machine_node_state state, const char *reason)
{
    struct drain *d = drain_find (b, name);
    avoid_check_again (b);
    if (d && state == MACHINE_NODE_UP) {
        state = MACHINE_NODE_DRAINED;
        reason = d->reason;
    }
    applied (machine_node_set_state (broker_graph (b), index, state, reason));
}

static void host_node (void *arg, const struct machine_node_spec *spec,
                       enum machine_node_state state, const char *reason)
{
    struct broker *b = arg;
    struct error err = { 0 };
    /* Add first: this restores a node that had gone but still has jobs. */
    int index = machine_node_add (broker_graph (b), spec, &err);
    bool came = index >= 0;
    if (index == -EEXIST)
        index = machine_node_update (broker_graph (b), spec, &err);
    applied (index);
    if (index < 0) {
        log_error ("node %s: %s", spec->name, err.text);
        return;
    }
    set_state (b, index, spec->name, state, reason);
    if (came)
        reserve_node_moved (b, spec->name);
    else
        reserve_node_changed (b, spec->name);
    broker_plan_due (b);
}

static void host_node_foreign (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                               int64_t memory_mib, const struct gres_list *gres)
{
    struct broker *b = arg;
    int index = machine_node_find (broker_graph (b), name);
    if (index < 0)
        return;
    applied (machine_node_set_foreign (broker_graph (b), index, cores, gpus, memory_mib,
                                       gres));
    reserve_node_changed (b, name);
    broker_plan_due (b);
}

static void host_node_zones (void *arg, const char *name,
                             const struct machine_report *report)
{
    struct broker *b = arg;
    int index = machine_node_find (broker_graph (b), name);

    if (index < 0)
        return;
    applied (machine_node_report (broker_graph (b), index, report));
    broker_plan_due (b);
}

static void host_node_gone (void *arg, const char *name)
{
    struct broker *b = arg;
    int index = machine_node_find (broker_graph (b), name);
    if (index >= 0)
        applied (machine_node_remove (broker_graph (b), index));
    reserve_node_moved (b, name);
    avoid_check_again (b);
    broker_plan_due (b);
}

static void host_node_failed (void *arg, const char *name, const char *reason)
{
    suspects_drain (arg, name, reason);
}

/* -- the host -- */

static void host_nodes_complete (void *arg)
{
    struct broker *b = arg;
    if (broker_is_recovering (b) && !broker_is_dead (b))
        broker_recovered_nodes (b);
}

static void host_init (struct broker *b, struct exec_host *host)
{
    (void)b;
    host->node = host_node;
    host->node_foreign = host_node_foreign;
    host->node_zones = host_node_zones;
    host->node_gone = host_node_gone;
    host->node_failed = host_node_failed;
    host->nodes_complete = host_nodes_complete;
}

static int keep (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err)
{
    char setting[300];
    if (!(*ret = journal_txn_create ()))
        return error_set (err, ENOMEM, "out of memory");
    snprintf (setting, sizeof (setting), "drain/%s", name);
    journal_txn_setting (*ret, setting, reason);
    (void)b;
    return 0;
}

static bool is_up (const struct broker *b, int index)
{
    struct machine_node_info info;
    return machine_node_info (broker_graph (b), index, &info) == 0
           && info.state == MACHINE_NODE_UP;
}

/* Whether this drain, not the executor, drained the node. */
static bool is_drained_by (const struct broker *b, int index, const struct drain *d)
{
    struct machine_node_info info;
    return d && machine_node_info (broker_graph (b), index, &info) == 0
           && info.state == MACHINE_NODE_DRAINED && info.reason
           && !strcmp (info.reason, d->reason);
}

int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err)
{
    int index = machine_node_find (broker_graph (b), name);

    if (index < 0)
        return error_set (err, ENOENT, "no node is named %s; fluxq-info lists them",
                          name);
    if (keep (b, name, reason, ret, err) < 0)
        return -ENOMEM;
    /* else the executor's state stays (down, cordoned), also after a resume */
    bool ours = is_up (b, index) || is_drained_by (b, index, drain_find (b, name));
    struct drain *d = drain_create (name, reason);
    if (!d
        || (ours
            && machine_node_set_state (broker_graph (b), index, MACHINE_NODE_DRAINED,
                                       reason)
                   < 0)) {
        drain_free (d);
        return error_set (err, ENOMEM, "out of memory");
    }
    drain_keep (b, d);
    reserve_node_changed (b, name);
    avoid_check_again (b);
    broker_plan_due (b); /* replans jobs that were planned there */
    return 0;
}

/* As nodes_drain(). */
static int resume (struct broker *b, const char *name, struct journal_txn **ret,
                   struct error *err)
{
    struct machine_node_info info;
    int index = machine_node_find (broker_graph (b), name);
    struct drain *d = drain_find (b, name);

    if (index < 0 && !d)
        return error_set (err, ENOENT, "no node is named %s; fluxq-info lists them",
                          name);
    if (!d) {
        machine_node_info (broker_graph (b), index, &info);
        return error_set (err, EBUSY,
                          "node %s is not drained by an operator (it is %s%s%s)", name,
                          machine_node_state_name (info.state), info.reason ? ": " : "",
                          info.reason ? info.reason : "");
    }
    if (keep (b, name, NULL, ret, err) < 0)
        return -ENOMEM;
    if (is_drained_by (b, index, d))
        machine_node_set_state (broker_graph (b), index, MACHINE_NODE_UP, NULL);
    reserve_node_changed (b, name);
    drain_drop (b, d);
    suspects_forget (b, name);
    avoid_check_again (b);
    broker_plan_due (b);
    return 0;
}

/* -- POST /v1/nodes/NAME -- */

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
                                       : resume (b, path->arg, &t, &err);
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

static const struct api_route routes[] = {
    { "POST", "/v1/nodes/{}", api_node_set, ROLE_ADMINISTRATOR, "node" },
    { 0 },
};

const struct broker_service service_nodes = {
    .name = "nodes",
    .place = &place,
    .state_size = sizeof (struct nodes),
    .load = load,
    .release = release,
    .host = host_init,
    .routes = routes,
};
