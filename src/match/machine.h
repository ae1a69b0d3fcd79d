/* machine.h - the machine: cluster, places such as zones and racks, nodes, and what these have
 *
 *     struct machine *g = machine_create ("cluster");
 *     struct machine_place places[] = { { "zone", "a" }, { "rack", "r1" }, { NULL, NULL } };
 *     struct machine_node_spec spec = { .name = "node1", .cores = 8, .memory_mib = 16384,
 *                                     .gpus = 1, .places = places };
 *     int index = machine_node_add (g, &spec, &err);      // >= 0: the node's rank in R
 *     machine_node_set_state (g, index, MACHINE_NODE_DRAINED, "disk fails");
 *
 * This is the list of nodes that executors feed, and the resource graph (graph.h) that is
 * made of it: cluster0 / places / node / core[ids], gpu[ids], memory (divisible, in MiB), and
 * generic resources (gres.h), which are divisible and have a type of their name each; cores,
 * gpus and memory in NUMA zones (type numa) where a job may have but one of them. Where parts of
 * a CPU can be given (machine_divide_cpus()) a node has its cores a second time as thousandths, a
 * divisible pool of type cpu_milli: who has parts has so much of that, who has cores 1000 for
 * each besides, and so the two never add up to more than there is. A node's
 * places are vertices above it, the type of which is their level; a node that has none
 * of some level stands directly below the next outer one that it has.
 * A node's index is stable as long as the node exists, is its rank and id in the graph, and
 * names it in R (RFC 20 "rank"); indexes of removed nodes are given again only after
 * nothing is booked there. No input or output, no clock, no threads; threads may read while
 * none writes.
 *
 * Costs: states and what others use, O(log nodes); nodes that come, go or change size, O(1)
 * and, once with the next match, O(nodes).
 */
#ifndef FLUXQ_MATCH_MACHINE_H
#define FLUXQ_MATCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/gres.h"
#include "common/idset.h"

struct machine;

enum machine_node_state {
    MACHINE_NODE_UP,      /* takes new jobs */
    MACHINE_NODE_DRAINED, /* by an operator (or cordoned): no new jobs, others go on */
    MACHINE_NODE_DOWN,    /* not ready: no new jobs, its executor tells about others */
};
const char *
machine_node_state_name (enum machine_node_state state); /* "up" "drained" "down" */

#define MACHINE_LEVELS_MAX 8

struct machine_place {
    const char *level; /* "zone", "rack"; see machine_level_is_valid() */
    const char *name;  /* 1 to 255 characters without '/'; unique in the outer place */
};
/* 1 to 63 letters, digits, '-' and '_', a letter first, and not the type of something else
 * (node, core, slot, numa, ...). */
bool machine_level_is_valid (const char *level);
/* Lists that end with level NULL; NULL is an empty one. The copy is one block, the caller's
 * for free(); NULL: no memory. */
bool machine_places_equal (const struct machine_place *a, const struct machine_place *b);
struct machine_place *machine_places_copy (const struct machine_place *list);

/* A NUMA zone of a node, or what is left in it. */
struct machine_zone {
    int id; /* the node's own number for it, 0 .. MACHINE_ZONES_MAX-1 */
    uint32_t cores, gpus;
    int64_t memory_mib;
};
#define MACHINE_ZONES_MAX 64

struct machine_node_spec {
    const char *name; /* unique, a host name of 1 to 253 characters */
    /* in which it is, outermost first, each level once, and { NULL, NULL }; NULL:
     * directly below the cluster */
    const struct machine_place *places;
    uint32_t cores; /* ids 0 .. cores-1; at most 65,536 */
    uint32_t gpus;  /* ids 0 .. gpus-1; at most 1,024 */
    int64_t memory_mib;
    /* generic resources, or NULL: none; 64 at most; any amount of GRES_CPU_MILLI: its
     * CPUs are divided */
    const struct gres_list *gres;
    const char *const
        *properties; /* NULL-terminated, or NULL: names for RFC 31 constraints, 512 at
                      * most. "KEY=VALUE" is also KEY, which has that value for policies */
    /* Not NULL: what a job is given here lies in one of these zones, as the node would not
     * take it otherwise (the kubelet's policy single-numa-node). Ids grow. Of what some zone
     * has the node has no more than its zones, and never more than it says above; what none
     * has (gpus, say) is the node's. A job that takes the node as a whole fits where there is
     * one zone. Zones that come, go or change size do so when nothing is booked there. */
    const struct machine_zone *zones;
    size_t nzones;
};

