/* podobject.c - see podobject.h */
#include "exec/kube/make/podobject.h"

#include "exec/kube/core/gres.h"

#define BATCH_LABEL "batch.kubernetes.io/"

static const char *name_of (const json_t *job)
{
    return json_text (json_object_get (job, "metadata"), "name");
}

/* Labels of the template, and those that the Job controller adds, with its old and new
 * names. */
static json_t *labels (const json_t *job, const char *uid, const char *index)
{
    const json_t *template = json_object_get (
        json_object_get (json_object_get (job, "spec"), "template"), "metadata");
    json_t *all = json_deep_copy (json_object_get (template, "labels"));
    json_t *more = json_pack ("{s:s s:s s:s s:s s:s}", "job-name", name_of (job),
                              "controller-uid", uid, BATCH_LABEL "job-name",
                              name_of (job), BATCH_LABEL "controller-uid", uid,
                              BATCH_LABEL "job-completion-index", index);

    if (json_object_update_new (all, more) == 0)
        return all;
    json_decref (all);
    return NULL;
}

/* Annotations of the template, and the index. */
static json_t *annotations (const json_t *job, const char *index)
{
    const json_t *template = json_object_get (
        json_object_get (json_object_get (job, "spec"), "template"), "metadata");
    json_t *of_template = json_object_get (template, "annotations");
    json_t *all = of_template ? json_deep_copy (of_template) : json_object ();

    if (all)
        json_object_set_new (all, BATCH_LABEL "job-completion-index",
                             json_string (index));
    return all;
}

static json_t *metadata (const json_t *job, const char *uid, const char *name,
                         const char *index)
{
    const json_t *of_job = json_object_get (job, "metadata");

    return json_pack ("{s:s s:O s:o s:o s:[{s:s s:s s:s s:s s:b s:b}]}", "name", name,
                      "namespace", json_object_get (of_job, "namespace"), "labels",
                      labels (job, uid, index), "annotations", annotations (job, index),
                      "ownerReferences", "apiVersion", "batch/v1", "kind", "Job", "name",
                      name_of (job), "uid", uid, "controller", 1, "blockOwnerDeletion",
                      1);
}

/* Returns "requests" or "limits"; NULL: no memory. */
static json_t *amounts_of (json_t *container, const char *list)
{
    json_t *resources = json_object_get (container, "resources");
    json_t *amounts = json_object_get (resources, list);

    if (!amounts) {
        amounts = json_object ();
        if (json_object_set_new (resources, list, amounts) < 0)
            return NULL;
    }
    return amounts;
}

static int set_amount (json_t *container, const char *list, const char *name,
                       const char *amount)
{
    return json_object_set_new (amounts_of (container, list), name, json_string (amount));
}

/* Raises an amount of the template. */
static int raise_amount (json_t *container, const struct gres *x)
{
    json_t *requests = amounts_of (container, "requests");

    if (!strcmp (x->name, GRES_TMP_DISK))
        return json_object_get (requests, "ephemeral-storage")
                   ? kube_gres_raise_disk (requests, x->count)
                   : 0;
    if (!json_object_get (requests, x->name))
        return 0;
    return kube_gres_raise (requests, x->name, x->count)
           | kube_gres_raise (amounts_of (container, "limits"), x->name, x->count);
}

static bool has_limit (const json_t *container, const char *name)
{
    const json_t *resources = json_object_get (container, "resources");

    return json_object_get (json_object_get (resources, "limits"), name) != NULL;
}

/* Replaces the template's amounts, which are the smallest of all ranks. */
static int set_amounts (json_t *container, const struct pod_request *ask, const char *gpu)
{
    char text[32];
    int rc = 0;

    if (ask->cpu_milli > 0) {
        podrequest_cpu (ask->cpu_milli, text);
        rc |= set_amount (container, "requests", "cpu", text);
        if (has_limit (container, "cpu"))
            rc |= set_amount (container, "limits", "cpu", text);
    }
    if (ask->memory_mib > 0) {
        snprintf (text, sizeof (text), "%jdMi", (intmax_t)ask->memory_mib);
        rc |= set_amount (container, "requests", "memory", text);
        rc |= set_amount (container, "limits", "memory", text);
    }
    if (ask->gpus > 0) {
        snprintf (text, sizeof (text), "%u", ask->gpus);
        rc |= set_amount (container, "requests", gpu, text);
        rc |= set_amount (container, "limits", gpu, text);
    }
    for (size_t i = 0; ask->gres && i < ask->gres->n; i++)
        rc |= raise_amount (container, &ask->gres->v[i]);
    return rc;
}

static int add_index (json_t *containers, const char *index)
{
    json_t *container, *env;
    size_t i;
    int rc = 0;

    json_array_foreach (containers, i, container) {
        env = json_object_get (container, "env");
        if (!env) {
            env = json_array ();
            rc |= json_object_set_new (container, "env", env);
        }
        rc |= json_array_append_new (
            env, json_pack ("{s:s s:s}", "name", "JOB_COMPLETION_INDEX", "value", index));
    }
    return rc;
}

static json_t *spec (const json_t *job, const char *host, const char *index,
                     const char *node, const struct pod_request *ask, const char *gpu)
{
    const json_t *template = json_object_get (json_object_get (job, "spec"), "template");
    json_t *all = json_deep_copy (json_object_get (template, "spec"));
    json_t *containers = json_object_get (all, "containers");
    int rc = 0;

    if (!all)
        return NULL;
    rc |= json_object_set_new (all, "nodeName", json_string (node));
    rc |= json_object_set_new (all, "hostname", json_string (host));
    rc |= add_index (containers, index);
    rc |= add_index (json_object_get (all, "initContainers"), index);
    rc |= set_amounts (json_array_get (containers, 0), ask, gpu);
    if (rc == 0)
        return all;
    json_decref (all);
    return NULL;
}

json_t *podobject_make (const json_t *job, const char *uid, const char *name,
                        const char *host, uint32_t index, const char *node,
                        const struct pod_request *ask, const char *gpu_resource)
{
    char number[16];

    snprintf (number, sizeof (number), "%u", (unsigned)index);
    return json_pack ("{s:s s:s s:o s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                      metadata (job, uid, name, number), "spec",
                      spec (job, host, number, node, ask, gpu_resource));
}
