/* admit.h - whether a node is one of a queue's
 *
 * It is when it has the labels of the queue's node-selector, no taint but what the queue
 * tolerates, and of each extended resource as much as each of its pods asks for. A taint that
 * Kubernetes sets for a node's condition (its memory is short, say) drains it.
 */
#ifndef FLUXQ_EXEC_KUBE_ADMIT_H
#define FLUXQ_EXEC_KUBE_ADMIT_H

#include <jansson.h>
#include <stdbool.h>

#define ADMIT_REASON 128

enum admit { ADMIT_NO, ADMIT_DRAINED, ADMIT_YES };

/* set: see podset.h, or NULL. notices: keys of taints that say nothing here, see
 * admit_is_notice(). node: a core/v1 Node. reason: of ADMIT_DRAINED. Cordons and readiness
 * are not looked at. */
enum admit admit_node (const json_t *set, const json_t *notices, const json_t *node,
                       char reason[ADMIT_REASON]);
/* The best of what it is for the queues (sets by name). names: room for as many texts as there
 * are queues, all NULL: those of the queues for which it is that, as properties; the caller's. */
enum admit admit_queues (const json_t *queues, const json_t *notices, const json_t *node,
                         char **names, char reason[ADMIT_REASON]);
/* Whether the taint announces that its node will go; notices: an array of keys, or NULL. */
bool admit_is_notice (const json_t *notices, const json_t *taint);
/* What decides about a node: a whole one is 10 kB and more, mostly names of images. A new
 * reference. */
json_t *admit_extract (const json_t *node);

#endif
