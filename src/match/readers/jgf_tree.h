/* jgf_tree.h - the tree of the vertices of a JGF document in one subsystem
 *
 *     struct jgf_tree t;
 *     rc = jgf_tree_build (&t, &document, "containment", &err);
 *     for (size_t k = 0; k < t.n; k++) {
 *         uint32_t i = t.order[k];                 // parents first
 *         uint32_t parent = jgf_tree_parent (&t, &document, i);
 *
 * Siblings are in the order of their edges. If several edges lead to a vertex, the first
 * gives the tree parent, and the others give further parents. Vertices of other
 * subsystems only are left out.
 */
#pragma once

#include "match/readers/jgf_document.h"

struct jgf_tree {
    const char *subsystem; /* borrowed */
    uint32_t *edge;        /* by vertex: the edge from its tree parent, or GRAPH_NONE */
    uint32_t *order;       /* vertices of this subsystem, depth first */
    size_t n;
    uint32_t *roots; /* vertices without an edge, in the order of the document */
    size_t nroots;
    bool *parent; /* by vertex: has children */
    bool *shared; /* by vertex: several edges lead to it */
};

/* 0, -ENOMEM, -EINVAL: a cycle, a doubled edge, a vertex with an edge but without a path
 * in the subsystem. O(vertices + edges), without recursion. */
int jgf_tree_build (struct jgf_tree *t, const struct jgf_document *d,
                    const char *subsystem, struct error *err);
/* Checks that there is exactly one root, with the path of a root: 0, or -EINVAL that
 * names the wrong vertex. */
int jgf_tree_check_root (const struct jgf_tree *t, const struct jgf_document *d,
                         struct error *err);
void jgf_tree_release (struct jgf_tree *t);

/* GRAPH_NONE: i is a root. */
static inline uint32_t jgf_tree_parent (const struct jgf_tree *t,
                                        const struct jgf_document *d, uint32_t i)
{
    return t->edge[i] == GRAPH_NONE ? GRAPH_NONE : d->e[t->edge[i]].source;
}

static inline void jgf_tree_releasep (struct jgf_tree *t)
{
    jgf_tree_release (t);
}
#define autojgftree __attribute__ ((cleanup (jgf_tree_releasep)))
