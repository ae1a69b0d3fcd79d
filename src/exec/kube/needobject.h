/* needobject.h - the objects by which an autoscaler is told that nodes are lacking, as JSON
 *
 * All are pure functions of their arguments; new references, NULL without memory.
 *
 *     fluxq-need-CLUSTER-JOB-GROUP-TRY      PodTemplate and ProvisioningRequest
 *     fluxq-need-CLUSTER-JOB-GROUP-TRY-I    pods that find no node
 *
 * None has an owner or the label of an attempt: they are of a job that waits. A pod has the
 * labels of the group's nodes as its selector, asks for what the job would take of one, and no
 * two of them want the same node: so as many nodes are made as there are pods. Such pods name a
 * scheduler that is none, so that nobody ever places them; and what a scheduler would say of them
 * (PodScheduled: False, Unschedulable) we say ourselves: that is what autoscalers look for,
 * whoever says it.
 */
#ifndef FLUXQ_EXEC_KUBE_NEEDOBJECT_H
#define FLUXQ_EXEC_KUBE_NEEDOBJECT_H

#include "exec/exec.h"
#include "exec/kube/groupconfig.h"

#define NEED_NAME_MAX 112
#define LABEL_NEED "fluxq.io/need"
/* What a job's pods say who use nodes that were made for them, of Kubernetes. */
#define NEED_CONSUMES "autoscaling.x-k8s.io/consume-provisioning-request"
#define NEED_CLASS "autoscaling.x-k8s.io/provisioning-class-name"

struct need_source {
    const struct groupconfig *group;
    const char *cluster, *namespace_, *gpu_resource;
    const char *image; /* of pods that never run */
    uint64_t job;
    unsigned attempt; /* to get these nodes */
    uint32_t nodes, cores, gpus;
    int64_t memory_mib;
};

void need_name (char ret[NEED_NAME_MAX], const struct need_source *src);
/* The name, if these labels and name (of whatever kind) are such as we give to what is needed by
 * a job: 0, and whose it is. -EINVAL: they are not. */
int need_owner (const json_t *meta, const char *cluster, uint64_t *ret_job,
                char group[GROUP_NAME_MAX + 1], unsigned *ret_attempt);

json_t *need_template (const struct need_source *src);
json_t *need_request (const struct need_source *src);
json_t *need_pod (const struct need_source *src, uint32_t i);
/* A patch of such a pod's status. */
json_t *need_unschedulable (double now);

/* What a ProvisioningRequest's conditions say. */
enum need_phase {
    NEED_ASKED,       /* nothing yet, or that it is accepted */
    NEED_PROVISIONED, /* the nodes are there, or will be in a moment */
    NEED_REFUSED,     /* failed, expired or revoked: to be asked again */
};
/* text: what is to be told of it, one line of printable characters, or "". */
enum need_phase need_conditions (const json_t *request, char text[EXEC_NEED_TEXT]);
/* How many nodes it asks for; 0: that is not to be seen. */
uint32_t need_count (const json_t *request);
/* Seconds until one that was refused n times, >= 1, is asked for again. */
double need_backoff (double delay, unsigned n);

#endif
