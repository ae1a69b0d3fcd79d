/* groupconfig.h - kube.node-groups: nodes that do not exist but can be made
 *
 *     node-groups:
 *     - name: spot
 *       max: 20                            # largest number of its nodes
 *       labels: {pool: spot}               # labels of its nodes, once they exist
 *       taints: [{key: spot, value: "true", effect: NoSchedule}]
 *       cpu: 16
 *       memory: 64Gi
 *       gpus: 0
 *       provision: request                 # or pods, none
 *       delay: 3m
 */
#pragma once

#include "common/yaml.h"

#define GROUP_NAME_MAX 30 /* characters; the name is part of names and labels */

/* How the executor asks an autoscaler for nodes. */
enum provision {
    PROVISION_NONE,    /* not at all: nodes come by themselves */
    PROVISION_REQUEST, /* with ProvisioningRequest objects */
    PROVISION_PODS,    /* with pods that find no node */
};

struct groupconfig {
    char *name;
    uint32_t min, max;       /* smallest and largest number of its nodes */
    json_t *labels, *taints; /* object of texts, array of core/v1 Taints */
    json_t *allocatable;     /* as in a Node's status */
    double delay;            /* seconds until a new node is there */
    enum provision provision;
    char *provision_class; /* PROVISION_REQUEST: its provisioningClassName */
    char *priority_class;  /* PROVISION_PODS: priority class of these pods, or NULL */
};

struct groupconfigs {
    struct groupconfig *list;
    size_t n;
};

/* config: the mapping `kube`; gpu_resource: from there. 0 or -EINVAL with line and
 * column; the caller releases *ret in any case. */
int groupconfig_read (const struct yaml_doc *doc, json_t *config,
                      const char *gpu_resource, struct groupconfigs *ret,
                      struct error *err);
void groupconfig_release (struct groupconfigs *g);
/* Returns the first group whose labels the node has (labels: an object of texts, or
 * NULL); -1: none. */
int groupconfig_find (const struct groupconfigs *g, const json_t *labels);
/* Returns a node of the group, as a core/v1 Node that is ready: a new reference. */
json_t *groupconfig_node (const struct groupconfig *g);
