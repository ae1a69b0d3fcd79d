/* adoptgroup.c - plain pods, alone or in a group of several, that are one job (see
 * adopt.h)
 *
 * The pods have the label fluxq.io/queue and were made with the scheduling gate of that
 * name, so nobody places them before their turn. The labels or annotations
 * fluxq.io/group and fluxq.io/group-size name the pods of a group: a group becomes a job
 * once all its pods are there. A released pod cannot be gated again: when its start
 * fails, or its job is cancelled or lost, the pods are deleted, and their maker makes
 * others.
 */
#include "exec/kube/adopt/adopt.h"

#include "common/json.h"
#include "common/parse.h"
#include "exec/kube/core/gres.h"

/* Returns the value of a label, else of an annotation. */
static const char *label_or_annotation (const json_t *meta, const char *key)
{
    const char *s = json_text (json_object_get (meta, "labels"), key);

    return *s ? s : json_text (json_object_get (meta, "annotations"), key);
}

/* A pod without a group is a group of its own. */
static const char *group_of (const json_t *meta)
{
    const char *group = label_or_annotation (meta, ADOPT_GROUP);

    return *group ? group : json_text (meta, "name");
}

bool adoptgroup_key (const json_t *meta, char key[ADOPT_KEY_MAX])
{
    if (!*json_text (json_object_get (meta, "labels"), ADOPT_QUEUE)
        || strchr (group_of (meta), '/'))
        return false;
    return snprintf (key, ADOPT_KEY_MAX, "group:%.63s/%s", json_text (meta, "namespace"),
                     group_of (meta))
           < ADOPT_KEY_MAX;
}

void adoptgroup_see (struct adoptpod *ap, const json_t *pod)
{
    struct adoptee *a = ap->a;

    json_decref (ap->object);
    ap->object = NULL;
    if ((a->id == 0 || a->ended) && adoptview_is_gated (json_object_get (pod, "spec")))
        ap->object = json_incref ((json_t *)pod);
    const char *status = adoptview_status (json_object_get (pod, "metadata"));
    if (adoptview_is_end (status))
        snprintf (a->view.status, sizeof (a->view.status), "%s", status);
}

/* -- as a Job would say it -- */

static unsigned count_gated (const struct adoptee *a)
{
    const struct adoptpod *ap;
    unsigned n = 0;

    DL_FOREACH (a->pods, ap) {
        n += ap->gated && !ap->p->view.terminal && !ap->p->view.deleting;
    }
    return n;
}

void adoptgroup_view (struct adoptee *a)
{
    struct adoptview *v = &a->view;
    const struct adoptpod *ap;
    unsigned live = 0, ended = 0, failed = 0, free = 0;

    DL_FOREACH (a->pods, ap) {
        const struct podview *p = &ap->p->view;

        if (ap->old)
            continue;
        live += !p->terminal;
        free += !p->terminal && !ap->gated;
        ended += p->terminal;
        failed += strcmp (p->phase, "Failed") == 0;
    }
    a->seen = live + ended > 0;
    v->parallelism = v->completions = a->size;
    v->suspended = v->at_rest = live > 0 && free == 0 && ended == 0;
    v->over = live == 0 && ended > 0;
    v->failed = failed > 0 || ended < a->size;
    snprintf (v->text, sizeof (v->text), "%u of %u pods succeeded", ended - failed,
              (unsigned)a->size);
}

/* -- becoming a job -- */

static bool is_like (const struct exec *x, const json_t *one, const json_t *other)
{
    const struct podsize a = podsize_of (one, x->cfg.gpu_resource),
                         b = podsize_of (other, x->cfg.gpu_resource);
    const json_t *sa = json_object_get (json_object_get (one, "spec"), "nodeSelector"),
                 *sb = json_object_get (json_object_get (other, "spec"), "nodeSelector");
    struct gres_list ga = { 0 }, gb = { 0 };
    bool same = kube_gres_of_pod (one, x->cfg.gpu_resource, &ga) == 0
                && kube_gres_of_pod (other, x->cfg.gpu_resource, &gb) == 0
                && gres_equal (&ga, &gb);

    gres_release (&ga);
    gres_release (&gb);
    return same && a.cpu_milli == b.cpu_milli && a.memory == b.memory && a.gpus == b.gpus
           && (sa == sb || (sa && sb && json_equal (sa, sb)));
}

/* Reads the size of the group. 0 or -EINVAL. */
static int read_size (const json_t *meta, uint32_t *ret, struct error *err)
{
    const char *text = label_or_annotation (meta, ADOPT_GROUP_SIZE);
    int64_t n = 1;

    if (!*text && *label_or_annotation (meta, ADOPT_GROUP))
        return error_set (err, EINVAL,
                          ADOPT_GROUP_SIZE ": it is missing; how many pods are %.63s?",
                          group_of (meta));
    if (*text && parse_int (text, 1, ADOPT_PODS_MAX, &n, ADOPT_GROUP_SIZE, err) < 0)
        return -EINVAL;
    *ret = (uint32_t)n;
    return 0;
}

