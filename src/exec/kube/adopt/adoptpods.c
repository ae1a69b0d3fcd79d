/* adoptpods.c - the pods of adopted objects: finds the object of each, and gives each a
 * node (see adopt.h)
 *
 * One patch gives a pod with our scheduling gate a required affinity to its node and
 * removes the gate. Then the pod's scheduler binds it there; if that scheduler is fluxq,
 * this file does. The gate is in the template: a pod that the Job controller makes to
 * replace a failed one is placed like the first, where the job's allocation has room.
 */
#include "exec/kube/adopt/adopt.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/make/objects.h"

#include "common/clock.h"
#include "common/json.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"
#include "exec/kube/make/podspec.h"

/* -- the owner of a pod -- */

/* The key comes from the pod's controller, or from the label of a plain pod. */
static bool key_of (const json_t *meta, char key[ADOPT_KEY_MAX])
{
    const json_t *owner;
    size_t i;

    json_array_foreach (json_object_get (meta, "ownerReferences"), i, owner) {
        if (json_is_true (json_object_get (owner, "controller"))
            && strcmp (json_text (owner, "kind"), "Job") == 0) {
            snprintf (key, ADOPT_KEY_MAX, "job:%.100s", json_text (owner, "uid"));
            return true;
        }
    }
    return adoptgroup_key (meta, key);
}

static bool is_ours_to_watch (const struct exec *x, const json_t *meta)
{
    return x->adopt
           && json_object_get (x->cfg.adopt.namespaces, json_text (meta, "namespace"))
                  != NULL;
}

/* Stores how the pod has failed, if it is the first of this attempt. */
static void see_failure (const struct adoptpod *ap)
{
    const struct kpod *p = ap->p;

    if (ap->old || !p->view.terminal || p->view.exit_code <= 0 || ap->a->exit_code != 0)
        return;
    ap->a->exit_code = p->view.exit_code;
    snprintf (ap->a->pod_text, sizeof (ap->a->pod_text), "pod %.100s on %.100s", p->name,
              p->node ? p->node->name : "no node");
}

static void attach (struct adoptpod *ap, struct adoptee *a)
{
    ap->a = a;
    DL_APPEND (a->pods, ap);
    a->npods++;
    a->grew_at = clock_mono ();
    see_failure (ap);
    adopt_poke (a);
}

static void to_orphans (struct adopt *d, struct adoptpod *ap)
{
    ap->a = NULL;
    DL_APPEND (d->orphans, ap);
}

static struct adoptpod *adoptpod_get (struct exec *x, struct kpod *p, const json_t *meta)
{
    char key[ADOPT_KEY_MAX];
    struct adoptpod *ap = p->adopt;

    if (ap || !is_ours_to_watch (x, meta) || !key_of (meta, key))
        return ap;
    if (!(ap = calloc (1, sizeof (*ap))))
        return NULL;
    snprintf (ap->key, sizeof (ap->key), "%s", key);
    snprintf (ap->uid, sizeof (ap->uid), "%s", json_text (meta, "uid"));
    ap->p = p;
    p->adopt = ap;
    struct adoptee *a = adopt_find (x, key);
    if (!a && strncmp (key, "group:", 6) == 0) {
        char name[ADOPT_KEY_MAX];

        snprintf (name, sizeof (name), "Pods %s", key + strlen ("group:"));
        a = adopt_get (x, key, name);
    }
    if (a)
        attach (ap, a);
    else
        to_orphans (x->adopt, ap);
    return ap;
}

/* Returns the node in the pod's affinity, as podspec_place() writes it. */
static const char *affine_node (const json_t *spec)
{
    const json_t *terms = json_object_get (
        json_object_get (
            json_object_get (json_object_get (spec, "affinity"), "nodeAffinity"),
            "requiredDuringSchedulingIgnoredDuringExecution"),
        "nodeSelectorTerms");
    const json_t *field =
        json_array_get (json_object_get (json_array_get (terms, 0), "matchFields"), 0);

    if (strcmp (json_text (field, "key"), "metadata.name") != 0)
        return "";
    const char *node =
        json_string_value (json_array_get (json_object_get (field, "values"), 0));
    return node ? node : "";
}

void adopt_see_pod (struct exec *x, struct kpod *p, const json_t *pod)
{
    const json_t *meta = json_object_get (pod, "metadata");
    const json_t *spec = json_object_get (pod, "spec");
    struct adoptpod *ap = adoptpod_get (x, p, meta);

    if (!ap)
        return;
    bool gated = json_array_size (json_object_get (spec, "schedulingGates")) > 0;
    if (ap->gated && !gated)
        ap->asked = false; /* next, it must be bound */
    ap->gated = gated;
    ap->binds = strcmp (json_text (spec, "schedulerName"), ADOPT_SCHEDULER) == 0;
    if (affine_node (spec)[0] || !ap->asked) /* otherwise a binding is on its way there */
        snprintf (ap->node, sizeof (ap->node), "%s", affine_node (spec));
    if (!ap->a)
        return;
    if (ap->a->group)
        adoptgroup_see (ap, pod);
    see_failure (ap);
    adopt_poke (ap->a);
}

