/* graph_private.h - the graph's inside, for the matcher only
 *
 *     const struct graph_node *n = g->nodes[i];       // or NULL: that index is vacant
 *     struct room room = graph_room_now (n);
 *     graph_book (g, i, cores, gpus, memory, false);  // units that room said are free
 */
#ifndef FLUXQ_MATCH_GRAPH_PRIVATE_H
#define FLUXQ_MATCH_GRAPH_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/bitmap.h"
#include "match/graph.h"
#include "match/summary.h"

struct graph_rack {
    char *name;
    uint32_t *nodes; /* indexes, ascending */
    size_t nnodes, alloc;
    UT_hash_handle hh;
};

struct graph_node {
    char *name;
    char *reason;
    char **properties; /* NULL-terminated */
    struct graph_rack *rack;
    enum graph_node_state state;
    int index;
    bool leaving;
    bool exclusive; /* booked as a whole */
    uint32_t njobs;
    uint32_t cores, cores_used, cores_foreign;
    uint32_t gpus, gpus_used, gpus_foreign;
    int64_t memory, memory_used, memory_foreign;
    struct bitmap
        *core_map; /* booked ids; never smaller than cores or than a booked id */
    struct bitmap *gpu_map;
    UT_hash_handle hh;
};

/* Sums over nodes that take jobs (up, not leaving). */
struct graph_totals {
    int64_t up, idle;            /* nodes; idle: nothing is booked there */
    int64_t cores, gpus, memory; /* free */
};

struct graph {
    char *name;
    struct graph_node **nodes; /* by index, NULL where vacant */
    size_t size, alloc;        /* indexes 0..size-1 were given */
    size_t count;              /* nodes that exist */
    struct graph_node *by_name;
    struct graph_rack **racks; /* in the order they were first seen */
    size_t nracks, racks_alloc;
    struct graph_rack *racks_by_name;
    struct summary *summary;
    struct graph_totals totals;
    uint64_t generation; /* see match_generation() */
    uint64_t layout; /* bumped when nodes come, go or change size, rack or properties */
};

/* What a node can give; cores < 0: nothing at all. */
struct room {
    int64_t cores, gpus, memory;
};

struct room graph_room_now (const struct graph_node *n);
/* When it is up and empty. */
struct room graph_room_ever (const struct graph_node *n);
bool graph_node_has_property (const struct graph_node *n, const char *property);

/* Book or give back units of node `index`. Ids must be free, or booked, and inside the
 * maps. */
void graph_book (struct graph *g, int index, const struct idset *cores,
                 const struct idset *gpus, int64_t memory, bool exclusive);
/* The node is gone afterwards when it was leaving and this was the last booking. */
void graph_unbook (struct graph *g, int index, const struct idset *cores,
                   const struct idset *gpus, int64_t memory);

#endif
