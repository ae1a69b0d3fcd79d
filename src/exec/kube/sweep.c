/* sweep.c - removes objects with our mark that belong to no job: at the start, and every
 * kube.sweep-interval
 *
 * These are objects of a broker that was killed before it could remove them, or that
 * somebody else kept us from removing. An object must have all our marks: the label of
 * this broker's cluster id and that of fluxq, a job's id and attempt in its labels, and
 * the matching name.
 *
 * One namespace after the other: kube.namespace, those that queues name, those with jobs
 * since the start, and, if a queue has a template, all with our marks.
 */
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/needs/needs.h"
#include "exec/kube/sweep.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/parse.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/namespaces/spaceobjects.h"
#include "exec/namespaces.h"
#include "kube/object.h"

struct sweep {
    struct exec *x;
    json_t *spaces; /* names of the namespaces: keys of an object */
    void *at;       /* the namespace being swept */
    struct kube_request *listing;
    struct sweep_list {
        struct sweep *s;
        size_t kind;
        struct kube_request *req;
    } lists[KUBE_KINDS];
    unsigned left;
};

static void sweep_next (struct sweep *s);

/* Our own knowledge is newer than the broker's list. */
static bool is_live (const struct exec *x, uint64_t id, unsigned attempt,
                     const char *submitted)
{
    const struct kjob *k = job_find ((struct exec *)x, id);

    if (k)
        return k->job->attempt == attempt && !object_is_anothers (k->job, submitted);
    return x->live && bsearch (&id, x->live, x->nlive, sizeof (id), compare_u64) != NULL;
}

static void on_swept (const struct kube_result *res, void *arg)
{
    (void)arg;
    if (res->status != 404 && res->status != 409
        && (res->status < 200 || res->status > 299))
        log_warning ("kube: sweep: %s", res->err.text);
}

/* "NAME-..." */
static bool begins (const char *text, const char *name)
{
    size_t len = strlen (name);

    return strncmp (text, name, len) == 0 && text[len] == '-';
}

/* Whether it is a pod of the Job of that name, whatever its maker. */
static bool is_pod_of (const json_t *object, const char *pod, const char *name)
{
    const json_t *owner = object_owner_of (object);

    if (owner
        && (strcmp (json_text (owner, "kind"), "Job") != 0
            || !object_is_part (json_text (owner, "name"), name)))
        return false;
    return begins (pod, name);
}

/* Whether a job whose Job is called `ours` has such an object of that name. */
static bool is_named_after (size_t kind, const json_t *object, const char *name,
                            const char *ours)
{
    switch (kind) {
    case KUBE_PODS:
        return is_pod_of (object, name, ours);
    case KUBE_JOBS:
        return object_is_part (name, ours);
    case KUBE_ENDPOINTS:
        return strcmp (name, ours) == 0 || begins (name, ours);
    default:
        return strcmp (name, ours) == 0;
    }
}

/* Whether it is an agent's ConfigMap; a running job may still mount one of another
 * version. */
static bool is_old_agent (const struct exec *x, size_t kind, const char *name)
{
    char prefix[OBJECT_NAME_MAX];

    snprintf (prefix, sizeof (prefix), "fluxq-agent-%s", x->host.cluster_id);
    return kind == KUBE_CONFIGMAPS && begins (name, prefix) && x->nlive == 0 && !x->jobs
           && strcmp (name, x->agent_name) != 0;
}

/* Whether the object belongs to a job that is gone: its labels, which anybody may write,
 * match its name, as in our own objects. */
static bool is_left_over (const struct exec *x, size_t kind, const json_t *object,
                          const char *name)
{
    char ours[OBJECT_NAME_MAX];
    int64_t id, attempt;

    if (strcmp (kube_label (object, LABEL_MANAGED), "fluxq") != 0
        || strcmp (kube_label (object, LABEL_CLUSTER), x->host.cluster_id) != 0)
        return false;
    if (!kube_label (object, LABEL_JOB)[0])
        return is_old_agent (x, kind, name);
    if (parse_int (kube_label (object, LABEL_JOB), 1, INT64_MAX, &id, "id", NULL) < 0
        || parse_int (kube_label (object, LABEL_ATTEMPT), 0, UINT32_MAX, &attempt,
                      "attempt", NULL)
               < 0)
        return false;
    object_name (ours, x->host.cluster_id, (uint64_t)id, (unsigned)attempt);
    return is_named_after (kind, object, name, ours)
           && !is_live (x, (uint64_t)id, (unsigned)attempt,
                        kube_label (object, LABEL_SUBMITTED));
}

/* Deletes this object only, not a later one of the same name. */
static json_t *delete_options (const json_t *meta)
{
    return json_pack ("{s:s s:s s:{s:s*}}", "apiVersion", "v1", "kind", "DeleteOptions",
                      "preconditions", "uid",
                      json_string_value (json_object_get (meta, "uid")));
}

static void see_agent (struct exec *x, const char *in)
{
    struct kspace *space = spaces_get (x, in);

    if (space && space->agent_state == AGENTMAP_UNKNOWN)
        agentmap_there (space); /* it is removed when it has been idle for a while */
}

/* meta: of this very object; NULL: any object of that name. */
static void sweep_object (struct sweep *s, size_t kind, const char *name, json_t *meta)
{
    char path[1024];

    snprintf (path, sizeof (path), "%s%s/%s/%s%s", kube_kinds[kind].prefix,
              json_object_iter_key (s->at), kube_kinds[kind].kind, name,
              kube_kinds[kind].query);
    kube_send (s->x->kube, "DELETE", path, meta ? delete_options (meta) : NULL, on_swept,
               NULL);
}

