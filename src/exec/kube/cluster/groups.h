/* groups.h - node groups: counts the nodes of each group, and those that can still be
 * made
 *
 * Labels tell a node's group. A node counts from the first time that it is ready until
 * it is deleted: before that it is one of those being made.
 */
#pragma once

#include "exec/kube/core/state.h"

int groups_start (struct exec *x); /* -ENOMEM */
void groups_stop (struct exec *x);
/* The node is new, or has changed; it has been read. */
void groups_see (struct exec *x, struct knode *n, const json_t *node);
void groups_lose (struct exec *x, struct knode *n); /* it is deleted */
void groups_queues_changed (struct exec *x);        /* finds their queues again */
void groups_tell (struct exec *x); /* tells the broker if something has changed */
/* The number of nodes that the group lacks to its minimum, which comes by itself. */
uint32_t groups_below_min (const struct exec *x, size_t group);
