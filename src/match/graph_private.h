/* graph_private.h - the graph's inside: the tables that graph*.c share
 *
 * A vertex that is called after its type and has no unit of measure and no properties has
 * extra 0. All others have the number of a `struct extra`, and like ones share it:
 *
 *     vertex.extra --> extra { basename, name, unit, properties }
 *                               |          |     |      `--> set --> texts
 *                               `----------+-----+--> texts
 *
 * Texts, sets and extras are "shared" things: found by what they are, counted by who uses
 * them, gone with the last one. So equal numbers mean equal contents. What single units of
 * a group have of their own (status, properties, paths) is beside, in `struct own`, which
 * few vertices have.
 *
 * Vertices are found by their names in three tables: children of parents that have many,
 * nodes, and ranks.
 */
#ifndef FLUXQ_MATCH_GRAPH_PRIVATE_H
#define FLUXQ_MATCH_GRAPH_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/graph.h"

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
    GRAPH_OWN_UNITS = 16, /* there is a struct own for it */
    GRAPH_OWN_EDGES = 32, /* edges beside the tree may touch it */
    GRAPH_OWN_INDEX = 64, /* its children are in the table `kids` */
    GRAPH_OWN_LEAF = 128  /* it was added as a leaf, and is one */
};

/* -- graph_table.c: numbers by hash -- */

struct table_slot {
    uint32_t hash;
    uint32_t value; /* GRAPH_NONE: vacant */
};

/* Open addressing with linear probing; size is 0 or a power of two. One hash may have
 * several values: who asks compares what they stand for. */
struct table {
    struct table_slot *slots;
    size_t size, used;
};

void table_release (struct table *t);
/* Room for `more`, so that as many calls of table_add() cannot fail. 0 or -ENOMEM. */
int table_reserve (struct table *t, size_t more);
void table_add (struct table *t, uint32_t hash, uint32_t value);
/* value becomes `other`, or is removed (GRAPH_NONE). false: it was not there. */
bool table_replace (struct table *t, uint32_t hash, uint32_t value, uint32_t other);
/* Values of that hash: start with *at = SIZE_MAX; GRAPH_NONE: no more. */
uint32_t table_next (const struct table *t, uint32_t hash, size_t *at);

/* Vertices by a key that several may have: the table has the first of them, the rest
 * follows in the order in which they were added. */
struct roster_link {
    uint32_t next, prev; /* a ring */
};
struct roster {
    struct table heads;
    struct roster_link *links; /* by handle; NULL until two vertices share a key */
    uint32_t nlinks;
};

void roster_release (struct roster *r);
/* Room for one more vertex, among `handles` of them; shared: its key is there already. */
int roster_reserve (struct roster *r, uint32_t handles, bool shared);
/* head: the first one with that key, or GRAPH_NONE. */
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
    uint32_t hash; /* of a vacant one: the next of these, or 0 */
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

/* -- what single units have -- */

struct own_set {
    uint32_t unit, properties; /* a set, or 0: it has none, whatever the group has */
};

struct own_path {
    uint32_t unit, subsystem; /* text */
    char *path;
};

struct own {
    uint32_t v;
    uint32_t want; /* units that there are to be, when fewer than n: the rest is down */
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
    uint64_t count; /* units of it */
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

/* A further parent, see graph_associate.c. */
struct further {
    uint32_t type; /* text or 0 */
    uint32_t parent, v;
    uint32_t next_child, next_parent; /* of the same parent, of the same v; GRAPH_NONE */
};

struct junction { /* of a vertex with some: the ends of their lists, or GRAPH_NONE */
    uint32_t v;
    uint32_t first_child, last_child, first_parent, last_parent;
    struct graph_way way;
    UT_hash_handle hh;
};

struct graph_private {
    uint64_t seed;   /* of all hashes: another in each graph */
    uint32_t vacant; /* the first vacant handle, chained by `next`; GRAPH_NONE */
    int64_t next_uniq;
    uint64_t units;
    size_t heap; /* bytes of texts, sets and maps */

    struct graph_type *types;
    size_t ntypes, types_alloc;
    struct table type_names;

    struct shelf texts, sets, extras;

