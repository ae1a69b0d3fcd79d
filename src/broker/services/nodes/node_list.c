/* node_list.c - GET /v1/nodes: the nodes, their resources, jobs, queues and reservations
 */
#include "broker/api/api.h"
#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/nodes/queuenodes.h"
#include "broker/services/reserve/reserve.h"

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

/* "gres": {"license": {"count": 4, "used": 1, "foreign": 0, "free": 3}}, and the temporary
 * disk, from the machine that node_info() uses. */
static void add_gres (const struct broker *b, json_t *node, int i,
                      const struct machine_node_info *n)
{
    const struct reservation *r = reservation_of (b, i);
    const struct machine *m = r ? realm_machine (r->realm) : broker_graph (b);
    int index = machine_node_find (m, n->name);
    json_t *gres = json_object (), *o;

    if (index < 0 && (index = i) >= 0)
        m = broker_graph (b);

    for (size_t k = 0; k < n->gres->n; k++) {
        const char *name = n->gres->v[k].name;
        struct machine_gres_info g = { 0 };
        if (!strcmp (name, GRES_CPU_MILLI)) /* see describe_node() */
            continue;
        machine_node_gres (m, index, name, &g);
        o = json_pack ("{s:I s:I s:I s:I}", "count", (json_int_t)g.count, "used",
                       (json_int_t)g.used, "foreign", (json_int_t)g.foreign, "free",
                       r && r->maintenance ? 0 : (json_int_t)g.free);
        if (!strcmp (name, GRES_TMP_DISK))
            json_object_set_new (node, GRES_TMP_DISK, o);
        else
            json_object_set_new (gres, name, o);
    }
    json_object_set_new (node, "gres", gres);
}

static json_t *describe_node (const struct machine_node_info *n)
{
    return json_pack (
        "{s:s s:s s:s? s:s? s:o? s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I s:I "
        "s:I "
        "s:i s:b s:n}",
        "name", n->name, "state", machine_node_state_name (n->state), "reason", n->reason,
        "gpu_type", n->gpu_type, "places", describe_places (n->places), "cores",
        (json_int_t)n->cores, "cores_used", (json_int_t)n->cores_used, "cores_foreign",
        (json_int_t)n->cores_foreign, "cores_free", (json_int_t)n->cores_free,
        "cpu_milli_used", (json_int_t)n->cpu_milli_used, "cpu_milli_foreign",
        (json_int_t)n->cpu_milli_foreign, "cpu_milli_free", (json_int_t)n->cpu_milli_free,
        "gpus", (json_int_t)n->gpus, "gpus_used", (json_int_t)n->gpus_used,
        "gpus_foreign", (json_int_t)n->gpus_foreign, "gpus_free",
        (json_int_t)n->gpus_free, "memory_mib", (json_int_t)n->memory_mib, "memory_used",
        (json_int_t)n->memory_used, "memory_foreign", (json_int_t)n->memory_foreign,
        "memory_free", (json_int_t)n->memory_free, "njobs", (int)n->njobs, "exclusive",
        (int)n->exclusive, GRES_TMP_DISK);
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
    add_gres (b, at[i], i, &info);
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

static const struct api_route routes[] = {
    { "GET", "/v1/nodes", api_nodes, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_node_list = {
    .name = "node_list",
    .routes = routes,
};
