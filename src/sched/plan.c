/* plan.c - the plan: the first jobs, in order, each with its reservation
 *
 *     0 ... checked      valid: as if planned from scratch
 *     checked ...        doubtful: something has changed; these reservations are
 *                        suspended until their turn (pass.c)
 *
 * The plan has no gap in the order, except for jobs that came later, which are found when
 * their turn comes, and for entries of jobs that have left.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "sched/sched_private.h"

#define SUSPEND_MAX 16 /* per step */

/* The first entry at or behind the key. */
static size_t find_entry (const struct sched *s, const struct order_key *key)
{
    size_t low = 0, high = s->nplan;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_compare (&s->plan[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void plan_doubt (struct sched *s, const struct order_key *from)
{
    size_t i = find_entry (s, from);

    s->whole = false;
    if (s->nplan == 0 || (i >= s->checked && s->checked < s->nplan))
        return; /* found when its turn comes */
    s->checked = MIN (s->checked, i);
    s->doubted = true;
}

void plan_doubt_all (struct sched *s)
{
    static const struct order_key first = { INT64_MAX, 0, 0 };

    plan_doubt (s, &first);
}

/* Cancels the reservation of the job; the room that this makes is not a change for the
 * plan. */
static void unplan (struct sched *s, struct pending *p)
{
    bool known = s->generation == match_generation (s->m);

    if (p->start > 0)
        match_cancel (s->m, p->job.id);
    if (known)
        s->generation = match_generation (s->m);
    free (p->why);
    p->why = NULL;
    p->start = 0;
    p->planned = p->lacks = false;
    order_add (&p->group->jobs, &p->place);
}

void plan_leave (struct sched *s, struct pending *p)
{
    s->plan[find_entry (s, &p->rank.key)].p = NULL;
    unplan (s, p);
    plan_doubt (s, &p->rank.key);
}

/* Recomputes the totals over the valid entries. */
static void count_checked (struct sched *s)
{
    s->first_start = INFINITY;
    s->nreserved = 0;
    for (size_t i = 0; i < s->checked; i++) {
        const struct pending *p = s->plan[i].p;
        if (!p || p->start <= 0)
            continue;
        s->first_start = fmin (s->first_start, p->start);
        s->nreserved++;
    }
}

bool plan_suspend (struct sched *s)
{
    if (!s->doubted)
        return false;
    for (int n = 0; s->suspended > s->checked && n < SUSPEND_MAX; n++) {
        const struct pending *p = s->plan[--s->suspended].p;
        if (p && p->start > 0)
            match_suspend (s->m, p->job.id);
    }
    if (s->suspended > s->checked)
        return true;
    s->doubted = false;
    count_checked (s);
    groups_reset (s);
    return true;
}

static void remove_entry (struct sched *s)
{
    s->nplan--;
    memmove (&s->plan[s->checked], &s->plan[s->checked + 1],
             (s->nplan - s->checked) * sizeof (*s->plan));
}

struct queue_plan plan_view (const struct sched *s)
{
    return (struct queue_plan){ .depth = s->depth,
                                .jobs = s->checked,
                                .reserved = s->nreserved };
}

struct pending *plan_next (struct sched *s)
{
    while (s->checked < s->nplan && !s->plan[s->checked].p)
        remove_entry (s);
    const struct order_key *last = s->checked > 0 ? &s->plan[s->checked - 1].key : NULL;
    struct order_link *link = order_after (&s->order, last, INFINITY);
    if (!link || s->checked >= s->depth + PLAN_UNTIMED_MAX)
        return NULL;
    struct pending *p = CONTAINER_OF (link, struct pending, rank);
    struct queue_plan plan = plan_view (s);

    return s->policy->plan (&plan, &p->job) ? p : NULL;
}

static void note_checked (struct sched *s, const struct pending *p)
{
    s->checked++;
    s->suspended = s->checked;
    s->nreserved += p->start > 0;
    if (p->start > 0)
        s->first_start = fmin (s->first_start, p->start);
}

void plan_keep (struct sched *s, struct pending *p, double start)
{
    p->start = start;
    note_checked (s, p);
}

void plan_take_out (struct sched *s, struct pending *p)
{
    remove_entry (s);
    unplan (s, p);
    group_refresh (s, p->group);
}

int plan_add (struct sched *s, struct pending *p, double start, const char *why)
{
    if (array_reserve (&s->plan, &s->plan_alloc, s->nplan + 1, sizeof (*s->plan)) < 0)
        return -ENOMEM;
    memmove (&s->plan[s->checked + 1], &s->plan[s->checked],
             (s->nplan - s->checked) * sizeof (*s->plan));
    s->nplan++;
    s->plan[s->checked] = (struct planned){ p, p->rank.key };
    p->planned = true;
    p->start = start;
    p->why = why ? strdup (why) : NULL;
    note_checked (s, p);
    order_remove (&p->group->jobs, &p->place);
    group_refresh (s, p->group);
    return 0;
}

bool plan_drop_last (struct sched *s)
{
    if (s->nplan == s->checked)
        return false;
    struct pending *p = s->plan[--s->nplan].p;
    s->suspended = MIN (s->suspended, s->nplan);
    if (p) {
        unplan (s, p);
        group_refresh (s, p->group);
    }
    return true;
}

void sched_unplan (struct sched *s)
{
    plan_doubt_all (s);
    while (plan_drop_last (s))
        ;
}

void plan_made (struct sched *s)
{
    if (!s->whole)
        match_plan_made (s->m);
    s->whole = true;
}
