/* gres.c - see gres.h */
#include "exec/kube/core/gres.h"

#include "exec/kube/core/podsize.h"
#include "kube/quantity.h"

/* Kubernetes tells extended resources from its own (cpu, hugepages-2Mi, ...) by a domain
 * other than its own. */
static bool is_extended (const char *name)
{
    return strchr (name, '/') && !strstr (name, "kubernetes.io/")
           && strncmp (name, "requests.", 9) != 0 && gres_name_is_valid (name);
}

/* Kubernetes counts it in bytes, fluxq as GRES_TMP_DISK in MiB. */
#define TMP_DISK "ephemeral-storage"
#define MIB ((int64_t)1 << 20)

/* -- configuration -- */

static int check_entry (const struct yaml_doc *doc, json_t *map, const char *name,
                        const json_t *v, struct error *err)
{
    const char *resource = json_string_value (v);

    if (!strcmp (name, "gpu"))
        return yaml_error (doc, map, name, err,
                           "kube.gres: gpu: its resource is named by kube.gpu-resource");
    if (!gres_name_is_valid (name) || strchr (name, '/'))
        return yaml_error (doc, map, name, err,
                           "kube.gres: '%.80s' cannot be the short name of a resource "
                           "(NAME or NAME:TYPE)",
                           name);
    if (!resource || !is_extended (resource))
        return yaml_error (doc, map, name, err,
                           "kube.gres: %s: expected an extended resource such as "
                           "vendor.com/thing",
                           name);
    return 0;
}

int kube_gres_read (const struct yaml_doc *doc, json_t *config, json_t **ret,
                    struct error *err)
{
    json_t *map = json_object_get (config, "gres"), *v;
    const char *name;
    int rc = 0;

    if (!json_is_object (map))
        return yaml_error (doc, config, "gres", err,
                           "kube.gres: expected a mapping such as {hca: rdma/hca}");
    json_object_foreach (map, name, v) {
        if (rc == 0)
            rc = check_entry (doc, map, name, v, err);
    }
    if (rc < 0)
        return rc;
    *ret = json_deep_copy (map);
    return *ret ? 0 : error_set (err, ENOMEM, "out of memory");
}

const char *kube_gres_name (const json_t *map, const char *gpu_resource, const char *type)
{
    const char *mapped = json_string_value (json_object_get (map, type));

    return !strcmp (mapped ? mapped : type, gpu_resource) ? "gpu" : mapped;
}

/* -- nodes and pods -- */

int kube_gres_of_node (const json_t *allocatable, const char *gpu_resource,
                       struct gres_list *ret)
{
    const char *name;
    json_t *v;
    int rc = 0;

    json_object_foreach ((json_t *)allocatable, name, v) {
        int64_t n = 0;
        if (rc < 0 || ret->n == GRES_LIST_MAX || !is_extended (name)
            || !strcmp (name, gpu_resource))
            continue;
        quantity_value (json_string_value (v), &n);
        rc = gres_set (ret, name, MIN (n, GRES_COUNT_MAX));
    }
    int64_t bytes = 0;
    quantity_value (json_string_value (json_object_get (allocatable, TMP_DISK)), &bytes);
    return rc < 0 ? rc : gres_set (ret, GRES_TMP_DISK, MIN (bytes / MIB, GRES_COUNT_MAX));
}

/* Adds the resources that a container requests, each with the amount of the whole pod. */
static int add_container (const json_t *pod, const json_t *container,
                          const char *gpu_resource, struct gres_list *ret)
{
    const json_t *requests =
        json_object_get (json_object_get (container, "resources"), "requests");
    const char *name;
    json_t *v;
    int rc = 0;

    json_object_foreach ((json_t *)requests, name, v) {
        if (rc == 0 && ret->n < GRES_LIST_MAX && is_extended (name)
            && strcmp (name, gpu_resource) != 0 && gres_get (ret, name) == 0)
            rc = gres_set (ret, name, podsize_of (pod, name).gpus);
    }
    return rc;
}

int kube_gres_of_pod (const json_t *pod, const char *gpu_resource, struct gres_list *ret)
{
    static const char *const lists[] = { "containers", "initContainers" };
    const json_t *spec = json_object_get (pod, "spec"), *container;
    int rc = 0;

    for (size_t k = 0; k < ARRAY_SIZE (lists); k++) {
        size_t i;
        json_array_foreach (json_object_get (spec, lists[k]), i, container) {
            if (rc == 0)
                rc = add_container (pod, container, gpu_resource, ret);
        }
    }
    int64_t bytes = podsize_of (pod, TMP_DISK).gpus;
    return rc < 0 ? rc
                  : gres_set (ret, GRES_TMP_DISK,
                              MIN (bytes / MIB + (bytes % MIB > 0), GRES_COUNT_MAX));
}

int kube_gres_beyond (const struct gres_list *pod, const struct gres_list *given,
                      struct gres_list *ret)
{
    int rc = gres_copy (ret, pod);

    return rc < 0 ? rc : gres_add (ret, given, -1);
}

/* -- requests of pods -- */

int kube_gres_raise_disk (json_t *requests, int64_t mib)
{
    int64_t has = 0;
    char text[32];

    quantity_value (json_string_value (json_object_get (requests, TMP_DISK)), &has);
    if (has >= mib * MIB)
        return 0;
    snprintf (text, sizeof (text), "%jdMi", (intmax_t)mib);
    return json_object_set_new (requests, TMP_DISK, json_string (text));
}

int kube_gres_raise (json_t *amounts, const char *name, int64_t count)
{
    int64_t has = 0;
    char text[32];

    quantity_value (json_string_value (json_object_get (amounts, name)), &has);
    if (has >= count)
        return 0;
    snprintf (text, sizeof (text), "%jd", (intmax_t)count);
    return json_object_set_new (amounts, name, json_string (text));
}

static bool names (const struct jobspec_resource *list, size_t n, const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp (list[i].type, type) || names (list[i].with, list[i].nwith, type))
            return true;
    return false;
}

int kube_gres_ask_least (const struct jobspec *js, const struct rset *r, json_t *requests,
                         json_t *limits)
{
    const struct gres_list *first = &r->ranks[0].gres;
    int rc = 0;

    for (size_t i = 0; i < first->n; i++) {
        const char *name = first->v[i].name;
        int64_t least = first->v[i].count;
        if (!strcmp (name, GRES_CPU_MILLI)
            || !names (js->resources, js->nresources, name))
            continue;
        for (size_t k = 1; k < r->nranks; k++)
            least = MIN (least, gres_get (&r->ranks[k].gres, name));
        if (least > 0 && !strcmp (name, GRES_TMP_DISK))
            rc |= kube_gres_raise_disk (requests, least);
        else if (least > 0)
            rc |= kube_gres_raise (requests, name, least)
                  | kube_gres_raise (limits, name, least);
    }
    return rc;
}
