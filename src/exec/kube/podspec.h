/* podspec.h - what a set of settings (podset.h) makes of the spec of a pod
 *
 * With `scheduler` another scheduler binds the pods, as claims that wait for their first
 * consumer want it. They are made with a scheduling gate, which keeps them from it; where we
 * would bind a pod we give it a required affinity to that node and take the gate away, in one
 * patch. That is once possible, as long as the gate is there.
 */
#ifndef FLUXQ_EXEC_KUBE_PODSPEC_H
#define FLUXQ_EXEC_KUBE_PODSPEC_H

#include <stdbool.h>

#include "common/error.h"
#include "exec/exec.h"

#define PODSPEC_GATE "fluxq.io/node"

/* Into the spec, and the container of the job in it, which has its resources, volumes and
 * volumeMounts already. 0 or -ENOMEM. */
int podspec_apply (const json_t *set, json_t *spec, json_t *container);
/* Labels and annotations of the user's template into the pods' metadata, where ours are not. */
int podspec_name (const json_t *set, json_t *metadata);
bool podspec_is_placed_by_other (const json_t *set);
/* The merge patch that gives a pod to the other scheduler, for this node. A new reference. */
json_t *podspec_place (const char *node);
/* A job's pods, as its queue and it say now: a new set; the volumes that it wishes are among
 * job->mounts from then on. admit: only if it may have what it wishes, else NULL and why. */
json_t *podspec_settle (const json_t *set, struct exec_job *job, bool admit,
                        struct error *err);
/* May a job have pods like that? On the host's network a node's port of the agent is there
 * once, so no two jobs of ours can share the node. 0 or -EINVAL. */
int podspec_check (const json_t *set, const struct jobspec *js, struct error *err);

#endif
