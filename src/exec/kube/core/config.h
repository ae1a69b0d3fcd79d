/* config.h - the `kube:` mapping of fluxq.yaml; the table in config.c and
 * doc/kubernetes.md have all keys
 */
#pragma once

#include "common/yaml.h"
#include "exec/kube/core/adoptconfig.h"
#include "exec/kube/core/groupconfig.h"
#include "exec/topology.h"

enum kube_numa { KUBE_NUMA_OFF, KUBE_NUMA_AUTO, KUBE_NUMA_ON };

struct kube_config {
    char *kubeconfig, *context; /* or NULL: the usual ones */
    char *namespace_;           /* or NULL: the context's, else "default" */
    char *image;                /* of jobs without --image, or NULL */
    char *admin_image;          /* of prolog and epilog; NULL: image */
    char *agent_image;          /* an image with the agent; NULL: a ConfigMap has it */
    char *pull_policy;          /* or NULL: Kubernetes' own default */
    char *gpu_resource;
    bool fractional_cpu;        /* jobs may request parts of CPUs */
    json_t *gres;               /* short names of resources, see gres.h; or NULL */
    struct topology topology;   /* levels by node labels */
    struct groupconfigs groups; /* nodes that can be made */
    struct adoptconfig adopt;   /* others' Jobs that become jobs */
    enum kube_numa numa;        /* zones from NodeResourceTopology objects, see zones.c */
    char *cluster_domain;       /* of the cluster's DNS */
    /* array of strings: keys of taints that announce the end of a node */
    json_t *notice_taints;
    /* array of strings: keys of labels that have the type of the GPUs */
    json_t *gpu_type_labels;
    json_t *pod_defaults;  /* for the pods of all queues, see exec/podset.h */
    double grace;          /* seconds until a job is lost whose node is not ready */
    double sweep_interval; /* seconds between two searches for objects of no job */
    /* the image from which MiniClusters get Flux; NULL: the operator's default */
    char *flux_image;
    bool flux_in_image; /* the job's own image has Flux */
    bool allow_root;
    bool user_policies; /* a NetworkPolicy for each user, see userpolicy.c */
    bool job_events; /* Events on our own Jobs, see jobevents.c */
    bool lease;      /* one broker at a time for the cluster id, see lease.h */
    bool restricted; /* pod security profile; false: baseline */

    /* the maker of pods: "auto" (or NULL), "broker" or "controller" */
    char *pods;
    double request_rate, request_burst; /* of the client: requests a second; burst */
};

/* config: the mapping, or NULL for the defaults. 0 or -EINVAL with line and column. */
int kube_config_read (const struct yaml_doc *doc, json_t *config, struct kube_config *ret,
                      struct error *err);
void kube_config_release (struct kube_config *c);
