/* inventory.c - nodes and pods of the cluster, and what others use of it (see private.h)
 */
#include "exec/kube/groups.h"
#include "exec/kube/needs.h"
#include "exec/kube/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/parse.h"

static const char *text_of (const json_t *o, const char *key)
{
    const char *s = json_string_value (json_object_get (o, key));

    return s ? s : "";
}

/* ---- telling the broker, once a turn of the loop ---- */

void inventory_node_changed (struct exec *x, struct knode *n)
{
    if (n->queued)
        return;
    n->queued = true;
    n->next_changed = x->changed_nodes;
    x->changed_nodes = n;
    exec_soon (x);
}

/* What others use is kept exactly; only what is left over is rounded, down to whole cores
 * and MiB. offered: of this unit, whole ones. */
static int64_t withheld (int64_t all, int64_t foreign, int64_t unit, int64_t offered)
{
    int64_t left = all > foreign ? (all - foreign) / unit : 0;

    return left < offered ? offered - left : 0;
}

/* CPUs exactly where parts of them may be asked for. */
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
        log_error ("kube: node %s: no memory to tell what others use", n->name);
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

/* Of all that the broker is told: kubelets report in every few seconds, mostly nothing
 * new. Never 0. */
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
                                      .properties = (const char *const *)n->properties };
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

/* ---- nodes ---- */

struct knode *inventory_node (struct exec *x, const char *name)
{
    struct knode *n;

    HASH_FIND_STR (x->nodes, name, n);
    if (n)
        return n;
    n = calloc (1, sizeof (*n));
    if (!n || !(n->name = strdup (name))) {
        free (n);
        return NULL;
    }
    n->down_since = clock_mono ();
    HASH_ADD_KEYPTR (hh, x->nodes, n->name, strlen (n->name), n);
    return n;
}

/* To the jobs that run there: they go on for as long as they can. */
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
    bool had_notice;
    struct knode *n =
        inventory_node (x, text_of (json_object_get (node, "metadata"), "name"));

    (void)is_new;
    if (!n)
        return;
    had_notice = n->notice;
    if (node_read (x, n, node) == 0)
        inventory_node_changed (x, n);
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
            inventory_node_changed (x, n);
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
    inventory_node_changed (x, n);
}

static void on_nodes_listed (void *arg)
{
    struct exec *x = arg;

    x->nodes_listed = true;
    exec_soon (x);
}

/* ---- pods ---- */

/* Counted, or no more. */
static void pod_add (struct exec *x, struct kpod *p, bool counted)
{
    struct knode *n = p->node;

    p->counted = counted;
    n->foreign =
        counted ? podsize_add (n->foreign, p->size) : podsize_sub (n->foreign, p->size);
    inventory_node_changed (x, n);
}

static void gres_uncount (struct exec *x, struct kpod *p)
{
    if (p->counted_gres.n == 0)
        return;
    gres_add (&p->node->foreign_gres, &p->counted_gres, -1);
    gres_release (&p->counted_gres);
    inventory_node_changed (x, p->node);
}

/* All of a stranger's; of a job's pod what its job was not given. */
static void gres_count (struct exec *x, struct kpod *p)
{
    static const struct gres_list none = { 0 };
    const struct rset *r = p->job ? p->job->job->r : NULL;
    bool given = r && p->view.index >= 0 && (size_t)p->view.index < r->nranks;

    gres_uncount (x, p);
    if (p->gres.n == 0 || p->view.terminal || (!p->job && !p->counted))
        return;
    if (kube_gres_beyond (&p->gres, given ? &r->ranks[p->view.index].gres : &none,
                          &p->counted_gres)
            < 0
        || gres_add (&p->node->foreign_gres, &p->counted_gres, 1) < 0)
        log_error ("kube: pod %s: no memory to count what it uses", p->key);
    inventory_node_changed (x, p->node);
}

static void pod_count (struct exec *x, struct kpod *p)
{
    bool should = p->node && !p->view.terminal && !p->job && (!p->ours || x->swept);

    if (!p->node)
        return;
    if (should != p->counted)
        pod_add (x, p, should);
    gres_count (x, p);
}

static void pod_uncount (struct exec *x, struct kpod *p)
{
    gres_uncount (x, p);
    if (p->counted)
        pod_add (x, p, false);
}

