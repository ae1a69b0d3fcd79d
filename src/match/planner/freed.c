/* freed.c - the log of bookings that were removed since a plan was made
 *
 * The search reads the log to skip requests that cannot profit (search/replan.c). The log
 * is bounded: past the bound it only notes that it is incomplete.
 */
#include <stdlib.h>

#include "match/planner/aside.h"
#include "match/planner/freed.h"
#include "match/planner/levels.h"

#define NODES_MAX 4096  /* nodes in the log */
#define EVENTS_MAX 1024 /* bookings in the log */

void freed_forget (struct planner *p)
{
    struct freed_log *f = &p->freed;

    f->on = true;
    f->all = false;
    f->n = f->nnodes = f->asked = 0;
    f->generation = p->generation;
}

void freed_destroy (struct planner *p)
{
    free (p->freed.list);
    free (p->freed.nodes);
    p->freed = (struct freed_log){ 0 };
}

static bool make_room (struct freed_log *f)
{
    if (!f->list)
        f->list = malloc (EVENTS_MAX * sizeof (*f->list));
    if (!f->nodes)
        f->nodes = malloc (NODES_MAX * sizeof (*f->nodes));
    return f->list && f->nodes && f->n < EVENTS_MAX;
}

void freed_note (struct planner *p, const struct booking *b)
{
    struct freed_log *f = &p->freed;
    struct freed *e;

    if (!f->on || f->all)
        return;
    f->all = !make_room (f);
    if (f->all)
        return;
    e = &f->list[f->n++];
    *e = (struct freed){ .start = b->reserved ? booking_start (b) : 0,
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

void freed_generation (struct planner *p)
{
    if (p->freed.generation == p->generation)
        p->freed.generation++;
    p->generation++;
}
