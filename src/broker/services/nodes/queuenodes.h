/* queuenodes.h - the nodes of a queue: a property of nodes, and a constraint of the jobs
 */
#pragma once

#include "broker/core/broker.h"

/* Whether queues select their nodes. */
bool queuenodes_select (const struct broker *b);
/* The match request for a job of the queue (a name, or NULL); more: another constraint,
 * or NULL. Returns and fails as match_request_create() does. */
struct match_request *queuenodes_request (struct broker *b, const struct jobspec *js,
                                          const char *queue, const json_t *more,
                                          struct error *err);
/* By a node's properties: whether the queue has the node, and the names of all queues
 * that have it (a new reference). */
bool queuenodes_has_node (const struct broker *b, const char *const *properties,
                          const char *queue);
json_t *queuenodes_of_node (const struct broker *b, const char *const *properties);
