/* pass.c - a pass: who starts now, who gets a reservation, who goes first without delaying it
 *
 *     cut      the end of the plan that does not hold any more is given up
 *     front    the next job in order, until `depth` of them wait with a reservation: it
 *              starts, or gets its own
 *     behind   of the others, in order, each group's first that may fit: it starts if it
 *              fits now beside all reservations
 *
 * The plan is always of the jobs in front, without a gap; each was planned with those before
 * it in place, and nothing else. So it is what planning all from scratch would give, however
 * many calls it took.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/parse.h"
#include "sched/sched_private.h"

#define UNTIMED_MAX 100 /* jobs in the plan that nobody can tell a time for */
#define MISSES_MAX 3    /* tries of a group beside reservations in one pass */
#define RENEW 0.5 /* seconds between plans that are renewed only because time passed, */
#define RENEW_JOBS 100 /* and as much again for each so many jobs in them */

/* -- the plan -- */

void plan_cut (struct sched *s, const struct order_key *from)
{
    if (!s->cutting || order_compare (from, &s->cut) < 0)
        s->cut = *from;
    s->cutting = s->nplan > 0;
}

/* Its reservation ends; that this makes room is no news. */
static void unplan (struct sched *s, struct pending *p)
{
    bool known = s->generation == match_generation (s->m);

    if (p->start > 0) {
        match_cancel (s->m, p->id);
        s->nreserved--;
    }
    if (known)
        s->generation = match_generation (s->m);
    free (p->why);
    p->why = NULL;
    p->start = 0;
    p->planned = false;
    order_add (&p->group->jobs, &p->place);
}

void plan_leave (struct sched *s, struct pending *p)
{
    size_t low = 0, high = s->nplan;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (order_compare (&s->plan[middle].key, &p->rank.key) <= 0)
            low = middle;
        else
            high = middle;
    }
    s->plan[low].p = NULL;
    unplan (s, p);
    plan_cut (s, &p->rank.key);
}

static void find_first_start (struct sched *s)
{
    s->first_start = INFINITY;
    for (size_t i = 0; i < s->nplan; i++)
        if (s->plan[i].p && s->plan[i].p->start > 0)
            s->first_start = fmin (s->first_start, s->plan[i].p->start);
}

/* One step; false: nothing is left to cut. */
static bool cut_last (struct sched *s)
{
    if (s->nplan > 0 && order_compare (&s->plan[s->nplan - 1].key, &s->cut) >= 0) {
        struct pending *p = s->plan[--s->nplan].p;
        if (p) {
            unplan (s, p);
            group_refresh (s, p->group);
        }
        return true;
    }
    s->cutting = false;
    find_first_start (s);
    groups_reset (s);
    return false;
}

void sched_unplan (struct sched *s)
{
    static const struct order_key first = { INT64_MAX, 0, 0 };

    plan_cut (s, &first);
    while (s->cutting && cut_last (s))
        ;
}

/* start 0: there is no time for it, and why. -ENOMEM. */
static int plan_add (struct sched *s, struct pending *p, double start, const char *why)
{
    if (s->nplan == s->plan_alloc) {
        size_t alloc = s->plan_alloc ? 2 * s->plan_alloc : 16;
        struct planned *plan = realloc (s->plan, alloc * sizeof (*plan));
        if (!plan)
            return -ENOMEM;
        s->plan = plan;
        s->plan_alloc = alloc;
    }
    s->plan[s->nplan++] = (struct planned){ p, p->rank.key };
    p->planned = true;
    p->start = start;
    p->why = why ? strdup (why) : NULL;
    s->nreserved += start > 0;
    if (start > 0)
        s->first_start = fmin (s->first_start, start);
    order_remove (&p->group->jobs, &p->place);
    group_refresh (s, p->group);
    return 0;
}

/* -- a job -- */

/* It does not fit now. Whoever runs as long does not either; where it would have ended
 * before the first reservation, and the first window, nobody of its shape does. */
static void note_miss (struct sched *s, struct group *g, double duration, const char *why)
{
    double gap = s->first_start - s->now, window = match_window_next (s->m, s->now) - s->now;

    g->bound = duration <= fmin (gap, window) ? 0 : fmin (g->bound, duration);
    if (++g->misses >= MISSES_MAX)
        g->bound = fmin (g->bound, nextafter (gap, INFINITY));
    if (g->misses >= 2 * MISSES_MAX)
        g->bound = fmin (g->bound, nextafter (window, INFINITY));
    if (!g->why || strcmp (g->why, why) != 0) {
        free (g->why);
        g->why = strdup (why);
    }
    group_refresh (s, g);
}

