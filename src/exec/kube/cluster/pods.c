/* pods.c - the cluster's pods: finds the job of each, and counts what foreign pods use of
 * their nodes (see cluster.h)
 *
 * A pod belongs to one of our jobs, or is an orphan (it has our labels, but its job does
 * not exist, or not yet), or is foreign. The usage of foreign pods counts on their
 * nodes, and the usage of a job's pod beyond the job's allocation.
 */
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/topology/zones.h"

#include <utlist.h>

#include "common/json.h"
#include "common/log.h"
#include "common/parse.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/core/kspace.h"

/* -- resources of a pod -- */

/* Adds the pod to the count, or subtracts it. */
static void pod_add (struct exec *x, struct kpod *p, bool counted)
{
    struct knode *n = p->node;

    p->counted = counted;
    n->foreign =
        counted ? podsize_add (n->foreign, p->size) : podsize_sub (n->foreign, p->size);
    knode_changed (x, n);
}

static void gres_uncount (struct exec *x, struct kpod *p)
{
    if (p->counted_gres.n == 0)
        return;
    gres_add (&p->node->foreign_gres, &p->counted_gres, -1);
    gres_release (&p->counted_gres);
    knode_changed (x, p->node);
}

/* Counts all resources of a foreign pod, and of a job's pod those beyond its
 * allocation. */
static void gres_count (struct exec *x, struct kpod *p)
{
    static const struct gres_list none = { 0 };
    const struct rset *r = p->job ? p->job->job->r : NULL;
    int rank = p->job ? job_rank_of (p->job, p) : -1;
    bool given = r && rank >= 0 && (size_t)rank < r->nranks;

    gres_uncount (x, p);
    if (p->gres.n == 0 || p->view.terminal || (!p->job && !p->counted)
        || x->hooks->pod_is_covered (p))
        return;
    if (kube_gres_beyond (&p->gres, given ? &r->ranks[rank].gres : &none,
                          &p->counted_gres)
            < 0
        || gres_add (&p->node->foreign_gres, &p->counted_gres, 1) < 0)
        log_error ("kube: pod %s: no memory to count its use", p->key);
    knode_changed (x, p->node);
}

void pods_count_again (struct exec *x, struct kpod *p)
{
    bool should = p->node && !p->view.terminal && !p->job && (!p->ours || x->swept)
                  && !x->hooks->pod_is_covered (p);

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

/* -- the owner of a pod -- */

static void pod_to_job (struct kpod *p, struct kjob *k)
{
    int rank = job_rank_of (k, p);
    struct kpod **slot = rank >= 0 ? &k->pods[rank] : NULL;

    p->job = k;
    p->ours = true;
    DL_APPEND (k->all_pods, p);
    if (p->node && p->node->zones)
        knode_changed (k->x, p->node);
    k->npods++;
    k->pods_seen++;
    if (rank >= 0)
        k->parts[job_part_of (k, (uint32_t)rank)].pods_seen++;
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
    for (uint32_t i = 0; i < k->room; i++)
        if (k->pods && k->pods[i] == p)
            k->pods[i] = NULL;
    x->hooks->job_pod (k, NULL, NULL);
    job_poke (k);
}

/* Anybody may label pods in a namespace of their own. */
static bool is_in_namespace (const struct kpod *p, const char *namespace_)
{
    size_t len = strlen (namespace_);

    return strncmp (p->key, namespace_, len) == 0 && p->key[len] == '/';
}

/* Job and attempt match; pods of an earlier job of this number are foreign. */
static bool is_of (const struct kpod *p, const struct kjob *k)
{
    return k->job->attempt == p->attempt && is_in_namespace (p, k->space->name)
           && !object_is_anothers (k->job, p->submitted);
}

static void pod_set_owner (struct exec *x, struct kpod *p, const json_t *labels)
{
    struct kjob *k;
    int64_t id = 0, attempt = 0;

    p->marked =
        strcmp (json_text (labels, LABEL_CLUSTER), x->host.cluster_id) == 0
        && parse_int (json_text (labels, LABEL_JOB), 1, INT64_MAX, &id, "id", NULL) == 0
        && parse_int (json_text (labels, LABEL_ATTEMPT), 0, UINT32_MAX, &attempt,
                      "attempt", NULL)
               == 0;
    if (!p->marked)
        return;
    p->ours = spaces_may_have (x, p->key, strcspn (p->key, "/"));
    p->job_id = (uint64_t)id;
    p->attempt = (unsigned)attempt;
    snprintf (p->submitted, sizeof (p->submitted), "%s",
              json_text (labels, LABEL_SUBMITTED));
    k = job_find (x, p->job_id);
    if (k && is_of (p, k))
        pod_to_job (p, k);
    else
        pod_to_orphans (x, p);
}

static struct kpod *pod_get (struct exec *x, json_t *meta)
{
    char key[512];
    struct kpod *p;

    snprintf (key, sizeof (key), "%s/%s", json_text (meta, "namespace"),
              json_text (meta, "name"));
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
    p->node = name[0] ? knode_get (x, name) : NULL;
    if (old)
        DL_DELETE2 (old->pods, p, node_prev, node_next);
    if (p->node) {
        p->node->npods++;
        DL_APPEND2 (p->node->pods, p, node_prev, node_next);
    }
    if (old) {
        old->npods--;
        knode_changed (x, old);
    }
}

/* -- as the watch tells -- */

/* The job's end does not change, but its node has a fault. */
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
        log_error ("kube: pod %s: no memory to report its use", p->key);
    pod_set_node (x, p, json_text (json_object_get (pod, "spec"), "nodeName"));
    if (is_new)
        pod_set_owner (x, p, json_object_get (meta, "labels"));
    x->hooks->pod_seen (x, p, pod);
    pods_count_again (x, p);
    zones_pod_changed (x, p, pod);
    look_at_epilog (x, p);
    if (p->job) {
        x->hooks->job_pod (p->job, p, old_address);
        job_poke (p->job);
    }
}

