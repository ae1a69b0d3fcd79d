/* cluster.h - the nodes and pods of the cluster, and what is free
 *
 * Two watches come in: nodes (inventory.c; nodeinfo.c reads one, admit.h says which
 * queues may use it) and pods (pods.c). A pod goes to its job, or is counted as foreign
 * on its node. Once a turn, inventory_flush() reports changed nodes, foreign usage and
 * what can still be made (groups.h) to the broker. News of pods goes to higher rooms by
 * the hooks of core/state.h.
 */
#pragma once

#include "exec/kube/core/state.h"

/* inventory.c */
int inventory_start (struct exec *x, struct error *err);
void inventory_stop (struct exec *x);
void inventory_flush (struct exec *x); /* reports changes to the broker */
/* x->queues has changed: finds the queues of each node again. */
void inventory_queues_changed (struct exec *x);
/* See exec.h. */
int inventory_amounts (struct exec *x, const char *node, struct exec_amounts *all,
                       struct exec_amounts *foreign);

/* nodeinfo.c: reads a v1 Node. 0 or -ENOMEM. */
int node_read (struct exec *x, struct knode *n, const json_t *node);
void node_release (struct knode *n); /* frees what the node holds */

/* pods.c */
int pods_start (struct exec *x, struct error *err);
void pods_stop (struct exec *x);
void pods_adopt (struct kjob *k); /* pods that exist already become the job's */
void pods_abandon (struct kjob *k);
/* Counts the pod again after its owner has changed. */
void pods_count_again (struct exec *x, struct kpod *p);
/* After the sweep: counts pods that belong to no job as foreign. */
void pods_strangers (struct exec *x);
