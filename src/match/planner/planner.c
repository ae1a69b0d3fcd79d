/* planner.c - makes, changes and cancels bookings */
#include "match/planner/planner.h"

#include <inttypes.h>

#include "match/index/profile.h"
#include "match/planner/bookings.h"
#include "match/planner/levels.h"
#include "match/planner/properties.h"
#include "match/planner/removed_log.h"
#include "match/planner/suspend.h"
#include "match/planner/window_nodes.h"

struct planner *planner_create (struct graph *g, const struct match_policy *policy,
                                const struct planner_options *opt)
{
    struct planner *p = calloc (1, sizeof (*p));

    if (!p)
        return NULL;
    p->g = g;
    p->policy = *policy;
    p->opt = *opt;
    p->claims_free = p->bookings_free = GRAPH_NONE;
    p->stale = true;
    return p;
}

void planner_destroy (struct planner *p)
{
    if (!p)
        return;
    levels_spoil (p); /* the keys are outdated */
    while (p->by_job)
        booking_drop (p, p->by_job);
    for (uint32_t i = 0; i < p->nbookings; i++)
        free (p->bookings[i]);
    free (p->bookings);
    free (p->claims);
    for (size_t i = 0; i < p->ntracked; i++)
        free (p->tracked[i]);
    levels_destroy (p);
    window_nodes_destroy (p);
    properties_destroy (p);
    removed_log_destroy (p);
    free (p->room.candidates);
    free (p->room.order);
    free (p->room.picks);
    free (p);
}

struct graph *planner_graph (const struct planner *p)
{
    return p->g;
}

void planner_set_policy (struct planner *p, const struct match_policy *policy)
{
    p->policy = *policy;
    levels_spoil (p);
    p->generation++;
    p->shown++;
    p->changes++;
}

int planner_track (struct planner *p, const char *type)
{
    char *copy;

    for (size_t i = 0; i < p->ntracked; i++)
        if (!strcmp (p->tracked[i], type))
            return 0;
    if (p->ntracked == TYPE_DIMS)
        return 0;
    if (!(copy = strdup (type)))
        return -ENOMEM;
    p->tracked[p->ntracked++] = copy;
    levels_spoil (p);
    return 0;
}

uint64_t planner_generation (const struct planner *p)
{
    return p->generation;
}

size_t planner_memory (const struct planner *p)
{
    size_t sum = sizeof (*p) + p->claims_alloc * sizeof (*p->claims)
                 + p->bookings_alloc * sizeof (struct booking *)
                 + p->nbookings * sizeof (struct booking);

    sum += HASH_OVERHEAD (hh, p->by_job);
    for (const struct booking *b = p->by_job; b; b = b->hh.next)
        sum += b->nload * sizeof (*b->load) + reach_memory (b);
    sum += p->room.bytes + p->room.npicks * sizeof (*p->room.picks);
    if (p->profile)
        sum += profile_memory (p->profile);
    for (size_t i = 0; i < p->nupper; i++) {
        const struct upper *a = &p->upper[i];
        sum += sizeof (*a) + (a->index ? index_memory (a->index) : 0)
               + (a->room + a->nloose + a->nkids) * sizeof (uint32_t);
    }
    return sum
           + p->room_nodes * (sizeof (*p->nodes) + (4 + p->levels) * sizeof (uint32_t));
}

/* -- update, cancel -- */

/* Checks that the booking is within the limits of time. */
static int check_times (const struct planner *p, int64_t start, int64_t end,
                        struct error *why)
{
    if (start < 0 || end <= start)
        return error_set (why, EINVAL,
                          "from %" PRId64 " to %" PRId64
                          " is not a time range: it ends before it "
                          "begins, or begins before 0",
                          start, end);
    if (start < p->opt.begin)
        return error_set (why, EINVAL,
                          "it begins at %" PRId64 ", the machine only at %" PRId64, start,
                          p->opt.begin);
    if (p->opt.end && end > p->opt.end)
        return error_set (why, EINVAL,
                          "it would end after %" PRId64 ", when the machine ends",
                          p->opt.end);
    return 0;
}

int planner_update (struct planner *p, uint64_t job, const struct selection *s,
                    bool reserved, struct error *why)
{
    int rc = check_times (p, s->start, s->end, why);

    if (rc < 0)
        return rc;
    if (booking_find (p, job))
        return error_set (why, EEXIST, "job %" PRIu64 " has a booking already", job);
    return claims_check_add (p, job, s, reserved, why);
}

int planner_reserve_over (struct planner *p, uint64_t job, const struct selection *s,
                          struct error *why)
{
    int rc = check_times (p, s->start, s->end, why);

    if (rc < 0)
        return rc;
    if (booking_find (p, job))
        return error_set (why, EEXIST, "job %" PRIu64 " has a booking already", job);
    rc = claims_add_over (p, job, s);
    return rc == -ENOMEM ? error_set (why, ENOMEM, "no memory") : rc;
}

int planner_cancel (struct planner *p, uint64_t job)
{
    struct booking *b = booking_find (p, job);

    if (!b)
        return -ENOENT;
    removed_log_add (p, b);
    bool frees = !b->suspended; /* otherwise all known data ignored it anyway */
    booking_drop (p, b);
    if (frees) {
        removed_log_generation (p);
        p->shown++;
    }
    return 0;
}

/* -- extend, begin -- */

int planner_extend (struct planner *p, uint64_t job, int64_t end, struct error *why)
{
    struct booking *b = booking_find (p, job);
    struct window w;
    int rc;

    if (!b)
        return error_set (why, ENOENT, "job %" PRIu64 " has no booking", job);
    booking_resume (p, b);
    if ((rc = check_times (p, b->start, end, why)) < 0)
        return rc;
    w = (struct window){ .at = b->end, .end = end };
    if (end > b->end && (rc = booking_check (p, b, &w, "reserved for", why)) < 0)
        return rc;
    if (end < b->end) {
        p->generation++;
        p->shown++;
    }
    if (end != b->end)
        booking_set_end (p, b, end);
    return 0;
}

/* -- jobs -- */

static void describe (const struct booking *b, struct planner_job *ret)
{
    *ret = (struct planner_job){ .job = b->job,
                                 .start = b->start,
                                 .end = b->end,
                                 .reserved = b->reserved,
                                 .nclaims = b->nclaims };
}

bool planner_find (const struct planner *p, uint64_t job, struct planner_job *ret)
{
    const struct booking *b = booking_find (p, job);

    if (b)
        describe (b, ret);
    return b != NULL;
}

bool planner_next (const struct planner *p, uint64_t after, struct planner_job *ret)
{
    struct ordered_link *l = ordered_above (&p->ids, after);

    if (l)
        describe (CONTAINER_OF (l, struct booking, by_id), ret);
    return l != NULL;
}

size_t planner_count (const struct planner *p)
{
    return p->ids.n;
}
