/* remove.c - removes a job's objects; its nodes are free when its pods are gone (see
 * run.h)
 *
 * The deletion of the Job deletes its pods and other objects, by the garbage collector.
 * If the collector is away or the Job hangs, the pods are deleted one by one. The job's
 * record names what keeps a pod after that.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpointslice.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/make/podrights.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/core/kspace.h"

#define LIST_AGAIN 0.5
#define REFUSED_AGAIN 10.0

#define COLLECTOR_WAIT 10.0 /* seconds until the garbage collector must have begun */
#define HANG_AFTER 15.0     /* seconds until a user is told what keeps a pod */
#define TELL_EVERY 10.0

/* The maker of the pods of a job from before a restart is not known: assumes the one that
 * may have made them. */
static const struct podmaker *maker_of (const struct kjob *k)
{
    if (k->maker)
        return k->maker;
    if (k->recovering && minicluster_wanted (k->settings))
        return &pods_minicluster;
    return k->recovering && podrights_are_there (k->space) ? &pods_broker
                                                           : &pods_controller;
}

/* Whether there is a MiniCluster, or may be one, since its queue may have had other
 * settings then. */
static bool is_minicluster (const struct kjob *k)
{
    return maker_of (k) == &pods_minicluster
           || (!k->maker && k->recovering && k->x->miniclusters == MINICLUSTERS_THERE);
}

/* Deletes the operator's objects: they carry no mark of ours, but the MiniCluster's
 * name. */
static void send_operators (struct kjob *k)
{
    char name[OBJECT_NAME_MAX + sizeof (MINICLUSTER_ENTRYPOINT)];

    if (!is_minicluster (k))
        return;
    snprintf (name, sizeof (name), "%s" MINICLUSTER_ENTRYPOINT, k->name);
    call_delete (k, KUBE_MINICLUSTERS, k->name);
    call_delete (k, KUBE_CONFIGMAPS, name);
    if (!k->recovering)
        call_delete (k, KUBE_SERVICES, k->name);
}

static void send_deletes (struct kjob *k)
{
    static const enum call_kind made_by[KUBE_ENDPOINTS] = {
        [KUBE_JOBS] = CALL_MAKE_JOB,
        [KUBE_CONFIGMAPS] = CALL_MAKE_CONFIGMAP,
        [KUBE_SECRETS] = CALL_MAKE_SECRET,
        [KUBE_SERVICES] = CALL_MAKE_SERVICE
    };
    char name[ENDPOINTSLICE_NAME_MAX];

    k->delete_sent = true;
    k->delete_refused = k->found_some = false;
    send_operators (k);
    for (uint32_t i = KUBE_JOBS; i < KUBE_ENDPOINTS; i++)
        if (k->objects_asked & 1u << made_by[i] || k->recovering)
            call_delete (k, i, k->name);
    for (uint32_t i = 1; i < k->nparts; i++)
        if (k->parts[i].asked || k->recovering)
            call_delete (k, KUBE_JOBS, k->parts[i].name);
    if (!(k->objects_asked & 1u << CALL_MAKE_ENDPOINTS) && !k->recovering)
        return;
    for (uint32_t i = 0; i < k->nslices; i++) {
        endpointslice_name (name, k->name, i);
        call_delete (k, KUBE_ENDPOINTS, name);
    }
}

static void send_list (struct kjob *k)
{
    char pods[512], path[528];

    k->list_sent = true;
    calls_pods_path (k, pods, sizeof (pods));
    snprintf (path, sizeof (path), "%s&limit=1", pods);
    if (!call_send (k, CALL_LIST_PODS, 0, "GET", path, NULL))
        k->list_sent = false;
}

/* The answer is the Job itself if something keeps it: it is gone when other answers say
 * so. The garbage collector waits for that; its pods must not. */