static void pod_to_job (struct kpod *p, struct kjob *k)
{
    struct kpod **slot = NULL;

    p->job = k;
    p->ours = true;
    DL_APPEND (k->all_pods, p);
    if (p->node && p->node->zones)
        inventory_node_changed (k->x, p->node);
    k->npods++;
    k->pods_seen++;
    if (p->view.index >= 0 && (size_t)p->view.index < k->launch.nnodes)
        slot = &k->pods[p->view.index];
    if (slot && (!*slot || (*slot)->view.terminal))
        *slot = p;
    job_poke (k);
}

static void pod_to_orphans (struct exec *x, struct kpod *p)
{
    p->job = NULL;
    DL_APPEND (x->orphans, p);
}

static void pod_unlist (struct exec *x, struct kpod *p)
{
    struct kjob *k = p->job;

    if (!p->marked)
        return;
    if (!k) {
        DL_DELETE (x->orphans, p);
        return;
    }
    DL_DELETE (k->all_pods, p);
    k->npods--;
    for (size_t i = 0; i < k->launch.nnodes; i++)
        if (k->pods && k->pods[i] == p)
            k->pods[i] = NULL;
    losses_see (k, NULL);
    job_poke (k);
}

/* Anybody may give labels to pods, in a namespace of his own. */
static bool is_in_namespace (const struct kpod *p, const char *namespace_)
{
    size_t len = strlen (namespace_);

    return strncmp (p->key, namespace_, len) == 0 && p->key[len] == '/';
}

static void pod_set_owner (struct exec *x, struct kpod *p, const json_t *labels)
{
    struct kjob *k;
    int64_t id = 0, attempt = 0;

    p->marked =
        strcmp (text_of (labels, LABEL_CLUSTER), x->host.cluster_id) == 0
        && parse_int (text_of (labels, LABEL_JOB), 1, INT64_MAX, &id, "id", NULL) == 0
        && parse_int (text_of (labels, LABEL_ATTEMPT), 0, UINT32_MAX, &attempt, "attempt",
                      NULL)
               == 0;
    if (!p->marked)
        return;
    p->ours = spaces_may_have (x, p->key, strcspn (p->key, "/"));
    p->job_id = (uint64_t)id;
    p->attempt = (unsigned)attempt;
    k = job_find (x, p->job_id);
    if (k && k->job->attempt == p->attempt && is_in_namespace (p, k->space->name))
        pod_to_job (p, k);
    else
        pod_to_orphans (x, p);
}

static struct kpod *pod_get (struct exec *x, json_t *meta)
{
    char key[512];
    struct kpod *p;

    snprintf (key, sizeof (key), "%s/%s", text_of (meta, "namespace"),
              text_of (meta, "name"));
    HASH_FIND_STR (x->pods, key, p);
    if (p)
        return p;
    p = calloc (1, sizeof (*p));
    if (!p || !(p->key = strdup (key))) {
        free (p);
        return NULL;
    }
    p->name = strchr (p->key, '/') + 1;
    p->view.index = -1;
    HASH_ADD_KEYPTR (hh, x->pods, p->key, strlen (p->key), p);
    return p;
}

static void pod_set_node (struct exec *x, struct kpod *p, const char *name)
{
    struct knode *old = p->node;

    if (old && strcmp (old->name, name) == 0)
        return;
    p->node = name[0] ? inventory_node (x, name) : NULL;
    if (old)
        DL_DELETE2 (old->pods, p, node_prev, node_next);
    if (p->node) {
        p->node->npods++;
        DL_APPEND2 (p->node->pods, p, node_prev, node_next);
    }
    if (old) {
        old->npods--;
        inventory_node_changed (x, old);
    }
}

/* The job has ended as it has; its node is not well. */
static void look_at_epilog (struct exec *x, struct kpod *p)
{
    char text[512];

    if (!p->view.epilog_failed || p->epilog_told || !p->ours || !p->node)
        return;
    p->epilog_told = true;
    snprintf (text, sizeof (text), "epilog failed on node %.128s: %s", p->node->name,
              p->view.admin_text);
    log_warning ("job %ju: %s", (uintmax_t)p->job_id, text);
    x->host.node_failed (x->host.arg, p->node->name, text);
}

