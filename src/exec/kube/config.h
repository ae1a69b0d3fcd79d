/* config.h - the `kube:` mapping of fluxq.yaml; every key stands in the table of config.c
 * and in doc/kubernetes.md
 */
#ifndef FLUXQ_EXEC_KUBE_CONFIG_H
#define FLUXQ_EXEC_KUBE_CONFIG_H

#include <stdbool.h>

#include "common/json.h"
#include "common/yaml.h"
#include "exec/topology.h"

struct kube_config {
    char *kubeconfig, *context; /* or NULL: the usual ones */
    char *namespace_;           /* or NULL: the context's, else "default" */
    char *image;                /* of jobs without --image, or NULL */
    char *admin_image;          /* of prolog and epilog; NULL: image */
    char *agent_image;          /* the agent is in it; NULL: it comes by a ConfigMap */
    char *pull_policy;          /* or NULL: Kubernetes' own default */
    char *gpu_resource, *service_account;
    struct topology topology; /* levels by node labels */
    char *cluster_domain;     /* of the cluster's DNS */
    json_t *node_selector;    /* object of strings or NULL */
    json_t *tolerations;      /* array or NULL */
    json_t *pull_secrets;     /* array of strings or NULL */
    double grace;             /* seconds that the node of rank 0 may be not ready */
    bool allow_root;
    bool user_entry; /* pods have a passwd with the user, see userfiles.h */
    bool lease;      /* one broker at a time for the cluster id, see lease.h */
    bool restricted; /* pod security profile; false: baseline */

    char *pods; /* who makes them: "auto" (NULL too), "broker" or "controller" */
    double request_rate, request_burst; /* of the client: a second; at once */
};

/* config: the mapping, or NULL for the defaults. 0 or -EINVAL with line and column. */
int kube_config_read (const struct yaml_doc *doc, json_t *config, struct kube_config *ret,
                      struct error *err);
void kube_config_release (struct kube_config *c);

/* Whether the pods' tolerations (c->tolerations) cover the taint (core/v1 Taint). */
bool kube_config_tolerates (const struct kube_config *c, const json_t *taint);

#endif
