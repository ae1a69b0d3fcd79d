/* grug_plan.h - which vertices and edges a recipe makes, without making them
 *
 *     struct grug_plan p;
 *     rc = grug_plan_make (&p, &recipe, &err);     // -E2BIG: 50,000,000 vertices at most
 *     for (size_t s = 0; s < p.nsteps; s++)
 *         for (size_t k = 0; k < p.steps[s].from.n; k++)
 *             ... grug_set_get (&p.steps[s].from, k) ...
 *     grug_plan_release (&p);
 *
 * The recipe is walked depth first, roots and siblings as they stand in it; the first edge
 * that leads to a node is a step, later ones make nothing. Vertices are numbered as they
 * are made:
 *
 *     step 0  cluster -> rack, 2       cluster 0    racks 1, 2
 *     step 1  rack -> node, 3                       nodes 3 4 5 | 6 7 8
 *     step 2  node -> core, 8                       cores 9 ...
 *
 * So those of one recipe node are a "class": a run of numbers, with all that tells them
 * apart to be computed from the number. Only associations are lists, of GRUG_PAIRS_MAX
 * pairs at most in all. Memory does not grow with the number of vertices.
 */
#ifndef FLUXQ_MATCH_READERS_GRUG_PLAN_H
#define FLUXQ_MATCH_READERS_GRUG_PLAN_H

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
    uint32_t step; /* that made it; of a root: the one before which it was made */
    bool root;
    int64_t around; /* sources after which ids begin again; 0: each has ids of its own */
    int32_t rank;   /* of the first, -1: they have none */
};

struct grug_step {
    const struct grug_edge *edge;
    uint32_t made; /* class; GRUG_NONE: an association */
    /* Number k: vertices scale * k ... of the class are made below from[k]; or from[k] and
     * to[k] are associated. */
    struct grug_set from;
    uint32_t *to;
    /* Of lists: the k by from[k], and by to[k]; for each, ascending. */
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
/* -1: it has none. May be out of the range of ids. */
int64_t grug_plan_id (const struct grug_plan *p, uint32_t v);
/* Append the path that v has in the subsystem before step `before`: that of the last
 * association, else from where it was made. 0; -ENOENT: it has none; -ENOMEM, -E2BIG. */
int grug_plan_path (const struct grug_plan *p, uint32_t v, const char *subsystem,
                    size_t before, struct strbuf *sb);
/* The numbers k of the step with from[k] (to[k]) == v are at[0] .. at[n - 1]; for a step
 * without list there is at most one, and *ret is it. */
size_t grug_step_from (const struct grug_step *s, uint32_t v, const uint32_t **ret_at,
                       uint32_t *ret);
size_t grug_step_to (const struct grug_step *s, uint32_t v, const uint32_t **ret_at);

#endif
