/* podspec.c - see podspec.h */
#include "exec/kube/make/podspec.h"

#include "exec/kube/core/gres.h"
#include "exec/podset.h"

/* Texts and collections that are copied unchanged. */
static const struct field {
    const char *key, *field;
} fields[] = {
    { "node-selector", "nodeSelector" },
    { "tolerations", "tolerations" },
    { "runtime-class", "runtimeClassName" },
    { "priority-class", "priorityClassName" },
    { "service-account", "serviceAccountName" },
};

static int add_secrets (const json_t *names, json_t *spec)
{
    json_t *list = names ? json_array () : NULL, *name;
    size_t i;
    int rc = 0;

    if (!names)
        return 0;
    json_array_foreach (names, i, name) {
        rc |= json_array_append_new (list, json_pack ("{s:O}", "name", name));
    }
    return rc | json_object_set_new (spec, "imagePullSecrets", list);
}

/* Its content counts as memory of the container. */
static int add_shm (const json_t *size, json_t *spec, json_t *container)
{
    if (!size)
        return 0;
    return json_array_append_new (json_object_get (spec, "volumes"),
                                  json_pack ("{s:s s:{s:s s:O}}", "name", "shm",
                                             "emptyDir", "medium", "Memory", "sizeLimit",
                                             size))
           | json_array_append_new (
               json_object_get (container, "volumeMounts"),
               json_pack ("{s:s s:s}", "name", "shm", "mountPath", "/dev/shm"));
}

/* In addition to the job's allocation; of the same resource the larger amount. */
static int add_resources (const json_t *resources, json_t *container)
{
    json_t *own = json_object_get (container, "resources"), *n;
    const char *name;
    int rc = 0;

    json_object_foreach ((json_t *)resources, name, n) {
        int64_t count = json_integer_value (n);
        rc |= kube_gres_raise (json_object_get (own, "requests"), name, count)
              | kube_gres_raise (json_object_get (own, "limits"), name, count);
    }
    return rc;
}

/* Names are resolved as in other pods, which is not the default on the host's network. */
static int add_host_network (const json_t *on, json_t *spec)
{
    if (!json_is_true (on))
        return 0;
    return json_object_set_new (spec, "hostNetwork", json_true ())
           | json_object_set_new (spec, "dnsPolicy",
                                  json_string ("ClusterFirstWithHostNet"));
}

/* The scheduler must not see the pod before the pod has its node: see podspec_place(). */
static int add_scheduler (const json_t *name, json_t *spec)
{
    if (!name)
        return 0;
    return json_object_set (spec, "schedulerName", (json_t *)name)
           | json_object_set_new (spec, "schedulingGates",
                                  json_pack ("[{s:s}]", "name", PODSPEC_GATE));
}

static const json_t *of_template (const json_t *set, const char *part, const char *field)
{
    return json_object_get (json_object_get (json_object_get (set, "pod-template"), part),
                            field);
}

static int add_dns (const json_t *set, json_t *spec)
{
    const json_t *dns = of_template (set, "spec", "dnsConfig");

    return dns ? json_object_set (spec, "dnsConfig", (json_t *)dns) : 0;
}

int podspec_name (const json_t *set, json_t *metadata)
{
    static const char *const texts[] = { "labels", "annotations" };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        const json_t *own = of_template (set, "metadata", texts[i]);
        json_t *there = json_object_get (metadata, texts[i]);

        if (own && !there)
            rc |= json_object_set_new (metadata, texts[i], json_copy ((json_t *)own));
        else if (own)
            rc |= json_object_update_missing (there, (json_t *)own);
    }
    return rc < 0 ? -ENOMEM : 0;
}

json_t *podspec_place (const char *node)
{
    return json_pack ("{s:{s:n s:{s:{s:{s:[{s:[{s:s s:s s:[s]}]}]}}}}}", "spec",
                      "schedulingGates", "affinity", "nodeAffinity",
                      "requiredDuringSchedulingIgnoredDuringExecution",
                      "nodeSelectorTerms", "matchFields", "key", "metadata.name",
                      "operator", "In", "values", node);
}

bool podspec_is_placed_by_other (const json_t *set)
{
    return json_object_get (set, "scheduler") != NULL;
}

int podspec_apply (const json_t *set, json_t *spec, json_t *container)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE (fields); i++) {
        json_t *value = json_object_get (set, fields[i].key);

        if (value)
            rc |= json_object_set (spec, fields[i].field, value);
    }
    rc |= add_secrets (json_object_get (set, "image-pull-secrets"), spec);
    rc |= add_shm (json_object_get (set, "shm-size"), spec, container);
    rc |= add_resources (json_object_get (set, "resources"), container);
    rc |= add_scheduler (json_object_get (set, "scheduler"), spec);
    rc |= add_host_network (json_object_get (set, "host-network"), spec);
    rc |= add_dns (set, spec);
    return rc < 0 ? -ENOMEM : 0;
}

json_t *podspec_settle (const json_t *set, struct exec_job *job, bool admit,
                        struct error *err)
{
    const json_t *wishes = job->js ? job->js->pods : NULL;
    json_t *mounts = job->mounts, *all;

    if (admit
        && podset_admit (set, job->queue ? job->queue : "", wishes, mounts, err) < 0)
        return NULL;
    if (!(all = podset_merge (set, wishes)))
        return error_null (error_set (err, ENOMEM, "out of memory"));
    job->mounts = podset_mounts (set, wishes, mounts);
    json_decref (mounts);
    return all;
}

static bool has_whole_nodes (const struct jobspec_resource *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct jobspec_resource *r = &list[i];

        if (strcmp (r->type, "node") == 0)
            return r->exclusive == JOBSPEC_TRUE;
        if (has_whole_nodes (r->with, r->nwith))
            return true;
    }
    return false;
}

int podspec_check (const json_t *set, const struct jobspec *js, struct error *err)
{
    if (json_is_true (json_object_get (set, "host-network"))
        && !has_whole_nodes (js->resources, js->nresources))
        return error_set (err, EINVAL,
                          "--host-network: a job on the network of the nodes must have "
                          "whole nodes; give --nodes and --exclusive");
    return 0;
}
