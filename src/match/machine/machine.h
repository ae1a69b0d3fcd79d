/* machine.h - the machine: cluster, places (zones, racks), nodes and their resources
 *
 *     struct machine *g = machine_create ("cluster");
 *     struct machine_place places[] = { { "zone", "a" }, { "rack", "r1" }, { NULL, NULL } };
 *     struct machine_node_spec spec = { .name = "node1", .cores = 8, .memory_mib = 16384,
 *                                     .gpus = 1, .places = places };
 *     int index = machine_node_add (g, &spec, &err);      // >= 0: the node's rank in R
 *     machine_node_set_state (g, index, MACHINE_NODE_DRAINED, "disk fails");
 *
 * The machine is the list of nodes that executors report, and the resource graph
 * (graph.h) made of that list: cluster0 / places / node / core[ids], gpu[ids], memory
 * (divisible, in MiB), and generic resources (gres.h). Each generic resource is divisible
 * and has a type named after it. Cores, gpus and memory are in NUMA zones (type numa) on
 * nodes where a job may use only one zone. On a machine that divides CPUs
 * (machine_divide_cpus()), a node has its cores a second time as thousandths, a divisible
 * pool of type cpu_milli. A job with parts of a CPU has that amount of the pool, and a
 * job with cores also has 1000 of the pool for each core, so both together never exceed
 * what the node has. The places of a node are vertices above it, with their level as
 * type; a node without a place of some level is directly below its next outer place. A
 * node's index is stable as long as the node exists. The index is the node's rank and id
 * in the graph and names it in R (RFC 20 "rank"). Indexes of removed nodes are reused
 * only after nothing is booked there. No input or output, no clock, no threads; threads
 * may read while none writes.
 *
 * Costs: states and foreign use, O(log nodes); nodes that come, go or change size, O(1)
 * and, once with the next match, O(nodes).
 */
#pragma once

#include "common/gres.h"
#include "common/idset.h"

struct machine;

enum machine_node_state {
    MACHINE_NODE_UP,      /* takes new jobs */
    MACHINE_NODE_DRAINED, /* by an operator (or cordoned): no new jobs, running jobs go
                           * on */
    MACHINE_NODE_DOWN,    /* not ready: no new jobs, the executor reports on running
                           * jobs */
};
const char *
machine_node_state_name (enum machine_node_state state); /* "up" "drained" "down" */

#define MACHINE_LEVELS_MAX 8

struct machine_place {
    const char *level; /* "zone", "rack"; see machine_level_is_valid() */
    const char *name;  /* 1 to 255 characters without '/'; unique in the outer place */
};
/* 1 to 63 letters, digits, '-' and '_', a letter first. Types of other vertices (node,
 * core, slot, numa, ...) are not levels. */
bool machine_level_is_valid (const char *level);
/* The lists end with level NULL; NULL is an empty list. The copy is one block that the
 * caller frees with free(); NULL: no memory. */
bool machine_places_equal (const struct machine_place *a, const struct machine_place *b);
struct machine_place *machine_places_copy (const struct machine_place *list);

/* A NUMA zone of a node, or what is left in the zone. */
struct machine_zone {
    int id; /* the node's own number of the zone, 0 .. MACHINE_ZONES_MAX-1 */
    uint32_t cores, gpus;
    int64_t memory_mib;
};
#define MACHINE_ZONES_MAX 64

struct machine_node_spec {
    const char *name; /* unique, a host name of 1 to 253 characters */
    /* places of the node, outermost first, each level once, then { NULL, NULL }; NULL:
     * the node is directly below the cluster */
    const struct machine_place *places;
    uint32_t cores; /* ids 0 .. cores-1; at most 65,536 */
    uint32_t gpus;  /* ids 0 .. gpus-1; at most 1,024 */
    int64_t memory_mib;
    /* generic resources, 64 at most, or NULL: none; with any amount of GRES_CPU_MILLI the
     * CPUs are divided */
    const struct gres_list *gres;
    const char *const
        *properties; /* NULL-terminated, or NULL: names for RFC 31 constraints, 512 at
                      * most. "KEY=VALUE" is also KEY, which has that value for policies */
    /* Type of its GPUs (gputype.h) or NULL; the node also has its names as properties
     * ("gpu:a100"), which do not count and are not listed. */
    const char *gpu_type;
    /* Not NULL: the node gives a job resources of one zone only (the kubelet's policy
     * single-numa-node). Ids ascend. If some zone has a resource, the node has at most
     * the sum of its zones, and never more than the fields above say; a resource that no
     * zone has (gpus, say) belongs to the node. A job that takes the whole node fits if
     * the node has one zone. Zones come, go or change size when nothing is booked
     * there. */
    const struct machine_zone *zones;
    size_t nzones;
};

