/* graph_private.h - the graph's inside: the tables that graph*.c share
 *
 * A vertex named after its type, without unit of measure and properties, has extra 0. All
 * other vertices have the number of a `struct extra`, which equal vertices share:
 *
 *     vertex.extra --> extra { basename, name, unit, properties }
 *                               |          |     |      `--> set --> texts
 *                               `----------+-----+--> texts
 *
 * Texts, sets and extras are "shared" things: found by their contents, reference counted,
 * freed with the last reference. So equal numbers mean equal contents. Single units of a
 * group may have a status, properties and paths of their own. These are in `struct own`,
 * which few vertices have.
 *
 * Three tables find vertices by name: children of parents that have many, nodes, and
 * ranks.
 */
#pragma once

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/graph/graph.h"

#define GRAPH_NAME_MAX 255                    /* of a basename or name, bytes */
#define GRAPH_NAME_SIZE (GRAPH_NAME_MAX + 16) /* of a buffer for basename, id and NUL */
#define GRAPH_PROPERTIES_MAX 1024             /* of one vertex */
#define GRAPH_KEY_MAX 1023                    /* of a property, bytes */
#define GRAPH_VALUE_MAX 65535
#define GRAPH_SUBSYSTEMS_MAX 64
#define GRAPH_PATH_MAX (GRAPH_DEPTH_MAX * (GRAPH_NAME_MAX + 16))

#define GRAPH_SPEC_FLAGS (GRAPH_DOWN | GRAPH_DRAINED | GRAPH_DIVISIBLE)

/* Bits 4 to 7 of graph_vertex.flags. */
enum graph_own_flags {
    GRAPH_OWN_UNITS = 16, /* it has a struct own */
    GRAPH_OWN_EDGES = 32, /* edges beside the tree may touch it */
    GRAPH_OWN_INDEX = 64, /* its children are in the table `kids` */
    GRAPH_OWN_LEAF = 128  /* it was added as a leaf, and is still one */
};

/* -- graph_table.c: numbers by hash -- */

struct table_slot {
    uint32_t hash;
    uint32_t value; /* GRAPH_NONE: vacant */
};

/* Open addressing with linear probing; size is 0 or a power of two. One hash may have
 * several values; the caller compares what the values stand for. */
struct table {
    struct table_slot *slots;
    size_t size, used;
};

void table_release (struct table *t);
/* Makes room for so many calls of table_add(), which then cannot fail. 0 or -ENOMEM. */
int table_reserve (struct table *t, size_t more);
void table_add (struct table *t, uint32_t hash, uint32_t value);
/* Replaces value by `other`, or removes it (GRAPH_NONE). false: not found. */
bool table_replace (struct table *t, uint32_t hash, uint32_t value, uint32_t other);
/* Iterates over the values of that hash: start with *at = SIZE_MAX; GRAPH_NONE: no
 * more. */
uint32_t table_next (const struct table *t, uint32_t hash, size_t *at);

/* Vertices by a key that several may share: the table has the first vertex; the others
 * follow in the order in which they were added. */
struct roster_link {
    uint32_t next, prev; /* a ring */
};
struct roster {
    struct table heads;
    struct roster_link *links; /* by handle; NULL until two vertices share a key */
    uint32_t nlinks;
};

void roster_release (struct roster *r);
/* Makes room for one more vertex, among `handles` of them. shared: the table has its key
 * already. */
int roster_reserve (struct roster *r, uint32_t handles, bool shared);
/* head: the first vertex with that key, or GRAPH_NONE. */
void roster_add (struct roster *r, uint32_t hash, uint32_t head, uint32_t v);
void roster_remove (struct roster *r, uint32_t hash, uint32_t v);

uint32_t graph_hash (uint64_t seed, const void *data, size_t len);
uint32_t graph_hash_numbers (uint64_t seed, uint64_t a, uint64_t b);

/* -- graph_shared.c: what many vertices have alike -- */

struct property_set {
    uint32_t n;      /* >= 1 */
    uint32_t pair[]; /* 2 n texts: key and value, ascending by key */
};

struct extra { /* texts and a set; 0: none */
    uint32_t basename, name, unit, properties;
};

struct shared {
    uint32_t refs; /* 0: vacant */
    uint32_t hash; /* of a vacant one: the number of the next vacant one, or 0 */
    union {
        char *text;
        struct property_set *set;
        struct extra extra;
    };
};

struct shelf {
    struct shared *items; /* by number; item 0 is never used */
    uint32_t n, alloc;
    uint32_t vacant; /* the first vacant one, or 0 */
    struct table by_hash;
};

/* -- data of single units -- */

struct own_set {
    uint32_t unit, properties; /* a set, or 0: the unit has none, whatever the group
                                * has */
};

struct own_path {
    uint32_t unit, subsystem; /* text */
    char *path;
};

