/* inventory.c - reports the cluster's nodes to the broker (see cluster.h) */
#include "exec/kube/cluster/admit.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/cluster/groups.h"
#include "exec/kube/topology/zones.h"

#include <utlist.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"

/* -- telling the broker, once a turn of the loop -- */

/* Foreign usage is kept exactly; only the rest is rounded, down to whole cores and MiB.
 * offered: whole units. */
static int64_t withheld (int64_t all, int64_t foreign, int64_t unit, int64_t offered)
{
    int64_t left = all > foreign ? (all - foreign) / unit : 0;

    return left < offered ? offered - left : 0;
}

/* CPUs exactly if jobs may request parts of them. */
static int foreign_gres (const struct exec *x, const struct knode *n,
                         struct gres_list *ret)
{
    int64_t milli =
        withheld (n->size.cpu_milli, n->foreign.cpu_milli, 1, 1000 * (int64_t)n->cores);
    int rc = gres_copy (ret, &n->foreign_gres);

    if (rc == 0 && x->cfg.fractional_cpu)
        rc = gres_set (ret, GRES_CPU_MILLI, milli);
    if (rc < 0)
        gres_release (ret);
    return rc;
}

static void tell_foreign (struct exec *x, struct knode *n, bool always)
{
    const struct podsize *f = &n->foreign;
    uint32_t cores = (uint32_t)withheld (n->size.cpu_milli, f->cpu_milli, 1000, n->cores);
    uint32_t gpus = (uint32_t)withheld (n->size.gpus, f->gpus, 1, n->gpus);
    int64_t mib = withheld (n->size.memory, f->memory, MIB, n->memory_mib);
    struct gres_list gres = { 0 };

    if (foreign_gres (x, n, &gres) < 0) {
        log_error ("kube: node %s: no memory to report the use of others", n->name);
        return;
    }
    if (!always && cores == n->told_cores && gpus == n->told_gpus
        && mib == n->told_memory_mib && gres_equal (&gres, &n->told_gres)) {
        gres_release (&gres);
        return;
    }
    gres_release (&n->told_gres);
    n->told_gres = gres;
    n->told_cores = cores;
    n->told_gpus = gpus;
    n->told_memory_mib = mib;
    x->host.node_foreign (x->host.arg, n->name, cores, gpus, mib, &n->told_gres);
}

static uint64_t mix (uint64_t h, const void *data, size_t len)
{
    const unsigned char *p = data;

    while (len-- > 0)
        h = (h ^ *p++) * 1099511628211u; /* FNV-1a */
    return h;
}

/* Fingerprint of all that the broker is told: kubelets report every few seconds, mostly
 * nothing new. Never 0. */
static uint64_t fingerprint (const struct knode *n)
{
    uint64_t h = 14695981039346656037u;

    h = mix (h, &n->cores, sizeof (n->cores));
    h = mix (h, &n->gpus, sizeof (n->gpus));
    h = mix (h, &n->memory_mib, sizeof (n->memory_mib));
    h = mix (h, &n->state, sizeof (n->state));
    h = mix (h, n->reason, strlen (n->reason) + 1);
    for (const struct machine_place *p = n->places; p && p->level; p++) {
        h = mix (h, p->level, strlen (p->level) + 1);
        h = mix (h, p->name, strlen (p->name) + 1);
    }
    for (size_t i = 0; i < n->gres.n; i++) {
        h = mix (h, n->gres.v[i].name, strlen (n->gres.v[i].name) + 1);
        h = mix (h, &n->gres.v[i].count, sizeof (n->gres.v[i].count));
    }
    uint64_t zones = zones_digest (n);
    h = mix (h, &zones, sizeof (zones));
    for (size_t i = 0; n->properties && n->properties[i]; i++)
        h = mix (h, n->properties[i], strlen (n->properties[i]) + 1);
    if (n->gpu_type)
        h = mix (h, n->gpu_type, strlen (n->gpu_type) + 1);
    return h | 1;
}

static void tell_node (struct exec *x, struct knode *n)
{
    struct machine_node_spec spec = { .name = n->name,
                                      .places = n->places,
                                      .cores = n->cores,
                                      .gpus = n->gpus,
                                      .memory_mib = n->memory_mib,
                                      .gres = &n->gres,
                                      .properties = (const char *const *)n->properties,
                                      .gpu_type = n->gpu_type };
    bool is_new = !n->told;
    spec.nzones = zones_of (n, &spec.zones);
    uint64_t now = n->offered ? fingerprint (n) : 0;

    if (n->offered && now != n->told_fingerprint)
        x->host.node (x->host.arg, &spec, n->state, n->reason[0] ? n->reason : NULL);
    n->told_fingerprint = now;
    if (n->offered) {
        n->told = true;
        tell_foreign (x, n, is_new);
        zones_tell (x, n, is_new);
    } else if (n->told) {
        n->told = false;
        x->host.node_gone (x->host.arg, n->name);
    }
}

