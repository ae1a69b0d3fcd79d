/* spaceset.h - a queue's settings for namespaces that are made for it, a part of podset.h
 *
 *     namespace: jobs-%u             # see namespaces.h
 *     namespace-create: true         # on first use, together with:
 *     namespace-labels: {team: hpc}
 *     namespace-role: fluxq-runner   # ClusterRole that the broker is bound to there
 *     quota: {hard: {pods: 100}}     # the spec of a ResourceQuota
 *     limits: [{type: Container, default: {cpu: 1}}]   # of a LimitRange
 *     network-policy: true           # agents and API server; false: none; or a list of specs
 *
 * fluxq checks the types, Kubernetes the contents.
 */
#pragma once

#include <jansson.h>

#include "common/error.h"

#define SPACESET_POLICIES_MAX 32

/* Checks the value of one of these keys: 0, or -EINVAL and the error. -ENOENT: another
 * key. */
int spaceset_check (const char *key, const json_t *value, struct error *err);
