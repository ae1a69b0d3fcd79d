/* groups.h - node groups: how many nodes of each are there, so how many could still be made
 *
 * A node is one of a group by its labels, and counts from the first time on at which it was
 * ready until it is deleted: before that it is one of those that are being made.
 */
#ifndef FLUXQ_EXEC_KUBE_GROUPS_H
#define FLUXQ_EXEC_KUBE_GROUPS_H

#include "exec/kube/private.h"

int groups_start (struct exec *x); /* -ENOMEM */
void groups_stop (struct exec *x);
/* The node is new, or has changed; it has been read. */
void groups_see (struct exec *x, struct knode *n, const json_t *node);
void groups_lose (struct exec *x, struct knode *n); /* it is deleted */
void groups_queues_changed (struct exec *x);        /* who may have such nodes? */
void groups_tell (struct exec *x); /* the broker, if something has changed */
/* Nodes that it is said to have always, and has not. */
uint32_t groups_below_min (const struct exec *x, size_t group);

#endif