/* The Flux operator's objects carry no mark, but the name of the job's MiniCluster. */
static void sweep_operators (struct sweep *s, const char *name)
{
    char entrypoint[OBJECT_NAME_MAX + sizeof (MINICLUSTER_ENTRYPOINT)];

    snprintf (entrypoint, sizeof (entrypoint), "%s" MINICLUSTER_ENTRYPOINT, name);
    sweep_object (s, KUBE_CONFIGMAPS, entrypoint, NULL);
    sweep_object (s, KUBE_SERVICES, name, NULL);
}

static void sweep_item (struct sweep *s, size_t kind, const json_t *object)
{
    struct exec *x = s->x;
    json_t *meta = json_object_get (object, "metadata");
    const char *name = json_string_value (json_object_get (meta, "name"));
    const char *in = json_object_iter_key (s->at);

    if (!name)
        return;
    if (kind == KUBE_CONFIGMAPS && strcmp (name, x->agent_name) == 0)
        see_agent (x, in);
    if (!is_left_over (x, kind, object, name)
        || json_object_get (meta, "deletionTimestamp"))
        return;
    log_info ("kube: sweep: %s/%s in %s belongs to no job", kube_kinds[kind].kind, name,
              in);
    sweep_object (s, kind, name, meta);
    if (kind <= KUBE_JOBS && x->miniclusters == MINICLUSTERS_THERE)
        sweep_operators (s, name);
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
        sweep_next (s);
}

void sweep_cancel (struct exec *x)
{
    struct sweep *s = x->sweep;

    if (!s)
        return;
    kube_cancel (s->listing);
    for (size_t i = 0; i < KUBE_KINDS; i++)
        kube_cancel (s->lists[i].req);
    json_decref (s->spaces);
    free (s);
    x->sweep = NULL;
}

/* -- where -- */

static void sweep_space (struct sweep *s, const char *in)
{
    struct exec *x = s->x;
    char path[512];

    for (size_t i = 0; i < KUBE_KINDS; i++) {
        if (i == KUBE_MINICLUSTERS && x->miniclusters != MINICLUSTERS_THERE)
            continue;
        snprintf (path, sizeof (path), "%s%s/%s?" SELECTOR_OURS, kube_kinds[i].prefix, in,
                  kube_kinds[i].kind, x->host.cluster_id);
        s->lists[i].s = s;
        s->lists[i].kind = i;
        s->lists[i].req =
            kube_send (x->kube, "GET", path, NULL, on_sweep_list, &s->lists[i]);
        s->left += s->lists[i].req != NULL;
    }
}

static void sweep_next (struct sweep *s)
{
    do {
        s->at = s->at ? json_object_iter_next (s->spaces, s->at)
                      : json_object_iter (s->spaces);
        if (s->at)
            sweep_space (s, json_object_iter_key (s->at));
    } while (s->at && s->left == 0);
    if (!s->at)
        sweep_cancel (s->x);
}

static void add_space (struct sweep *s, const char *name)
{
    json_object_set_new (s->spaces, name, json_true ());
}

static void add_known (struct sweep *s)
{
    struct exec *x = s->x;
    struct kspace *space, *tmp;
    const char *queue;
    json_t *set;

    HASH_ITER (hh, x->spaces, space, tmp) {
        if (space->state != SPACE_MISSING)
            add_space (s, space->name);
    }
    json_object_foreach (x->sets, queue, set) {
        const char *name = json_string_value (json_object_get (set, "namespace"));

        if (name && !namespace_is_template (name))
            add_space (s, name);
    }
}

/* Checks the labels of the selector again, because the whole sweep of a namespace depends
 * on them. */
static void on_spaces (const struct kube_result *res, void *arg)
{
    struct sweep *s = arg;
    json_t *item;
    size_t i;

    s->listing = NULL;
    if (res->status != 200)
        log_warning ("kube: sweep: %s", res->err.text);
    json_array_foreach (json_object_get (res->body, "items"), i, item) {
        const char *name = json_string_value (
            json_object_get (json_object_get (item, "metadata"), "name"));

        if (name && space_is_ours (s->x->host.cluster_id, item))
            add_space (s, name);
    }
    sweep_next (s);
}

static void sweep_start (struct exec *x)
{
    struct sweep *s = calloc (1, sizeof (*s));
    char path[512];

    sweep_cancel (x);
    x->sweep_next = clock_mono () + x->cfg.sweep_interval;
    if (!s || !(s->spaces = json_object ())) {
        free (s);
        return;
    }
    s->x = x;
    x->sweep = s;
    needs_sweep (x);
    add_known (s);
    if (spaces_are_listed (x)) {
        snprintf (path, sizeof (path), "/api/v1/namespaces?" SELECTOR_OURS,
                  x->host.cluster_id);
        s->listing = kube_send (x->kube, "GET", path, NULL, on_spaces, s);
    }
    if (!s->listing)
        sweep_next (s);
}

void sweep_told (struct exec *x, const uint64_t *live, size_t nlive)
{
    uint64_t *copy = calloc (nlive + 1, sizeof (live[0]));

    if (!copy)
        return;
    if (nlive)
        memcpy (copy, live, nlive * sizeof (live[0]));
    free (x->live);
    x->live = copy;
    x->nlive = nlive;
    if (x->swept)
        return;
    pods_strangers (x);
    sweep_start (x);
}

void sweep_tick (struct exec *x, double now)
{
    if (x->swept && !x->sweep && now >= x->sweep_next)
        sweep_start (x);
}
