/* inspect.c - see inspect.h */
#include "match/test/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"

/* -- bookings -- */

struct selection *planner_selection (const struct planner *p, uint64_t job)
{
    const struct booking *b = booking_find (p, job);
    struct selection *s;

    if (!b || !(s = selection_create ()))
        return NULL;
    CLAIMS_OF_JOB (p, b, i)
    {
        const struct claim *c = &p->claims[i];
        struct pick *pick = selection_add (s, p->g, c->v, c->unit, c->count, GRAPH_NONE);
        if (!pick) {
            selection_destroy (s);
            return NULL;
        }
        pick->amount = c->amount;
        pick->exclusive = c->exclusive;
        pick->claimed = true;
    }
    if (selection_complete (s, p->g) < 0) {
        selection_destroy (s);
        return NULL;
    }
    s->start = b->start;
    s->end = b->end;
    return s;
}

void planner_dump (const struct planner *p, struct strbuf *sb)
{
    for (struct ordered_link *l = ordered_first (&p->ids); l;
         l = ordered_above (&p->ids, l->key)) {
        const struct booking *b = CONTAINER_OF (l, struct booking, by_id);
        strbuf_addf (sb, "job %" PRIu64 " %s %" PRId64 "-%" PRId64 ":", b->job,
                     b->reserved ? "reserved" : "allocated", b->start, b->end);
        CLAIMS_OF_JOB (p, b, i)
        {
            const struct claim *c = &p->claims[i];
            strbuf_addf (sb, " %" PRIu32 "[%" PRIu32 "+%" PRIu32 "]*%" PRId64 "%s", c->v,
                         c->unit, c->count, c->amount, c->exclusive ? "x" : "");
        }
        strbuf_addch (sb, '\n');
    }
}

int planner_remake (struct planner **p, struct error *err)
{
    const struct match_policy policy = (*p)->policy;
    const struct planner_options opt = (*p)->opt;
    struct graph *g = (*p)->g;
    struct {
        struct planner_job job;
        struct selection *has;
    } *kept = calloc (planner_count (*p) + 1, sizeof (*kept));
    size_t n = 0;
    int rc = 0;

    if (!kept)
        return -ENOMEM;
    while (planner_next (*p, n > 0 ? kept[n - 1].job.job : 0, &kept[n].job)) {
        kept[n].has = planner_selection (*p, kept[n].job.job);
        n++;
    }
    planner_destroy (*p);
    *p = planner_create (g, &policy, &opt);
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            rc = planner_update (*p, kept[i].job.job, kept[i].has, kept[i].job.reserved,
                                 err);
        selection_destroy (kept[i].has);
    }
    free (kept);
    return rc;
}

/* -- use -- */

/* At that time: an allocation counts from its start on, also past its end. */
static bool counts_at (const struct planner *p, const struct claim *c, int64_t at)
{
    const struct booking *b = claims_booking (p, c);

    return b->start <= at && (!c->reserved || at < b->end);
}

static int64_t used_of (const struct planner *p, uint32_t v, int64_t at)
{
    const struct graph_vertex *x = graph_vertex (p->g, v);
    bool divisible = (x->flags & GRAPH_DIVISIBLE) != 0;
    int64_t used = 0;

    CLAIMS (p, v, i)
    {
        const struct claim *c = &p->claims[i];
        if (counts_at (p, c, at))
            used += divisible ? c->amount : (int64_t)c->count * x->size;
    }
    return used;
}

static int64_t used_below (const struct planner *p, uint32_t v, uint16_t type, int64_t at)
{
    const struct level_node *node = levels_node (p, v);
    int64_t sum = 0;

    if (node && node->nclaims == 0)
        return 0;
    CLAIMS (p, v, i)
    {
        const struct claim *c = &p->claims[i];
        if (c->exclusive && graph_vertex (p->g, v)->first != GRAPH_NONE
            && counts_at (p, c, at))
            return sums_of_type (p, v, type, SUMS_EVER);
    }
    if (graph_vertex (p->g, v)->type == type)
        sum = used_of (p, v, at);
    GRAPH_CHILDREN (p->g, v, child)
    {
        sum += used_below (p, child, type, at);
    }
    return sum;
}

int64_t planner_used (const struct planner *p, uint32_t v, uint16_t type, int64_t at)
{
    for (uint32_t up = graph_vertex (p->g, v)->parent; up != GRAPH_NONE;
         up = graph_vertex (p->g, up)->parent) {
        CLAIMS (p, up, i)
        {
            const struct claim *c = &p->claims[i];
            if (c->exclusive && counts_at (p, c, at))
                return sums_of_type (p, v, type, SUMS_EVER);
        }
    }
    return used_below (p, v, type, at);
}

/* -- selections and RSets -- */

int64_t selection_count (const struct selection *s, const struct graph *g, uint16_t type)
{
    int64_t units = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        if (graph_vertex (g, p->v)->type != type)
            continue;
        uint32_t at = (uint32_t)i;
        while (at != GRAPH_NONE && !s->picks[at].claimed)
            at = s->picks[at].parent;
        units += at != GRAPH_NONE ? p->count : 0;
    }
    return units;
}

static bool rank_equal (const struct rset_rank *a, const struct rset_rank *b)
{
    return strcmp (a->node, b->node) == 0 && a->node_index == b->node_index
           && idset_equal (a->cores, b->cores) && idset_equal (a->gpus, b->gpus)
           && a->memory_mib == b->memory_mib && a->slots == b->slots
           && a->exclusive == b->exclusive && gres_equal (&a->gres, &b->gres);
}

bool rset_equal (const struct rset *a, const struct rset *b)
{
    if (a->nranks != b->nranks || fabs (a->starttime - b->starttime) >= 1e-6
        || fabs (a->expiration - b->expiration) >= 1e-6)
        return false;
    for (size_t i = 0; i < a->nranks; i++) {
        if (!rank_equal (&a->ranks[i], &b->ranks[i]))
            return false;
    }
    return true;
}
