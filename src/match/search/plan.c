/* plan.c - when does a request fit: now, else at which time, else why not
 *
 * Only a time at which a booking ends can be the first later time that fits. The profile
 * excludes times at which the machine as a whole has too little; at the others the walk
 * is tried. If the first of them fails, the request may be one that never fits: one walk
 * over the empty machine tells.
 *
 * A search through many times can be done in pieces (struct search), which keeps only the
 * next time to try. Bookings made meanwhile do not matter: at the earlier times, the
 * request fits even less.
 */
#include <errno.h>
#include <inttypes.h>

#include "match/index/profile.h"
#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/planner/sums.h"
#include "match/planner/window_nodes.h"
#include "match/search/release.h"
#include "match/search/replan.h"
#include "match/search/search.h"
#include "match/search/walk.h"

#define WALK_COST                                                                        \
    1000 /* cost of a walk, in nodes, besides those it visits */
#define WINDOW_COST 64 /* cost of a window, in nodes */
#define GROWTH_MAX 20

struct plan {
    struct planner *p;
    const struct shape *shape; /* the first variant */
    int64_t now, duration;
    struct walk_miss miss; /* of the first variant, of the last try */
    int64_t enough_from,
        enough_until; /* the sums are known to suffice for these starts */
    struct selection *s;
    const struct replan *replan; /* or NULL: the job has no place */
    bool lost;                     /* the place is not free any more */
    struct search *search;         /* or NULL: the search is not in pieces */
    size_t spent;                  /* nodes visited */
};

/* false: it would end after the end of time. */
static bool window_at (const struct plan *k, int64_t at, struct window *ret)
{
    int64_t last = k->p->opt.end ? k->p->opt.end : INT64_MAX;
    bool forever = k->duration == PLANNER_FOREVER;

    *ret = (struct window){ .at = at, .end = last };
    if (forever ? at >= last : k->duration > last - at)
        return false;
    ret->end = planner_window_end (k->p, at, k->duration);
    return true;
}

/* Tries the variants in the window, until one fits. 0, -EBUSY, -ENOMEM. */
static int try_window (struct plan *k, const struct window *w)
{
    int rc = -EBUSY;

    for (const struct shape *s = k->shape; s && rc == -EBUSY; s = s->other) {
        struct walk_miss miss;
        rc = walk (k->p, s, w, &k->s, &miss);
        k->spent += WALK_COST + k->p->nnodes;
        if (s == k->shape)
            k->miss = miss;
    }
    return rc;
}

static int try_now (struct plan *k)
{
    struct window w;

    window_at (k, k->now, &w);
    w.now = true;
    return try_window (k, &w);
}

/* Tells whether the request could ever fit, with nothing booked. What is down may come
 * back. 0, -ENODEV, -ENOMEM; no selection. */
static int try_empty (struct plan *k)
{
    struct window w = { .at = INT64_MAX, .end = INT64_MAX, .ever = true };
    int rc = try_window (k, &w);

    selection_destroy (k->s);
    k->s = NULL;
    return rc == -EBUSY ? -ENODEV : rc;
}

/* -- a search in pieces -- */

void search_in_pieces (struct planner *p, size_t work)
{
    p->search = (struct search){ .work = work };
}

bool search_goes_on (const struct planner *p, uint64_t job, int64_t now)
{
    const struct search *s = &p->search;

    return s->going_on && s->job == job && s->at > now && s->shown == p->shown
           && s->layout == p->g->layout;
}

void search_forget (struct planner *p, uint64_t job)
{
    if (p->search.job == job)
        p->search.going_on = false;
}

static bool goes_on (const struct plan *k)
{
    return k->search && k->search->going_on;
}

/* Starts or continues the search for the job. */
static struct search *take_up (struct planner *p, uint64_t job, int64_t now)
{
    struct search *s = &p->search;

    if (s->work == 0)
        return NULL;
    if (search_goes_on (p, job, now))
        return s;
    s->begun += s->going_on && s->begun < GROWTH_MAX;
    s->going_on = false;
    s->job = job;
    return s;
}

static bool is_spent (const struct plan *k)
{
    return k->search && k->spent >= k->search->work << k->search->begun;
}

/* Interrupts the search; t is the next time to try. */
static int put_off (struct plan *k, int64_t t, bool possible)
{
    struct search *s = k->search;

    s->going_on = true;
    s->at = t;
    s->possible = possible;
    s->shown = k->p->shown;
    s->layout = k->p->g->layout;
    return -EINPROGRESS;
}

/* Ends the search. If it was continued to its end, pieces need not grow. */
static void come_to_end (const struct plan *k)
{
    if (goes_on (k))
        k->search->begun = 0;
    if (k->search)
        k->search->going_on = false;
}

/* -- later -- */