/* Its least size fits now, and it waits for more. */
static bool holds_out (struct sched *s, struct pending *p)
{
    struct rset *r = NULL;

    s->tries++;
    if (match_without_allocating (s->m, p->req, s->now, p->duration, &r, NULL) < 0)
        return false;
    rset_destroy (r);
    if (p->fitted == 0)
        p->fitted = s->now;
    if (s->now >= p->fitted + p->max_wait)
        return false;
    s->hold_until = fmin (s->hold_until, p->fitted + p->max_wait);
    return true;
}

/* At the largest size that fits. */
static int allocate_some (struct sched *s, struct pending *p, struct sched_decision *ret,
                          struct error *why)
{
    s->tries++;
    int rc = match_allocate (s->m, p->id, p->req, s->now, ret->duration, &ret->r, why);
    if (rc == 0 && ret->size.code == SCHED_SIZE_FIXED
        && match_request_is_elastic (p->req))
        rc = size_explain (s, p, ret, why);
    return rc;
}

/* Until then, in whole seconds. why stays what it was for all its time. */
static int allocate_until (struct sched *s, struct pending *p, double until,
                           struct sched_decision *ret, struct error *why)
{
    double gap = floor (until - s->now);

    if (gap < p->time_min || (p->duration > 0 && gap >= p->duration))
        return -EBUSY;
    ret->duration = gap;
    int rc = allocate_some (s, p, ret, NULL);
    return rc == -ENOMEM ? error_set (why, ENOMEM, "out of memory") : rc;
}

/* Until the first reservation or the first window, whichever is later, else the other. */
static int allocate_shorter (struct sched *s, struct pending *p,
                             struct sched_decision *ret, struct error *why)
{
    double window = match_window_next (s->m, s->now);
    int rc = allocate_until (s, p, fmax (s->first_start, window), ret, why);

    return rc == -EBUSY && s->first_start != window
               ? allocate_until (s, p, fmin (s->first_start, window), ret, why)
               : rc;
}

/* Its largest size; or, when it has held out for long enough, less. */
static int allocate_patiently (struct sched *s, struct pending *p,
                               struct sched_decision *ret, struct error *why)
{
    s->tries++;
    int rc =
        match_allocate_largest (s->m, p->id, p->req, s->now, p->duration, &ret->r, why);
    p->holds = rc == -EBUSY && holds_out (s, p);
    if (rc == 0)
        size_note (s, p, SCHED_SIZE_LARGEST, NULL, &ret->size);
    else if (rc == -EBUSY && !p->holds && p->fitted > 0)
        size_note (s, p, SCHED_SIZE_WAITED, why->text, &ret->size);
    return rc;
}

/* At the largest size that fits; who holds out, only at its largest of all. */
static int allocate (struct sched *s, struct pending *p, struct sched_decision *ret,
                     struct error *why)
{
    int rc = -EBUSY;

    ret->duration = p->duration;
    size_note (s, p, SCHED_SIZE_FIXED, NULL, &ret->size);
    p->holds = false;
    if (p->max_wait > 0) {
        rc = allocate_patiently (s, p, ret, why);
        if (rc != -EBUSY || p->holds)
            return rc;
    }
    rc = allocate_some (s, p, ret, why);
    return rc == -EBUSY && p->time_min > 0 ? allocate_shorter (s, p, ret, why) : rc;
}

/* 1: it starts; 0: it does not fit; -ENOMEM. */
static int try (struct sched *s, struct pending *p, struct sched_decision *ret)
{
    struct error why = { 0 };
    int rc = allocate (s, p, ret, &why);

    if (rc == -ENOMEM)
        return rc;
    if (rc < 0) {
        note_miss (s, p->group, p->place.weight, why.text);
        return 0;
    }
    ret->id = p->id;
    sched_forget (s, p);
    return 1;
}

static int plan_hold (struct sched *s, struct pending *p)
{
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, 256);
    strbuf_adds (&sb, "a smaller size fits now; it waits for its largest until ");
    strbuf_add_time (&sb, p->fitted + p->max_wait);
    return plan_add (s, p, 0, sb.buf);
}

static int reserve (struct sched *s, struct pending *p)
{
    struct error why = { 0 };
    double start = 0;

    if (p->holds)
        return plan_hold (s, p);
    s->tries++;
    bool known = s->generation == match_generation (s->m);
    int rc = match_reserve (s->m, p->id, p->req, s->now, p->duration, &start, &why);
    if (rc == -EAGAIN && known) /* what it gave back it had taken itself */
        s->generation = match_generation (s->m);
    if (rc == -ENOMEM)
        return rc;
    if (rc == 0 && (rc = plan_add (s, p, start, NULL)) < 0)
        match_cancel (s->m, p->id);
    else if (rc < 0)
        rc = plan_add (s, p, 0, why.text);
    return rc;
}

