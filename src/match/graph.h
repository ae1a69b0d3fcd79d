/* graph.h - the resource graph: typed vertices in a containment tree
 *
 *     struct graph *g = graph_create ();
 *     struct graph_spec cluster = { .type = "cluster", .rank = -1, .uniq = -1 };
 *     struct graph_spec node = { .type = "node", .id = 3, .rank = 3, .uniq = -1 };
 *     struct graph_spec core = { .type = "core", .count = 36, .rank = 3, .uniq = -1 };
 *     uint32_t root = graph_add (g, GRAPH_NONE, &cluster, &err);
 *     uint32_t n = graph_add (g, root, &node, &err);
 *     graph_add (g, n, &core, &err);                   // one group of 36 units
 *
 * A vertex is one thing (a rack, a node, 16 GB of memory) or a group of like things
 * without children (36 cores): "unit" k of vertex v has id v->id + k and uniq v->uniq + k.
 * A single vertex has one unit, 0. So a machine costs one object a node and one for each
 * kind of leaf there, not one for each core. Types have free names; "node" is the one with
 * a meaning: RFC 31 constraints, ranks and the index (index.h) are about nodes.
 *
 * The containment tree (or that of whatever subsystem was read as the main one) is the
 * one that matches walk. A vertex may have further parents in it: one storage unit that is
 * in a rack and belongs to the file system of all. Further subsystems are edges over the
 * same vertices.
 *
 * Vertices are named by handles (uint32_t), which stay valid until graph_remove(); the
 * pointer of graph_vertex() only until the next graph_add(). Fields are read freely and
 * written only here, those at the end only by the planner. No input or output, no clock,
 * no global state; threads may read while none writes. -ENOMEM leaves the graph as it
 * was.
 */
#ifndef FLUXQ_MATCH_GRAPH_H
#define FLUXQ_MATCH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/idset.h"
#include "common/strbuf.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_VERTICES_MAX (1u << 28) /* handles, and units in all */
#define GRAPH_UNITS_MAX (1u << 20)    /* in one group */
#define GRAPH_SIZE_MAX (INT64_C (1) << 50)
#define GRAPH_DEPTH_MAX 64
#define GRAPH_WAYS_MAX 256 /* from the root to one vertex */
#define GRAPH_TYPES_MAX 1024

/* Types that every graph knows, by their number. */
enum { GRAPH_CLUSTER, GRAPH_NODE, GRAPH_CORE, GRAPH_GPU, GRAPH_MEMORY, GRAPH_TYPE_FIRST };

enum graph_flags {
    GRAPH_DOWN = 1,      /* not up: it and all below it takes nothing new */
    GRAPH_DRAINED = 2,   /* by an operator: the same, jobs go on */
    GRAPH_DIVISIBLE = 4, /* a pool of which jobs take parts, as memory by the MiB; else a
                          * unit goes to one job as a whole, whatever its size */
    GRAPH_ABOVE = 8,     /* has nodes below it in the tree */
    /* 16 to 128: marks of graph*.c */
    GRAPH_SEEN = 256, /* the planner's: an answer of policy first had parts in it */
    GRAPH_FURTHER_CHILDREN = 512, /* see graph_associate() */
    GRAPH_FURTHER_PARENTS = 1024,
    /* The planner's: all that a job is given in a ZONED vertex (a node) lies in one of its
     * children that are marked as ZONE, but for what is in none of these. */
    GRAPH_ZONED = 2048,
    GRAPH_ZONE = 4096,
};

