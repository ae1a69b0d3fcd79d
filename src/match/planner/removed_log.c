/* removed_log.c - the log of bookings that were removed since a plan was made
 *
 * The search reads the log to skip requests that cannot profit (search/replan.c). The log
 * is bounded: past the bound it only notes that it is incomplete.
 */
#include "match/planner/levels.h"
#include "match/planner/removed_log.h"
#include "match/planner/suspend.h"

#define NODES_MAX 4096  /* nodes in the log */
#define EVENTS_MAX 1024 /* bookings in the log */

void removed_log_clear (struct planner *p)
{
    struct removed_log *f = &p->removed;

    f->on = true;
    f->all = false;
    f->n = f->nnodes = f->asked = 0;
    f->generation = p->generation;
}

void removed_log_destroy (struct planner *p)
{
    free (p->removed.list);
    free (p->removed.nodes);
    p->removed = (struct removed_log){ 0 };
}

static bool make_room (struct removed_log *f)
{
    if (!f->list)
        f->list = malloc (EVENTS_MAX * sizeof (*f->list));
    if (!f->nodes)
        f->nodes = malloc (NODES_MAX * sizeof (*f->nodes));
    return f->list && f->nodes && f->n < EVENTS_MAX;
}

void removed_log_add (struct planner *p, const struct booking *b)
{
    struct removed_log *f = &p->removed;

    if (!f->on || f->all)
        return;
    f->all = !make_room (f);
    if (f->all)
        return;
    struct removed *e = &f->list[f->n++];
    *e = (struct removed){ .start = b->reserved ? booking_start (b) : 0,
                         .end = booking_end (b),
                         .first = (uint32_t)f->nnodes,
                         .ran = !b->reserved };
    CLAIMS_OF_JOB (p, b, c)
    {
        uint32_t node = levels_node_of (p, p->claims[c].v);
        if (e->n > 0 && f->nodes[f->nnodes - 1] == node)
            continue;
        f->all = node == GRAPH_NONE || f->nnodes == NODES_MAX;
        if (f->all)
            return;
        f->nodes[f->nnodes++] = node;
        e->n++;
    }
}

void removed_log_generation (struct planner *p)
{
    if (p->removed.generation == p->generation)
        p->removed.generation++;
    p->generation++;
}
