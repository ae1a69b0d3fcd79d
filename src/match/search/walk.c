/* walk.c - one walk for one request in one window of time: see walk.h
 *
 *     walk              is the request hopeless (bounds.c)? else at most two attempts
 *      walk_once        gathers candidates and chooses among them, from the root
 *                       (gather.c, groups.c)
 *      walk_answer      turns what was chosen into a selection (answer.c)
 */
#include <errno.h>
#include <stdlib.h>

#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/search/walk_private.h"

/* Gathers candidates for the outermost vertices of the request from the root. */
static void gather_top (struct walker *k, uint32_t root, uint16_t head, uint64_t active,
                        uint32_t base, bool excl)
{
    walk_gather (k, root, head, active, active, base, excl);
}

int walk_bind (struct walker *k)
{
    k->type = calloc (k->s->nv, sizeof (*k->type));
    k->bound = calloc (k->s->nv, sizeof (*k->bound));
    if (!k->type || !k->bound)
        return -ENOMEM;
    for (size_t i = 0; i < k->s->nv; i++)
        k->type[i] = k->s->v[i].kind == SHAPE_RESOURCE
                         ? graph_type_find (k->g, k->s->v[i].type)
                         : -1;
    k->c = k->p->room.candidates;
    k->ac = k->p->room.ncandidates;
    k->order = k->p->room.order;
    k->aorder = k->p->room.norder;
    k->p->room.candidates = NULL;
    k->p->room.order = NULL;
    k->p->room.ncandidates = k->p->room.norder = 0;
    k->collect = walk_collect;
    k->gather_top = k->s->groups.level[0] ? walk_groups : gather_top;
    k->has_ways = graph_further_count (k->g) > 0;
    k->storage_node = graph_type_find (k->g, "storage_node");
    k->properties = properties_needed (k->p, k->s->constraint);
    walk_bounds (k);
    return 0;
}

/* Returns memory for the next walk. */
static void give_back (struct walker *k)
{
    struct walk_room *room = &k->p->room;

    if (k->c) {
        room->candidates = k->c;
        room->ncandidates = k->ac;
    }
    if (k->order) {
        room->order = k->order;
        room->norder = k->aorder;
    }
    room->bytes = room->ncandidates * sizeof (*room->candidates)
                  + room->norder * sizeof (*room->order);
}

void walk_release (struct walker *k)
{
    walk_ways_back (k, 0);
    free (k->ways);
    free (k->type);
    free (k->bound);
    give_back (k);
    free (k->f);
    free (k->held);
}

/* One attempt; slots may span vertices only if `span`. */
static int walk_once (struct walker *k, bool span, struct selection **ret)
{
    uint32_t parts;
    int rc = -EBUSY;

    k->span = span;
    k->nc = k->nf = k->nheld = 0;
    walk_ways_back (k, 0);
    k->asked = GRAPH_NONE;
    k->shares = 1;
    k->quota = 0;
    k->group_miss = -1;
    k->zone = GRAPH_NONE;
    k->twin = GRAPH_NONE;
    k->twin_req = SHAPE_NONE;
    k->node = 0;
    k->node_order = k->p->nested ? NULL : k->p->order;
    k->node_score = 0;
    if (walk_find_parts (k, k->g->root, k->s->top, false, &parts))
        rc = walk_answer (k, parts, ret);
    return k->failed ? -ENOMEM : rc;
}

/* True if a slot could have parts of several vertices when no single one has all of them:
 * in nodes with more than leaves, or if the slot is made of nodes. */
static bool may_span (const struct walker *k)
{
    if (k->p->opt.together_slots)
        return false;
    for (uint16_t r = 0; r < k->s->nv; r++)
        if (k->s->v[r].kind != SHAPE_RESOURCE
            && (k->p->deep || k->has_ways || walk_has_type (k, r, GRAPH_NODE)))
            return true;
    return false;
}

int walk (struct planner *p, const struct shape *shape, const struct window *w,
          struct selection **ret, struct walk_miss *miss)
{
    struct walker k = {
        .p = p, .g = p->g, .s = shape, .policy = &p->policy, .w = w, .miss = miss
    };
    int rc;

    *ret = NULL;
    *miss = (struct walk_miss){ .wanted = SHAPE_NONE, .at = GRAPH_NONE };
    if (p->g->root == GRAPH_NONE)
        return -EBUSY;
    if ((rc = levels_update (p)) == 0 && (rc = walk_bind (&k)) == 0) {
        rc = -EBUSY;
        if (!walk_hopeless (&k)) {
            rc = walk_once (&k, false, ret);
            if (rc == -EBUSY && may_span (&k))
                rc = walk_once (&k, true, ret);
        }
    }
    walk_release (&k);
    return rc;
}
