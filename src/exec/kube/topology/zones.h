/* zones.h - NUMA zones of nodes (kube.numa)
 *
 * NodeResourceTopology objects come in, which agents on the nodes keep: zones.c watches
 * them, zoneobject.h reads one, zonerule.h and podprint.h say which part of it counts
 * beside the pods of the node. What is left in a node's zones goes to the broker,
 * together with the node (cluster/inventory.c).
 */
#pragma once

#include "exec/kube/core/state.h"

/* zones.c */
void zones_start (struct exec *x);
void zones_stop (struct exec *x);
void zones_tick (struct exec *x, double now);
void zones_pod_changed (struct exec *x, struct kpod *p, const json_t *pod);
/* Returns the number of zones, and the zones, of a node whose kubelet wants all of a pod
 * in one zone; else 0. */
size_t zones_of (const struct knode *n, const struct machine_zone **ret);
uint64_t zones_digest (const struct knode *n); /* of the zones */
/* Reports what is left in the zones, if it has changed since the last report, or
 * always. */
void zones_tell (struct exec *x, struct knode *n, bool always);
void zones_free (struct knode *n);
