/* machine_private.h - the graph's inside, for the matcher only
 *
 *     const struct machine_node *n = g->nodes[i];       // or NULL: that index is vacant
 *     struct room room = machine_room_now (n);
 *     machine_book (g, i, cores, gpus, memory, false);  // units that room said are free
 */
#ifndef FLUXQ_MATCH_MACHINE_PRIVATE_H
#define FLUXQ_MATCH_MACHINE_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/bitmap.h"
#include "match/machine.h"
#include "match/summary.h"

struct machine_rack {
    char *name;
    uint32_t *nodes; /* indexes, ascending */
    size_t nnodes, alloc;
    UT_hash_handle hh;
};

struct machine_node {
    char *name;
    char *reason;
    char **properties; /* NULL-terminated */
    struct machine_rack *rack;
    enum machine_node_state state;
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
struct machine_totals {
    int64_t up, idle;            /* nodes; idle: nothing is booked there */
    int64_t cores, gpus, memory; /* free */
};

struct machine {
    char *name;
    struct machine_node **nodes; /* by index, NULL where vacant */
    size_t size, alloc;          /* indexes 0..size-1 were given */
    size_t count;                /* nodes that exist */
    struct machine_node *by_name;
    struct machine_rack **racks; /* in the order they were first seen */
    size_t nracks, racks_alloc;
    struct machine_rack *racks_by_name;
    struct summary *summary;
    struct machine_totals totals;
    uint64_t generation; /* see match_generation() */
    uint64_t layout; /* bumped when nodes come, go or change size, rack or properties */
};

/* What a node can give; cores < 0: nothing at all. */
struct room {
    int64_t cores, gpus, memory;
};

struct room machine_room_now (const struct machine_node *n);
/* When it is up and empty. */
struct room machine_room_ever (const struct machine_node *n);
bool machine_node_has_property (const struct machine_node *n, const char *property);

/* Book or give back units of node `index`. Ids must be free, or booked, and inside the
 * maps. */
void machine_book (struct machine *g, int index, const struct idset *cores,
                   const struct idset *gpus, int64_t memory, bool exclusive);
/* The node is gone afterwards when it was leaving and this was the last booking. */
void machine_unbook (struct machine *g, int index, const struct idset *cores,
                     const struct idset *gpus, int64_t memory);

#endif
