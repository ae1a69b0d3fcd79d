/* match_reserve.c - when a request fits: reservations, and which jobs are in the way
 *
 * An elastic job is planned with its least size; if more is free when it starts, it gets
 * more.
 */
#include <errno.h>
#include <string.h>

#include "match/machine/match_private.h"
#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/planner/removed_log.h"
#include "match/planner/suspend.h"
#include "match/search/replan.h"
#include "match/search/search.h"

/* Finds the earliest start: 0, *start, and the resources then. -EBUSY, -ENOENT,
 * -ENOMEM. */
static int plan (struct matcher *m, enum search_op op, uint64_t job,
                 const struct match_request *req, double now, double duration,
                 double *start, struct selection **ret, struct error *why)
{
    int64_t at = match_ticks (now), length = match_ticks_of_duration (duration);
    struct shape least = { 0 };
    const struct shape *shape = req->shape;

    if (shape->elastic) {
        if (match_sized_shape (m, req, false, &least) < 0)
            return error_set (why, ENOMEM, "out of memory");
        shape = &least;
    }
    int rc = search_match (m->p, op, job, shape, at, length, ret, why);
    free (least.v);
    if (rc < 0)
        return rc == -ENODEV ? -ENOENT : rc;
    *start = (*ret)->start <= at ? now : match_seconds ((*ret)->start);
    return 0;
}

int match_reserve (struct matcher *m, uint64_t job, const struct match_request *req,
                   double now, double duration, double *start, struct error *why)
{
    autoselection struct selection *s = NULL;

    if (booking_find (m->p, job))
        return error_set (why, EEXIST, "job %llu has resources already",
                          (unsigned long long)job);
    int rc = plan (m, SEARCH_ALLOCATE_ORELSE_RESERVE, job, req, now, duration, start, &s,
                   why);
    if (rc == 0 && match_has (m, job)) {
        planner_cancel (m->p, job);
        return error_set (why, EAGAIN, "it fits now");
    }
    return rc;
}

int match_earliest (struct matcher *m, const struct match_request *req, double now,
                    double duration, double *start, struct rset **ret, struct error *why)
{
    autoselection struct selection *s = NULL;
    int rc = plan (m, SEARCH_WITHOUT_ALLOCATING_FUTURE, 0, req, now, duration, start, &s,
                   why);

    if (rc == 0 && ret && !(*ret = rset_of_selection (m->g, s, req->shape)))
        return error_set (why, ENOMEM, "out of memory");
    return rc;
}

void match_search_in_pieces (struct matcher *m, size_t work)
{
    search_in_pieces (m->p, work);
}

bool match_search_goes_on (const struct matcher *m, uint64_t job, double now)
{
    return search_goes_on (m->p, job, match_ticks (now));
}

void match_search_forget (struct matcher *m, uint64_t job)
{
    search_forget (m->p, job);
}

/* -- after a change -- */

void match_plan_made (struct matcher *m)
{
    removed_log_clear (m->p);
}

void match_suspend (struct matcher *m, uint64_t job)
{
    struct booking *b = booking_find (m->p, job);

    if (b && b->reserved)
        booking_suspend (m->p, b);
}

/* True if the booking has what the selection claims, at its time. */
static bool is_same (const struct planner *p, const struct booking *b,
                     const struct selection *s)
{
    uint32_t c = b->first;

    if (booking_start (b) != s->start || booking_end (b) != s->end)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *pick = &s->picks[i];
        if (!pick->claimed)
            continue;
        const struct claim *claim = c != GRAPH_NONE ? &p->claims[c] : NULL;
        if (!claim || claim->v != pick->v || claim->unit != pick->unit
            || claim->count != pick->count || claim->amount != pick->amount
            || claim->exclusive != pick->exclusive)
            return false;
        c = claim->next_of_job;
    }
    return c == GRAPH_NONE;
}

