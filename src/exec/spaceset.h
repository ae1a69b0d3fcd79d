/* spaceset.h - what a queue says of namespaces that are made for it, as a part of podset.h
 *
 *     namespace: jobs-%u             # see namespaces.h
 *     namespace-create: true         # on first use; with it come:
 *     namespace-labels: {team: hpc}
 *     namespace-role: fluxq-runner   # ClusterRole that the broker is bound to there
 *     quota: {hard: {pods: 100}}     # the spec of a ResourceQuota
 *     limits: [{type: Container, default: {cpu: 1}}]   # of a LimitRange
 *     network-policy: true           # agents and API server; false: none; or a list of specs
 *
 * Shapes are checked here, what is in them by Kubernetes.
 */
#ifndef FLUXQ_EXEC_SPACESET_H
#define FLUXQ_EXEC_SPACESET_H

#include <jansson.h>

#include "common/error.h"

#define SPACESET_POLICIES_MAX 32

/* Of the value of one of these keys: 0, or -EINVAL and what is wrong. -ENOENT: another key. */
int spaceset_check (const char *key, const json_t *value, struct error *err);

#endif
