/* shape.h - a request, compiled: the tree of RFC 14 with counts, and who may serve it
 *
 *     struct shape *s = shape_compile (js->resources, js->nresources, js->constraints,
 *                                      0, &err);
 *     const struct shape_vertex *top = &s->v[s->top];         // first of the siblings
 *
 * Immutable and of no graph: types are names here, a match looks their numbers up once.
 * Accepted is every tree of RFC 14: any type names, counts fixed, elastic or a set
 * (RFC 22, RFC 45), slots anywhere and several of them, `exclusive`, `unit`, `label`,
 * `requires` (an RFC 31 constraint on that vertex alone), and the constraint of the whole
 * (RFC 31, of nodes). Besides type "slot" there are Fluxion's "or_slot" (siblings: any mix
 * of them, as many in all as fit) and "xor_slot" (siblings: exactly one of them); the latter
 * becomes several shapes that are tried in turn (shape->other). Their order: of the levels'
 * choices the outermost and first varies slowest; the chosen slot stands behind its
 * siblings. `exclusive: false` inside a slot has no effect: what a slot holds is its own.
 */
#ifndef FLUXQ_MATCH_SHAPE_H
#define FLUXQ_MATCH_SHAPE_H

#include "common/json.h"
#include "jobspec/jobspec.h"
#include "jobspec/placement.h"

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
    const struct idset *sizes; /* the allowed counts when they are a set, else NULL */
    enum jobspec_tristate exclusive; /* as written */
    /* its count is that of the cores beside it, in thousandths: not said, and has no
     * size of its own. For the caller to set */
    bool follows;
    bool taken; /* its units are booked: at or below a slot or an exclusive vertex, or see
                 * SHAPE_BOOK_LEAVES */
    const struct constraint *required; /* `requires`, or NULL */
    uint16_t first, next;              /* children, siblings; SHAPE_NONE */
    uint16_t parent;
    uint16_t slot; /* the innermost slot at or above it; SHAPE_NONE */
};

/* Where the outermost vertex of the request, a node or a slot with no more than a node in it,
 * is to be, of the vertices of one type above nodes. */
struct shape_groups {
    char level[PLACEMENT_LEVEL_MAX + 1]; /* their type; "": it does not matter */
    bool spread;  /* evenly over them, else in as few as can be: where that can be */
    int64_t most; /* in no more than so many, or it does not fit; 0: any number */
};

struct shape {
    struct shape_vertex *v;
    size_t nv;
    uint16_t top;                        /* first of the outermost siblings */
    const struct constraint *constraint; /* of nodes, or NULL */
    uint64_t key; /* equal: the same verdict at the same time (but for a hash's chance),
                   * of it and the variants behind it */
    bool elastic; /* some count has more than one size */
    bool follows; /* some vertex does, see there; likewise for the caller to set */
    /* of divisible memory so much at least is booked on each node that is chosen, or
     * has something chosen in it; 0: what is asked for. For the caller to set; the key
     * does not know of it */
    int64_t node_memory;
    /* likewise for the caller to set; on trees that have nodes only above them, see
     * groups.c */
    struct shape_groups groups;
    struct shape *other;       /* the next variant (xor_slot), owned; or NULL */
    struct shape_store *store; /* what all variants share, the first one's; or NULL */
};

enum shape_flags {
    SHAPE_BOOK_LEAVES = 1, /* leaves beside slots (node > slot, memory) are booked too, as
                            * batch users expect; without it they are only looked for */
    SHAPE_OR_SLOTS = 2,    /* several slots side by side are or_slots, as Fluxion's
                            * flexible traverser takes them; without it all are required */
};

/* NULL with place and reason: "resources[0].with[1]: ...". Keeps nothing of its input.
 * err.code: EINVAL, wrong in itself (also constraints); ENOTSUP, right by the RFC but
 * nothing that a walk could place (two vertices of one type side by side, a slot with
 * nothing in it); E2BIG, over a limit; ENOMEM. */
struct shape *shape_compile (const struct jobspec_resource *resources, size_t n,
                             const json_t *constraints, unsigned flags,
                             struct error *err);
void shape_destroy (struct shape *s);
/* They ask for the same, labels aside (and their node_memory). */
bool shape_equal (const struct shape *a, const struct shape *b);
/* The largest allowed size of v's count that is <= limit; 0: even the least is more.
 * O(log limit). */
int64_t shape_count_fit (const struct shape_vertex *v, int64_t limit);
int64_t shape_count_least (const struct shape_vertex *v);
/* "4 nodes with 2 slots of 8 cores and 1 gpu each", "4 to 16 nodes with ...", for people.
 * 0, -ENOMEM, or -E2BIG: past sb's ceiling. */
int shape_describe (const struct shape *s, struct strbuf *sb);

#endif
