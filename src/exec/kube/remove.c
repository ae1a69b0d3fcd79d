/* remove.c - what is taken away again: a job's objects, and by the sweep whatever belongs
 * to no job (see private.h) */
#include "exec/kube/podmaker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/parse.h"

#define LIST_AGAIN 0.5
#define REFUSED_AGAIN 10.0

/* Kinds that carry our label, and how they are deleted. Jobs first: their controller
 * makes pods. */
static const struct {
    const char *prefix, *kind, *query;
} kinds[] = {
    { "/apis/batch/v1/namespaces/", "jobs", "?propagationPolicy=Background" },
    { "/api/v1/namespaces/", "configmaps", "" },
    { "/api/v1/namespaces/", "secrets", "" },
    { "/api/v1/namespaces/", "services", "" },
    { "/api/v1/namespaces/", "pods", "" },
};
#define NKINDS (sizeof (kinds) / sizeof (kinds[0]))
#define NOWN 4 /* of them made by us under the job's own name */

/* ---- a job ---- */

/* Who made its pods is not known of a job from before a restart: then whoever might have. */
static const struct podmaker *maker_of (const struct kjob *k)
{
    if (k->maker)
        return k->maker;
    return k->recovering && podmaker_may (k->x) ? &pods_broker : &pods_controller;
}

static void send_deletes (struct kjob *k)
{
    static const enum call_kind made_by[NOWN] = { CALL_MAKE_JOB, CALL_MAKE_CONFIGMAP,
                                                  CALL_MAKE_SECRET, CALL_MAKE_SERVICE };
    char path[512];

    k->delete_sent = true;
    k->delete_refused = false;
    if (maker_of (k)
            ->remove) /* pods first: the garbage collector then finds nothing to do */
        maker_of (k)->remove (k);
    for (uint32_t i = 0; i < NOWN; i++) {
        if (!(k->objects_asked & 1u << made_by[i]) && !k->recovering)
            continue;
        snprintf (path, sizeof (path), "%s%s/%s/%s%s", kinds[i].prefix, k->x->namespace_,
                  kinds[i].kind, k->name, kinds[i].query);
        if (!call_send (k, CALL_DELETE, i, "DELETE", path, NULL))
            k->delete_refused = true;
    }
}

static void send_list (struct kjob *k)
{
    char pods[512], path[528];

    k->list_sent = true;
    create_pods_path (k, pods, sizeof (pods));
    snprintf (path, sizeof (path), "%s&limit=1", pods);
    if (!call_send (k, CALL_LIST_PODS, 0, "GET", path, NULL))
        k->list_sent = false;
}

void remove_answer (struct kjob *k, const struct kcall *c, const struct kube_result *res)
{
    double now = clock_mono ();

    if (c->kind == CALL_LIST_PODS) {
        k->list_done = res->status == 200
                       && json_array_size (json_object_get (res->body, "items")) == 0;
        k->list_sent = k->list_done;
        k->remove_again = now + LIST_AGAIN;
    } else if (c->kind == CALL_DELETE_PODS && res->status == 403) {
        log_warning ("job %ju: its pods are left to the garbage collector: %s",
                     (uintmax_t)k->id, res->err.text);
        k->left_to_gc = true;
        podmaker_doubt (k->x);
    } else if (res->status != 404 && (res->status < 200 || res->status > 299)) {
        log_error ("job %ju: cannot delete its %s: %s (tried again)", (uintmax_t)k->id,
                   c->kind == CALL_DELETE ? kinds[c->rank].kind : "pods", res->err.text);
        k->delete_refused = true;
        k->remove_again = now + REFUSED_AGAIN;
    }
}

/* A node that is gone will never confirm the end of its pods. */
static void force_pods (struct kjob *k)
{
    struct kpod *p;
    char path[512];

    DL_FOREACH (k->all_pods, p) {
        if (p->force_deleted || p->view.terminal || !job_node_down (k, p))
            continue;
        p->force_deleted = true;
        snprintf (path, sizeof (path),
                  "/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0", k->x->namespace_,
                  p->name);
        call_send (k, CALL_DELETE_POD, 0, "DELETE", path, NULL);
    }
}

void remove_step (struct kjob *k)
{
    struct exec *x = k->x;
    uint64_t id = k->id;
    bool asked = k->recovering || (k->objects_asked & 1u << CALL_MAKE_JOB);

    calls_drop_unsent (k);
    /* What is still being made would come after our deletes: wait for it. */
    if (k->work.busy || k->calls || clock_mono () < k->remove_again)
        return;
    if (!k->delete_sent || k->delete_refused) {
        send_deletes (k);
        if (k->calls)
            return;
    }
    /* Pods may exist that the watch has not shown yet. */
    if (asked && k->pods_seen < k->launch.nnodes && !k->list_done) {
        if (!k->list_sent)
            send_list (k);
        return;
    }
    if (k->npods > 0) {
        force_pods (k);
        return;
    }
    job_free (k);
    x->host.cleaned (x->host.arg, id);
}