static void detach (struct adoptpod *ap)
{
    DL_DELETE (ap->a->pods, ap);
    ap->a->npods--;
    adopt_poke (ap->a);
    ap->a = NULL;
}

void adopt_lose_pod (struct exec *x, struct kpod *p)
{
    struct adoptpod *ap = p->adopt;

    if (!ap)
        return;
    p->adopt = NULL;
    if (ap->a)
        detach (ap);
    else
        DL_DELETE (x->adopt->orphans, ap);
    json_decref (ap->object);
    free (ap);
}

void adopt_take_pods (struct adoptee *a)
{
    struct adopt *d = a->x->adopt;
    struct adoptpod *ap, *tmp;

    DL_FOREACH_SAFE (d->orphans, ap, tmp)
    {
        if (strcmp (ap->key, a->key) != 0)
            continue;
        DL_DELETE (d->orphans, ap);
        attach (ap, a);
    }
}

void adopt_drop_pods (struct adoptee *a)
{
    struct adoptpod *ap, *tmp;

    DL_FOREACH_SAFE (a->pods, ap, tmp)
    {
        DL_DELETE (a->pods, ap);
        if (a->x->closing) {
            ap->p->adopt = NULL;
            json_decref (ap->object);
            free (ap);
        } else
            to_orphans (a->x->adopt, ap);
    }
    a->npods = 0;
}

void adopt_begin_pods (struct adoptee *a)
{
    struct adoptpod *ap;

    a->exit_code = 0;
    a->pod_text[0] = '\0';
    DL_FOREACH (a->pods, ap) {
        ap->old = ap->p->view.terminal;
    }
}

/* -- resources of a pod -- */

static const struct rset_rank *rank_on (const struct rset *r, const char *node)
{
    for (size_t i = 0; i < r->nranks; i++)
        if (strcmp (r->ranks[i].node, node) == 0)
            return &r->ranks[i];
    return NULL;
}

/* Whether the pod is among the first ones on its node, as many as the rank has slots. */
static bool is_among (const struct adoptee *a, const struct kpod *p, uint32_t slots)
{
    const struct kpod *other;
    uint32_t before = 0;

    DL_FOREACH2 (p->node->pods, other, node_next)
    {
        if (other == p)
            return before < slots;
        before += other->adopt && other->adopt->a == a && !other->view.terminal;
    }
    return before < slots;
}

/* The pod uses at most a slot's share of its node, and is one of the job's slots there.
 * Before recover() the allocation is not known, and a job with nodes is believed. */
bool adopt_covers (const struct kpod *p)
{
    const struct adoptee *a = p->adopt ? p->adopt->a : NULL;

    if (!a || !p->node || !a->active || a->released_told)
        return false;
    if (!a->job || !a->job->r)
        return !a->job;
    const struct rset_rank *rank = rank_on (a->job->r, p->node->name);
    if (!rank)
        return false;
    int64_t slots = MAX (rank->slots, 1U), gpus = (int64_t)idset_count (rank->gpus);
    return p->size.cpu_milli <= rset_rank_cpu_milli (rank) / slots
           && p->size.memory <= rank->memory_mib / slots * MIB
           && p->size.gpus <= gpus / slots && is_among (a, p, rank->slots);
}

void adopt_recount (struct adoptee *a)
{
    struct adoptpod *ap;

    DL_FOREACH (a->pods, ap) {
        pods_count_again (a->x, ap->p);
    }
}

/* -- progress of the pods -- */

static void count_pod (const struct adoptee *a, const struct adoptpod *ap,
                       struct adopt_count *n)
{
    const struct kpod *p = ap->p;
    const struct podview *v = &p->view;

    n->succeeded += strcmp (v->phase, "Succeeded") == 0;
    if (ap->old)
        return;
    if (v->evicted[0])
        n->evicted = p;
    if (v->trouble == POD_FATAL || (v->trouble == POD_RETRY && v->exit_code < 0))
        n->broken = p;
    n->ran += v->terminal && v->exit_code > 0;
    if (v->terminal)
        return;
    if (v->started && !v->deleting)
        n->up++;
    else if (!p->node)
        n->unplaced++;
    else if (v->pull_trouble)
        n->pulling++;
    else
        n->created++;
    if (!v->started && (!n->behind || !n->behind->node))
        n->behind = p;
    if (p->node && p->node->down_since > 0
        && clock_mono () - p->node->down_since >= a->x->cfg.grace)
        n->on_lost_node = p;
}

