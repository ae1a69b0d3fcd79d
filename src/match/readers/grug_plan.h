/* grug_plan.h - which vertices and edges a recipe makes, without making them
 *
 *     struct grug_plan p;
 *     rc = grug_plan_make (&p, &recipe, &err);     // -E2BIG: 50,000,000 vertices at most
 *     for (size_t s = 0; s < p.nsteps; s++)
 *         for (size_t k = 0; k < p.steps[s].from.n; k++)
 *             ... grug_set_get (&p.steps[s].from, k) ...
 *     grug_plan_release (&p);
 *
 * The plan walks the recipe depth first, roots and siblings in the order of the recipe.
 * The first edge that leads to a node is a step; later ones make nothing. Vertices are
 * numbered in the order of their making:
 *
 *     step 0  cluster -> rack, 2       cluster 0    racks 1, 2
 *     step 1  rack -> node, 3                       nodes 3 4 5 | 6 7 8
 *     step 2  node -> core, 8                       cores 9 ...
 *
 * So the vertices of one recipe node are a "class": a run of numbers, and everything that
 * differs between them is computed from the number. Only associations are lists, of
 * GRUG_PAIRS_MAX pairs at most in total. Memory does not grow with the number of
 * vertices.
 */
#pragma once

#include "common/strbuf.h"
#include "match/readers/grug_recipe.h"

#define GRUG_VERTICES_MAX 50000000u
#define GRUG_PAIRS_MAX (4u << 20)
#define GRUG_NONE UINT32_MAX
#define GRUG_NAME_SIZE 280

struct grug_set { /* n vertices: first, first + 1, ...; or a list */
    size_t n;
    uint32_t first;
    const uint32_t *list; /* or NULL */
};

static inline uint32_t grug_set_get (const struct grug_set *set, size_t k)
{
    return set->list ? set->list[k] : set->first + (uint32_t)k;
}

struct grug_class {
    const struct grug_node *node;
    uint32_t first, n;
    uint32_t step; /* the step that made the class; of a root: the step before which it
                    * was made */
    bool root;
    int64_t around; /* number of sources after which ids start over; 0: at each source */
    int32_t rank;   /* of the first vertex, -1: none has a rank */
};

struct grug_step {
    const struct grug_edge *edge;
    uint32_t made; /* class; GRUG_NONE: an association */
    /* For number k: from[k] gets vertices scale * k ... of the class as children; or
     * from[k] and to[k] are associated. */
    struct grug_set from;
    uint32_t *to;
    /* For lists: the numbers k sorted by from[k], and by to[k]; ascending for each. */
    uint32_t *by_from, *by_to;
};

struct grug_plan {
    struct grug_class *classes;
    struct grug_step *steps;
    size_t nclasses, nsteps;
    uint32_t nvertices;
};

/* 0, -EINVAL, -E2BIG, -ENOMEM. */
int grug_plan_make (struct grug_plan *p, const struct grug_recipe *r, struct error *err);
void grug_plan_release (struct grug_plan *p);

uint32_t grug_plan_class (const struct grug_plan *p, uint32_t v);
/* -1: no id. May be out of the range of ids. */
int64_t grug_plan_id (const struct grug_plan *p, uint32_t v);
/* Appends the path that v has in the subsystem before step `before`: the path of the last
 * association, else the path of its making. 0; -ENOENT: no path; -ENOMEM, -E2BIG. */
int grug_plan_path (const struct grug_plan *p, uint32_t v, const char *subsystem,
                    size_t before, struct strbuf *sb);
/* Find the numbers k of the step with from[k] (to[k]) == v: at[0] .. at[n - 1]. A step
 * without list has at most one, returned in *ret. */
size_t grug_step_from (const struct grug_step *s, uint32_t v, const uint32_t **ret_at,
                       uint32_t *ret);
size_t grug_step_to (const struct grug_step *s, uint32_t v, const uint32_t **ret_at);
