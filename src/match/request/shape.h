/* shape.h - a compiled request: the tree of RFC 14 with counts and constraints
 *
 * This folder holds what a job asks for, without regard to any machine: shapes, and
 * constraints on nodes (constraint.h). A parsed jobspec comes in; a compiled request goes
 * to the search, which compares it with the graph.
 *
 *     struct shape *s = shape_compile (js->resources, js->nresources, js->constraints,
 *                                      0, &err);
 *     const struct shape_vertex *top = &s->v[s->top];         // first of the siblings
 *
 * A shape is immutable and independent of any graph: types are names, and a match looks
 * up their numbers once. Every tree of RFC 14 is accepted: any type names; counts that
 * are fixed, elastic or a set (RFC 22, RFC 45); slots anywhere, also several;
 * `exclusive`, `unit`, `label`, `requires` (an RFC 31 constraint on that vertex alone),
 * and the constraint of the whole request (RFC 31, of nodes). Besides type "slot" there
 * are Fluxion's "or_slot" (siblings: any mix of them, as many in total as fit) and
 * "xor_slot" (siblings: exactly one of them). A request with xor_slots becomes several
 * shapes, which are tried in turn (shape->other). Order of these variants: the choice at
 * the outermost and first level varies slowest, and the chosen slot comes after its
 * siblings. `exclusive: false` inside a slot has no effect, because a job owns all of its
 * slots.
 */
#pragma once

#include "common/json.h"
#include "jobspec/attributes/placement.h"
#include "jobspec/jobspec.h"

struct constraint;

#define SHAPE_NONE UINT16_MAX
#define SHAPE_VERTICES_MAX 4096 /* of one variant */
#define SHAPE_SIBLINGS_MAX 64   /* side by side */
#define SHAPE_VARIANTS_MAX 1024
#define SHAPE_TOTAL_MAX 65536 /* vertices of all variants */

enum shape_kind { SHAPE_RESOURCE, SHAPE_SLOT, SHAPE_OR_SLOT };

struct shape_vertex {
    const char *type;  /* owned by the shape */
    const char *label; /* or NULL */
    const char *unit;  /* or NULL */
    enum shape_kind kind;
    struct jobspec_count count;
    const struct idset *sizes; /* the allowed counts if they are a set, else NULL */
    enum jobspec_tristate exclusive; /* as in the jobspec */
    /* its amount follows the cores beside it (in thousandths): it is not described, and
     * has no size of its own. Set by the caller */
    bool follows;
    bool taken; /* its units are booked: the vertex is at or below a slot or an exclusive
                 * vertex, or see SHAPE_BOOK_LEAVES */
    const struct constraint *required; /* `requires`, or NULL */
    uint16_t first, next;              /* children, siblings; SHAPE_NONE */
    uint16_t parent;
    uint16_t slot; /* the innermost slot at or above it; SHAPE_NONE */
};

/* Placement of the outermost vertex of the request (a node, or a slot with at most a node
 * in it) in groups: vertices of one type above the nodes. */
struct shape_groups {
    char level[PLACEMENT_LEVEL_MAX + 1]; /* type of the groups; "": any placement */
    bool spread;  /* prefer: evenly over the groups; else in as few groups as possible */
    int64_t most; /* limit of the number of groups: more do not fit; 0: none */
    /* each group has a multiple of so many, or none (apart: so many, or none); 0: any */
    int64_t segment;
    bool apart;
};

struct shape {
    struct shape_vertex *v;
    size_t nv;
    uint16_t top;                        /* first of the outermost siblings */
    const struct constraint *constraint; /* of nodes, or NULL */
    uint64_t key; /* equal keys: the same verdict at the same time (except for hash
                   * collisions), for this variant and those after it */
    bool elastic; /* some count allows several sizes */
    bool follows; /* some vertex has `follows` set. Set by the caller */
    bool apart;   /* compiled with SHAPE_APART */
    /* the least amount of divisible memory that is booked on each node that is chosen or
     * has something chosen in it; 0: what the request asks for. Set by the caller; not
     * part of the key */
    int64_t node_memory;
    /* set by the caller; only if a node or a slot is outermost, see groups.c */
    struct shape_groups groups;
    struct shape *other;       /* the next variant (xor_slot), owned; or NULL */
    struct shape_store *store; /* data shared by all variants, owned by the first one; or
                                * NULL */
};

enum shape_flags {
    SHAPE_BOOK_LEAVES = 1, /* leaves beside slots (node > slot, memory) are booked too, as
                            * batch users expect; without the flag they are only required
                            * to be free */
    SHAPE_OR_SLOTS = 2,    /* several slots side by side are or_slots, as in Fluxion's
                            * flexible traverser; without the flag all of them are
                            * required */
    SHAPE_APART = 4, /* the outermost siblings are served by different nodes, so they
                            * may be of one type; `requires` of each is a constraint on
                            * all its nodes */
};

/* Compiles a request. NULL with place and reason: "resources[0].with[1]: ...". Keeps no
 * reference to its input. err.code: EINVAL, invalid (also constraints); ENOTSUP, valid by
 * the RFC but not placeable by a walk (two vertices of one type side by side, an empty
 * slot); E2BIG, over a limit; ENOMEM. */
struct shape *shape_compile (const struct jobspec_resource *resources, size_t n,
                             const json_t *constraints, unsigned flags,
                             struct error *err);
void shape_destroy (struct shape *s);
/* True if both ask for the same resources; labels and node_memory are not compared. */
bool shape_equal (const struct shape *a, const struct shape *b);
/* Returns the largest allowed size of v's count that is <= limit; 0: even the least is
 * more. O(log limit). */
int64_t shape_count_fit (const struct shape_vertex *v, int64_t limit);
int64_t shape_count_least (const struct shape_vertex *v);
/* Appends a description for people: "4 nodes with 2 slots of 8 cores and 1 gpu each", "4
 * to 16 nodes with ...". 0, -ENOMEM, or -E2BIG: past sb's ceiling. */
int shape_describe (const struct shape *s, struct strbuf *sb);
