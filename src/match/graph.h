/* graph.h - the machine as a graph: cluster, optional racks, nodes, and what nodes have
 *
 *     struct graph *g = graph_create ("cluster");
 *     struct graph_node_spec spec = { .name = "node1", .cores = 8, .memory_mib = 16384,
 *                                     .gpus = 1, .rack = "r1" };
 *     int index = graph_node_add (g, &spec, &err);      // >= 0: the node's rank in R
 *     graph_node_set_state (g, index, GRAPH_NODE_DRAINED, "disk fails");
 *
 * Containment: cluster0 / [rack] / node / core[ids], gpu[ids], memory[MiB]. Children of
 * one kind are one group with an idset, not objects. A node's index is stable as long as
 * the node exists and names it in R (RFC 20 "rank"); indexes of removed nodes are given
 * again only after nothing is booked there. No input or output, no clock, no threads;
 * threads may read while none writes. Every change costs O(log nodes), see summary.h.
 */
#ifndef FLUXQ_MATCH_GRAPH_H
#define FLUXQ_MATCH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/idset.h"

struct graph;

enum graph_node_state {
    GRAPH_NODE_UP,      /* takes new jobs */
    GRAPH_NODE_DRAINED, /* by an operator (or cordoned): no new jobs, others go on */
    GRAPH_NODE_DOWN,    /* not ready: no new jobs, its executor tells about others */
};
const char *
graph_node_state_name (enum graph_node_state state); /* "up" "drained" "down" */

struct graph_node_spec {
    const char *name; /* unique, a host name of 1 to 253 characters */
    const char *rack; /* or NULL: directly below the cluster */
    uint32_t cores;   /* ids 0 .. cores-1; at most 65,536 */
    uint32_t gpus;    /* ids 0 .. gpus-1; at most 1,024 */
    int64_t memory_mib;
    const char *const
        *properties; /* NULL-terminated, or NULL: names for RFC 31 constraints */
};

struct graph *graph_create (const char *cluster_name);
void graph_destroy (struct graph *g);
/* Add a node: its index, or -EEXIST, -EINVAL, -ENOMEM. Copies what it needs. A node
 * that is leaving (see graph_node_remove) comes back, with its bookings and its old
 * index, as UP. */
int graph_node_add (struct graph *g, const struct graph_node_spec *spec,
                    struct error *err);
/* Change size, rack or properties of a known node (by name). Shrinking below what is
 * booked is allowed: the excess is only gone when its jobs are. Index or -ENOENT,
 * -EINVAL, -ENOMEM. */
int graph_node_update (struct graph *g, const struct graph_node_spec *spec,
                       struct error *err);
/* The node leaves: no new jobs; it disappears when nothing is booked on it any more.
 * Until then it is found and shown as down and leaving. 0 or -ENOENT. */
int graph_node_remove (struct graph *g, int index);
/* reason: for people, copied, or NULL. 0, -ENOENT, -ENOMEM. */
int graph_node_set_state (struct graph *g, int index, enum graph_node_state state,
                          const char *reason);
/* What somebody else uses there, which is not ours to give; absolute amounts, replaced
 * at each call. cores counts whole cores, rounded up by the caller. 0 or -ENOENT. */
int graph_node_set_foreign (struct graph *g, int index, uint32_t cores, uint32_t gpus,
                            int64_t memory_mib);

const char *graph_name (const struct graph *g);
size_t graph_node_count (const struct graph *g); /* also those that are leaving */
int graph_node_find (const struct graph *g, const char *name); /* index or -ENOENT */
int graph_node_next (const struct graph *g, int after); /* -1 starts; -1 at the end */

struct graph_node_info { /* strings are borrowed until the graph changes */
    const char *name;
    const char *rack;              /* or NULL */
    const char *reason;            /* of the state, or NULL */
    const char *const *properties; /* NULL-terminated, never NULL */
    enum graph_node_state state;
    bool leaving; /* removed, but jobs are still booked there */
    /* free: what a job could get now, so 0 on a node that takes none. used may be more
     * than there is after a node shrank. */
    uint32_t cores, cores_used, cores_foreign, cores_free;
    uint32_t gpus, gpus_used, gpus_foreign, gpus_free;
    int64_t memory_mib, memory_used, memory_foreign, memory_free;
    uint32_t njobs; /* bookings on it */
    bool exclusive; /* booked as a whole */
};
int graph_node_info (const struct graph *g, int index, struct graph_node_info *ret);

#endif