static int check_pod (const struct adoptee *a, const json_t *first,
                      const struct adoptpod *ap, struct error *err)
{
    const json_t *meta = json_object_get (ap->object, "metadata");
    uint32_t size = 0;
    int rc = read_size (meta, &size, err);

    if (rc == 0 && size != a->size)
        rc = error_set (err, EINVAL, ADOPT_GROUP_SIZE ": pods of one group say %u and %u",
                        (unsigned)a->size, size);
    if (rc == 0
        && strcmp (
               json_text (json_object_get (meta, "labels"), ADOPT_QUEUE),
               json_text (json_object_get (json_object_get (first, "metadata"), "labels"),
                          ADOPT_QUEUE))
               != 0)
        rc = error_set (err, EINVAL, ADOPT_QUEUE ": pods of one group name two queues");
    if (rc == 0)
        rc = adoptspec_check_pod (json_object_get (ap->object, "spec"), err);
    if (rc == 0 && !is_like (a->x, first, ap->object))
        rc = error_set (err, EINVAL,
                        "pods of one group request different amounts or nodes: %.100s "
                        "differs",
                        ap->p->name);
    return rc;
}

/* Returns the first pod by uid, which names the group: the same pods have the same
 * name. */
static const struct adoptpod *first_of (const struct adoptee *a)
{
    const struct adoptpod *ap, *first = NULL;

    DL_FOREACH (a->pods, ap) {
        if (ap->object && (!first || strcmp (ap->uid, first->uid) < 0))
            first = ap;
    }
    return first;
}

bool adoptgroup_is_whole (struct adoptee *a, struct error *err)
{
    const struct adoptpod *first = first_of (a), *ap;
    unsigned n = 0;

    if (!first)
        return false;
    if (read_size (json_object_get (first->object, "metadata"), &a->size, err) < 0)
        return false;
    DL_FOREACH (a->pods, ap) {
        if (ap->object && check_pod (a, first->object, ap, err) < 0)
            return false;
        n += ap->object != NULL;
    }
    if (n > a->size)
        error_set (err, EINVAL, ADOPT_GROUP_SIZE ": there are %u pods of a group of %u",
                   n, (unsigned)a->size);
    return n == a->size;
}

unsigned adoptgroup_count (const struct adoptee *a)
{
    const struct adoptpod *ap;
    unsigned n = 0;

    DL_FOREACH (a->pods, ap) {
        n += ap->object != NULL;
    }
    return n;
}

json_t *adoptgroup_spec (struct adoptee *a, const struct adoptspec_how *how,
                         struct error *err)
{
    const struct adoptpod *first = first_of (a);

    snprintf (a->token, sizeof (a->token), "%s:%s", a->key, first->uid);
    return adoptspec_of_pods (first->object, a->namespace_, a->name, a->size, how, err);
}

const json_t *adoptgroup_pod (const struct adoptee *a)
{
    const struct adoptpod *first = first_of (a);

    return first ? first->object : NULL;
}

/* Begins a new group of an old name, once nothing of the old one runs. */
void adoptgroup_renew (struct adoptee *a)
{
    struct adoptpod *ap;

    if (!a->ended || a->job || first_of (a) == NULL || count_gated (a) == 0)
        return;
    DL_FOREACH (a->pods, ap) {
        if (!ap->gated && !ap->p->view.terminal)
            return;
        if (!ap->p->view.terminal && strstr (a->token, ap->uid))
            return; /* its job was cancelled, and the group still exists */
        ap->old = ap->p->view.terminal;
    }
    a->id = 0;
    a->ended = a->cancelled = a->active = a->gone_told = false;
    a->refused_gen = -1;
    a->ask_at = 0;
    a->state[0] = a->reported[0] = a->view.status[0] = '\0';
}

void adoptgroup_known (struct adoptee *a)
{
    struct adoptpod *ap;

    DL_FOREACH (a->pods, ap) {
        json_decref (ap->object);
        ap->object = NULL;
    }
}

/* -- its end -- */

void adoptgroup_remove (struct adoptee *a, bool gated_too)
{
    struct adoptpod *ap;
    char path[768];

    DL_FOREACH (a->pods, ap) {
        if (ap->removed || ap->p->view.terminal || ap->p->view.deleting
            || (ap->gated && !gated_too))
            continue;
        ap->removed = true;
        snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s", a->namespace_,
                  ap->p->name);
        adopt_send (a, ADOPT_CALL_POD, "DELETE", path, json_object (), NULL);
    }
}

const struct adoptpod *adoptgroup_speaker (const struct adoptee *a)
{
    const struct adoptpod *ap, *first = NULL;

    DL_FOREACH (a->pods, ap) {
        if (!ap->old && (!first || strcmp (ap->uid, first->uid) < 0))
            first = ap;
    }
    return first;
}