/* Searches a new place for the reservation: as match_resume(). */
static int find_again (struct matcher *m, struct booking *b, uint64_t job,
                       const struct shape *shape, const struct replan *replan,
                       bool lost)
{
    autoselection struct selection *s = NULL;
    int rc = search_again (m->p, job, replan, lost, shape, &s);

    if (rc == -ENOMEM || rc == -EINPROGRESS)
        return rc;
    if (rc == 0 && (!s || (s->start > replan->now && is_same (m->p, b, s)))) {
        booking_resume (m->p, b);
        return 1;
    }
    match_cancel (m, job);
    if (rc < 0 || s->start <= replan->now)
        return rc < 0 ? rc : -EAGAIN;
    return claims_add (m->p, job, s, true) < 0 ? -ENOENT : 1;
}

int match_resume (struct matcher *m, uint64_t job, const struct match_request *req,
                  double now, double duration, double *start)
{
    struct booking *b = booking_find (m->p, job);
    int64_t at = match_ticks (now), length = match_ticks_of_duration (duration);
    struct shape least = { 0 };
    struct replan replan;
    int rc = levels_update (m->p);

    if (rc < 0)
        return rc;
    /* Tasks that are spread differently for each number of nodes have no single shape for
     * the look-up. */
    bool lost = b
                && (booking_start (b) <= at || booking_is_taken (m->p, b)
                    || req->spread.tasks > 0);
    if (!replan_is_useful (&replan, m->p, req->shape, at, length,
                           b ? booking_start (b) : INT64_MAX)
        && !lost) {
        if (b)
            booking_resume (m->p, b);
        return 0;
    }
    if (!b)
        return -EBUSY;
    if (req->shape->elastic && match_sized_shape (m, req, false, &least) < 0)
        return -ENOMEM;
    booking_unlist_suspended (m->p);
    rc = find_again (m, b, job, req->shape->elastic ? &least : req->shape, &replan, lost);
    free (least.v);
    if (rc >= 0)
        *start = match_seconds (booking_start (booking_find (m->p, job)));
    return rc;
}

uint64_t match_layout (const struct matcher *m)
{
    return m->g->layout;
}

/* -- blocking jobs -- */

struct blockers {
    const struct planner *p;
    const struct booking *b;
    struct match_blocker *list;
    size_t n, room;
    uint32_t node; /* the node whose claims are visited */
};

static void add_blocker (struct blockers *k, const struct booking *b)
{
    double end = match_seconds (b->end);
    size_t i = 0;

    for (size_t j = 0; j < k->n; j++)
        if (k->list[j].job == b->job) {
            k->list[j].nodes += k->list[j].last != k->node;
            k->list[j].last = k->node;
            return;
        }
    while (i < k->n && k->list[i].end >= end)
        i++;
    if (i == k->room)
        return;
    k->n = MIN (k->n + 1, k->room);
    memmove (&k->list[i + 1], &k->list[i], (k->n - i - 1) * sizeof (*k->list));
    k->list[i] = (struct match_blocker){ b->job, end, 1, k->node };
}

static void look_at (struct blockers *k, uint32_t v)
{
    CLAIMS (k->p, v, c)
    {
        const struct booking *b = claims_booking (k->p, &k->p->claims[c]);
        if (!b->reserved && b != k->b)
            add_blocker (k, b);
    }
    GRAPH_CHILDREN (k->p->g, v, child)
    {
        look_at (k, child);
    }
}

size_t match_blockers (const struct matcher *m, uint64_t job, struct match_blocker *list,
                       size_t room)
{
    const struct booking *b = booking_find (m->p, job);
    struct blockers k = { m->p, b, list, 0, room, GRAPH_NONE };

    if (!b || !b->reserved || room == 0)
        return 0;
    CLAIMS_OF_JOB (m->p, b, c)
    {
        uint32_t node = graph_node_of (m->p->g, m->p->claims[c].v);
        if (node == GRAPH_NONE || node == k.node)
            continue;
        k.node = node;
        look_at (&k, node);
    }
    return k.n;
}
