/* graph.h - the resource graph: typed vertices in a containment tree
 *
 * This folder holds the resource graph and selections, which name units of it. Readers
 * and the machine build and change the graph; everything else in match reads it. The
 * folder uses no other folder of match.
 *
 *     struct graph *g = graph_create ();
 *     struct graph_spec cluster = { .type = "cluster", .rank = -1, .uniq = -1 };
 *     struct graph_spec node = { .type = "node", .id = 3, .rank = 3, .uniq = -1 };
 *     struct graph_spec core = { .type = "core", .count = 36, .rank = 3, .uniq = -1 };
 *     uint32_t root = graph_add (g, GRAPH_NONE, &cluster, &err);
 *     uint32_t n = graph_add (g, root, &node, &err);
 *     graph_add (g, n, &core, &err);                   // one group of 36 units
 *
 * A vertex is one thing (a rack, a node, 16 GB of memory) or a group of equal things
 * without children (36 cores): "unit" k of vertex v has id v->id + k and uniq v->uniq +
 * k. A single vertex has one unit, 0. So a machine costs one object for each node and one
 * for each kind of leaf in it, not one for each core. Types have free names; only "node"
 * has a meaning: RFC 31 constraints, ranks and the index (index.h) are about nodes.
 *
 * Matches walk the containment tree (or the tree of the subsystem that was read as the
 * main one). A vertex may have further parents in that tree, such as a storage unit that
 * is in a rack and belongs to the file system of all. Further subsystems are edges over
 * the same vertices.
 *
 * Handles (uint32_t) name vertices and stay valid until graph_remove(); the pointer of
 * graph_vertex() is valid only until the next graph_add(). Any code may read the fields.
 * Only the graph writes them; the planner writes the fields at the end. No input or
 * output, no clock, no global state; threads may read while none writes. -ENOMEM leaves
 * the graph unchanged.
 */
#pragma once

#include "common/idset.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_VERTICES_MAX (1u << 28) /* handles, and units in total */
#define GRAPH_UNITS_MAX (1u << 20)    /* in one group */
#define GRAPH_SIZE_MAX (INT64_C (1) << 50)
#define GRAPH_DEPTH_MAX 64
#define GRAPH_WAYS_MAX 256 /* ways from the root to one vertex */
#define GRAPH_TYPES_MAX 1024

/* Types that every graph has, by number. */
enum { GRAPH_CLUSTER, GRAPH_NODE, GRAPH_CORE, GRAPH_GPU, GRAPH_MEMORY, GRAPH_TYPE_FIRST };

enum graph_flags {
    GRAPH_DOWN = 1,      /* not up: the vertex and all below it take nothing new */
    GRAPH_DRAINED = 2,   /* by an operator: as down; running jobs go on */
    GRAPH_DIVISIBLE = 4, /* a pool of which jobs take parts, as MiB of memory; otherwise a
                          * unit goes to one job as a whole, whatever its size */
    GRAPH_UPPER = 8,     /* has nodes below it in the tree */
    /* 16 to 128: marks of graph*.c */
    GRAPH_SEEN = 256, /* for the planner: an answer of a "first" policy had parts in the
                       * vertex */
    GRAPH_FURTHER_CHILDREN = 512, /* see graph_associate() */
    GRAPH_FURTHER_PARENTS = 1024,
    /* For the planner: in a ZONED vertex (a node), a job gets resources of only one child
     * marked ZONE, besides resources that are in no such child. */
    GRAPH_ZONED = 2048,
    GRAPH_ZONE = 4096,
};

struct graph_vertex {
    uint32_t parent;      /* or GRAPH_NONE */
    uint32_t next, prev;  /* siblings, in the order in which they were added */
    uint32_t first, last; /* children */
    uint32_t order;       /* ascends along the siblings */
    uint32_t n;           /* units, >= 1 */
    int32_t id;           /* of unit 0, -1: has none */
    int32_t rank;         /* execution target or -1 */
    uint16_t type;
    uint16_t flags;
    uint8_t depth;  /* root: 0 */
    uint32_t extra; /* 0, or the number of its struct extra (graph_private.h) */
    int64_t size;   /* of each unit */
    int64_t uniq;   /* of unit 0: number of the vertex for other programs (JGF "id") */
    /* for the planner */
    uint32_t claims;    /* first in its list, or GRAPH_NONE */
    uint32_t nclaims;   /* allocated and reserved claims */
    uint32_t nreserved; /* reserved claims among these */
    uint32_t place; /* of a node: its number in planner.nodes; else the planner's own */
    union {
        uint64_t bits; /* n <= 64: units that are allocated */
        uint64_t *map; /* else: the same, (n + 63) / 64 words, owned */
    } busy;
    int64_t used; /* of a divisible vertex: the allocated amount */
};