static void on_pod_changed (json_t *pod, bool is_new, void *arg)
{
    struct exec *x = arg;
    json_t *meta = json_object_get (pod, "metadata");
    struct kpod *p = pod_get (x, meta);
    char old_address[sizeof (p->view.address)];

    if (!p)
        return;
    pod_uncount (x, p);
    snprintf (old_address, sizeof (old_address), "%s", p->view.address);
    podview_read (pod, &p->view);
    p->size = podsize_of (pod, x->cfg.gpu_resource);
    gres_release (&p->gres);
    if (kube_gres_of_pod (pod, x->cfg.gpu_resource, &p->gres) < 0)
        log_error ("kube: pod %s: no memory to tell what it uses", p->key);
    pod_set_node (x, p, text_of (json_object_get (pod, "spec"), "nodeName"));
    if (is_new)
        pod_set_owner (x, p, json_object_get (meta, "labels"));
    pod_count (x, p);
    needs_see_pod (x, pod);
    zones_pod_changed (x, p, pod);
    look_at_epilog (x, p);
    if (p->job) {
        losses_see (p->job, p);
        endpoints_see (p->job, p, old_address);
        job_poke (p->job);
    }
}

static void pod_free (struct exec *x, struct kpod *p)
{
    HASH_DEL (x->pods, p);
    gres_release (&p->gres);
    gres_release (&p->counted_gres);
    free (p->key);
    free (p);
}

static void on_pod_deleted (const char *ns, const char *name, json_t *pod, void *arg)
{
    struct exec *x = arg;
    char key[512];
    struct kpod *p;

    (void)pod;
    needs_lose_pod (x, ns, name);
    snprintf (key, sizeof (key), "%s/%s", ns, name);
    HASH_FIND_STR (x->pods, key, p);
    if (!p)
        return;
    pod_uncount (x, p);
    pod_unlist (x, p);
    pod_set_node (x, p, "");
    pod_free (x, p);
}

static void on_pods_listed (void *arg)
{
    struct exec *x = arg;

    x->pods_listed = true;
    exec_soon (x);
}

void inventory_adopt (struct kjob *k)
{
    struct exec *x = k->x;
    struct kpod *p, *tmp;

    DL_FOREACH_SAFE (x->orphans, p, tmp)
    {
        if (p->job_id != k->id || p->attempt != k->job->attempt
            || !is_in_namespace (p, k->space->name))
            continue;
        pod_uncount (x, p);
        DL_DELETE (x->orphans, p);
        pod_to_job (p, k);
        pod_count (x, p);
    }
}

void inventory_abandon (struct kjob *k)
{
    struct kpod *p, *tmp;

    DL_FOREACH_SAFE (k->all_pods, p, tmp)
    {
        DL_DELETE (k->all_pods, p);
        pod_to_orphans (k->x, p);
        if (!k->x->closing)
            pod_count (k->x, p);
    }
    k->npods = 0;
}

void inventory_strangers (struct exec *x)
{
    struct kpod *p;

    x->swept = true;
    DL_FOREACH (x->orphans, p) {
        pod_count (x, p);
    }
}

/* ---- what is asked ---- */

static struct exec_amounts amounts_of (struct podsize s)
{
    return (struct exec_amounts){ s.cpu_milli, s.memory, s.gpus };
}

int inventory_amounts (const struct exec *x, const char *node, struct exec_amounts *all,
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

/* ---- life ---- */

static const struct kube_watch_events node_events = { .changed = on_node_changed,
                                                      .deleted = on_node_deleted,
                                                      .listed = on_nodes_listed };
static const struct kube_watch_events pod_events = { .changed = on_pod_changed,
                                                     .deleted = on_pod_deleted,
                                                     .listed = on_pods_listed };

int inventory_start (struct exec *x, struct error *err)
{
    x->node_watch =
        kube_watch_start (x->kube, "/api/v1/nodes", NULL, &node_events, x, err);
    x->pod_watch = kube_watch_start (x->kube, "/api/v1/pods", NULL, &pod_events, x, err);
    zones_start (x);
    return x->node_watch && x->pod_watch ? 0 : -ENOMEM;
}

void inventory_stop (struct exec *x)
{
    struct knode *n, *ntmp;
    struct kpod *p, *ptmp;

    kube_watch_stop (x->node_watch);
    kube_watch_stop (x->pod_watch);
    x->node_watch = x->pod_watch = NULL;
    zones_stop (x);
    HASH_ITER (hh, x->pods, p, ptmp) {
        pod_free (x, p);
    }
    HASH_ITER (hh, x->nodes, n, ntmp) {
        HASH_DEL (x->nodes, n);
        node_free (n);
    }
    x->changed_nodes = NULL;
    x->orphans = NULL;
}
