/* needobject.h - the objects that tell an autoscaler of missing nodes, as JSON
 *
 * All are pure functions of their arguments; new references, NULL without memory.
 *
 *     fluxq-need-CLUSTER-JOB-GROUP-TRY      PodTemplate and ProvisioningRequest
 *     fluxq-need-CLUSTER-JOB-GROUP-TRY-I    pods that find no node
 *
 * None has an owner or the label of an attempt, because their job is pending. Each pod
 * selects nodes with the labels of the group and requests the amounts that the job would
 * take of one node. No two of the pods can share a node, so the autoscaler makes a node
 * for each pod. Such pods name a scheduler that does not exist, so that nobody ever
 * places them. The executor itself writes the condition of a scheduler without a fitting
 * node (PodScheduled: False, Unschedulable): autoscalers look for it, whoever wrote it.
 */
#pragma once

#include "exec/exec.h"
#include "exec/kube/core/groupconfig.h"

#define NEED_NAME_MAX 112
#define LABEL_NEED "fluxq.io/need"
/* Annotations of Kubernetes on pods that use nodes made for them. */
#define NEED_CONSUMES "autoscaling.x-k8s.io/consume-provisioning-request"
#define NEED_CLASS "autoscaling.x-k8s.io/provisioning-class-name"

struct need_source {
    const struct groupconfig *group;
    const char *cluster, *namespace_, *gpu_resource;
    const char *image; /* of pods that never run */
    uint64_t job;
    unsigned attempt; /* number of the attempt to get these nodes */
    uint32_t nodes, cores, gpus;
    int64_t memory_mib;
};

void need_name (char ret[NEED_NAME_MAX], const struct need_source *src);
/* Parses the metadata of an object of any kind. 0: it is one of our objects for the need
 * of a job, which is returned. -EINVAL: it is not. */
int need_owner (const json_t *meta, const char *cluster, uint64_t *ret_job,
                char group[GROUP_NAME_MAX + 1], unsigned *ret_attempt);

json_t *need_template (const struct need_source *src);
json_t *need_request (const struct need_source *src);
json_t *need_pod (const struct need_source *src, uint32_t i);
/* A patch of the status of such a pod. */
json_t *need_unschedulable (double now);

/* The meaning of a ProvisioningRequest's conditions. */
enum need_phase {
    NEED_ASKED,       /* none yet, or accepted */
    NEED_PROVISIONED, /* the nodes are there, or will be in a moment */
    NEED_REFUSED,     /* failed, expired or revoked: ask again */
};
/* text: the message for the user, one line of printable characters, or "". */
enum need_phase need_conditions (const json_t *request, char text[EXEC_NEED_TEXT]);
/* Returns the number of nodes that it requests; 0: unknown. */
uint32_t need_count (const json_t *request);
/* Seconds until a need refused n times, >= 1, is requested again. */
double need_backoff (double delay, unsigned n);