/* Returns the earliest time >= from at which the sums suffice for some variant; -1. */
static int64_t first_time (struct plan *k, int64_t from)
{
    int64_t need[INDEX_DIMS], best = -1, until;

    if (from >= k->enough_from && from <= k->enough_until)
        return from;
    for (const struct shape *s = k->shape; s && best != from; s = s->other) {
        sums_need (k->p, s, need);
        int64_t t = profile_first (k->p->profile, from, k->duration, need, &until);
        if (t < 0 || (best >= 0 && t >= best))
            continue;
        best = k->enough_from = t;
        k->enough_until = until;
    }
    return best;
}

/* Finds the first end of a booking that is not suspended. */
static bool see_end (struct ordered_link *l, void *arg)
{
    const struct booking *b = CONTAINER_OF (l, struct booking, by_end);
    int64_t *end = arg;

    if (!b->suspended)
        *end = b->end;
    return !b->suspended;
}

/* Returns the first end of a booking after t, -1: none. */
static int64_t end_after (const struct plan *k, int64_t t)
{
    int64_t end = INT64_MAX;

    ordered_from (&k->p->ends, planner_order (t) + 1, see_end, &end);
    return end == INT64_MAX ? -1 : end;
}

/* Returns the first time to try. A booking that should have ended by now ends in the next
 * tick. */
static int64_t first_candidate (const struct plan *k)
{
    int64_t t = end_after (k, 0);

    if (k->now < k->p->opt.begin)
        return k->p->opt.begin;
    return t >= 0 && t <= k->now ? k->now + 1 : end_after (k, k->now);
}

/* Returns the number of nodes that the request lacks in the window, as far as is known;
 * 0: none; -ENOMEM. */
static int64_t missing_nodes (struct plan *k, struct window *w,
                              const struct node_need *need)
{
    int rc;

    if ((rc = levels_update (k->p)) < 0 || (rc = window_nodes_find (k->p, w)) < 0)
        return rc;
    return window_nodes_missing (k->p, w, need);
}

/* Returns the first time >= from at which the request may fit, other than the first of
 * all; -1. */
static int64_t next_candidate (struct plan *k, struct release_search *ends, int64_t from)
{
    int64_t last = k->p->opt.end ? k->p->opt.end : INT64_MAX, t;

    last -= k->duration == PLANNER_FOREVER ? 1 : k->duration;
    while ((t = first_time (k, from)) >= 0 && t <= last) {
        int64_t until = MIN (k->enough_until, last);
        if ((t = release_next (ends, t, until)) >= 0 || until == last)
            return t;
        from = until + 1;
    }
    return -1;
}

/* For a request with a place: false if the window at t cannot help. */
static bool may_fit_at (const struct plan *k, int64_t t)
{
    return !k->replan || (k->lost && t >= k->replan->start)
           || replan_is_useful_at (k->replan, t);
}

/* True if no earlier time was found, and t is behind the job's own place. */
static bool keeps_its_place (const struct plan *k, int64_t t)
{
    return k->replan && !k->replan->all && !k->lost && t > k->replan->until;
}

/* Returns the time at which the search begins; -1. */
static int64_t begin_at (struct plan *k, struct release_search *ends)
{
    if (goes_on (k))
        return k->search->at;
    int64_t t = first_candidate (k);
    if (t >= 0 && k->replan && !k->replan->all && !k->lost && t < k->replan->from)
        return next_candidate (k, ends, k->replan->from);
    return t >= 0 && first_time (k, t) != t ? next_candidate (k, ends, t) : t;
}

static int try_later (struct plan *k)
{
    struct node_need need;
    struct release_search ends = { .p = k->p, .need = &need, .duration = k->duration };
    bool possible =
        goes_on (k) ? k->search->possible : k->replan && k->replan->start != INT64_MAX;
    struct window w;
    int rc;

    node_need_of (k->p, k->shape, &need);
    for (int64_t t = begin_at (k, &ends); t >= 0 && window_at (k, t, &w);
         t = next_candidate (k, &ends, t + 1)) {
        if (keeps_its_place (k, t))
            return 0;
        if (is_spent (k))
            return put_off (k, t, possible);
        k->spent += WINDOW_COST + k->p->nnodes / 32;
        if (!may_fit_at (k, t)) {
            ends.missing = 0;
            continue;
        }
        int64_t missing = missing_nodes (k, &w, &need);
        if (missing < 0)
            return (int)missing;
        ends.missing = missing;
        ends.counted = t;
        if (missing > 0)
            continue;
        if ((rc = try_window (k, &w)) != -EBUSY)
            return rc;
        if (!possible && (rc = try_empty (k)) < 0)
            return rc;
        possible = true;
    }
    if (!possible && (rc = try_empty (k)) < 0)
        return rc;
    return -EBUSY;
}

/* -- top level -- */

