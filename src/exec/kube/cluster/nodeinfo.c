/* nodeinfo.c - reads a node object of the cluster: its size, its labels, and whether jobs
 * may run there (see cluster.h) */
#include "exec/kube/cluster/admit.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/core/gres.h"

#include "common/clock.h"
#include "common/gputype.h"
#include "common/json.h"
#include "exec/kube/core/knode.h"
#include "kube/object.h"
#include "kube/quantity.h"

#define CORES_MAX 65536
#define GPUS_MAX 1024

static int read_size (struct exec *x, struct knode *n, const json_t *node)
{
    json_t *a = json_object_get (json_object_get (node, "status"), "allocatable");
    struct podsize s = { 0, 0, 0 };

    quantity_milli (json_string_value (json_object_get (a, "cpu")), &s.cpu_milli);
    quantity_value (json_string_value (json_object_get (a, "memory")), &s.memory);
    quantity_value (json_string_value (json_object_get (a, x->cfg.gpu_resource)),
                    &s.gpus);
    n->size = s;
    n->cores = (uint32_t)MIN (s.cpu_milli / 1000, CORES_MAX);
    n->memory_mib = s.memory / MIB;
    n->gpus = (uint32_t)MIN (s.gpus, GPUS_MAX);
    gres_release (&n->gres);
    return kube_gres_of_node (a, x->cfg.gpu_resource, &n->gres);
}

/* Leaves out a level for which the node has no label, or an empty one. */
static int read_places (struct exec *x, struct knode *n, const json_t *labels)
{
    struct machine_place list[MACHINE_LEVELS_MAX + 1] = { { NULL, NULL } };
    const struct topology *t = &x->cfg.topology;
    size_t found = 0;

    for (size_t i = 0; i < t->n; i++) {
        const char *name = json_text (labels, t->level[i].label);
        if (name[0])
            list[found++] = (struct machine_place){ t->level[i].name, name };
    }
    free (n->places);
    n->places = machine_places_copy (list);
    return n->places ? 0 : -ENOMEM;
}

/* Takes the first of the configured labels that the node has; a value that names no type
 * counts as none. */
static int read_gpu_type (const struct exec *x, struct knode *n, const json_t *labels)
{
    char type[GPU_TYPE_MAX + 1] = "";
    const json_t *key;
    size_t i;

    json_array_foreach (x->cfg.gpu_type_labels, i, key) {
        const char *value = json_text (labels, json_string_value (key));
        if (*value && gpu_type_read (value, type) == 0)
            break;
        type[0] = '\0';
    }
    free (n->gpu_type);
    n->gpu_type = *type ? strdup (type) : NULL;
    return *type && !n->gpu_type ? -ENOMEM : 0;
}

static int read_labels (struct exec *x, struct knode *n, const json_t *node)
{
    json_t *labels = json_object_get (json_object_get (node, "metadata"), "labels"),
           *value;
    const char *key;
    size_t i = 0;

    for (size_t j = 0; n->properties && n->properties[j]; j++)
        free (n->properties[j]);
    free (n->properties);
    n->nlabels = json_object_size (labels);
    n->properties =
        calloc (n->nlabels + json_object_size (x->queues) + 1, sizeof (char *));
    if (!n->properties || read_places (x, n, labels) < 0
        || read_gpu_type (x, n, labels) < 0)
        return -ENOMEM;
    json_object_foreach (labels, key, value) {
        if (asprintf (&n->properties[i], "%s=%s", key, json_string_value (value)) < 0) {
            n->properties[i] = NULL;
            return -ENOMEM;
        }
        i++;
    }
    return 0;
}

static bool is_ready (const json_t *node)
{
    const json_t *c = kube_condition (json_object_get (node, "status"), "Ready");

    return strcmp (json_text (c, "status"), "True") == 0;
}

/* Looks for a taint that announces the end of the node (kube.notice-taints). */
static void read_notice (struct exec *x, struct knode *n, const json_t *spec)
{
    json_t *taint;
    size_t i;

    n->notice = false;
    json_array_foreach (json_object_get (spec, "taints"), i, taint) {
        if (!admit_is_notice (x->cfg.notice_taints, taint))
            continue;
        n->notice = true;
        n->state = MACHINE_NODE_DRAINED;
        snprintf (n->reason, sizeof (n->reason), "it is about to go: taint %.96s",
                  json_text (taint, "key"));
    }
}

static void read_state (struct exec *x, struct knode *n, const json_t *node)
{
    json_t *spec = json_object_get (node, "spec");

    const json_t *notices = x->cfg.notice_taints;
    enum admit it = x->queues
                        ? admit_queues (x->queues, notices, node,
                                        n->properties + n->nlabels, n->reason)
                        : admit_node (x->cfg.pod_defaults, notices, node, n->reason);

    n->gone = false;
    n->offered = it != ADMIT_NO;
    n->state = it == ADMIT_DRAINED ? MACHINE_NODE_DRAINED : MACHINE_NODE_UP;
    read_notice (x, n, spec);
    if (json_is_true (json_object_get (spec, "unschedulable"))) {
        n->state = MACHINE_NODE_DRAINED;
        if (!n->notice)
            snprintf (n->reason, sizeof (n->reason), "cordoned");
    }
    if (is_ready (node))
        n->down_since = 0;
    else {
        n->state = MACHINE_NODE_DOWN;
        snprintf (n->reason, sizeof (n->reason), "not ready");
        if (n->down_since == 0)
            n->down_since = clock_mono ();
    }
}

void node_release (struct knode *n)
{
    for (size_t i = 0; n->properties && n->properties[i]; i++)
        free (n->properties[i]);
    free (n->properties);
    free (n->gpu_type);
    free (n->places);
    json_decref (n->about);
    gres_release (&n->gres);
    gres_release (&n->foreign_gres);
    gres_release (&n->told_gres);
    free (n->name);
}

int node_read (struct exec *x, struct knode *n, const json_t *node)
{
    if (read_size (x, n, node) < 0 || read_labels (x, n, node) < 0)
        return -ENOMEM;
    read_state (x, n, node);
    return 0;
}