/* -- the steps of a pass: 1: *ret starts; 0: done; -EAGAIN: there is more; -ENOMEM -- */

static struct pending *next_to_plan (const struct sched *s)
{
    const struct order_key *last = s->nplan > 0 ? &s->plan[s->nplan - 1].key : NULL;
    struct order_link *link = order_after (&s->order, last, INFINITY);
    bool enough = s->nreserved >= s->depth || s->nplan >= s->depth + UNTIMED_MAX
                  || (!s->policy->backfill && s->nplan > 0);

    return link && !enough ? CONTAINER_OF (link, struct pending, rank) : NULL;
}

static int front (struct sched *s, struct sched_decision *ret)
{
    struct pending *p = next_to_plan (s);
    int rc;

    if (!p)
        return 0;
    /* Whatever is known of its group: that it was not tried often enough is no reason for it
     * to wait. */
    rc = try (s, p, ret);
    if (rc == 0)
        rc = reserve (s, p);
    return rc == 0 ? -EAGAIN : rc;
}

static int behind (struct sched *s, struct sched_decision *ret)
{
    const struct order_link *link = order_first (&s->ready);

    if (!link || !s->policy->backfill || match_nothing_free (s->m))
        return 0;
    struct group *g = CONTAINER_OF (link, struct group, head);
    struct order_link *first = order_after (&g->jobs, NULL, g->bound);
    int rc = try (s, CONTAINER_OF (first, struct pending, place), ret);
    return rc == 0 ? -EAGAIN : rc;
}

static int step (struct sched *s, struct sched_decision *ret)
{
    int rc;

    if (s->cutting && cut_last (s))
        return -EAGAIN;
    rc = front (s, ret);
    return rc == 0 ? behind (s, ret) : rc;
}

/* What a reservation waits for is late: it is planned again, but a long plan not all the
 * time. */
static double renewal (const struct sched *s)
{
    return RENEW * (1 + (double)(s->nplan / RENEW_JOBS));
}

/* What has changed since the last call? Whoever waits is in the plan, or behind somebody who
 * is: so a plan that goes takes all that is known with it. */
static void look_around (struct sched *s)
{
    static const struct order_key first = { INT64_MAX, 0, 0 };
    uint64_t generation = match_generation (s->m), layout = match_layout (s->m);
    bool held = s->hold_until <= s->now;
    bool due =
        held || (s->first_start <= s->now && fabs (s->now - s->renewed) >= renewal (s));

    if (generation == s->generation && layout == s->layout && !due)
        return;
    s->generation = generation;
    s->layout = layout;
    s->hold_until = INFINITY;
    if (due)
        s->renewed = s->now;
    plan_cut (s, &first);
}

int sched_next (struct sched *s, double now, unsigned max_tries,
                struct sched_decision *ret)
{
    int rc = sched_ripen (s, now);

    if (rc < 0)
        return rc;
    s->now = now;
    look_around (s);
    for (unsigned n = 0; (rc = step (s, ret)) == -EAGAIN; n++)
        if (max_tries > 0 && n + 1 == max_tries)
            return -EAGAIN;
    return rc;
}

double sched_wakeup (const struct sched *s)
{
    const struct order_link *link = order_first (&s->waiting);
    double begin =
        link ? CONTAINER_OF (link, const struct pending, place)->begin : INFINITY;
    /* When its time has come and what it waits for is late, look again now and then. */
    double when = fmin (fmin (begin, s->hold_until),
                        fmax (s->first_start, s->now + 2 * renewal (s)));

    return isfinite (when) ? when : 0;
}

int sched_estimate (struct sched *s, uint64_t id, double now, double *start,
                    bool *planned)
{
    const struct pending *p = sched_find (s, id);

    if (!p)
        return -ENOENT;
    *planned = p->start > 0;
    *start = p->start;
    if (!*planned && p->where != ORDERED && p->where != WAITING)
        return -EBUSY;
    if (!*planned) {
        double from = fmax (now, p->begin);
        s->tries++;
        int rc = match_earliest (s->m, p->req, from, p->duration, start, NULL, NULL);
        if (rc < 0)
            return rc == -ENOENT ? -EBUSY : rc;
    }
    return *start - now < SCHED_SOMEDAY ? 0 : -EBUSY;
}
