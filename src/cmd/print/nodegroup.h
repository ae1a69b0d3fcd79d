/* nodegroup.h - sums over nodes of an answer (/v1/nodes), for a line of a table
 *
 *     struct node_group g = { .names = hostlist_create () };   // or NULL: no names
 *     node_group_add (&g, node);
 *     node_group_cells (&grid, &g);       // CORES(used/free/all), MEMORY(used/all), GPUS
 *     node_group_gres (&grid, &g);      // GRES(used/all), if .gres was json_object ()
 *     hostlist_destroy (g.names);
 */
#pragma once

#include "cmd/print/print.h"
#include "common/hostlist.h"

struct node_group {
    const char *state; /* of all of them, or NULL */
    size_t n;
    double cores[3], memory[2], gpus[2]; /* used, free, all; used, all */
    struct hostlist *names;              /* the caller's, or NULL */
    json_t *gres; /* {NAME: {"used": N, "count": N}}; the caller's, or NULL */
};

void node_group_add (struct node_group *g, const json_t *node);
/* Adds three cells. */
void node_group_cells (struct grid *grid, const struct node_group *g);
/* Whether any node of the answer has generic resources. */
bool nodes_have_gres (const json_t *nodes);
/* Adds one cell. */
void node_group_gres (struct grid *grid, const struct node_group *g);
