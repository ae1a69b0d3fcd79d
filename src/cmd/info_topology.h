/* info_topology.h - places of nodes as a tree: fluxq-info --topology */
#ifndef FLUXQ_CMD_INFO_TOPOLOGY_H
#define FLUXQ_CMD_INFO_TOPOLOGY_H

#include "common/json.h"

/* nodes: the list of /v1/nodes. To stdout: a line for each place, indented below the outer
 * one, with what is in it in all and the nodes directly in it; nodes without a place last. */
void show_topology (const json_t *nodes);

#endif
