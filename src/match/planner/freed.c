/* freed.c - what has become free since a plan was made, and which requests may profit
 *
 *     freed_note        logs a booking that is removed: its nodes and its time
 *     freed_forget      a plan is made: what became free before does not matter any more
 *     freed_look        could a request without a place before some time find one now, or
 *                       other parts at that time?
 *     freed_helps       ... in the window that begins then?
 *
 * A job that can begin earlier than before, or elsewhere, uses something that has become
 * free, as everything else was there before. So only the freed nodes matter: does one of
 * them have enough for one part of the request during a whole window that overlaps the
 * freed time? Usually not, as the next job on these nodes soon has them. The answer may
 * be a false "yes", never a false "no". If the order of nodes depends on what is free, or
 * the log is incomplete, the answer is always yes. O(claims on the nodes that became
 * free).
 */
#include <stdlib.h>
#include <string.h>

#include "match/index/profile.h"
#include "match/planner/planner_private.h"
#include "match/search/plan_private.h"

#define NODES_MAX 4096  /* entries of the log */
#define EVENTS_MAX 1024 /* bookings in the log */
#define FEW 16          /* so few that all can be checked */
#define LOOKS_MAX 256   /* of nodes, for one answer; a match costs no more */

/* -- the log -- */

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

/* -- needs that freed resources can serve -- */

static bool has_room_at (const struct freed_look *k, uint32_t v, int64_t at)
{
    struct window w = { .at = at, .end = planner_window_end (k->p, at, k->duration) };
    const struct level_node *node = levels_node (k->p, v);

    if (!node)
        return true;
    if (k->need.properties & ~node->properties)
        return false;
    if (k->need.only_whole)
        return claims_untouched (k->p, v, &w);
    return !claims_taken (k->p, v, &w)
           && (k->need.cores == 0 || release_free_cores (k->p, v, &w) >= k->need.cores);
}

/* True if there is room at an end of a booking at or below v, in from + 1 .. until. */
static bool has_room_later (const struct freed_look *k, uint32_t node, uint32_t v,
                            int64_t from, int64_t until)
{
    CLAIMS (k->p, v, c)
    {
        int64_t end = k->p->claims[c].end;
        if (end > from && end <= until && has_room_at (k, node, end))
            return true;
    }
    GRAPH_CHILDREN (k->p->g, v, child)
    {
        if (has_room_later (k, node, child, from, until))
            return true;
    }
    return false;
}

/* True if the event helps in a window that begins in from .. until: the freest windows
 * begin at `from`, or at an end. */
static bool is_of_use (const struct freed_look *k, const struct freed *e, int64_t from,
                       int64_t until, unsigned *looks)
{
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t node = k->p->freed.nodes[e->first + i];
        if ((*looks)++ >= LOOKS_MAX || has_room_at (k, node, from)
            || (from < until && has_room_later (k, node, node, from, until)))
            return true;
    }
    return false;
}

/* Computes the starts of windows that overlap the freed time. */
static void span_of (const struct freed_look *k, const struct freed *e, int64_t *from,
                     int64_t *until)
{
    int64_t end = e->ran ? MAX (e->end, k->now + 1) : e->end; /* the booking may have been
                                                               * late */

    *from = MAX (k->now, e->start - k->duration + 1);
    *until = MIN (k->start, end - 1);
}

bool freed_helps (const struct freed_look *k, int64_t at)
{
    const struct freed_log *f = &k->p->freed;
    unsigned looks = 0;

    if (k->all)
        return true;
    if (at < k->from || at > k->until)
        return false;
    for (size_t i = 0; i < f->n; i++) {
        int64_t from, until;
        span_of (k, &f->list[i], &from, &until);
        if (from <= at && at <= until && is_of_use (k, &f->list[i], at, at, &looks))
            return true;
    }
    return false;
}

/* True if the machine as a whole has too little before `until`. */
static bool is_short (const struct freed_look *k)
{
    int64_t need[INDEX_DIMS];

    sums_need (k->p, k->need.shape, need);
    int64_t first = profile_first (k->p->profile, k->from, k->duration, need, NULL);
    return first < 0 || first > k->until;
}

/* If most jobs checked so far found a new place, the others will, too. */
static bool is_worth_it (const struct freed_log *f)
{
    return f->n < FEW || f->n < f->asked / 4;
}

/* True if a walk with more resources is predictable: only for walks that take the best by
 * a constant score. */
static bool is_known (struct planner *p, const struct shape *s)
{
    const struct match_policy *policy = &p->policy;

    return !p->freed.all && p->freed.generation == p->generation && !policy->measure
           && !s->groups.level[0] && !policy->first && !policy->spread
           && !policy->together && !s->other && !p->nested
           && graph_further_count (p->g) == 0;
}

bool freed_look (struct freed_look *k, struct planner *p, const struct shape *s,
                 int64_t now, int64_t duration, int64_t start)
{
    struct freed_log *f = &p->freed;
    unsigned looks = 0;

    *k = (struct freed_look){ .p = p, .now = now, .duration = duration, .start = start };
    f->asked++;
    k->all = !is_known (p, s) || !is_worth_it (f);
    if (k->all || f->n == 0)
        return k->all;
    k->from = INT64_MAX;
    k->until = INT64_MIN;
    overlap_needs (p, s, &k->need);
    for (size_t i = 0; i < f->n; i++) {
        int64_t from, until;
        span_of (k, &f->list[i], &from, &until);
        if (from > until || (from >= k->from && until <= k->until)
            || !is_of_use (k, &f->list[i], from, until, &looks))
            continue;
        k->from = MIN (k->from, from);
        k->until = MAX (k->until, until);
    }
    return k->from <= k->until && !is_short (k);
}