static void see_job_hang (struct kjob *k, const json_t *body)
{
    const json_t *meta = json_object_get (body, "metadata");
    const char *kind = json_string_value (json_object_get (body, "kind"));
    const char *finalizer =
        json_string_value (json_array_get (json_object_get (meta, "finalizers"), 0));

    if (!kind || strcmp (kind, "Job") != 0 || !finalizer)
        return;
    k->job_hangs = true;
    log_warning ("job %ju: its Job %s is deleted, but its finalizer %.128s keeps it: the "
                 "program that set the finalizer must remove it",
                 (uintmax_t)k->id, json_text (meta, "name"), finalizer);
}

/* A broker that may not delete MiniClusters has made none. */
static bool is_no_matter (const struct kjob *k, const struct kcall *c, int status)
{
    return c->kind == CALL_DELETE && c->rank == KUBE_MINICLUSTERS && status == 403
           && k->maker != &pods_minicluster;
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
        podrights_doubt (k->space);
    } else if (is_no_matter (k, c, res->status)) {
        return;
    } else if (res->status != 404 && (res->status < 200 || res->status > 299)) {
        log_error ("job %ju: cannot delete its %s: %s (tried again)", (uintmax_t)k->id,
                   c->kind == CALL_DELETE ? kube_kinds[c->rank].kind : "pods",
                   res->err.text);
        k->delete_refused = true;
        k->remove_again = now + REFUSED_AGAIN;
    } else if (c->kind == CALL_DELETE) {
        k->found_some |= res->status != 404;
        if (c->rank == KUBE_JOBS)
            see_job_hang (k, res->body);
    }
}

static void delete_pod (struct kjob *k, const struct kpod *p, const char *query)
{
    char path[512];

    snprintf (path, sizeof (path), "/api/v1/namespaces/%s/pods/%s%s", k->space->name,
              p->name, query);
    call_send (k, CALL_DELETE_POD, 0, "DELETE", path, NULL);
}

/* A node that is gone never confirms the end of its pods. */
static void force_pods (struct kjob *k)
{
    struct kpod *p;

    DL_FOREACH (k->all_pods, p) {
        if (p->force_deleted || p->view.terminal || !job_node_down (k, p))
            continue;
        p->force_deleted = true;
        delete_pod (k, p, "?gracePeriodSeconds=0");
    }
}

/* Deletes pods that nobody else deletes. */
static void delete_pods (struct kjob *k, double now)
{
    struct kpod *p;

    if (!k->job_hangs && now - k->removing_since < COLLECTOR_WAIT)
        return;
    DL_FOREACH (k->all_pods, p) {
        if (p->view.deleting || p->deleted)
            continue;
        p->deleted = true;
        delete_pod (k, p, "");
    }
}

static void what_keeps (const struct kjob *k, const struct kpod *p, char *buf,
                        size_t size)
{
    const char *node = p->node ? p->node->name : "no node";
    const char *f = p->view.finalizer;

    if (job_node_down (k, p))
        snprintf (buf, size, "pod %.64s is on node %.128s, which does not answer",
                  p->name, node);
    else if (!p->view.deleting)
        snprintf (buf, size, "pod %.64s on %.128s is not deleted yet", p->name, node);
    else if (!f[0] || !p->view.terminal)
        snprintf (buf, size,
                  "pod %.64s on %.128s is terminating; its kubelet has not ended it",
                  p->name, node);
    else if (strcmp (f, JOB_FINALIZER) == 0)
        snprintf (buf, size,
                  "pod %.64s on %.128s is kept by its finalizer %s, which the Job "
                  "controller removes: is kube-controller-manager running?",
                  p->name, node, f);
    else
        snprintf (buf, size,
                  "pod %.64s on %.128s is kept by its finalizer %s: the program that set "
                  "the finalizer must remove it (or: kubectl -n %.64s patch pod %.64s "
                  "--type=merge -p '{\"metadata\":{\"finalizers\":null}}')",
                  p->name, node, f, k->space->name, p->name);
}

