/* zones.c - NUMA zones of nodes, from the NodeResourceTopology objects that agents on the
 * nodes keep (see zones.h; kube.numa)
 *
 * Asks for the collection first and watches it if it exists. Otherwise it asks again
 * each minute, since a cluster may get the custom resource later. zoneobject.c reads an
 * object, zonerule.c says which part of it counts. Nodes whose kubelet has another
 * policy than single-numa-node are offered without zones.
 */
#include "exec/kube/topology/zones.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/topology/zonerule.h"

#define PATH "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
#define ASK_AGAIN 60.0

struct kzones {
    struct zonerule rule;
    uint64_t told;
    bool read;   /* the object was readable */
    bool warned; /* an unreadable object was reported */
};

/* -- pods -- */

/* A Quantity is a text, and one amount has several texts; equal texts are enough here. */
static bool same (const json_t *requests, const json_t *limits, const char *name)
{
    const char *limit = json_text (limits, name), *request = json_text (requests, name);

    return limit[0] && (!request[0] || strcmp (request, limit) == 0);
}

/* Whether every container has limits of processors and memory, and requests of the same
 * amounts. */
static bool is_guaranteed (const json_t *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    const json_t *container;
    size_t i, n = 0;

    for (size_t k = 0; k < ARRAY_SIZE (lists); k++) {
        json_array_foreach (json_object_get (spec, lists[k]), i, container) {
            const json_t *r = json_object_get (container, "resources");
            const json_t *requests = json_object_get (r, "requests");
            const json_t *limits = json_object_get (r, "limits");
            if (!same (requests, limits, "cpu") || !same (requests, limits, "memory"))
                return false;
            n++;
        }
    }
    return n > 0;
}

static bool has_devices (const json_t *spec)
{
    const json_t *container, *v;
    const char *name;
    size_t i;

    json_array_foreach (json_object_get (spec, "containers"), i, container) {
        const json_t *r = json_object_get (container, "resources");
        json_object_foreach (json_object_get (r, "requests"), name, v) {
            if (strchr (name, '/'))
                return true;
        }
    }
    return false;
}

void zones_pod_changed (struct exec *x, struct kpod *p, const json_t *pod)
{
    const json_t *spec = json_object_get (pod, "spec");
    struct kzones *z = p->node ? p->node->zones : NULL;

    if (x->cfg.numa == KUBE_NUMA_OFF)
        return;
    p->guaranteed = is_guaranteed (spec);
    p->devices = has_devices (spec);
    if (!p->runs && strcmp (p->view.phase, "Running") == 0) {
        p->runs = true;
        p->run_at = z && x->pods_listed ? z->rule.version : 0;
    }
    if (z)
        knode_changed (x, p->node);
}

/* Returns the pods that hold their share of the node. NULL: no memory. */
static struct zonepod *pods_of (const struct knode *n, size_t *ret)
{
    struct zonepod *list = calloc (n->npods + 1, sizeof (*list));
    const struct kpod *p;

    *ret = 0;
    DL_FOREACH2 (n->pods, p, node_next)
    {
        const char *slash = strchr (p->key, '/');
        char namespace_[256];
        if (!list || p->view.terminal || *ret >= n->npods)
            continue;
        snprintf (namespace_, sizeof (namespace_), "%.*s", (int)(slash - p->key), p->key);
        list[(*ret)++] = (struct zonepod){
            .print = podprint_of (namespace_, p->name),
            .job = p->job ? p->job->id : 0,
            .size = p->size,
            .running = p->runs,
            .exclusive =
                p->guaranteed || (p->devices && n->zones->rule.latest.has_devices),
            .run_at = p->run_at,
            .seen = p->zone_seen,
        };
    }
    return list;
}

/* -- telling -- */

size_t zones_of (const struct knode *n, const struct machine_zone **ret)
{
    const struct kzones *z = n->zones;

    *ret = z ? z->rule.latest.size : NULL;
    return z && z->read && z->rule.latest.single ? z->rule.latest.n : 0;
}

static uint64_t mix (uint64_t h, uint64_t n)
{
    return (h ^ n) * 1099511628211u + (h >> 47); /* like FNV-1a, on numbers */
}

static uint64_t mix_zones (uint64_t h, const struct machine_zone *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = mix (h, (uint64_t)list[i].id);
        h = mix (h, list[i].cores);
        h = mix (h, list[i].gpus);
        h = mix (h, (uint64_t)list[i].memory_mib);
    }
    return h;
}

uint64_t zones_digest (const struct knode *n)
{
    const struct machine_zone *list;
    size_t k = zones_of (n, &list);

    return mix_zones (k, list, k);
}

static uint64_t digest_of (const struct machine_report *r)
{
    uint64_t h = mix_zones (r->exact ? 3 : 5, r->left, r->nleft);

    for (size_t i = 0; i < r->nseen; i++)
        h = mix (h, r->seen[i]);
    return h | 1;
}