struct graph {
    struct graph_vertex *v; /* by handle; vacant ones have n == 0 */
    uint32_t nv, alloc;
    uint32_t root; /* GRAPH_NONE: empty */
    /* grows when vertices come, go, or change size, status or properties */
    uint64_t layout;
    struct graph_private *p;
};

static inline struct graph_vertex *graph_vertex (const struct graph *g, uint32_t v)
{
    return &g->v[v];
}

/* True if v is top, or is below top in the tree. */
static inline bool graph_is_in (const struct graph *g, uint32_t v, uint32_t top)
{
    while (v != GRAPH_NONE && v != top)
        v = graph_vertex (g, v)->parent;
    return v == top;
}

/* Returns word i (units 64 i .. 64 i + 63) of the units that are allocated. */
static inline uint64_t graph_busy_word (const struct graph_vertex *x, uint32_t i)
{
    return x->n <= 64 ? x->busy.bits : x->busy.map[i];
}

#define GRAPH_CHILDREN(g, parent, c)                                                     \
    for (uint32_t c = (g)->v[parent].first; c != GRAPH_NONE; c = (g)->v[c].next)

struct graph_spec {
    const char *type; /* 1 to 63 of [A-Za-z0-9_.-]; with a basename also '/' and ':' */
    const char *basename; /* NULL: the type */
    const char *name; /* NULL: basename and id ("core3"), or the basename alone when id is
                       * -1. Rules as for basename: 1 to 255 printable characters without
                       * '/' */
    const char *unit; /* of measure, up to 63 characters; NULL: none */
    int64_t id;       /* of the first unit, -1 .. 2^31-1 */
    uint32_t count;   /* units; 0 means 1. More than 1 only for leaves that have an id and
                       * a default name, are not divisible, not nodes, and not the root */
    int64_t size;     /* of each unit; 0 means 1 */
    int64_t uniq;     /* of the first unit, up to 2^62; -1: the next free numbers */
    int32_t rank;     /* -1: none */
    uint8_t flags;    /* GRAPH_DOWN | GRAPH_DRAINED | GRAPH_DIVISIBLE */
    bool leaf;        /* the vertex gets no children, and may join a group of equal
                       * leaves */
    const char *const *properties; /* key, value, key, value, ..., NULL; or NULL */
};

struct graph *graph_create (void);
void graph_destroy (struct graph *g);
/* Adds a vertex as the last child of `parent`; GRAPH_NONE: as the root, once. Returns the
 * handle, or GRAPH_NONE with the reason (-EINVAL names the field, -EEXIST the path,
 * -ENOMEM, -E2BIG). Only nodes may share the name of a sibling, if their ranks differ:
 * several execution targets on one host. A leaf whose id and uniq continue the last child
 * of `parent`, with all else equal, becomes a unit of that group, and the handle is the
 * group's. O(1) on average. */
uint32_t graph_add (struct graph *g, uint32_t parent, const struct graph_spec *spec,
                    struct error *err);
/* Removes the vertex and all below it. -EBUSY: the planner has claims there (the reason
 * names one vertex); nothing is changed. */
int graph_remove (struct graph *g, uint32_t v, struct error *err);
/* Removes one unit; the others keep their ids. Units of the group behind the removed one
 * become a vertex of their own, the next sibling, with another handle. -EBUSY: v has
 * claims. */
int graph_remove_unit (struct graph *g, uint32_t v, uint32_t unit, struct error *err);
/* Changes the number of units of a group of leaves, or the size of a divisible vertex.
 * Bookings stay: units past `count` that are busy (all of them, while the group has
 * reservations) are kept as down, and are dropped by graph_trim(). Other ids do not
 * change. If a group grows and the next uniq numbers are taken, the whole group gets new
 * ones. The withheld amount is cut to the new size. 0, -EINVAL, -EEXIST (a name is
 * taken), -E2BIG, -ENOMEM. */