void adopt_count_pods (const struct adoptee *a, struct adopt_count *ret)
{
    const struct adoptpod *ap;

    *ret = (struct adopt_count){ 0 };
    DL_FOREACH (a->pods, ap) {
        count_pod (a, ap, ret);
    }
}

bool adopt_has_live_pods (const struct adoptee *a)
{
    const struct adoptpod *ap;

    DL_FOREACH (a->pods, ap) {
        if (!ap->p->view.terminal && !(a->group && ap->gated))
            return true;
    }
    return false;
}

bool adopt_has_uncounted_pods (const struct adoptee *a)
{
    const struct adoptpod *ap;

    DL_FOREACH (a->pods, ap) {
        if (ap->p->view.tracked)
            return true;
    }
    return false;
}

/* -- places -- */

struct room { /* free slots of a rank */
    const char *node;
    uint32_t left;
    size_t rank;
};

static int by_node (const void *a, const void *b)
{
    return strcmp (((const struct room *)a)->node, ((const struct room *)b)->node);
}

static int by_rank (const void *a, const void *b)
{
    size_t x = ((const struct room *)a)->rank, y = ((const struct room *)b)->rank;

    return x < y ? -1 : x > y;
}

/* Index 0 comes first, as the others may look for it. */
static int by_index (const void *a, const void *b)
{
    const struct kpod *x = (*(struct adoptpod *const *)a)->p,
                      *y = (*(struct adoptpod *const *)b)->p;

    if (x->view.index != y->view.index)
        return x->view.index < y->view.index ? -1 : 1;
    return strcmp (x->name, y->name);
}

static bool needs_place (const struct adoptpod *ap)
{
    const struct kpod *p = ap->p;

    return !p->node && !p->view.terminal && !p->view.deleting && !ap->asked
           && (ap->gated || ap->binds);
}

/* Returns the free slots of each rank, in the order of ranks. The caller frees the
 * result. */
static struct room *rooms_of (const struct adoptee *a)
{
    const struct rset *r = a->job->r;
    struct room *rooms = calloc (r->nranks + 1, sizeof (*rooms));
    const struct adoptpod *ap;

    if (!rooms)
        return NULL;
    for (size_t i = 0; i < r->nranks; i++)
        rooms[i] = (struct room){ r->ranks[i].node, r->ranks[i].slots, i };
    qsort (rooms, r->nranks, sizeof (*rooms), by_node);
    DL_FOREACH (a->pods, ap) {
        const struct kpod *p = ap->p;
        struct room key = { .node = p->node ? p->node->name : ap->node };

        if (p->view.terminal || !key.node[0])
            continue;
        struct room *room = bsearch (&key, rooms, r->nranks, sizeof (*rooms), by_node);
        if (room && room->left > 0)
            room->left--;
    }
    qsort (rooms, r->nranks, sizeof (*rooms), by_rank);
    return rooms;
}

static int send_place (struct adoptee *a, struct adoptpod *ap, const char *node)
{
    char path[768];
    bool bind = ap->binds && !ap->gated;

    snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s%s", a->namespace_, ap->p->name,
              bind ? "/binding" : "");
    ap->asked = true;
    if (node != ap->node)
        snprintf (ap->node, sizeof (ap->node), "%s", node);
    return adopt_send (a, ADOPT_CALL_PLACE, bind ? "POST" : "PATCH", path,
                       bind ? object_binding (a->namespace_, ap->p->name, node)
                            : podspec_place (node),
                       ap->p->name)
               ? 0
               : -ENOMEM;
}

static int place_all (struct adoptee *a, struct adoptpod **list, size_t n)
{
    autofree struct room *rooms = rooms_of (a);
    size_t at = 0;
    int rc = rooms ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (list[i]->node[0]) { /* has a node already, and waits for its binding */
            rc = send_place (a, list[i], list[i]->node);
            continue;
        }
        while (at < a->job->r->nranks && rooms[at].left == 0)
            at++;
        if (at == a->job->r->nranks)
            break;
        rooms[at].left--;
        rc = send_place (a, list[i], rooms[at].node);
    }
    return rc;
}

int adopt_place (struct adoptee *a)
{
    autofree struct adoptpod **list = calloc (a->npods + 1, sizeof (struct adoptpod *));
    struct adoptpod *ap;
    size_t n = 0;

    if (!list || !a->job->r)
        return -ENOMEM;
    DL_FOREACH (a->pods, ap) {
        if (needs_place (ap))
            list[n++] = ap;
    }
    if (n == 0)
        return 0;
    qsort (list, n, sizeof (struct adoptpod *), by_index);
    return place_all (a, list, n);
}