struct graph_vertex {
    uint32_t parent;      /* or GRAPH_NONE */
    uint32_t next, prev;  /* siblings, in the order in which they were added */
    uint32_t first, last; /* children */
    uint32_t order;       /* grows along the siblings */
    uint32_t n;           /* units, >= 1 */
    int32_t id;           /* of unit 0, -1: has none */
    int32_t rank;         /* execution target or -1 */
    uint16_t type;
    uint16_t flags;
    uint8_t depth;  /* root: 0 */
    uint32_t extra; /* what few have, see below: 0 or its number */
    int64_t size;   /* of each unit */
    int64_t uniq;   /* of unit 0: number of the vertex for other programs (JGF "id") */
    /* the planner's */
    uint32_t claims;    /* first in its list, or GRAPH_NONE */
    uint32_t nclaims;   /* allocated and reserved ones */
    uint32_t nreserved; /* of these the reserved ones */
    uint32_t place; /* of a node: its number for the index; else of the planner's own */
    union {
        uint64_t bits; /* n <= 64: units that are allocated */
        uint64_t *map; /* else: the same, (n + 63) / 64 words, owned */
    } busy;
    int64_t used; /* of a divisible vertex: what is allocated */
};

struct graph {
    struct graph_vertex *v; /* by handle; vacant ones have n == 0 */
    uint32_t nv, alloc;
    uint32_t root; /* GRAPH_NONE: empty */
    /* bumped when vertices come, go or change size, status, properties */
    uint64_t layout;
    struct graph_private *p;
};

static inline struct graph_vertex *graph_vertex (const struct graph *g, uint32_t v)
{
    return &g->v[v];
}

#define GRAPH_CHILDREN(g, parent, c)                                                     \
    for (uint32_t c = (g)->v[parent].first; c != GRAPH_NONE; c = (g)->v[c].next)

struct graph_spec {
    const char *type; /* 1 to 63 of [A-Za-z0-9_.-]; with a basename also '/' and ':' */
    const char *basename; /* NULL: the type */
    const char *name; /* NULL: basename and id ("core3"), basename alone when id is -1.
                       * As basename: 1 to 255 characters, no '/', all printable */
    const char *unit; /* of measure, up to 63 characters; NULL: none */
    int64_t id;       /* of the first unit, -1 .. 2^31-1 */
    uint32_t count;   /* units; 0 means 1. More only for leaves that are named by default,
                       * have an id, are not divisible, not nodes, and not the root */
    int64_t size;     /* of each unit; 0 means 1 */
    int64_t uniq;     /* of the first unit, up to 2^62; -1: the next free numbers */
    int32_t rank;     /* -1: none */
    uint8_t flags;    /* GRAPH_DOWN | GRAPH_DRAINED | GRAPH_DIVISIBLE */
    bool leaf;        /* it will have no children: may be joined to a group of likes */
    const char *const *properties; /* key, value, key, value, ..., NULL; or NULL */
};

struct graph *graph_create (void);
void graph_destroy (struct graph *g);
/* Below `parent`, as its last child; GRAPH_NONE: the root, once. The handle, or GRAPH_NONE
 * with the reason (-EINVAL names the field, -EEXIST the path, -ENOMEM, -E2BIG).
 * Only nodes may have the name of a sibling, when their ranks differ: several execution
 * targets on one host. A leaf
 * whose id and uniq continue the parent's last child, with all else alike, becomes a unit
 * of that: the handle is then that group's. O(1) on average. */
uint32_t graph_add (struct graph *g, uint32_t parent, const struct graph_spec *spec,
                    struct error *err);
/* The vertex, with all below it. -EBUSY, and nothing is changed, when the planner has
 * claims there (it names one vertex). */
int graph_remove (struct graph *g, uint32_t v, struct error *err);
/* One unit; the others keep their ids. From within a group: those behind it become a
 * vertex of their own, the next sibling, with another handle. -EBUSY: v has claims. */
int graph_remove_unit (struct graph *g, uint32_t v, uint32_t unit, struct error *err);
/* More or fewer units (of a group of leaves), or another size (of a divisible one). What
 * is booked stays: units past `count` that are busy (any, while the group has
 * reservations) are kept, as down, and go with graph_trim(). Others' ids do not change;
 * when a group grows and the uniq numbers that follow are taken, all of it gets new ones.
 * What is withheld is at most the new size. 0, -EINVAL, -EEXIST (a name is taken),
 * -E2BIG, -ENOMEM. */
int graph_resize (struct graph *g, uint32_t v, uint32_t count, int64_t size,
                  struct error *err);