static void tell_hang (struct kjob *k, double now)
{
    char what[700], text[800];

    if (now - k->removing_since < HANG_AFTER || now < k->tell_hang_again)
        return;
    what_keeps (k, k->all_pods, what, sizeof (what));
    snprintf (text, sizeof (text), "%s: %s",
              k->released_told ? "its nodes are free, but some of its objects still exist"
                               : "its nodes are not free yet",
              what);
    if (k->tell_hang_again == 0)
        log_warning ("job %ju: %s", (uintmax_t)k->id, text);
    k->tell_hang_again = now + TELL_EVERY;
    k->x->host.note (k->x->host.arg, k->id, text);
}

/* If the namespace is gone, all of it is gone. False: that is being asked. */
static bool look_at_space (struct kjob *k)
{
    if (!space_look (k))
        return false;
    if (k->space->state == SPACE_MISSING) {
        k->pods_removed = k->delete_sent = k->list_done = true;
        k->delete_refused = false;
    }
    return true;
}

/* A request is under way that makes pods, perhaps for the second time. */
static bool is_making (const struct kjob *k)
{
    const struct kcall *c;

    DL_FOREACH (k->calls, c) {
        if (c->kind == CALL_MAKE_JOB || c->kind == CALL_MAKE_PART
            || c->kind == CALL_GET_JOB || c->kind == CALL_PLACE)
            return true;
    }
    return false;
}

/* If others make the pods, more may come until the Job is gone. */
static bool more_may_come (const struct kjob *k)
{
    if (is_making (k) || (k->pods_seen < k->launch.nnodes && !k->list_done))
        return true;
    return maker_of (k)->others_make && (!k->delete_sent || k->calls);
}

/* Pods that have ended hold nothing of their nodes. */
static void tell_released (struct kjob *k)
{
    struct kpod *p;

    if (k->released_told || more_may_come (k))
        return;
    DL_FOREACH (k->all_pods, p) {
        if (!p->view.terminal)
            return;
    }
    k->released_told = true;
    k->x->host.released (k->x->host.arg, k->id);
}

/* Whether a request is under way other than the one that reports the end. */
static bool is_busy (const struct kjob *k)
{
    const struct kcall *c;

    DL_FOREACH (k->calls, c) {
        if (c->kind != CALL_STATUS)
            return true;
    }
    return false;
}

void remove_step (struct kjob *k)
{
    struct exec *x = k->x;
    uint64_t id = k->id;
    double now = clock_mono ();
    bool asked = k->recovering || (k->objects_asked & 1u << CALL_MAKE_JOB);

    calls_drop_unsent (k);
    tell_released (k);
    /* Objects that are still being made would come after our deletes: wait for them. */
    if (k->work.busy || is_busy (k) || now < k->remove_again)
        return;
    if (k->removing_since == 0)
        k->removing_since = now;
    if (asked && !look_at_space (k))
        return;
    /* If the pods are gone before the Job, the garbage collector has nothing to do. */
    if (!k->pods_removed) {
        k->pods_removed = true;
        if (maker_of (k)->remove)
            maker_of (k)->remove (k);
    }
    if (k->calls)
        return;
    if (!k->delete_sent || k->delete_refused) {
        send_deletes (k);
        if (k->calls)
            return;
    }
    /* Pods may exist that the watch has not reported yet. */
    if (asked && k->pods_seen < k->launch.nnodes && !k->list_done) {
        if (!k->list_sent)
            send_list (k);
        return;
    }
    if (k->npods > 0) {
        force_pods (k);
        delete_pods (k, now);
        tell_hang (k, now);
        return;
    }
    if (is_minicluster (k) && k->found_some) { /* the operator may have made some again */
        k->delete_sent = k->list_sent = k->list_done = false;
        k->remove_again = now + LIST_AGAIN;
        return;
    }
    kjob_free (k);
    x->host.cleaned (x->host.arg, id);
}