/* ---- the sweep ---- */

struct sweep {
    struct exec *x;
    uint64_t *live;
    size_t nlive;
    struct sweep_list {
        struct sweep *s;
        size_t kind;
        struct kube_request *req;
    } lists[NKINDS];
    unsigned left;
};

static int compare_ids (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool is_live (const struct sweep *s, uint64_t id, unsigned attempt)
{
    struct kjob *k = job_find (s->x, id);

    if (k)
        return k->job->attempt == attempt;
    return bsearch (&id, s->live, s->nlive, sizeof (id), compare_ids) != NULL;
}

static void on_swept (const struct kube_result *res, void *arg)
{
    (void)arg;
    if (res->status != 404 && (res->status < 200 || res->status > 299))
        log_warning ("kube: sweep: %s", res->err.text);
}

static const char *label_of (const json_t *object, const char *key)
{
    json_t *labels = json_object_get (json_object_get (object, "metadata"), "labels");
    const char *s = json_string_value (json_object_get (labels, key));

    return s ? s : "";
}

static bool is_left_over (const struct sweep *s, const json_t *object, const char *name)
{
    int64_t id, attempt = 0;

    parse_int (label_of (object, LABEL_ATTEMPT), 0, UINT32_MAX, &attempt, "attempt",
               NULL);
    if (parse_int (label_of (object, LABEL_JOB), 1, INT64_MAX, &id, "id", NULL) == 0)
        return !is_live (s, (uint64_t)id, (unsigned)attempt);
    /* An agent's ConfigMap; that of another version may still be mounted by a running
     * job. */
    return s->nlive == 0 && !s->x->jobs && strcmp (name, s->x->agent_name) != 0;
}

static void sweep_item (struct sweep *s, size_t kind, const json_t *object)
{
    struct exec *x = s->x;
    json_t *meta = json_object_get (object, "metadata");
    const char *name = json_string_value (json_object_get (meta, "name"));
    char path[1024];

    if (!name)
        return;
    if (strcmp (name, x->agent_name) == 0 && x->agent_state == AGENTMAP_UNKNOWN)
        x->agent_state = AGENTMAP_THERE; /* goes when it has been idle for a while */
    if (!is_left_over (s, object, name) || json_object_get (meta, "deletionTimestamp"))
        return;
    log_info ("kube: sweep: %s/%s belongs to no job", kinds[kind].kind, name);
    snprintf (path, sizeof (path), "%s%s/%s/%s%s", kinds[kind].prefix, x->namespace_,
              kinds[kind].kind, name, kinds[kind].query);
    kube_send (x->kube, "DELETE", path, NULL, on_swept, NULL);
}

static void on_sweep_list (const struct kube_result *res, void *arg)
{
    struct sweep_list *l = arg;
    struct sweep *s = l->s;
    json_t *item;
    size_t i;

    l->req = NULL;
    if (res->status != 200)
        log_warning ("kube: sweep: %s", res->err.text);
    json_array_foreach (json_object_get (res->body, "items"), i, item) {
        sweep_item (s, l->kind, item);
    }
    if (--s->left == 0)
        sweep_cancel (s->x);
}

void sweep_cancel (struct exec *x)
{
    struct sweep *s = x->sweep;

    if (!s)
        return;
    for (size_t i = 0; i < NKINDS; i++)
        kube_cancel (s->lists[i].req);
    free (s->live);
    free (s);
    x->sweep = NULL;
}

void sweep_start (struct exec *x, const uint64_t *live, size_t nlive)
{
    struct sweep *s = calloc (1, sizeof (*s));
    char path[512];

    sweep_cancel (x);
    if (!s || !(s->live = calloc (nlive + 1, sizeof (live[0])))) {
        free (s);
        return;
    }
    if (nlive)
        memcpy (s->live, live, nlive * sizeof (live[0]));
    s->nlive = nlive;
    s->x = x;
    x->sweep = s;
    inventory_strangers (x);
    for (size_t i = 0; i < NKINDS; i++) {
        snprintf (path, sizeof (path), "%s%s/%s?labelSelector=fluxq.io%%2Fcluster%%3D%s",
                  kinds[i].prefix, x->namespace_, kinds[i].kind, x->host.cluster_id);
        s->lists[i].s = s;
        s->lists[i].kind = i;
        s->lists[i].req =
            kube_send (x->kube, "GET", path, NULL, on_sweep_list, &s->lists[i]);
        s->left += s->lists[i].req != NULL;
    }
    if (s->left == 0)
        sweep_cancel (x);
}