struct machine *machine_create (const char *cluster_name);
/* Each node that is added or updated from now on has such a pool. */
void machine_divide_cpus (struct machine *g);
bool machine_divides_cpus (const struct machine *g);
void machine_destroy (struct machine *g);
/* Add a node: its index, or -EEXIST, -EINVAL, -ENOMEM. Copies what it needs. A node
 * that is leaving (see machine_node_remove) comes back, with its bookings and its old
 * index, as UP. */
int machine_node_add (struct machine *g, const struct machine_node_spec *spec,
                      struct error *err);
/* Change size, places or properties of a known node (by name). Shrinking below what is
 * booked is allowed: the excess is only gone when its jobs are. Index or -ENOENT,
 * -EINVAL, -ENOMEM (some of it may have changed then). */
int machine_node_update (struct machine *g, const struct machine_node_spec *spec,
                         struct error *err);
/* The node leaves: no new jobs; it disappears when nothing is booked on it any more.
 * Until then it is found and shown as down and leaving. 0 or -ENOENT. */
int machine_node_remove (struct machine *g, int index);
/* reason: for people, copied, or NULL. 0, -ENOENT, -ENOMEM. */
int machine_node_set_state (struct machine *g, int index, enum machine_node_state state,
                            const char *reason);
/* What somebody else uses there, which is not ours to give; absolute amounts, replaced
 * at each call. cores counts whole cores, rounded up by the caller; GRES_CPU_MILLI has the exact
 * amount, on which it depends whether more parts of a CPU fit. gres: or NULL, none; those
 * that the node has not do not matter. Of what is free the
 * highest ids are withheld; a job that takes the node as a whole gets the rest. 0, -ENOENT
 * or -ENOMEM. */
int machine_node_set_foreign (struct machine *g, int index, uint32_t cores, uint32_t gpus,
                              int64_t memory_mib, const struct gres_list *gres);

/* What a node with zones has told of them. Which zone a job has there is for the node to say, and
 * that only in sums: so from its booking on until it is seen a job counts against all zones,
 * but where that can be only in one; and what the books say is free in a zone counts only as
 * far as the node says so, too. Which of several alike is which does not matter. */
struct machine_report {
    const struct machine_zone *left; /* by id; of zones that are not named: all */
    size_t nleft;
    bool exact; /* it knows of all that is there but for jobs that are not seen */
    const uint64_t *seen; /* jobs of which it knows */
    size_t nseen;
};
/* Takes the place of the last one. 0, -ENOENT, -EINVAL (too many), -ENOMEM. */
int machine_node_report (struct machine *g, int index, const struct machine_report *r);

const char *machine_name (const struct machine *g);
size_t machine_node_count (const struct machine *g); /* also those that are leaving */
int machine_node_find (const struct machine *g, const char *name); /* index or -ENOENT */
int machine_node_next (const struct machine *g, int after); /* -1 starts; -1 at the end */

struct machine_node_info { /* strings are borrowed until the graph changes */
    const char *name;
    const struct machine_place *places; /* as in the spec, never NULL */
    const char *reason;                 /* of the state, or NULL */
    const char *const *properties;      /* NULL-terminated, never NULL */
    enum machine_node_state state;
    bool leaving; /* removed, but jobs are still booked there */
    /* free: what a job could get now, so 0 on a node that takes none. used may be more
     * than there is after a node shrank. */
    uint32_t cores, cores_used, cores_foreign, cores_free;
    uint32_t gpus, gpus_used, gpus_foreign, gpus_free;
    int64_t memory_mib, memory_used, memory_foreign, memory_free;
    /* In thousandths, where parts can be given, else 1000 times the above; cores_free is whole
     * ones that can be had, so no more than this. */
    int64_t cpu_milli_used, cpu_milli_foreign, cpu_milli_free;
    const struct gres_list *gres,
        *gres_foreign; /* never NULL; GRES_CPU_MILLI with them */
    uint32_t njobs;    /* bookings on it */
    bool exclusive;    /* booked as a whole */
};
int machine_node_info (const struct machine *g, int index, struct machine_node_info *ret);
struct machine_gres_info { /* as those of cores above */
    int64_t count, used, foreign, free;
};
/* Of a generic resource; all 0 where the node has none of it. 0 or -ENOENT: no such node. */
int machine_node_gres (const struct machine *g, int index, const char *name,
                       struct machine_gres_info *ret);

#endif
