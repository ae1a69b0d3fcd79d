/* admit.h - whether a node belongs to a queue
 *
 * A node belongs to a queue if it has the labels of the queue's node-selector, no taint
 * but those that the queue tolerates, and of each extended resource the amount that each
 * of the queue's pods requests. A taint that Kubernetes sets for a node's condition
 * (short of memory, say) drains the node.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define ADMIT_REASON 128

enum admit { ADMIT_NO, ADMIT_DRAINED, ADMIT_YES };

/* set: see podset.h, or NULL. notices: keys of taints that do not count here, see
 * admit_is_notice(). node: a core/v1 Node. reason: for ADMIT_DRAINED. Cordons and
 * readiness are ignored. */
enum admit admit_node (const json_t *set, const json_t *notices, const json_t *node,
                       char reason[ADMIT_REASON]);
/* Returns the best result over all queues (sets by name). names: room for a text for each
 * queue, all NULL; gets the properties of the queues with that result; the caller's. */
enum admit admit_queues (const json_t *queues, const json_t *notices, const json_t *node,
                         char **names, char reason[ADMIT_REASON]);
/* Whether the taint announces the removal of its node; notices: an array of keys, or
 * NULL. */
bool admit_is_notice (const json_t *notices, const json_t *taint);
/* Extracts the fields of a node that matter here: a whole node is 10 kB and more, mostly
 * names of images. A new reference. */
json_t *admit_extract (const json_t *node);
