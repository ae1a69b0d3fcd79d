/* zoneobject.h - reads a NodeResourceTopology object (topology.node.k8s.io/v1alpha2)
 *
 *     struct zoneobject z;
 *     if (zoneobject_read (object, "nvidia.com/gpu", &z, &err) == 0 && z.single) ...
 *
 * Reads zones of type Node ("node-0", ...). Skips others (sockets, caches) and the
 * costs: the distance between zones does not matter to a pod in one zone. The kubelet's
 * policy and scope are attributes, in older objects the first of topologyPolicies. Only
 * single-numa-node restricts; both scopes are equal here, since one container of a job's
 * pod requests all that the pod requests. Pure: no input or output.
 * Source: github.com/k8stopologyawareschedwg/noderesourcetopology-api, v1alpha2.
 */
#pragma once

#include "match/machine/machine.h"

#include <jansson.h>
#include <stdbool.h>

#include "exec/kube/topology/podprint.h"

struct zoneobject {
    bool single; /* the kubelet takes a pod only if one zone has all that it requests */
    size_t n;    /* number of zones; ordered by id */
    struct machine_zone size[MACHINE_ZONES_MAX]; /* allocatable */
    struct machine_zone left[MACHINE_ZONES_MAX]; /* available; whole cores and MiB */
    bool has_cores, has_gpus, has_memory;        /* some zone names them */
    bool has_devices;                            /* or other extended resources */
    char print[PODPRINT_SIZE]; /* fingerprint of the pods that the agent knows, or "" */
    bool only_exclusive;       /* ... only of those with exclusive resources */
};

/* 0, or -EINVAL with the reason: it is no such object, or its zones are impossible (two
 * of one name, no quantity). If more is left than there is, all of it is left. */
int zoneobject_read (const json_t *object, const char *gpu_resource,
                     struct zoneobject *ret, struct error *err);