struct own {
    uint32_t v;
    uint32_t want; /* units that the vertex is to have, if fewer than n: the others are
                    * down */
    bool leaving;
    int64_t withheld;
    uint64_t *down, *drained; /* nwords >= (n + 63) / 64 words each, or NULL: none */
    struct own_set *sets;     /* ascending by unit */
    struct own_path *paths;   /* ascending by unit and subsystem */
    size_t nwords, nsets, sets_alloc, npaths, paths_alloc;
    UT_hash_handle hh;
};

/* -- all of it -- */

struct graph_type {
    char *name;
    uint64_t count; /* units of the type */
};

struct edge {      /* struct graph_edge in numbers */
    uint32_t type; /* text or 0 */
    uint32_t from, from_unit, to, to_unit;
};

struct edge_list {
    uint32_t subsystem; /* text */
    struct edge *edges;
    size_t n, alloc;
};

/* An edge to a further parent, see graph_associate.c. */
struct further {
    uint32_t type; /* text or 0 */
    uint32_t parent, v;
    uint32_t next_child, next_parent; /* of the same parent, of the same v; GRAPH_NONE */
};

struct junction { /* of a vertex with such edges: the ends of their lists, or
                   * GRAPH_NONE */
    uint32_t v;
    uint32_t first_child, last_child, first_parent, last_parent;
    struct graph_way way;
    UT_hash_handle hh;
};

struct graph_private {
    uint64_t seed;   /* of all hashes: different in each graph */
    uint32_t vacant; /* the first vacant handle, chained by `next`; GRAPH_NONE */
    int64_t next_uniq;
    uint64_t units;
    size_t heap; /* bytes of texts, sets and maps */

    struct graph_type *types;
    size_t ntypes, types_alloc;
    struct table type_names;

    struct shelf texts, sets, extras;

    struct table kids; /* children of vertices with GRAPH_OWN_INDEX, see graph_names.c */
    uint32_t kid_levels; /* bit L: the table has groups of 2^L .. 2^(L+1) - 1 units */
    struct roster nodes; /* of type node, by name */
    struct roster ranks; /* see graph_find_rank() */
    uint32_t subsystem;  /* text; 0: containment */
    struct edge_list *subsystems;
    size_t nsubsystems;
    struct further *further; /* in the order in which they were made */
    size_t nfurther, further_alloc;
    struct junction *junctions; /* hash by v */
    struct own *own;            /* hash by v */
};

/* Texts. GRAPH_NONE: no memory; text_get() of NULL is 0 and text_of (0) is NULL. */
uint32_t text_get (struct graph_private *p, const char *s);
uint32_t text_find (const struct graph_private *p, const char *s); /* 0: unknown */
void text_put (struct graph_private *p, uint32_t text);
const char *text_of (const struct graph_private *p, uint32_t text);

/* Makes a set of key, value, ..., NULL in any order; 0 if empty. -EINVAL names the
 * key. */
int set_get (struct graph_private *p, const char *const *properties, uint32_t *ret,
             struct error *err);
/* Makes a set with the value of one key changed or (NULL) removed: a new reference. */
int set_change (struct graph_private *p, uint32_t set, const char *key, const char *value,
                uint32_t *ret);
void set_put (struct graph_private *p, uint32_t set);
const char *set_value (const struct graph_private *p, uint32_t set, const char *key);
const struct property_set *set_of (const struct graph_private *p, uint32_t set);

/* Returns the number of an extra with these contents; takes over e's references, also on
 * failure. */
int extra_get (struct graph_private *p, const struct extra *e, uint32_t *ret);
void extra_put (struct graph_private *p, uint32_t extra);
const struct extra *extra_of (const struct graph_private *p, uint32_t extra);
/* A copy with references of its own, except for its set. */
struct extra extra_copy (struct graph_private *p, uint32_t extra);

void shared_release (struct graph_private *p);
size_t shared_memory (const struct graph_private *p);

static inline bool graph_is_live (const struct graph *g, uint32_t v)
{
    return v < g->nv && g->v[v].n > 0;
}

static inline size_t words_of (uint32_t n)
{
    return ((size_t)n + 63) / 64;
}

/* -- graph.c -- */

int vertex_reserve (struct graph *g);                    /* room for one more */
uint32_t vertex_take (struct graph *g);                  /* a vacant handle */
void vertex_renumber (struct graph *g, uint32_t parent); /* `order` of its children */
void vertex_remove (struct graph *g, uint32_t v);        /* v has no children */

/* -- graph_draft.c -- */

/* The names of the units of a vertex, or of a future one. */
struct title {
    const char *text; /* the name, or, if id >= 0, the part before the number */
    size_t len;
    int64_t id; /* of the first unit, -1: text is the whole name */
    uint32_t n;
};

struct draft { /* a spec that was checked */
    const struct graph_spec *spec;
    uint32_t count;
    int64_t size;
    uint16_t type;
    bool new_type; /* the type was made for this draft */
    uint8_t flags;
    uint32_t extra; /* a reference */
    struct title title;
};