/* Drop trailing units that graph_resize() could not, where they are free now. */
void graph_trim (struct graph *g, uint32_t v);
/* A node and all below it become the last child of `parent`; what is booked there stays.
 * 0, -EINVAL (not a node, parent is in it, something below it has another rank than it, or
 * further parents or children),
 * -EEXIST (the name is taken there), -EBUSY (a vertex above it, here or there, is booked
 * as a whole), -E2BIG (too deep), -ENOMEM. */
int graph_move (struct graph *g, uint32_t v, uint32_t parent, struct error *err);
/* v is to go when nothing is booked there any more, by graph_remove(): until then it is
 * down, and is not part of what there will ever be. Off: it stays, and is up. 0, -EINVAL,
 * -ENOMEM. */
int graph_set_leaving (struct graph *g, uint32_t v, bool on);
bool graph_is_leaving (const struct graph *g, uint32_t v);
/* Units of word i that there will ever be: without what is leaving, and without those that
 * graph_resize() keeps only until they are free. */
uint64_t graph_ever_word (const struct graph *g, uint32_t v, uint32_t i);
/* Of a divisible vertex: so much is in use by others and not to be given now, 0 .. size;
 * it is only a matter of status, like a unit that is down. 0, -EINVAL, -ENOMEM. */
int graph_set_withheld (struct graph *g, uint32_t v, int64_t amount);
int64_t graph_withheld (const struct graph *g, uint32_t v);

/* -- types and names -- */

const char *graph_type_name (const struct graph *g, uint16_t type);
/* -1: no vertex was ever of that type. */
int graph_type_find (const struct graph *g, const char *name);
/* Vertices that the outside can name: units. The tree has one edge less. */
uint64_t graph_unit_count (const struct graph *g);
uint64_t graph_type_count (const struct graph *g, uint16_t type); /* units of it */
size_t graph_memory (const struct graph *g);                      /* bytes, about */

const char *graph_basename (const struct graph *g, uint32_t v);
const char *graph_unit_name (const struct graph *g, uint32_t v); /* of measure, or "" */
/* "node3": into buf (cut to size). Returns buf. */
const char *graph_name (const struct graph *g, uint32_t v, uint32_t unit, char *buf,
                        size_t size);
/* "/cluster0/rack1/node3/core0". 0, or strbuf's error (-ENOMEM, -E2BIG). */
int graph_path (const struct graph *g, uint32_t v, uint32_t unit, struct strbuf *sb);
/* By path: 0 and both, or -ENOENT. O(length of the path), on average. */
int graph_find_path (const struct graph *g, const char *path, uint32_t *ret_v,
                     uint32_t *ret_unit);
/* The node (or other vertex with a rank, outermost first) of a rank; GRAPH_NONE. O(1). */
uint32_t graph_find_rank (const struct graph *g, int32_t rank);
/* By the name of a node; GRAPH_NONE. O(1). */
uint32_t graph_find_node (const struct graph *g, const char *name);
/* The innermost vertex of type node at or above v; GRAPH_NONE. */
uint32_t graph_node_of (const struct graph *g, uint32_t v);

/* -- status and properties, of one unit or of all (GRAPH_NONE) -- */

/* flag: GRAPH_DOWN or GRAPH_DRAINED. 0, -EINVAL (no such flag or unit, or what is leaving was
 * to be up) or -ENOMEM. */
int graph_set_flag (struct graph *g, uint32_t v, uint32_t unit, uint8_t flag, bool on);
/* It itself is neither down nor drained (what is above it is not asked). */
bool graph_is_up (const struct graph *g, uint32_t v, uint32_t unit);
/* Word i (units 64 i .. 64 i + 63) of those that are down or drained. */
uint64_t graph_down_word (const struct graph *g, uint32_t v, uint32_t i);

/* Value, borrowed until the next change; NULL: it has no such property. */
const char *graph_property (const struct graph *g, uint32_t v, uint32_t unit,
                            const char *key);
/* value NULL removes. 0, -EINVAL (no such unit; key not 1 to 1023 bytes, value more than
 * 65535, or more than 1024 properties), -ENOMEM. */