    struct table kids; /* children of vertices with GRAPH_OWN_INDEX, see graph_names.c */
    uint32_t kid_levels; /* bit L: groups of 2^L .. 2^(L+1) - 1 units are in there */
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

/* array, or where it is now that it has room for `need` elements; NULL: no memory, array
 * is as it was. */
void *graph_reserve (void *array, size_t *alloc, size_t need, size_t size);

/* Texts. GRAPH_NONE: no memory; text_get() of NULL and text_of (0) are 0 and NULL. */
uint32_t text_get (struct graph_private *p, const char *s);
uint32_t text_find (const struct graph_private *p, const char *s); /* 0: there is none */
void text_put (struct graph_private *p, uint32_t text);
const char *text_of (const struct graph_private *p, uint32_t text);

/* Sets, from key, value, ..., NULL, in any order; 0 when empty. -EINVAL names the key. */
int set_get (struct graph_private *p, const char *const *properties, uint32_t *ret,
             struct error *err);
/* The set with the value of one key changed or (NULL) removed: a new reference. */
int set_change (struct graph_private *p, uint32_t set, const char *key, const char *value,
                uint32_t *ret);
void set_put (struct graph_private *p, uint32_t set);
const char *set_value (const struct graph_private *p, uint32_t set, const char *key);
const struct property_set *set_of (const struct graph_private *p, uint32_t set);

/* The number of what e says; takes over e's references, also when it fails. */
int extra_get (struct graph_private *p, const struct extra *e, uint32_t *ret);
void extra_put (struct graph_private *p, uint32_t extra);
const struct extra *extra_of (const struct graph_private *p, uint32_t extra);
/* A copy with references of its own, all but its set. */
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
void vertex_remove (struct graph *g, uint32_t v);        /* that has no children */

/* -- graph_draft.c -- */

/* What the units of a vertex, or of one to come, are called. */
struct title {
    const char *text; /* the name, or when id >= 0 what stands before the number */
    size_t len;
    int64_t id; /* of the first unit, -1: text is all */
    uint32_t n;
};

struct draft { /* a spec that was checked */
    const struct graph_spec *spec;
    uint32_t count;
    int64_t size;
    uint16_t type;
    bool new_type; /* it was made for this one */
    uint8_t flags;
    uint32_t extra; /* a reference */
    struct title title;
};

int type_make (struct graph_private *p, const char *name);
/* -EINVAL, -EEXIST, -E2BIG, -ENOMEM. */
int draft_make (struct graph *g, const struct graph_spec *spec, uint32_t parent,
                struct draft *ret, struct error *err);
/* Of no use after all. */
void draft_drop (struct graph *g, struct draft *d);
/* A word for types and subsystems: 1 to 63 of [A-Za-z0-9_.-]. 0 or -EINVAL. */
int check_word (const char *what, const char *word, struct error *err);

/* -- graph_size.c -- */

/* Room for that many more: 0, or -E2BIG with the reason. */
int units_check (const struct graph *g, uint32_t more, struct error *err);
/* The sums over all vertices. */
void units_count (struct graph *g, uint16_t type, int64_t more);
uint64_t *map_create (struct graph *g, uint32_t n); /* n > 64 */
void map_release (struct graph_vertex *x);
void map_cut (struct graph *g, uint32_t v, uint32_t n); /* before x->n becomes n */
/* The group v has n units from now on, more than before. 0 or -ENOMEM. */
int group_grow (struct graph *g, uint32_t v, uint32_t n, int64_t uniq);
void group_cut (struct graph *g, uint32_t v, uint32_t n); /* fewer */

/* -- graph_names.c -- */

struct title title_of (const struct graph *g, uint32_t v);
/* A child of parent has a name that t has, too: that child; else GRAPH_NONE. */
uint32_t names_clash (const struct graph *g, uint32_t parent, const struct title *t);
/* Room for a new vertex of that type and rank, called t, below parent. 0 or -ENOMEM. */
int names_reserve (struct graph *g, uint32_t parent, const struct title *t, uint16_t type,
                   int32_t rank);
/* The same among the children of parent alone, for a vertex that is moved. */
int names_reserve_child (struct graph *g, uint32_t parent);
void names_add_child (struct graph *g, uint32_t v);
/* Enter a vertex that is linked to its parent; take it out before it is unlinked. */
void names_add (struct graph *g, uint32_t v);
void names_remove (struct graph *g, uint32_t v);
/* The same for a group whose count changes: out before, in after. -ENOMEM: no room. */
int names_reserve_group (struct graph *g);
void names_unlist (struct graph *g, uint32_t v);
void names_list (struct graph *g, uint32_t v);
/* The path, for messages. sb is made here, the caller releases it. */
const char *names_path (const struct graph *g, uint32_t v, struct strbuf *sb);

/* -- graph_own.c -- */

struct own *own_find (const struct graph *g, uint32_t v); /* or NULL */
struct own *own_get (struct graph *g, uint32_t v);        /* made; NULL: no memory */
void own_drop (struct graph *g, uint32_t v);
void own_tidy (struct graph *g, uint32_t v); /* drop it when there is nothing in it */
/* There are to be that many units, fewer than n; 0: as many as there are. 0 or, when want
 * is not, -ENOMEM. */
int own_want (struct graph *g, uint32_t v, uint32_t want);
void own_withhold_at_most (struct graph *g, uint32_t v, int64_t amount);
/* The vertex has only n units now. */
void own_cut (struct graph *g, uint32_t v, uint32_t n);
/* Room for n units, more than there are. 0 or -ENOMEM. */
int own_grow (struct graph *g, uint32_t v, uint32_t n);
/* The map of GRAPH_DOWN or GRAPH_DRAINED, made where it was not; NULL: no memory. */
uint64_t *own_bits (struct graph *g, uint32_t v, uint8_t flag);
const struct own_set *own_set_find (const struct graph *g, uint32_t v, uint32_t unit);
/* The unit's own set from now on; takes the reference over unless it fails. */
int own_set_put (struct graph *g, uint32_t v, uint32_t unit, uint32_t set);
/* Units whose own set is this one have none of their own. */
void own_sets_join (struct graph *g, uint32_t v, uint32_t set);
size_t own_memory (const struct graph_private *p);

/* -- graph_edge.c -- */

/* Drop edges whose ends are gone, also those to further parents. */
void edges_cut (struct graph *g);
/* Ends at units of v from `unit` on are at vertex `to` now, whose unit 0 that one is. */
void edges_move (struct graph *g, uint32_t v, uint32_t unit, uint32_t to);
/* Drop edges that end at that unit. */
void edges_drop (struct graph *g, uint32_t v, uint32_t unit);
void edges_release (struct graph_private *p);
size_t edges_memory (const struct graph_private *p);

/* -- graph_associate.c -- */

void further_cut (struct graph *g);
void further_release (struct graph_private *p);
size_t further_memory (const struct graph_private *p);
/* The longest way from the root to v, in edges. */
unsigned further_depth (const struct graph *g, uint32_t v);

#endif