int type_make (struct graph_private *p, const char *name);
/* Checks a spec. -EINVAL, -EEXIST, -E2BIG, -ENOMEM. */
int draft_make (struct graph *g, const struct graph_spec *spec, uint32_t parent,
                struct draft *ret, struct error *err);
/* Discards a draft. */
void draft_drop (struct graph *g, struct draft *d);
/* A word for types and subsystems: 1 to 63 of [A-Za-z0-9_.-]. 0 or -EINVAL. */
int check_word (const char *what, const char *word, struct error *err);

/* -- graph_size.c -- */

/* Checks that so many more units are allowed: 0, or -E2BIG with the reason. */
int units_check (const struct graph *g, uint32_t more, struct error *err);
/* Updates the sums over all vertices. */
void units_count (struct graph *g, uint16_t type, int64_t more);
uint64_t *map_create (struct graph *g, uint32_t n); /* n > 64 */
void map_release (struct graph_vertex *x);
void map_cut (struct graph *g, uint32_t v, uint32_t n); /* before x->n becomes n */
/* Enlarges the group v to n units. 0 or -ENOMEM. */
int group_grow (struct graph *g, uint32_t v, uint32_t n, int64_t uniq);
void group_cut (struct graph *g, uint32_t v, uint32_t n); /* n: fewer than before */

/* -- graph_names.c -- */

struct title title_of (const struct graph *g, uint32_t v);
/* Returns a child of parent with a name that is also in t; else GRAPH_NONE. */
uint32_t names_clash (const struct graph *g, uint32_t parent, const struct title *t);
/* Makes room for a new vertex of that type and rank, called t, below parent. 0 or
 * -ENOMEM. */
int names_reserve (struct graph *g, uint32_t parent, const struct title *t, uint16_t type,
                   int32_t rank);
/* Makes room only among the children of parent, for a vertex that moves. */
int names_reserve_child (struct graph *g, uint32_t parent);
void names_add_child (struct graph *g, uint32_t v);
/* Enter a vertex that is linked to its parent; remove it before it is unlinked. */
void names_add (struct graph *g, uint32_t v);
void names_remove (struct graph *g, uint32_t v);
/* The same for a group whose count changes: unlist before, list after. -ENOMEM: no
 * room. */
int names_reserve_group (struct graph *g);
void names_unlist (struct graph *g, uint32_t v);
void names_list (struct graph *g, uint32_t v);
/* The path, for messages. Initializes sb, which the caller releases. */
const char *names_path (const struct graph *g, uint32_t v, struct strbuf *sb);

/* -- graph_own.c -- */

struct own *own_find (const struct graph *g, uint32_t v); /* or NULL */
struct own *own_get (struct graph *g, uint32_t v);        /* made if missing; NULL: no
                                                           * memory */
void own_drop (struct graph *g, uint32_t v);
void own_tidy (struct graph *g, uint32_t v); /* drop it if it is empty */
/* Sets the number of units that the vertex is to have, fewer than n; 0: as many as there
 * are. 0 or, if want is not 0, -ENOMEM. */
int own_want (struct graph *g, uint32_t v, uint32_t want);
void own_withhold_at_most (struct graph *g, uint32_t v, int64_t amount);
/* Cuts the record to n units. */
void own_cut (struct graph *g, uint32_t v, uint32_t n);
/* Makes room for n units, more than now. 0 or -ENOMEM. */
int own_grow (struct graph *g, uint32_t v, uint32_t n);
/* Returns the map of GRAPH_DOWN or GRAPH_DRAINED, made if missing; NULL: no memory. */
uint64_t *own_bits (struct graph *g, uint32_t v, uint8_t flag);
const struct own_set *own_set_find (const struct graph *g, uint32_t v, uint32_t unit);
/* Sets the unit's own set; takes over the reference unless it fails. */
int own_set_put (struct graph *g, uint32_t v, uint32_t unit, uint32_t set);
/* Units whose own set equals this one no longer have a set of their own. */
void own_sets_join (struct graph *g, uint32_t v, uint32_t set);
size_t own_memory (const struct graph_private *p);

/* -- graph_edge.c -- */

/* Drops edges whose ends are gone, including those to further parents. */
void edges_cut (struct graph *g);
/* Moves the ends of edges at units of v from `unit` on to vertex `to`, whose unit 0 is
 * `unit`. */
void edges_move (struct graph *g, uint32_t v, uint32_t unit, uint32_t to);
/* Drops the edges that end at that unit. */
void edges_drop (struct graph *g, uint32_t v, uint32_t unit);
void edges_release (struct graph_private *p);
size_t edges_memory (const struct graph_private *p);

/* -- graph_associate.c -- */

void further_cut (struct graph *g);
void further_release (struct graph_private *p);
size_t further_memory (const struct graph_private *p);
/* Returns the length of the longest way from the root to v, in edges. */
unsigned further_depth (const struct graph *g, uint32_t v);
