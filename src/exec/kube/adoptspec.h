/* adoptspec.h - what others' Jobs and pods ask for, as a jobspec (RFC 14)
 *
 *     struct adoptspec_how how = { .gpu_resource = "nvidia.com/gpu", .fractional_cpu = true };
 *     json_t *js = adoptspec_of_job (job, &how, &err);      // NULL: err says why it cannot be
 *
 * A slot is a pod: its requests of CPU (one CPU, where it has none), memory, gpus and extended
 * resources, as a kubelet counts them (podsize.h). So many slots as pods run at once:
 * parallelism, no more than completions; from fluxq.io/min-parallelism on, where that is given.
 * With fluxq.io/one-pod-per-node each on a node of its own. The node selector is a constraint,
 * activeDeadlineSeconds the time limit. What the planner could not keep to is refused: affinity
 * and spreading, a node's name, scheduling gates of others, volumes and claims that only
 * kube-scheduler can bind where it is not to bind the pods.
 *
 * Pure. Anything may be in these objects but what the API server would not have taken.
 */
#ifndef FLUXQ_EXEC_KUBE_ADOPTSPEC_H
#define FLUXQ_EXEC_KUBE_ADOPTSPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define ADOPT_PODS_MAX 20000 /* of one job */

struct adoptspec_how {
    const char *gpu_resource;
    bool fractional_cpu; /* parts of CPUs can be planned; else they are rounded up */
};

/* job: a batch/v1 Job. A new reference. */
json_t *adoptspec_of_job (const json_t *job, const struct adoptspec_how *how,
                          struct error *err);
/* What the pods' node selectors, affinities and so on would have the planner do that it cannot:
 * 0, or -EINVAL and a line. spec: of a pod. */
int adoptspec_check_pod (const json_t *spec, struct error *err);
/* n pods, all like this one; name: of the group. */
json_t *adoptspec_of_pods (const json_t *pod, const char *namespace_, const char *name,
                           uint32_t n, const struct adoptspec_how *how,
                           struct error *err);

#endif
