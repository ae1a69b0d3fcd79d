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
 * becomes several shapes that are tried in turn (shape->other).
 */
#ifndef FLUXQ_MATCH_SHAPE_H
#define FLUXQ_MATCH_SHAPE_H

#include "common/json.h"
#include "jobspec/jobspec.h"

struct constraint;

#define SHAPE_NONE UINT16_MAX
#define SHAPE_VERTICES_MAX 4096
#define SHAPE_VARIANTS_MAX 1024

enum shape_kind { SHAPE_RESOURCE, SHAPE_SLOT, SHAPE_OR_SLOT };

struct shape_vertex {
    const char *type;  /* owned by the shape */
    const char *label; /* or NULL */
    const char *unit;  /* or NULL */
    enum shape_kind kind;
    struct jobspec_count count;
    const struct idset *sizes; /* the allowed counts when they are a set, else NULL */
    enum jobspec_tristate exclusive; /* as written */
    bool taken; /* its units are booked: exclusive, at or below a slot, or see
                 * SHAPE_BOOK_LEAVES */
    const struct constraint *required; /* `requires`, or NULL */
    uint16_t first, next;              /* children, siblings; SHAPE_NONE */
    uint16_t parent;
    uint16_t slot; /* the innermost slot at or above it; SHAPE_NONE */
};

struct shape {
    struct shape_vertex *v;
    size_t nv;
    uint16_t top;                        /* first of the outermost siblings */
    const struct constraint *constraint; /* of nodes, or NULL */
    uint64_t key; /* equal: the same verdict at the same time (but for a hash's chance) */
    bool elastic; /* some count has more than one size */
    struct shape *other; /* the next variant (xor_slot), owned; or NULL */
};

enum shape_flags {
    SHAPE_BOOK_LEAVES = 1, /* leaves beside slots (node > slot, memory) are booked too, as
                            * batch users expect; without it they are only looked for */
};

/* NULL with place and reason: "resources[0].with[1]: ...". Keeps nothing of its input. */
struct shape *shape_compile (const struct jobspec_resource *resources, size_t n,
                             const json_t *constraints, unsigned flags,
                             struct error *err);
void shape_destroy (struct shape *s);
size_t shape_memory (const struct shape *s);
/* The largest allowed size of v's count that is <= limit; 0: even the least is more. */
int64_t shape_count_fit (const struct shape_vertex *v, int64_t limit);
int64_t shape_count_least (const struct shape_vertex *v);
/* "4 nodes with 2 slots of 8 cores and 1 gpu each", for people. -ENOMEM. */
int shape_describe (const struct shape *s, struct strbuf *sb);

#endif