int graph_resize (struct graph *g, uint32_t v, uint32_t count, int64_t size,
                  struct error *err);
/* Drops trailing units that graph_resize() had to keep, if they are free now. */
void graph_trim (struct graph *g, uint32_t v);
/* Makes a node, with all below it, the last child of `parent`; bookings stay. 0, -EINVAL
 * (not a node, `parent` is in it, a vertex below it has another rank, or has further
 * parents or children), -EEXIST (the name is taken there), -EBUSY (a vertex above the
 * node, before or after the move, is booked as a whole), -E2BIG (too deep), -ENOMEM. */
int graph_move (struct graph *g, uint32_t v, uint32_t parent, struct error *err);
/* Marks v as leaving: the caller removes it with graph_remove() when nothing is booked
 * there any more. Until then v is down and does not count as part of the future graph.
 * Off: v stays and is up. 0, -EINVAL, -ENOMEM. */
int graph_set_leaving (struct graph *g, uint32_t v, bool on);
bool graph_is_leaving (const struct graph *g, uint32_t v);
/* Returns the units of word i that stay in the graph: not the leaving ones, and not those
 * that graph_resize() keeps only until they are free. */
uint64_t graph_ever_word (const struct graph *g, uint32_t v, uint32_t i);
/* Withholds an amount of a divisible vertex, 0 .. size, which others use and no job gets
 * now. Withholding is a matter of status, like a unit that is down. 0, -EINVAL,
 * -ENOMEM. */
int graph_set_withheld (struct graph *g, uint32_t v, int64_t amount);
int64_t graph_withheld (const struct graph *g, uint32_t v);

/* -- types and names -- */

const char *graph_type_name (const struct graph *g, uint16_t type);
/* -1: no vertex ever had that type. */
int graph_type_find (const struct graph *g, const char *name);
/* The number of units, which are the vertices that other programs see. The tree has one
 * edge less. */
uint64_t graph_unit_count (const struct graph *g);
uint64_t graph_type_count (const struct graph *g, uint16_t type); /* units of the type */
size_t graph_memory (const struct graph *g);                      /* bytes, about */

const char *graph_basename (const struct graph *g, uint32_t v);
const char *graph_unit_name (const struct graph *g, uint32_t v); /* of measure, or "" */
/* Writes the name ("node3") to buf, cut to size. Returns buf. */
const char *graph_name (const struct graph *g, uint32_t v, uint32_t unit, char *buf,
                        size_t size);
/* Appends the path ("/cluster0/rack1/node3/core0"). 0, or the error of strbuf (-ENOMEM,
 * -E2BIG). */
int graph_path (const struct graph *g, uint32_t v, uint32_t unit, struct strbuf *sb);
/* Finds a unit by its path: 0 and both outputs, or -ENOENT. O(length of the path), on
 * average. */
int graph_find_path (const struct graph *g, const char *path, uint32_t *ret_v,
                     uint32_t *ret_unit);
/* Returns the node (or the outermost other vertex) with the rank; GRAPH_NONE: none.
 * O(1). */
uint32_t graph_find_rank (const struct graph *g, int32_t rank);
/* Returns the node with the name; GRAPH_NONE: none. O(1). */
uint32_t graph_find_node (const struct graph *g, const char *name);
/* Returns the innermost vertex of type node at or above v; GRAPH_NONE: none. */
uint32_t graph_node_of (const struct graph *g, uint32_t v);

/* -- status and properties, of one unit or of all (GRAPH_NONE) -- */

/* Sets a flag, GRAPH_DOWN or GRAPH_DRAINED. 0, -EINVAL (no such flag or unit, or a
 * leaving vertex cannot be up) or -ENOMEM. */
int graph_set_flag (struct graph *g, uint32_t v, uint32_t unit, uint8_t flag, bool on);
/* True if the unit itself is neither down nor drained, whatever the state of vertices
 * above it. */
