/* groupconfig.h - kube.node-groups: nodes that do not exist, but could be made
 *
 *     node-groups:
 *     - name: spot
 *       max: 20                            # nodes of it that there can be at most
 *       labels: {pool: spot}               # by which they are known when they are there
 *       taints: [{key: spot, value: "true", effect: NoSchedule}]
 *       cpu: 16
 *       memory: 64Gi
 *       gpus: 0
 *       provision: request                 # or pods, none
 *       delay: 3m
 */
#ifndef FLUXQ_EXEC_KUBE_GROUPCONFIG_H
#define FLUXQ_EXEC_KUBE_GROUPCONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/json.h"
#include "common/yaml.h"

#define GROUP_NAME_MAX 30 /* characters: it is part of names and labels */

/* How those who make nodes are told. */
enum provision {
    PROVISION_NONE,    /* not at all: nodes come by themselves */
    PROVISION_REQUEST, /* by ProvisioningRequest objects */
    PROVISION_PODS,    /* by pods that find no node */
};

struct groupconfig {
    char *name;
    uint32_t min, max;       /* nodes of it there are always, and at most */
    json_t *labels, *taints; /* object of texts, array of core/v1 Taints */
    json_t *allocatable;     /* as in a Node's status */
    double delay;            /* seconds until one is there */
    enum provision provision;
    char *provision_class; /* PROVISION_REQUEST: its provisioningClassName */
    char *priority_class;  /* PROVISION_PODS: of those pods, or NULL */
};

struct groupconfigs {
    struct groupconfig *list;
    size_t n;
};

/* config: the mapping `kube`; gpu_resource: of that. 0 or -EINVAL with line and column; *ret is to be
 * released in any case. */
int groupconfig_read (const struct yaml_doc *doc, json_t *config,
                      const char *gpu_resource, struct groupconfigs *ret,
                      struct error *err);
void groupconfig_release (struct groupconfigs *g);
/* The first of which a node has all labels (an object of texts, or NULL); -1: none. */
int groupconfig_find (const struct groupconfigs *g, const json_t *labels);
/* Such a node, as a core/v1 Node that is ready: a new reference. */
json_t *groupconfig_node (const struct groupconfig *g);

#endif
