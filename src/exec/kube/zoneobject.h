/* zoneobject.h - what a NodeResourceTopology object (topology.node.k8s.io/v1alpha2) says
 *
 *     struct zoneobject z;
 *     if (zoneobject_read (object, "nvidia.com/gpu", &z, &err) == 0 && z.single) ...
 *
 * Zones are those of type Node ("node-0", ...); others (sockets, caches) are passed over, and
 * so are the costs: how far one zone is from the other matters to nobody who gets one. The
 * kubelet's policy and scope are attributes, in older objects the first of topologyPolicies. Only
 * single-numa-node restricts; both scopes come to the same here, as one container of a
 * job's pod asks for all that the pod asks for. Pure: no input or output.
 * Source: github.com/k8stopologyawareschedwg/noderesourcetopology-api, v1alpha2.
 */
#ifndef FLUXQ_EXEC_KUBE_ZONEOBJECT_H
#define FLUXQ_EXEC_KUBE_ZONEOBJECT_H

#include "match/machine.h"

#include <jansson.h>
#include <stdbool.h>

#include "exec/kube/podprint.h"

struct zoneobject {
    bool single; /* the kubelet takes a pod only if one zone has all it asks for */
    size_t n;    /* zones; in the order of their ids */
    struct machine_zone size[MACHINE_ZONES_MAX]; /* allocatable */
    struct machine_zone left[MACHINE_ZONES_MAX]; /* available; whole cores and MiB */
    bool has_cores, has_gpus, has_memory;        /* some zone names them */
    bool has_devices;                            /* or other extended resources */
    char print[PODPRINT_SIZE]; /* of the pods that it knows, "": it does not say */
    bool only_exclusive;       /* ... of those that have something for themselves alone */
};

/* 0, or -EINVAL with the reason: it is no such object, or its zones cannot be (two of one
 * name, no quantity). More left than there is counts as all of it. */
int zoneobject_read (const json_t *object, const char *gpu_resource,
                     struct zoneobject *ret, struct error *err);

#endif
