/* config.h - the `kube:` mapping of fluxq.yaml; every key stands in the table of config.c
 * and in doc/kubernetes.md
 */
#ifndef FLUXQ_EXEC_KUBE_CONFIG_H
#define FLUXQ_EXEC_KUBE_CONFIG_H

#include <stdbool.h>

#include "common/json.h"
#include "common/yaml.h"
#include "exec/kube/adoptconfig.h"
#include "exec/kube/groupconfig.h"
#include "exec/topology.h"

enum kube_numa { KUBE_NUMA_OFF, KUBE_NUMA_AUTO, KUBE_NUMA_ON };

struct kube_config {
    char *kubeconfig, *context; /* or NULL: the usual ones */
    char *namespace_;           /* or NULL: the context's, else "default" */
    char *image;                /* of jobs without --image, or NULL */
    char *admin_image;          /* of prolog and epilog; NULL: image */
    char *agent_image;          /* the agent is in it; NULL: it comes by a ConfigMap */
    char *pull_policy;          /* or NULL: Kubernetes' own default */
    char *gpu_resource;
    bool fractional_cpu;        /* parts of CPUs may be asked for */
    json_t *gres;               /* short names of resources, see gres.h; or NULL */
    struct topology topology;   /* levels by node labels */
    struct groupconfigs groups; /* nodes that could be made */
    struct adoptconfig adopt;   /* Jobs of others that become jobs */
    enum kube_numa numa;        /* zones by NodeResourceTopology objects, see zones.c */
    char *cluster_domain;       /* of the cluster's DNS */
    json_t *notice_taints; /* array of strings: keys of taints that say a node will go */
    json_t *pod_defaults;  /* of queues that say nothing else, see exec/podset.h */
    double grace;          /* seconds that a job's node may be not ready */
    double sweep_interval; /* seconds between two looks for objects of no job */
    char *flux_image; /* from which MiniClusters get Flux; NULL: the operator's default */
    bool flux_in_image; /* their own image has it */
    bool allow_root;
    bool user_policies; /* a NetworkPolicy for each user, see userpolicy.c */
    bool job_events; /* on our own Jobs, see jobevents.c */
    bool lease;      /* one broker at a time for the cluster id, see lease.h */
    bool restricted; /* pod security profile; false: baseline */

    char *pods; /* who makes them: "auto" (NULL too), "broker" or "controller" */
    double request_rate, request_burst; /* of the client: a second; at once */
};

/* config: the mapping, or NULL for the defaults. 0 or -EINVAL with line and column. */
int kube_config_read (const struct yaml_doc *doc, json_t *config, struct kube_config *ret,
                      struct error *err);
void kube_config_release (struct kube_config *c);

#endif
