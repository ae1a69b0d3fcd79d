/* cancel_part.c - gives back a part of a booking
 *
 * A claim that covers more than is given back is first split: a claim on a node becomes
 * one on each of its children, as far down as necessary. Memory for all of this is
 * reserved before.
 */
#include <errno.h>

#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"
#include "match/planner/suspend.h"

struct giving {
    struct planner *p;
    struct booking *b;
};

static bool is_pick (const struct planner *p, const struct pick *pick)
{
    if (!pick->claimed || pick->v >= p->g->nv)
        return false;
    const struct graph_vertex *x = graph_vertex (p->g, pick->v);
    return pick->count > 0 && pick->unit < x->n && pick->count <= x->n - pick->unit;
}

/* Returns the job's claim above v that covers v; GRAPH_NONE. */
static uint32_t cover_of (const struct giving *w, uint32_t v)
{
    while ((v = graph_vertex (w->p->g, v)->parent) != GRAPH_NONE) {
        CLAIMS (w->p, v, c)
        {
            if (w->p->claims[c].booking == w->b->number && w->p->claims[c].exclusive)
                return c;
        }
    }
    return GRAPH_NONE;
}

/* Returns the number of claims needed to split for a pick of v. */
static size_t room_for (const struct giving *w, uint32_t v)
{
    uint32_t cover = cover_of (w, v);
    size_t n = 0;

    if (cover == GRAPH_NONE)
        return 0;
    do {
        v = graph_vertex (w->p->g, v)->parent;
        GRAPH_CHILDREN (w->p->g, v, child)
        {
            n++;
        }
    } while (v != w->p->claims[cover].v);
    return n;
}

static int make_room (const struct giving *w, const struct selection *s)
{
    size_t n = 0;
    uint32_t parent = GRAPH_NONE;

    for (size_t i = 0; i < s->n; i++) {
        if (!is_pick (w->p, &s->picks[i]))
            continue;
        uint32_t up = graph_vertex (w->p->g, s->picks[i].v)->parent;
        if (up != parent)
            n += room_for (w, s->picks[i].v);
        parent = up;
        n++; /* a run is split in two */
    }
    return claims_reserve (w->p, n);
}

/* Replaces the claim on top by claims on its children, except on the way to v, where
 * children are split in turn. */
static void take_apart (const struct giving *w, uint32_t cover, uint32_t v)
{
    const struct claim whole = w->p->claims[cover];
    uint32_t top = whole.v, way;

    claims_shrink (w->p, cover, 0, 0, 0);
    while (top != v) {
        for (way = v; graph_vertex (w->p->g, way)->parent != top;)
            way = graph_vertex (w->p->g, way)->parent;
        GRAPH_CHILDREN (w->p->g, top, child)
        {
            const struct graph_vertex *x = graph_vertex (w->p->g, child);
            struct claim c = whole;
            c.v = child;
            c.unit = 0;
            c.count = x->n;
            c.amount = x->size;
            if (child != way || child == v)
                claims_link (w->p, &c, GRAPH_NONE);
        }
        top = way;
    }
}

/* c keeps the units after the pick, and another claim gets those before it: in this
 * order, since a shrinking group loses its last units as soon as they are free. */
static void cut (const struct giving *w, uint32_t c, const struct pick *pick)
{
    struct claim left = w->p->claims[c], right = left;
    uint32_t end = left.unit + left.count, last = pick->unit + pick->count;

    left.count = pick->unit > left.unit ? pick->unit - left.unit : 0;
    right.count = end > last ? end - last : 0;
    right.unit = last;
    if (right.count == 0) {
        claims_shrink (w->p, c, left.unit, left.count, left.amount);
        return;
    }
    claims_shrink (w->p, c, right.unit, right.count, right.amount);
    if (left.count > 0)
        claims_link (w->p, &left, c);
}

/* Returns a claim of the job on v with units of the pick; GRAPH_NONE. */
static uint32_t claim_on (const struct giving *w, uint32_t v, const struct pick *pick)
{
    CLAIMS (w->p, v, i)
    {
        const struct claim *c = &w->p->claims[i];
        if (c->booking == w->b->number && c->unit < pick->unit + pick->count
            && pick->unit < c->unit + c->count)
            return i;
    }
    return GRAPH_NONE;
}

static void give_units (const struct giving *w, const struct pick *pick)
{
    uint32_t c;

    if (graph_vertex (w->p->g, pick->v)->flags & GRAPH_DIVISIBLE) {
        if ((c = claim_on (w, pick->v, pick)) == GRAPH_NONE || pick->amount <= 0)
            return;
        const struct claim *claim = &w->p->claims[c];
        claims_shrink (w->p, c, claim->unit, claim->count,
                       MAX (claim->amount - pick->amount, 0));
        return;
    }
    while ((c = claim_on (w, pick->v, pick)) != GRAPH_NONE)
        cut (w, c, pick);
}

/* Gives back everything that the job has below v, in a node. */
static void give_below (const struct giving *w, uint32_t v)
{
    GRAPH_CHILDREN (w->p->g, v, child)
    {
        struct pick all = { .v = child, .count = graph_vertex (w->p->g, child)->n };
        uint32_t c;
        while ((c = claim_on (w, child, &all)) != GRAPH_NONE)
            claims_shrink (w->p, c, 0, 0, 0);
        give_below (w, child);
    }
}

static void give (const struct giving *w, const struct pick *pick)
{
    uint32_t cover = cover_of (w, pick->v), next;

    if (cover != GRAPH_NONE)
        take_apart (w, cover, pick->v);
    give_units (w, pick);
    if (graph_vertex (w->p->g, pick->v)->first == GRAPH_NONE)
        return;
    if (levels_node_of (w->p, pick->v) != GRAPH_NONE) {
        give_below (w, pick->v);
        return;
    }
    for (uint32_t c = w->b->first; c != GRAPH_NONE; c = next) {
        const struct claim *claim = &w->p->claims[c];
        next = claim->next_of_job;
        if (claim->count > 0 && graph_is_in (w->p->g, claim->v, pick->v))
            claims_shrink (w->p, c, 0, 0, 0);
    }
}

int planner_cancel_part (struct planner *p, uint64_t job, const struct selection *s,
                         bool *ret_empty)
{
    struct giving w = { .p = p, .b = booking_find (p, job) };

    *ret_empty = false;
    if (!w.b)
        return -ENOENT;
    booking_resume (p, w.b);
    if (make_room (&w, s) < 0)
        return -ENOMEM;
    levels_hold (p);
    for (size_t i = 0; i < s->n; i++)
        if (is_pick (p, &s->picks[i]))
            give (&w, &s->picks[i]);
    for (size_t i = 0; i < s->n; i++) /* units that go when they are free */
        if (s->picks[i].v < p->g->nv && graph_vertex (p->g, s->picks[i].v)->n > 0)
            graph_trim (p->g, s->picks[i].v);
    bookings_sweep (p, w.b);
    *ret_empty = w.b->nclaims == 0;
    if (*ret_empty)
        booking_drop (p, w.b);
    else
        sums_rebook (p, w.b);
    p->generation++;
    p->shown++;
    p->changes++;
    levels_settle (p);
    return 0;
}
