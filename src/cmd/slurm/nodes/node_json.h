/* node_json.h - nodes, partitions, reservations and lines of sinfo as JSON, in the shape of
 * Slurm's data_parser v0.0.41
 *
 * scontrol --json show and sinfo --json print them. Members that fluxq has no value for are
 * those of a node without the value.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/nodes/sinfo_lines.h"

/* node: of GET /v1/nodes. */
json_t *node_json (const json_t *node);
/* queue: of GET /v1/queues, with the sums of its nodes: nodelist, nnodes, cpus, tres. */
json_t *partition_json (const json_t *queue);
/* o: of GET /v1/reservations, with cpus. */
json_t *reservation_json (const json_t *o);
json_t *sinfo_line_json (const struct sinfo_line *line);