static void node_free (struct knode *n)
{
    node_release (n);
    zones_free (n);
    free (n);
}

static void node_drop_if_unused (struct exec *x, struct knode *n)
{
    if (n->offered || n->told || n->npods > 0 || n->queued || n->zones)
        return;
    HASH_DEL (x->nodes, n);
    node_free (n);
}

/* node2 before node10: the order in which jobs are given nodes. */
static int by_name (const struct knode *a, const struct knode *b)
{
    return strverscmp (a->name, b->name);
}

void inventory_flush (struct exec *x)
{
    struct knode *n;

    LL_SORT2 (x->changed_nodes, by_name, next_changed);
    groups_tell (x);
    while ((n = x->changed_nodes)) {
        x->changed_nodes = n->next_changed;
        n->queued = false;
        tell_node (x, n);
        node_drop_if_unused (x, n);
    }
    if (x->nodes_listed && x->pods_listed && x->zones_ready && !x->complete_told) {
        x->complete_told = true;
        x->host.nodes_complete (x->host.arg);
    }
}

/* -- nodes -- */

/* Tells the jobs that run there, which continue for as long as they can. */
static void tell_notice (struct exec *x, const struct knode *n)
{
    struct kjob *k, *tmp;
    struct kpod *p;
    char text[512];

    log_warning ("kube: node %s: %s", n->name, n->reason);
    snprintf (text, sizeof (text), "node %.256s: %s", n->name, n->reason);
    HASH_ITER (hh, x->jobs, k, tmp) {
        DL_SEARCH_SCALAR (k->all_pods, p, node, n);
        if (p && k->phase <= K_RUN)
            x->host.note (x->host.arg, k->id, text);
    }
}

static void on_node_changed (json_t *node, bool is_new, void *arg)
{
    struct exec *x = arg;
    struct knode *n =
        knode_get (x, json_text (json_object_get (node, "metadata"), "name"));

    (void)is_new;
    if (!n)
        return;
    bool had_notice = n->notice;
    if (node_read (x, n, node) == 0)
        knode_changed (x, n);
    groups_see (x, n, node);
    if (n->notice && !had_notice)
        tell_notice (x, n);
    json_decref (n->about);
    n->about = x->queues ? admit_extract (node) : NULL;
}

void inventory_queues_changed (struct exec *x)
{
    struct knode *n, *tmp;

    HASH_ITER (hh, x->nodes, n, tmp) {
        if (n->about && node_read (x, n, n->about) == 0)
            knode_changed (x, n);
    }
    groups_queues_changed (x);
}

static void on_node_deleted (const char *ns, const char *name, json_t *node, void *arg)
{
    struct exec *x = arg;
    struct knode *n;

    (void)ns;
    (void)node;
    HASH_FIND_STR (x->nodes, name, n);
    if (!n)
        return;
    n->offered = n->notice = false;
    n->gone = true;
    groups_lose (x, n);
    json_decref (n->about);
    n->about = NULL;
    if (n->down_since == 0)
        n->down_since = clock_mono ();
    knode_changed (x, n);
}

static void on_nodes_listed (void *arg)
{
    struct exec *x = arg;

    x->nodes_listed = true;
    exec_soon (x);
}

/* -- queries -- */

static struct exec_amounts amounts_of (struct podsize s)
{
    return (struct exec_amounts){ s.cpu_milli, s.memory, s.gpus };
}

int inventory_amounts (struct exec *x, const char *node, struct exec_amounts *all,
                       struct exec_amounts *foreign)
{
    const struct knode *n;

    HASH_FIND_STR (x->nodes, node, n);
    if (!n)
        return -ENOENT;
    *all = amounts_of (n->size);
    *foreign = amounts_of (n->foreign);
    return 0;
}

/* -- life -- */

static const struct kube_watch_events node_events = { .changed = on_node_changed,
                                                      .deleted = on_node_deleted,
                                                      .listed = on_nodes_listed };

int inventory_start (struct exec *x, struct error *err)
{
    x->node_watch =
        kube_watch_start (x->kube, "/api/v1/nodes", NULL, &node_events, x, err);
    if (!x->node_watch || pods_start (x, err) < 0)
        return -ENOMEM;
    zones_start (x);
    return 0;
}

void inventory_stop (struct exec *x)
{
    struct knode *n, *tmp;

    kube_watch_stop (x->node_watch);
    x->node_watch = NULL;
    zones_stop (x);
    pods_stop (x);
    HASH_ITER (hh, x->nodes, n, tmp) {
        HASH_DEL (x->nodes, n);
        node_free (n);
    }
    x->changed_nodes = NULL;
}