bool graph_is_up (const struct graph *g, uint32_t v, uint32_t unit);
/* Returns word i (units 64 i .. 64 i + 63) of the units that are down or drained. */
uint64_t graph_down_word (const struct graph *g, uint32_t v, uint32_t i);

/* Returns the value, borrowed until the next change; NULL: there is no such property. */
const char *graph_property (const struct graph *g, uint32_t v, uint32_t unit,
                            const char *key);
/* Sets a property; value NULL removes it. 0, -EINVAL (no such unit; key not 1 to 1023
 * bytes, value more than 65535, or more than 1024 properties), -ENOMEM. */
int graph_set_property (struct graph *g, uint32_t v, uint32_t unit, const char *key,
                        const char *value);
/* Replaces the properties of all units with these (key, value, ..., NULL). Units with
 * properties of their own keep theirs. 0, -EINVAL (names the key), -ENOMEM. */
int graph_set_properties (struct graph *g, uint32_t v, const char *const *properties,
                          struct error *err);
/* Returns property number i in the order of the keys; false: no more. */
bool graph_property_at (const struct graph *g, uint32_t v, uint32_t unit, size_t i,
                        const char **ret_key, const char **ret_value);

/* -- further parents: edges of the main subsystem beside the tree -- */

/* Makes v, which has another parent in the tree, the last further child of `parent` as
 * well. Walks reach v by either way; names, ranks and sums are those of the tree, and v
 * goes when its tree parent goes. type: as in struct graph_edge. 0; -EINVAL: no such
 * vertex, a group of several units, or v is above parent; -EEXIST: v is below parent
 * already; -E2BIG: a vertex would have more than GRAPH_WAYS_MAX ways, or a way longer
 * than GRAPH_DEPTH_MAX; -ENOMEM. O(vertices below v, by every way). */
int graph_associate (struct graph *g, uint32_t parent, uint32_t v, const char *type,
                     struct error *err);
/* Returns the number of such edges. O(1). */
size_t graph_further_count (const struct graph *g);
/* Iterates over the further children, or parents, in the order in which the edges were
 * added. Start with *at = GRAPH_NONE; returns GRAPH_NONE at the end. *at ascends and
 * identifies the edge. O(1). */
uint32_t graph_further_child (const struct graph *g, uint32_t parent, uint32_t *at);
uint32_t graph_further_parent (const struct graph *g, uint32_t v, uint32_t *at);

#define GRAPH_FURTHER(g, parent, c)                                                      \
    for (uint32_t c##_at = GRAPH_NONE, c = graph_further_child ((g), (parent), &c##_at); \
         c != GRAPH_NONE; c = graph_further_child ((g), (parent), &c##_at))

/* True if v is top, or is below top by any way. */
bool graph_is_below (const struct graph *g, uint32_t v, uint32_t top);
/* For vertices with further parents: room for the planner's notes. */
struct graph_way {
    uint32_t parent; /* the parent from which a walk reached the vertex; GRAPH_NONE at
                      * first */
    uint32_t number;
};
struct graph_way *graph_way (struct graph *g, uint32_t v);
/* True if the vertex has neither children nor further children. */
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
/* Adds an edge. 0; -EINVAL: no such unit, or a subsystem that is the main one or not a
 * word (see type); -E2BIG: more than 64 subsystems or 2^28 edges; -ENOMEM. An edge goes
 * when one of its ends goes. */
int graph_edge_add (struct graph *g, const struct graph_edge *e);
/* Returns edge number i of the subsystem in the order of addition (of the main subsystem:
 * the edges to further parents); false: no more. O(1). */
bool graph_edge_at (const struct graph *g, const char *subsystem, size_t i,
                    struct graph_edge *ret);
/* Returns the path of a unit in a subsystem, if one was set; NULL: none. (In the main
 * subsystem: the path in the source document where it differs from graph_path().) */
const char *graph_path_in (const struct graph *g, uint32_t v, uint32_t unit,
                           const char *subsystem);
/* Sets that path; NULL removes it. 0, -EINVAL (no such unit, the subsystem is not a word,
 * the path is longer than any path can be), -ENOMEM. */
int graph_set_path_in (struct graph *g, uint32_t v, uint32_t unit, const char *subsystem,
                       const char *path);
