/* holders.c - which jobs have a unit, and what is free */
#include "match/planner/bookings.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"

static bool has_unit (const struct claim *c, uint32_t unit)
{
    return unit >= c->unit && unit < c->unit + c->count;
}

/* True if a claim of that kind is on the unit of v, or covers it from above. */
static bool is_held (const struct planner *p, uint32_t v, uint32_t unit, bool reserved,
                     const struct booking *of)
{
    for (uint32_t at = v; at != GRAPH_NONE; at = graph_vertex (p->g, at)->parent) {
        CLAIMS (p, at, i)
        {
            const struct claim *c = &p->claims[i];
            if ((at == v ? has_unit (c, unit) : c->exclusive)
                && (of ? c->booking == of->number : c->reserved == reserved))
                return true;
        }
    }
    return false;
}

bool planner_has (const struct planner *p, uint64_t job, uint32_t v, uint32_t unit,
                  bool below)
{
    const struct booking *b = booking_find (p, job);

    if (!b)
        return false;
    if (is_held (p, v, unit, false, b))
        return true;
    if (!below || graph_vertex (p->g, v)->first == GRAPH_NONE)
        return false;
    CLAIMS_OF_JOB (p, b, c)
    {
        if (graph_is_in (p->g, p->claims[c].v, v))
            return true;
    }
    return false;
}

bool planner_is_allocated (const struct planner *p, uint32_t v, uint32_t unit)
{
    return is_held (p, v, unit, false, NULL);
}

bool planner_is_reserved (const struct planner *p, uint32_t v, uint32_t unit)
{
    return is_held (p, v, unit, true, NULL);
}

/* -- free -- */

static int64_t free_nodes (const struct planner *p, uint32_t v)
{
    struct window now = { .at = 0, .end = 1, .now = true };
    int64_t n = 0;

    if ((graph_vertex (p->g, v)->flags & (GRAPH_DOWN | GRAPH_DRAINED))
        || sums_is_taken (p, v))
        return 0;
    if (graph_vertex (p->g, v)->type == GRAPH_NODE)
        return claims_untouched (p, v, &now);
    GRAPH_CHILDREN (p->g, v, child)
    {
        n += free_nodes (p, child);
    }
    return n;
}

int64_t planner_free (const struct planner *p, uint16_t type)
{
    uint32_t root = p->g->root;

    if (root == GRAPH_NONE)
        return 0;
    int dim = levels_dim (p, type);
    if (!p->stale && p->told == p->g->layout && p->nchanged == 0 && dim >= 0
        && p->nupper > 0)
        return index_sum_free (p->upper[0].index, (unsigned)dim) + p->loose_free[dim];
    return type == GRAPH_NODE ? free_nodes (p, root)
                              : sums_of_type (p, root, type, SUMS_FREE);
}