static void tell (struct exec *x, struct knode *n, const struct zonepod *pods,
                  size_t npods, bool always)
{
    struct machine_zone left[MACHINE_ZONES_MAX];
    uint64_t *seen = malloc ((npods + 1) * sizeof (*seen));
    struct machine_report r = { .left = left, .seen = seen };

    if (!seen)
        return;
    r.nleft = zonerule_left (&n->zones->rule, pods, npods, left);
    r.exact = n->zones->rule.exact;
    for (size_t i = 0; i < npods; i++)
        if (pods[i].job && pods[i].seen)
            seen[r.nseen++] = pods[i].job;
    uint64_t now = digest_of (&r);
    if (always || now != n->zones->told)
        x->host.node_zones (x->host.arg, n->name, &r);
    n->zones->told = now;
    free (seen);
}

void zones_tell (struct exec *x, struct knode *n, bool always)
{
    const struct machine_zone *unused;
    struct zonepod *pods;
    struct kpod *p;
    size_t npods, i = 0;

    if (!x->zones_ready || !x->pods_listed || zones_of (n, &unused) == 0
        || !(pods = pods_of (n, &npods)))
        return;
    if (zonerule_look (&n->zones->rule, pods, npods) == 0) {
        DL_FOREACH2 (n->pods, p, node_next)
        {
            if (!p->view.terminal && i < npods)
                p->zone_seen = pods[i++].seen;
        }
        tell (x, n, pods, npods, always);
    }
    free (pods);
}

/* -- objects -- */

void zones_free (struct knode *n)
{
    free (n->zones);
    n->zones = NULL;
}

static void on_changed (json_t *object, bool is_new, void *arg)
{
    struct exec *x = arg;
    const char *name = json_text (json_object_get (object, "metadata"), "name");
    struct knode *n = knode_get (x, name);
    struct error err = { 0 };
    struct zoneobject o;

    (void)is_new;
    if (!n || (!n->zones && !(n->zones = calloc (1, sizeof (*n->zones)))))
        return;
    if (zoneobject_read (object, x->cfg.gpu_resource, &o, &err) < 0) {
        if (!n->zones->warned)
            log_warning ("kube: noderesourcetopology %.256s: %s; %s", name, err.text,
                         n->zones->read ? "it counts as it was" : "it does not count");
        n->zones->warned = true;
        return;
    }
    n->zones->warned = false;
    n->zones->read = true;
    zonerule_object (&n->zones->rule, &o);
    knode_changed (x, n);
}

static void on_deleted (const char *ns, const char *name, json_t *object, void *arg)
{
    struct exec *x = arg;
    struct knode *n = knode_get (x, name);

    (void)ns;
    (void)object;
    if (!n)
        return;
    zones_free (n);
    knode_changed (x, n);
}

static void on_listed (void *arg)
{
    struct exec *x = arg;
    struct knode *n, *tmp;

    x->zones_ready = true;
    HASH_ITER (hh, x->nodes, n, tmp) {
        if (n->zones)
            knode_changed (x, n);
    }
    exec_soon (x);
}

/* -- is there such a collection? -- */

static const struct kube_watch_events events = { .changed = on_changed,
                                                 .deleted = on_deleted,
                                                 .listed = on_listed };

static void log_missing (struct exec *x, const struct kube_result *res)
{
    if (x->zones_missing_told || x->cfg.numa != KUBE_NUMA_ON)
        return;
    x->zones_missing_told = true;
    if (res->status == 404)
        log_warning (
            "kube.numa: the cluster has no noderesourcetopologies "
            "(topology.node.k8s.io/v1alpha2): nodes count as without zones until then; "
            "install the custom resource and its agents, or set kube.numa: false");
    else
        log_warning (
            "kube.numa: noderesourcetopologies cannot be listed: %s; nodes count "
            "as without zones until they can",
            res->err.text);
}

static void on_asked (const struct kube_result *res, void *arg)
{
    struct exec *x = arg;

    x->zones_request = NULL;
    if (res->status == 200) {
        x->zone_watch = kube_watch_start (x->kube, PATH, NULL, &events, x, NULL);
        return;
    }
    log_missing (x, res);
    x->zones_ask_at = clock_mono () + ASK_AGAIN;
    if (!x->zones_ready)
        on_listed (x);
}

void zones_tick (struct exec *x, double now)
{
    if (x->cfg.numa == KUBE_NUMA_OFF || x->zone_watch || x->zones_request
        || now < x->zones_ask_at)
        return;
    x->zones_request = kube_send (x->kube, "GET", PATH "?limit=1", NULL, on_asked, x);
}

void zones_start (struct exec *x)
{
    x->zones_ready = x->cfg.numa == KUBE_NUMA_OFF;
    zones_tick (x, clock_mono ());
}

void zones_stop (struct exec *x)
{
    kube_cancel (x->zones_request);
    kube_watch_stop (x->zone_watch);
    x->zones_request = NULL;
    x->zone_watch = NULL;
}
