/* info_topology.h - the nodes' places as a tree: fluxq-info --topology */
#pragma once

#include "common/json.h"

/* nodes: the list of /v1/nodes. Prints a line for each place, indented below the outer
 * place, with its totals and the nodes directly in it; nodes without a place come
 * last. */
void show_topology (const json_t *nodes);
