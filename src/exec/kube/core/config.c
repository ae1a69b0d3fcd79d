/* config.c - see config.h */
#include "exec/kube/core/config.h"

#include "common/parse.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/kjob.h"
#include "exec/podset.h"
#include "kube/client.h"

#define NODE_GRACE 30.0
#define NUMBER_MAX 100000
#define SWEEP_INTERVAL 300.0

enum kind {
    TEXT,
    CHOICE,
    BOOL,
    DURATION,
    NUMBER,
    TEXTS,
    TOPOLOGY,
    GROUPS,
    NUMA,
    GRES,
    ADOPT
};

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *choices; /* for CHOICE: "A|B|C" */
} keys[] = {
    { "kubeconfig", TEXT, offsetof (struct kube_config, kubeconfig), NULL },
    { "context", TEXT, offsetof (struct kube_config, context), NULL },
    { "namespace", TEXT, offsetof (struct kube_config, namespace_), NULL },
    { "image", TEXT, offsetof (struct kube_config, image), NULL },
    { "agent-delivery", CHOICE, 0, "configmap|image" }, /* see check_delivery() */
    { "agent-image", TEXT, offsetof (struct kube_config, agent_image), NULL },
    { "admin-image", TEXT, offsetof (struct kube_config, admin_image), NULL },
    { "image-pull-policy", CHOICE, offsetof (struct kube_config, pull_policy),
      "Always|IfNotPresent|Never" },
    { "notice-taints", TEXTS, offsetof (struct kube_config, notice_taints), NULL },
    { "topology", TOPOLOGY, offsetof (struct kube_config, topology), NULL },
    { "node-groups", GROUPS, 0, NULL }, /* read last, see kube_config_read() */
    { "adopt", ADOPT, offsetof (struct kube_config, adopt), NULL },
    { "numa", NUMA, offsetof (struct kube_config, numa), NULL },
    { "flux-image", TEXT, offsetof (struct kube_config, flux_image), NULL },
    { "flux-in-image", BOOL, offsetof (struct kube_config, flux_in_image), NULL },
    { "gpu-resource", TEXT, offsetof (struct kube_config, gpu_resource), NULL },
    { "gpu-type-labels", TEXTS, offsetof (struct kube_config, gpu_type_labels), NULL },
    { "gres", GRES, offsetof (struct kube_config, gres), NULL },
    { "fractional-cpu", BOOL, offsetof (struct kube_config, fractional_cpu), NULL },
    { "cluster-domain", TEXT, offsetof (struct kube_config, cluster_domain), NULL },
    { "grace", DURATION, offsetof (struct kube_config, grace), NULL },
    { "sweep-interval", DURATION, offsetof (struct kube_config, sweep_interval), NULL },
    { "lease", BOOL, offsetof (struct kube_config, lease), NULL },
    { "job-events", BOOL, offsetof (struct kube_config, job_events), NULL },
    { "allow-root", BOOL, offsetof (struct kube_config, allow_root), NULL },
    { "user-policies", BOOL, offsetof (struct kube_config, user_policies), NULL },
    { "pods", CHOICE, offsetof (struct kube_config, pods), "auto|broker|controller" },
    { "request-rate", NUMBER, offsetof (struct kube_config, request_rate), NULL },
    { "request-burst", NUMBER, offsetof (struct kube_config, request_burst), NULL },
    { "security", CHOICE, 0, "restricted|baseline" }, /* sets `restricted` */
};

static bool is_choice (const char *choices, const char *text)
{
    size_t len = strlen (text);

    for (const char *p = choices; p; p = strchr (p, '|') ? strchr (p, '|') + 1 : NULL)
        if (strncmp (p, text, len) == 0 && (p[len] == '|' || p[len] == 0))
            return len > 0;
    return false;
}

