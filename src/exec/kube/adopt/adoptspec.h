/* adoptspec.h - the requests of others' Jobs and pods, as a jobspec (RFC 14)
 *
 *     struct adoptspec_how how = { .gpu_resource = "nvidia.com/gpu", .fractional_cpu = true };
 *     json_t *js = adoptspec_of_job (job, &how, &err);      // NULL: err has the reason
 *
 * A slot is a pod: its requests of CPU (one CPU if it has none), memory, gpus and
 * extended resources, as a kubelet counts them (podsize.h). The number of slots is the
 * number of pods that run at once: parallelism, at most completions; at least
 * fluxq.io/min-parallelism, if given. fluxq.io/one-pod-per-node gives each pod a node of
 * its own. The node selector becomes a constraint, activeDeadlineSeconds the time limit.
 * Settings that the planner cannot keep are refused: affinity and spreading, a node's
 * name, scheduling gates of others, and, where kube-scheduler does not bind the pods,
 * volumes and claims that only it can bind.
 *
 * Pure. The objects may have any content that the API server accepts.
 */
#pragma once

#include <jansson.h>

#include "common/error.h"

#define ADOPT_PODS_MAX 20000 /* in one job */

struct adoptspec_how {
    const char *gpu_resource;
    bool fractional_cpu; /* the planner can divide CPUs; else they are rounded up */
};

/* job: a batch/v1 Job. A new reference. */
json_t *adoptspec_of_job (const json_t *job, const struct adoptspec_how *how,
                          struct error *err);
/* Checks for settings (affinities and so on) that the planner cannot keep: 0, or -EINVAL
 * and a line. spec: of a pod. */
int adoptspec_check_pod (const json_t *spec, struct error *err);
/* n pods, all like this one; name: of the group. */
json_t *adoptspec_of_pods (const json_t *pod, const char *namespace_, const char *name,
                           uint32_t n, const struct adoptspec_how *how,
                           struct error *err);
