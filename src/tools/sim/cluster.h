/* cluster.h - the machine that a SPEC describes
 *
 *     struct cluster c;
 *     rc = cluster_build ("4096x32c/4g/256Gi/r16+64x128c/1Ti", &c, &err);
 *     matcher_create (c.machine, policy);
 *     cluster_release (&c);
 *
 *     SPEC  = GROUP {"+" GROUP}
 *     GROUP = NODES "x" CORES "c" {"/" PART}
 *     PART  = GPUS "g"               of each node; none: 0
 *           | MEMORY                 of each node, as in Kubernetes: 256Gi, 512G; none: 0
 *           | "r" NODES-IN-A-RACK    none: the group's nodes are in no rack
 *
 * Parts come in any order, each at most once. Nodes are node1, node2, ... through all
 * groups; racks rack1, rack2, ..., and no rack has nodes of two groups.
 */
#pragma once

#include "match/machine/machine.h"

#define CLUSTER_NODES_MAX 1000000 /* total of all groups */
#define CLUSTER_GROUPS_MAX 64
#define CLUSTER_CORES_MAX 65536 /* of a node */
#define CLUSTER_GPUS_MAX 1024

struct cluster {
    struct machine *machine; /* owned */
    uint64_t nodes, cores, gpus;
    int64_t memory_mib;
};

/* 0; -EINVAL with the place ("character 5: ..."), -ENOMEM. O(nodes). */
int cluster_build (const char *spec, struct cluster *ret, struct error *err);
void cluster_release (struct cluster *c);