static int read_text (const struct yaml_doc *doc, json_t *config, const struct key *k,
                      json_t *v, struct kube_config *c, struct error *err)
{
    const char *text = json_string_value (v);

    if (!text || !text[0])
        return yaml_error (doc, config, k->name, err, "kube.%s: expected a string",
                           k->name);
    if (k->kind == CHOICE && !is_choice (k->choices, text))
        return yaml_error (doc, config, k->name, err, "kube.%s: '%s' is not one of %s",
                           k->name, text, k->choices);
    if (strcmp (k->name, "security") == 0) {
        c->restricted = strcmp (text, "restricted") == 0;
        return 0;
    }
    if (strcmp (k->name, "agent-delivery") == 0)
        return 0;
    char **field = (char **)((char *)c + k->offset);
    free (*field);
    *field = strdup (text);
    return *field ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int read_duration (const struct yaml_doc *doc, json_t *config, const struct key *k,
                          json_t *v, double *ret, struct error *err)
{
    struct error why = { 0 };

    if (json_is_number (v))
        *ret = json_number_value (v);
    else if (!json_is_string (v)
             || parse_fsd (json_string_value (v), ret, k->name, &why) < 0)
        return yaml_error (doc, config, k->name, err,
                           "kube.%s: expected a duration such as 5m", k->name);
    if (*ret < 1 || *ret > 86400)
        return yaml_error (doc, config, k->name, err, "kube.%s: must be from 1s to 24h",
                           k->name);
    return 0;
}

static int read_number (const struct yaml_doc *doc, json_t *config, const struct key *k,
                        json_t *v, double *ret, struct error *err)
{
    *ret = json_number_value (v);
    if (!json_is_integer (v) || *ret < 1 || *ret > NUMBER_MAX)
        return yaml_error (doc, config, k->name, err,
                           "kube.%s: expected a whole number from 1 to %d", k->name,
                           NUMBER_MAX);
    return 0;
}

static int read_texts (const struct yaml_doc *doc, json_t *config, const struct key *k,
                       json_t *v, json_t **ret, struct error *err)
{
    json_t *item;
    size_t i;

    if (!json_is_array (v))
        return yaml_error (doc, config, k->name, err, "kube.%s: expected a list",
                           k->name);
    json_array_foreach (v, i, item) {
        if (!json_is_string (item))
            return yaml_error (doc, config, k->name, err,
                               "kube.%s[%zu]: expected a string", k->name, i);
    }
    json_decref (*ret);
    *ret = json_deep_copy (v);
    return *ret ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int read_numa (const struct yaml_doc *doc, json_t *config, const struct key *k,
                      json_t *v, enum kube_numa *ret, struct error *err)
{
    const char *text = json_string_value (v);

    if (!json_is_boolean (v) && !(text && strcmp (text, "auto") == 0))
        return yaml_error (doc, config, k->name, err,
                           "kube.%s: expected true, false or auto", k->name);
    *ret = json_is_true (v) ? KUBE_NUMA_ON : text ? KUBE_NUMA_AUTO : KUBE_NUMA_OFF;
    return 0;
}

static int read_key (const struct yaml_doc *doc, json_t *config, const struct key *k,
                     json_t *v, struct kube_config *c, struct error *err)
{
    void *field = (char *)c + k->offset;

    switch (k->kind) {
    case TEXT:
    case CHOICE:
        return read_text (doc, config, k, v, c, err);
    case DURATION:
        return read_duration (doc, config, k, v, field, err);
    case NUMBER:
        return read_number (doc, config, k, v, field, err);
    case BOOL:
        if (!json_is_boolean (v))
            return yaml_error (doc, config, k->name, err,
                               "kube.%s: expected true or false", k->name);
        *(bool *)field = json_is_true (v);
        return 0;
    case TEXTS:
        return read_texts (doc, config, k, v, field, err);
    case NUMA:
        return read_numa (doc, config, k, v, field, err);
    case TOPOLOGY:
        return topology_read (doc, config, "kube", TOPOLOGY_LABELS, field, err);
    case GROUPS:
        return 0;
    case GRES:
        return kube_gres_read (doc, config, field, err);
    case ADOPT:
        return adoptconfig_read (doc, config, field, err);
    }
    return 0;
}

/* Reads the pod settings of all queues. -ENOENT: no such key. */
static int read_pod_key (const struct yaml_doc *doc, json_t *config, const char *name,
                         struct kube_config *c, struct error *err)
{
    if (strcmp (name, "namespace") == 0)
        return -ENOENT; /* the broker uses it itself, for its lease */
    int rc = podset_check_key (doc, config, name, "kube", err);

    if (rc == 0
        && json_object_set (c->pod_defaults, name, json_object_get (config, name)) < 0)
        rc = error_set (err, ENOMEM, "out of memory");
    return rc;
}

/* The two keys must fit: no image for configmap, an image for image. */
static int check_delivery (const struct yaml_doc *doc, json_t *config,
                           const struct kube_config *c, struct error *err)
{
    bool by_image = strcmp (json_text (config, "agent-delivery"), "image") == 0;

    if (by_image && !c->agent_image)
        return yaml_error (doc, config, "agent-delivery", err,
                           "kube.agent-delivery: 'image' needs kube.agent-image, which "
                           "has the agent (contrib/image makes one)");
    if (!by_image && c->agent_image)
        return yaml_error (doc, config, "agent-image", err,
                           "kube.agent-image: needs agent-delivery: image");
    return 0;
}

/* A vertex of that type in a request is either a place or a resource. */
static int check_gres (const struct yaml_doc *doc, json_t *config,
                       const struct kube_config *c, struct error *err)
{
    json_t *map = json_object_get (config, "gres");

    for (size_t i = 0; i < c->topology.n; i++)
        if (json_object_get (map, c->topology.level[i].name))
            return yaml_error (doc, map, c->topology.level[i].name, err,
                               "kube.gres: %s is a level of kube.topology",
                               c->topology.level[i].name);
    return 0;
}

/* Keys of the taints that announce the end of a node: from termination handlers of
 * clouds, and autoscalers. */
static json_t *default_notices (void)
{
    return json_pack ("[s s s s s s]", "aws-node-termination-handler/spot-itn",
                      "aws-node-termination-handler/scheduled-maintenance",
                      "aws-node-termination-handler/asg-lifecycle-termination",
                      "cloud.google.com/impending-node-termination",
                      "karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler");
}

/* Labels of the GPU operators, clouds and autoscalers. */
static json_t *default_gpu_types (void)
{
    return json_pack ("[s s s s s]", "nvidia.com/gpu.product", "amd.com/gpu.product-name",
                      "gpu.intel.com/product", "cloud.google.com/gke-accelerator",
                      "karpenter.k8s.aws/instance-gpu-name");
}

int kube_config_read (const struct yaml_doc *doc, json_t *config, struct kube_config *ret,
                      struct error *err)
{
    const char *name;
    json_t *v;
    int rc = 0;

    *ret = (struct kube_config){ .grace = NODE_GRACE,
                                 .sweep_interval = SWEEP_INTERVAL,
                                 .notice_taints = default_notices (),
                                 .gpu_type_labels = default_gpu_types (),
                                 .restricted = true,
                                 .fractional_cpu = true,
                                 .job_events = true,
                                 .user_policies = true,
                                 .request_rate = KUBE_RATE,
                                 .request_burst = KUBE_BURST,
                                 .gpu_resource = strdup ("nvidia.com/gpu"),
                                 .cluster_domain = strdup ("cluster.local"),
                                 .pod_defaults = json_object () };
    if (!ret->gpu_resource || !ret->cluster_domain || !ret->notice_taints
        || !ret->gpu_type_labels || !ret->pod_defaults)
        rc = error_set (err, ENOMEM, "out of memory");
    if (config && !json_is_null (config) && !json_is_object (config))
        rc = yaml_error (doc, config, NULL, err, "kube: expected a mapping");
    json_object_foreach (config, name, v) {
        size_t i = 0;

        while (i < ARRAY_SIZE (keys) && strcmp (keys[i].name, name) != 0)
            i++;
        if (rc < 0)
            break;
        if ((rc = read_pod_key (doc, config, name, ret, err)) != -ENOENT)
            continue;
        rc = 0;
        if (strcmp (name, "start-timeout") == 0)
            rc = yaml_error (doc, config, name, err,
                             "kube.start-timeout: the key belongs outside of kube, "
                             "beside place-timeout and pull-timeout");
        else if (strcmp (name, "rack-label") == 0)
            rc = yaml_error (doc, config, name, err,
                             "kube.rack-label: use a level of kube.topology: topology: "
                             "[{level: rack, label: ...}]");
        else if (i == ARRAY_SIZE (keys))
            rc = yaml_error (doc, config, name, err, "kube.%s: unknown key", name);
        else
            rc = read_key (doc, config, &keys[i], v, ret, err);
    }
    if (rc == 0)
        rc = check_delivery (doc, config, ret, err);
    if (rc == 0)
        rc = groupconfig_read (doc, config, ret->gpu_resource, &ret->groups, err);
    if (rc == 0)
        rc = check_gres (doc, config, ret, err);
    if (rc < 0)
        kube_config_release (ret);
    return rc;
}

void kube_config_release (struct kube_config *c)
{
    free (c->kubeconfig);
    free (c->context);
    free (c->namespace_);
    free (c->image);
    free (c->admin_image);
    free (c->agent_image);
    free (c->pull_policy);
    free (c->flux_image);
    free (c->gpu_resource);
    free (c->cluster_domain);
    free (c->pods);
    json_decref (c->gres);
    json_decref (c->notice_taints);
    json_decref (c->gpu_type_labels);
    json_decref (c->pod_defaults);
    topology_release (&c->topology);
    groupconfig_release (&c->groups);
    adoptconfig_release (&c->adopt);
    memset (c, 0, sizeof (*c));
}