static void pod_free (struct exec *x, struct kpod *p)
{
    HASH_DEL (x->pods, p);
    gres_release (&p->gres);
    gres_release (&p->counted_gres);
    free (p->warning.text);
    free (p->key);
    free (p);
}

static void on_pod_deleted (const char *ns, const char *name, json_t *pod, void *arg)
{
    struct exec *x = arg;
    char key[512];
    struct kpod *p;

    (void)pod;
    snprintf (key, sizeof (key), "%s/%s", ns, name);
    HASH_FIND_STR (x->pods, key, p);
    if (p) {
        pod_uncount (x, p);
        pod_unlist (x, p);
    }
    x->hooks->pod_gone (x, ns, name, p);
    if (!p)
        return;
    pod_set_node (x, p, "");
    pod_free (x, p);
}

static void on_pods_listed (void *arg)
{
    struct exec *x = arg;

    x->pods_listed = true;
    exec_soon (x);
}

/* -- jobs come and go -- */

void pods_adopt (struct kjob *k)
{
    struct exec *x = k->x;
    struct kpod *p, *tmp;

    DL_FOREACH_SAFE (x->orphans, p, tmp)
    {
        if (p->job_id != k->id || !is_of (p, k))
            continue;
        pod_uncount (x, p);
        DL_DELETE (x->orphans, p);
        pod_to_job (p, k);
        pods_count_again (x, p);
    }
}

void pods_abandon (struct kjob *k)
{
    struct kpod *p, *tmp;

    DL_FOREACH_SAFE (k->all_pods, p, tmp)
    {
        DL_DELETE (k->all_pods, p);
        pod_to_orphans (k->x, p);
        if (!k->x->closing)
            pods_count_again (k->x, p);
    }
    k->npods = 0;
}

void pods_strangers (struct exec *x)
{
    struct kpod *p;

    x->swept = true;
    DL_FOREACH (x->orphans, p) {
        pods_count_again (x, p);
    }
}

/* -- life -- */

static const struct kube_watch_events pod_events = { .changed = on_pod_changed,
                                                     .deleted = on_pod_deleted,
                                                     .listed = on_pods_listed };

int pods_start (struct exec *x, struct error *err)
{
    x->pod_watch = kube_watch_start (x->kube, "/api/v1/pods", NULL, &pod_events, x, err);
    return x->pod_watch ? 0 : -ENOMEM;
}

void pods_stop (struct exec *x)
{
    struct kpod *p, *tmp;

    kube_watch_stop (x->pod_watch);
    x->pod_watch = NULL;
    HASH_ITER (hh, x->pods, p, tmp) {
        pod_free (x, p);
    }
    x->orphans = NULL;
}
