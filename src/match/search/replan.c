/* replan.c - which requests may profit from what became free since a plan was made
 *
 * A job that can begin earlier than before, or elsewhere, uses something that has become
 * free, as everything else was there before. So only the nodes of removed bookings
 * matter: does one of them have enough for one part of the request during a whole window
 * that overlaps the freed time? Usually not, as the next job on these nodes soon has
 * them. The answer may be a false "yes", never a false "no". If the order of nodes
 * depends on what is free, or the log of removed bookings is incomplete, the answer is
 * always yes. O(claims on the nodes that became free).
 */

#include "match/index/profile.h"
#include "match/planner/claims.h"
#include "match/planner/levels.h"
#include "match/planner/sums.h"
#include "match/search/release.h"
#include "match/search/replan.h"

#define FEW 16        /* so few that all can be checked */
#define LOOKS_MAX 256 /* of nodes, for one answer; a match costs no more */

static bool has_room_at (const struct replan *k, uint32_t v, int64_t at)
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
static bool has_room_later (const struct replan *k, uint32_t node, uint32_t v,
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
static bool is_of_use (const struct replan *k, const struct removed *e, int64_t from,
                       int64_t until, unsigned *looks)
{
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t node = k->p->removed.nodes[e->first + i];
        if ((*looks)++ >= LOOKS_MAX || has_room_at (k, node, from)
            || (from < until && has_room_later (k, node, node, from, until)))
            return true;
    }
    return false;
}

/* Computes the starts of windows that overlap the freed time. */
static void span_of (const struct replan *k, const struct removed *e, int64_t *from,
                     int64_t *until)
{
    int64_t end = e->ran ? MAX (e->end, k->now + 1) : e->end; /* the booking may have been
                                                               * late */

    *from = MAX (k->now, e->start - k->duration + 1);
    *until = MIN (k->start, end - 1);
}

bool replan_is_useful_at (const struct replan *k, int64_t at)
{
    const struct removed_log *f = &k->p->removed;
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
static bool is_short (const struct replan *k)
{
    int64_t need[INDEX_DIMS];

    sums_need (k->p, k->need.shape, need);
    int64_t first = profile_first (k->p->profile, k->from, k->duration, need, NULL);
    return first < 0 || first > k->until;
}

/* If most jobs checked so far found a new place, the others will, too. */
static bool is_worth_it (const struct removed_log *f)
{
    return f->n < FEW || f->n < f->asked / 4;
}

/* True if a walk with more resources is predictable: only for walks that take the best by
 * a constant score. */
static bool is_known (struct planner *p, const struct shape *s)
{
    const struct match_policy *policy = &p->policy;

    return !p->removed.all && p->removed.generation == p->generation && !policy->measure
           && !s->groups.level[0] && !s->apart && !policy->first && !policy->spread
           && !policy->together && !s->other && !p->nested
           && graph_further_count (p->g) == 0;
}

bool replan_is_useful (struct replan *k, struct planner *p, const struct shape *s,
                       int64_t now, int64_t duration, int64_t start)
{
    struct removed_log *f = &p->removed;
    unsigned looks = 0;

    *k = (struct replan){ .p = p, .now = now, .duration = duration, .start = start };
    f->asked++;
    k->all = !is_known (p, s) || !is_worth_it (f);
    if (k->all || f->n == 0)
        return k->all;
    k->from = INT64_MAX;
    k->until = INT64_MIN;
    node_need_of (p, s, &k->need);
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
