/* podspec.h - applies a set of settings (podset.h) to the spec of a pod
 *
 * The spec itself, with the containers and volumes of a job, is made in objects.c.
 *
 * With `scheduler`, another scheduler binds the pods, as claims that wait for their
 * first consumer need it. The pods are made with a scheduling gate, which that scheduler
 * respects. To bind a pod we give it a required affinity to its node and remove the
 * gate, in one patch. Kubernetes allows this once, while the gate is there.
 */
#pragma once

#include "common/error.h"
#include "exec/exec.h"

#define PODSPEC_GATE "fluxq.io/node"

/* Changes the spec, and the container of the job in it, which has its resources, volumes
 * and volumeMounts already. 0 or -ENOMEM. */
int podspec_apply (const json_t *set, json_t *spec, json_t *container);
/* Adds labels and annotations of the user's template to the pods' metadata, except where
 * ours are. */
int podspec_name (const json_t *set, json_t *metadata);
bool podspec_is_placed_by_other (const json_t *set);
/* The merge patch that passes a pod to the other scheduler, for this node. A new
 * reference. */
json_t *podspec_place (const char *node);
/* Returns the settings of a job's pods from the present settings of the queue and the
 * job: a new set. Adds the volumes of the job's wishes to job->mounts. admit: NULL and an
 * error if a wish is not allowed. */
json_t *podspec_settle (const json_t *set, struct exec_job *job, bool admit,
                        struct error *err);
/* Checks whether a job may have pods like that. On the host's network a node has the
 * agent's port only once, so no two jobs of ours can share the node. 0 or -EINVAL. */
int podspec_check (const json_t *set, const struct jobspec *js, struct error *err);