static int check (const struct plan *k, enum search_op op, struct error *why)
{
    const struct planner *p = k->p;
    bool later = op == SEARCH_ALLOCATE_ORELSE_RESERVE || op == SEARCH_SATISFIABILITY
                 || op == SEARCH_WITHOUT_ALLOCATING_FUTURE;
    int64_t at = later ? MAX (k->now, p->opt.begin) : k->now;
    struct window w;

    if (k->duration <= 0)
        return error_set (why, EINVAL, "a duration of %" PRId64 " is not more than 0",
                          k->duration);
    if (k->now < 0 || at < p->opt.begin)
        return error_set (why, EINVAL,
                          "it is %" PRId64 ", the machine begins only at %" PRId64,
                          k->now, p->opt.begin);
    if (!window_at (k, at, &w))
        return error_set (why, EINVAL,
                          "it would end after %" PRId64 ", when the machine ends",
                          p->opt.end ? p->opt.end : INT64_MAX);
    return 0;
}

/* After a failed try now: -EBUSY with the reason for now if the request could fit at all,
 * else as try_empty(). */
static int tell_never (struct plan *k)
{
    struct walk_miss miss = k->miss;
    int rc = try_empty (k);

    if (rc == 0 || rc == -EBUSY)
        k->miss = miss;
    return rc == 0 ? -EBUSY : rc;
}

/* For a request that fits at no time, the reason is why it does not fit now. */
static int now_or_later (struct plan *k)
{
    bool now = k->now >= k->p->opt.begin;
    int rc = -EBUSY;

    k->enough_until = -1;
    if (now && !goes_on (k) && first_time (k, k->now) == k->now)
        rc = try_now (k);
    if (rc == -EBUSY)
        rc = try_later (k);
    return rc == -EBUSY && now ? try_now (k) : rc;
}

static int decide (struct plan *k, enum search_op op)
{
    int rc;

    switch (op) {
    case SEARCH_SATISFIABILITY:
        return try_empty (k);
    case SEARCH_ALLOCATE_ORELSE_RESERVE:
    case SEARCH_WITHOUT_ALLOCATING_FUTURE:
        return now_or_later (k);
    case SEARCH_ALLOCATE_WITH_SATISFIABILITY:
        rc = try_now (k);
        return rc == -EBUSY ? tell_never (k) : rc;
    case SEARCH_ALLOCATE:
    case SEARCH_WITHOUT_ALLOCATING:
        return try_now (k);
    }
    return -EINVAL;
}

int search_again (struct planner *p, uint64_t job, const struct replan *replan,
                  bool lost, const struct shape *shape, struct selection **ret)
{
    struct plan k = { .p = p,
                      .shape = shape,
                      .now = replan->now,
                      .duration = replan->duration,
                      .replan = replan,
                      .lost = lost,
                      .search = take_up (p, job, replan->now),
                      .enough_until = -1 };
    int rc = -EBUSY;

    *ret = NULL;
    if (k.now >= p->opt.begin && !goes_on (&k) && may_fit_at (&k, k.now)
        && first_time (&k, k.now) == k.now)
        rc = try_now (&k);
    if (rc == -EBUSY)
        rc = try_later (&k);
    if (rc == -EBUSY && keeps_its_place (&k, INT64_MAX))
        rc = 0;
    if (rc != -EINPROGRESS)
        come_to_end (&k);
    if (rc < 0)
        selection_destroy (k.s);
    else
        *ret = k.s;
    return rc;
}

static int refuse (const struct plan *k, int rc, struct error *why)
{
    if (rc == -ENOMEM)
        return error_set (why, ENOMEM, "no memory");
    if (rc == -EINPROGRESS)
        return error_set (why, EINPROGRESS, "the search for a time goes on");
    return search_why (k->p, k->shape, &k->miss, rc == -ENODEV, why);
}

int search_match (struct planner *p, enum search_op op, uint64_t job,
                  const struct shape *shape, int64_t now, int64_t duration,
                  struct selection **ret, struct error *why)
{
    struct plan k = { .p = p, .shape = shape, .now = now, .duration = duration };
    bool books = op == SEARCH_ALLOCATE || op == SEARCH_ALLOCATE_WITH_SATISFIABILITY
                 || op == SEARCH_ALLOCATE_ORELSE_RESERVE;
    int rc = check (&k, op, why);

    if (ret)
        *ret = NULL;
    if (rc < 0)
        return rc;
    if (books && booking_find (p, job))
        return error_set (why, EEXIST, "job %" PRIu64 " has a booking already", job);
    if ((rc = levels_update (p)) == 0
        && (rc = properties_ask (p, shape->constraint)) == 0)
        rc = levels_update (p);
    if (op == SEARCH_ALLOCATE_ORELSE_RESERVE)
        k.search = take_up (p, job, now);
    if (rc == 0)
        rc = decide (&k, op);
    if (rc != -EINPROGRESS)
        come_to_end (&k);
    if (rc == 0 && books)
        rc = claims_add (p, job, k.s, k.s->start > now);
    if (rc < 0) {
        selection_destroy (k.s);
        return refuse (&k, rc, why);
    }
    if (ret)
        *ret = k.s;
    else
        selection_destroy (k.s);
    return 0;
}