int graph_set_property (struct graph *g, uint32_t v, uint32_t unit, const char *key,
                        const char *value);
/* Of all units, these (key, value, ..., NULL) and no others. Units that have properties of
 * their own keep them. 0, -EINVAL (names the key), -ENOMEM. */
int graph_set_properties (struct graph *g, uint32_t v, const char *const *properties,
                          struct error *err);
/* Key and value number i in the order of their keys; false: no more. */
bool graph_property_at (const struct graph *g, uint32_t v, uint32_t unit, size_t i,
                        const char **ret_key, const char **ret_value);

/* -- further parents: edges of the main subsystem beside the tree -- */

/* v, which hangs elsewhere in the tree, is below `parent` as well, as its last further
 * child. Walks come to it by either way; names, ranks and sums are those of the tree, and
 * it goes when that goes. type: as in struct graph_edge. 0; -EINVAL: no such vertex, one
 * of several units, or v is above parent; -EEXIST: it is below it already; -E2BIG: more
 * than GRAPH_WAYS_MAX ways would lead to a vertex, or one of GRAPH_DEPTH_MAX; -ENOMEM.
 * O(vertices below v, by every way). */
int graph_associate (struct graph *g, uint32_t parent, uint32_t v, const char *type,
                     struct error *err);
/* How many such edges there are. O(1). */
size_t graph_further_count (const struct graph *g);
/* The next further child, or parent, in the order in which they were made: start with
 * *at = GRAPH_NONE; GRAPH_NONE: no more. *at grows, and tells the edge. O(1). */
uint32_t graph_further_child (const struct graph *g, uint32_t parent, uint32_t *at);
uint32_t graph_further_parent (const struct graph *g, uint32_t v, uint32_t *at);

#define GRAPH_FURTHER(g, parent, c)                                                      \
    for (uint32_t c##_at = GRAPH_NONE, c = graph_further_child ((g), (parent), &c##_at); \
         c != GRAPH_NONE; c = graph_further_child ((g), (parent), &c##_at))

/* v is top, or below it, by any way. */
bool graph_is_below (const struct graph *g, uint32_t v, uint32_t top);
/* Of a vertex with further parents: room for the planner's notes. */
struct graph_way {
    uint32_t parent; /* by which a walk came to it; GRAPH_NONE at first */
    uint32_t number;
};
struct graph_way *graph_way (struct graph *g, uint32_t v);
/* Neither children of its own nor further ones. */
static inline bool graph_is_leaf (const struct graph *g, uint32_t v)
{
    return g->v[v].first == GRAPH_NONE && !(g->v[v].flags & GRAPH_FURTHER_CHILDREN);
}

/* -- further subsystems: edges over the same vertices -- */

/* The main tree's subsystem; "containment" unless set. */
const char *graph_subsystem (const struct graph *g);
int graph_set_subsystem (struct graph *g, const char *name); /* 0, -EINVAL, -ENOMEM */
struct graph_edge {
    const char *subsystem, *type; /* type: "supplies_to", ... or NULL */
    uint32_t from, from_unit, to, to_unit;
};
/* 0; -EINVAL: no such unit, a subsystem that is the main tree's or not a word (see type);
 * -E2BIG: more than 64 subsystems or 2^28 edges; -ENOMEM. Edges go with their ends. */
int graph_edge_add (struct graph *g, const struct graph_edge *e);
/* Edges of the subsystem in the order they were added (of the main one: those to further
 * parents); false: no more. O(1). */
bool graph_edge_at (const struct graph *g, const char *subsystem, size_t i,
                    struct graph_edge *ret);
/* Path of a unit in a subsystem, if one was set; NULL. (In the main one: where others call
 * it otherwise than graph_path().) */
const char *graph_path_in (const struct graph *g, uint32_t v, uint32_t unit,
                           const char *subsystem);
/* path NULL removes. 0, -EINVAL (no such unit, the subsystem is not a word, a path longer
 * than any can be), -ENOMEM. */
int graph_set_path_in (struct graph *g, uint32_t v, uint32_t unit, const char *subsystem,
                       const char *path);

#endif