struct machine *machine_create (const char *cluster_name);
/* Gives each node that is added or updated from now on a pool of CPU thousandths. */
void machine_divide_cpus (struct machine *g);
bool machine_divides_cpus (const struct machine *g);
void machine_destroy (struct machine *g);
/* Adds a node and returns its index, or -EEXIST, -EINVAL, -ENOMEM. Copies what it needs.
 * A node that is leaving (see machine_node_remove()) comes back as UP, with its bookings
 * and its old index. */
int machine_node_add (struct machine *g, const struct machine_node_spec *spec,
                      struct error *err);
/* Changes size, places or properties of a known node (by name). A size below what is
 * booked is allowed: the excess stays until its jobs end. Returns the index or -ENOENT,
 * -EINVAL, -ENOMEM (some of the changes may be done then). */
int machine_node_update (struct machine *g, const struct machine_node_spec *spec,
                         struct error *err);
/* Marks the node as leaving: it gets no new jobs, and disappears when nothing is booked
 * on it any more. Until then it is found, and shown as down and leaving. 0 or -ENOENT. */
int machine_node_remove (struct machine *g, int index);
/* reason: text for people, copied, or NULL. 0, -ENOENT, -ENOMEM. */
int machine_node_set_state (struct machine *g, int index, enum machine_node_state state,
                            const char *reason);
/* Sets the foreign use of the node: what other programs than fluxq's jobs use there. The
 * absolute amounts replace those of the last call. cores counts whole cores, rounded up
 * by the caller; GRES_CPU_MILLI has the exact amount, which decides whether further parts
 * of a CPU fit. gres may be NULL: none; resources that the node does not have are
 * ignored. The highest free ids are withheld; a job that takes the whole node gets the
 * rest. 0, -ENOENT or -ENOMEM. */
int machine_node_set_foreign (struct machine *g, int index, uint32_t cores, uint32_t gpus,
                              int64_t memory_mib, const struct gres_list *gres);

/* A report of a node about its zones. The node chooses the zone of a job and reports only
 * sums. So a job counts against all zones from its booking until the node has seen it,
 * unless only one zone is possible for the job. A zone's free amount is limited by the
 * bookings and by the node's report. Zones of equal size are interchangeable. */
struct machine_report {
    const struct machine_zone *left; /* by id; a zone that is not listed is all free */
    size_t nleft;
    bool exact; /* the report covers all use except that of jobs not seen */
    const uint64_t *seen; /* jobs that the report includes */
    size_t nseen;
};
/* Replaces the last report. 0, -ENOENT, -EINVAL (too many zones), -ENOMEM. */
int machine_node_report (struct machine *g, int index, const struct machine_report *r);

const char *machine_name (const struct machine *g);
size_t machine_node_count (const struct machine *g); /* includes leaving nodes */
int machine_node_find (const struct machine *g, const char *name); /* index or -ENOENT */
int machine_node_next (const struct machine *g, int after); /* start with -1; returns -1
                                                             * at the end */

struct machine_node_info { /* strings are borrowed until the graph changes */
    const char *name;
    const struct machine_place *places; /* as in the spec, never NULL */
    const char *reason;                 /* of the state; may be NULL */
    const char *const *properties;      /* NULL-terminated, never NULL */
    const char *gpu_type;               /* or NULL */
    enum machine_node_state state;
    bool leaving; /* removed, but jobs are still booked there */
    /* free: what a job could get now, so 0 on a node that takes no jobs. used may exceed
     * the size after a node shrank. */
    uint32_t cores, cores_used, cores_foreign, cores_free;
    uint32_t gpus, gpus_used, gpus_foreign, gpus_free;
    int64_t memory_mib, memory_used, memory_foreign, memory_free;
    /* In thousandths on machines that divide CPUs, else 1000 times the counts of cores.
     * cores_free counts whole cores that a job can get, so 1000 * cores_free is at most
     * cpu_milli_free. */
    int64_t cpu_milli_used, cpu_milli_foreign, cpu_milli_free;
    const struct gres_list *gres,
        *gres_foreign; /* never NULL; with GRES_CPU_MILLI */
    uint32_t njobs;    /* bookings on it */
    bool exclusive;    /* booked as a whole */
};
int machine_node_info (const struct machine *g, int index, struct machine_node_info *ret);
struct machine_gres_info { /* as the fields for cores above */
    int64_t count, used, foreign, free;
};
/* Amounts of a generic resource; all 0 if the node has none of it. 0 or -ENOENT: no such
 * node. */
int machine_node_gres (const struct machine *g, int index, const char *name,
                       struct machine_gres_info *ret);
