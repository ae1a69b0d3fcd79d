/* bounds.c - the least that a request needs, by dimension of the indexes
 *
 *     walk_bounds     for one unit of each vertex of the request
 *     walk_need       what a node must have to serve it
 *     walk_hopeless   the root's index excludes the request at once
 */
#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/search/walk_private.h"

bool walk_has_type (const struct walker *k, uint16_t r, int32_t type)
{
    if (k->type[r] == type)
        return true;
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (walk_has_type (k, c, type))
            return true;
    return false;
}

/* -- bounds -- */

static int64_t times (int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_mul_overflow (a, b, &r) || r > INT64_MAX / 4 ? INT64_MAX / 4 : r;
}

/* Any one of the or_slots may serve: the bound of all is the minimum of their bounds. */
static void join_bounds (struct walker *k, uint16_t head)
{
    struct bound least;
    bool any = false;

    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next) {
        if (walk_req (k, r)->kind != SHAPE_OR_SLOT)
            continue;
        for (unsigned d = 0; d < INDEX_DIMS; d++)
            least.dim[d] =
                any ? MIN (least.dim[d], k->bound[r].dim[d]) : k->bound[r].dim[d];
        any = true;
    }
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next)
        if (walk_req (k, r)->kind == SHAPE_OR_SLOT)
            k->bound[r] = least;
}

/* Computes the bound of one unit of vertex r: the unit, and the request below it. */
static void bound_of (struct walker *k, uint16_t r)
{
    const struct shape_vertex *req = walk_req (k, r);
    struct bound *b = &k->bound[r];
    int dim = k->type[r] >= 0 ? levels_dim (k->p, (uint16_t)k->type[r]) : -1;

    for (uint16_t c = req->first; c != SHAPE_NONE; c = walk_req (k, c)->next) {
        bound_of (k, c);
        if (walk_req (k, c)->kind == SHAPE_OR_SLOT)
            continue; /* any of them may serve: no bound */
        int64_t n = shape_count_least (walk_req (k, c));
        for (unsigned d = 0; d < INDEX_DIMS; d++)
            b->dim[d] += times (n, k->bound[c].dim[d]);
    }
    join_bounds (k, req->first);
    if (k->type[r] == GRAPH_NODE) {
        b->dim[0] = req->taken || k->policy->node_exclusive;
        properties_raise (k->p, k->properties, b->dim[0], b->dim);
    } else if (dim > 0 && req->first == SHAPE_NONE && !k->p->type_shared[k->type[r]]) {
        b->dim[dim] += 1; /* no index knows the further children of a vertex */
        if (dim == CORES)
            properties_spread (k->p, k->properties, 1, b->dim);
    }
}

void walk_bounds (struct walker *k)
{
    for (uint16_t r = k->s->top; r != SHAPE_NONE; r = walk_req (k, r)->next)
        bound_of (k, r);
    join_bounds (k, k->s->top);
}

int64_t walk_least_in_node (const struct walker *k, uint16_t r, unsigned d)
{
    int64_t least = k->bound[r].dim[d];

    if (k->s->node_memory > least && levels_dim (k->p, GRAPH_MEMORY) == (int)d)
        return k->s->node_memory;
    return least;
}

/* -- bounds on one node -- */

/* True if r or something in it is above nodes. */
static bool has_above (const struct walker *k, uint16_t r)
{
    int32_t type = k->type[r];

    if (type >= 0
        && (k->p->type_upper[type] || type == graph_vertex (k->g, k->g->root)->type))
        return true;
    for (uint16_t c = walk_req (k, r)->first; c != SHAPE_NONE; c = walk_req (k, c)->next)
        if (has_above (k, c))
            return true;
    return false;
}

bool walk_within_node (const struct walker *k, uint16_t r)
{
    if (k->type[r] == GRAPH_NODE)
        return true;
    return !walk_has_type (k, r, GRAPH_NODE) && !has_above (k, r);
}

bool walk_by_measure (const struct walker *k)
{
    return k->policy->measure && k->w->now;
}

void walk_need (const struct walker *k, uint16_t r, struct index_need *need)
{
    *need = (struct index_need){ .at = k->w->at,
                                 .now = k->w->now,
                                 .ever = k->w->ever,
                                 .by_measure = walk_by_measure (k) };
    for (unsigned d = 0; d < k->p->ndims; d++)
        need->dim[d] = walk_least_in_node (k, r, d);
}

/* -- hopeless? -- */

static int64_t root_most (const struct walker *k, const struct index *x, unsigned d)
{
    return k->w->now ? index_most_free (x, d) : index_most_ever (x, d);
}

int64_t walk_sum (const struct walker *k, const struct index *x, unsigned d)
{
    return k->w->now ? index_sum_free (x, d) : index_sum_ever (x, d);
}

/* True if no node has enough for one r, or all of them together have too little. */
static bool short_of (struct walker *k, const struct index *x, uint16_t r)
{
    const struct shape_vertex *req = walk_req (k, r);
    int64_t least = shape_count_least (req);
    bool node = walk_within_node (k, r);

    for (unsigned d = 0; d < k->p->ndims; d++) {
        int64_t one = k->bound[r].dim[d];
        int64_t in_node = node ? walk_least_in_node (k, r, d) : 0;
        if (one == 0 && in_node == 0)
            continue;
        int64_t most = root_most (k, x, d), sum = walk_sum (k, x, d);
        if (most < in_node || sum < times (least, one)) {
            *k->miss = (struct walk_miss){ .wanted = r,
                                           .at = k->g->root,
                                           .asked = least,
                                           .found = most < in_node ? 0 : sum / one,
                                           .known_early = true };
            return true;
        }
    }
    return false;
}

/* True if something has a type that the graph lacks. */
static bool unknown_type (struct walker *k, uint16_t head)
{
    for (uint16_t r = head; r != SHAPE_NONE; r = walk_req (k, r)->next) {
        const struct shape_vertex *req = walk_req (k, r);
        if (req->kind == SHAPE_OR_SLOT)
            continue;
        if (req->kind == SHAPE_RESOURCE
            && (k->type[r] < 0 || graph_type_count (k->g, (uint16_t)k->type[r]) == 0)) {
            *k->miss = (struct walk_miss){ .wanted = r,
                                           .at = k->g->root,
                                           .asked = shape_count_least (req),
                                           .known_early = true };
            return true;
        }
        if (unknown_type (k, req->first))
            return true;
    }
    return false;
}

bool walk_hopeless (struct walker *k)
{
    if (unknown_type (k, k->s->top))
        return true;
    if (!(graph_vertex (k->g, k->g->root)->flags & GRAPH_UPPER))
        return false;
    const struct upper *a = levels_upper (k->p, k->g->root);
    if (k->p->any_loose)
        return false; /* the resources may be beside the nodes */
    for (uint16_t r = k->s->top; r != SHAPE_NONE; r = walk_req (k, r)->next)
        if (walk_req (k, r)->kind != SHAPE_OR_SLOT && short_of (k, a->index, r))
            return true;
    return false;
}
