/* pass.c - a pass: starts jobs, makes reservations, and backfills
 *
 *     suspend  doubtful reservations of the plan count for no job until their turn
 *     front    the next job in order, as long as the policy plans jobs: a planned job
 *              that the change does not affect keeps its reservation; any other job
 *              starts, or gets a new reservation
 *     behind   of the other jobs, in order, the first of each group that may fit: it
 *              starts if the policy lets it pass and it fits now beside all reservations
 *
 * The plan always has the first jobs of the order, without a gap. Each was planned with
 * only those before it in place. So the plan equals one that is made from scratch,
 * however many calls it took.
 */
#include <math.h>

#include "common/parse.h"
#include "sched/sched_private.h"

#define KEEP_MAX 4     /* planned jobs per step that keep their place */
#define MISSES_MAX 3   /* tries of a group per pass, beside reservations */
#define RENEW 0.5      /* seconds between renewals of a plan only because time passed, */
#define RENEW_JOBS 100 /* and as much more for each so many jobs in the plan */

/* -- a job -- */

/* Notes that the job does not fit now. No job of its shape with an equal or longer
 * duration fits either; if the job would have ended before the first reservation and the
 * first window, no job of its shape fits at all. */
static void note_miss (struct sched *s, struct group *g, double duration, const char *why)
{
    double gap = s->first_start - s->now,
           window = match_window_next (s->m, s->now) - s->now;

    g->bound = duration <= fmin (gap, window) ? 0 : fmin (g->bound, duration);
    if (++g->misses >= MISSES_MAX)
        g->bound = fmin (g->bound, nextafter (gap, INFINITY));
    if (g->misses >= 2 * MISSES_MAX)
        g->bound = fmin (g->bound, nextafter (window, INFINITY));
    if (why)
        group_set_why (s, g, why);
    group_refresh (s, g);
}

/* True if the least size of the job fits now, and the job waits for a larger one. */
static bool holds_out (struct sched *s, struct pending *p)
{
    struct rset *r = NULL;

    s->tries++;
    if (match_without_allocating (s->m, p->job.req, s->now, p->job.duration, &r, NULL)
        < 0)
        return false;
    rset_destroy (r);
    if (p->fitted == 0)
        p->fitted = s->now;
    if (s->now >= p->fitted + p->job.max_wait)
        return false;
    s->hold_until = fmin (s->hold_until, p->fitted + p->job.max_wait);
    return true;
}

/* Allocates the largest size that fits. */
static int allocate_some (struct sched *s, struct pending *p, struct sched_decision *ret,
                          struct error *why)
{
    s->tries++;
    int rc =
        match_allocate (s->m, p->job.id, p->job.req, s->now, ret->duration, &ret->r, why);
    if (rc == 0 && ret->size.code == SCHED_SIZE_FIXED
        && match_request_is_elastic (p->job.req))
        rc = size_explain (s, p, ret, why);
    return rc;
}

/* Allocates until that time, in whole seconds. why keeps the reason for the full
 * duration. */
static int allocate_until (struct sched *s, struct pending *p, double until,
                           struct sched_decision *ret, struct error *why)
{
    double gap = floor (until - s->now);

    if (gap < p->job.time_min || (p->job.duration > 0 && gap >= p->job.duration))
        return -EBUSY;
    ret->duration = gap;
    int rc = allocate_some (s, p, ret, NULL);
    return rc == -ENOMEM ? error_set (why, ENOMEM, "out of memory") : rc;
}

/* Allocates until the first reservation or the first window: first the later of both,
 * then the other. */
static int allocate_shorter (struct sched *s, struct pending *p,
                             struct sched_decision *ret, struct error *why)
{
    double window = match_window_next (s->m, s->now);
    int rc = allocate_until (s, p, fmax (s->first_start, window), ret, why);

    return rc == -EBUSY && s->first_start != window
               ? allocate_until (s, p, fmin (s->first_start, window), ret, why)
               : rc;
}

/* Allocates the largest size; or less, if the job has held out for long enough. */
static int allocate_patiently (struct sched *s, struct pending *p,
                               struct sched_decision *ret, struct error *why)
{
    s->tries++;
    int rc = match_allocate_largest (s->m, p->job.id, p->job.req, s->now, p->job.duration,
                                     &ret->r, why);
    p->holds = rc == -EBUSY && holds_out (s, p);
    if (rc == 0)
        size_note (s, p, SCHED_SIZE_LARGEST, NULL, &ret->size);
    else if (rc == -EBUSY && !p->holds && p->fitted > 0)
        size_note (s, p, SCHED_SIZE_WAITED, why->text, &ret->size);
    return rc;
}

/* Allocates the largest size that fits; for a job that holds out, only its largest size
 * of all. */
static int allocate (struct sched *s, struct pending *p, struct sched_decision *ret,
                     struct error *why)
{
    int rc = -EBUSY;

    ret->duration = p->job.duration;
    size_note (s, p, SCHED_SIZE_FIXED, NULL, &ret->size);
    p->holds = false;
    if (p->job.max_wait > 0) {
        rc = allocate_patiently (s, p, ret, why);
        if (rc != -EBUSY || p->holds)
            return rc;
    }
    rc = allocate_some (s, p, ret, why);
    return rc == -EBUSY && p->job.time_min > 0 ? allocate_shorter (s, p, ret, why) : rc;
}

/* Whether the job lacks licenses. No job of its group can start then, or none with an
 * equal or longer duration. */
static bool try_licenses (struct sched *s, struct pending *p)
{
    struct error why = { 0 };
    struct group *g = p->group;
    enum lack lack = licenses_lack (s, p, &why);

    p->lacks = lack != LACKS_NOTHING;
    if (!p->lacks)
        return false;
    group_set_why (s, g, why.text);
    g->lacks = true;
    g->bound = lack == LACKS ? 0 : fmin (g->bound, p->place.weight);
    group_refresh (s, g);
    return true;
}

/* 1: the job starts; 0: it does not fit; -ENOMEM. */
static int try (struct sched *s, struct pending *p, struct sched_decision *ret)
{
    struct error why = { 0 };

    if (try_licenses (s, p))
        return 0;
    int rc = allocate (s, p, ret, &why);

    if (rc == -ENOMEM)
        return rc;
    if (rc < 0) {
        note_miss (s, p->group, p->place.weight, why.text);
        return 0;
    }
    ret->id = p->job.id;
    sched_forget (s, p);
    s->starts++;
    return 1;
}

static int plan_hold (struct sched *s, struct pending *p)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (256);

    strbuf_adds (&sb, "a smaller size fits now; it waits for its largest until ");
    strbuf_add_time (&sb, p->fitted + p->job.max_wait);
    return plan_add (s, p, 0, sb.buf);
}

static int reserve (struct sched *s, struct pending *p)
{
    struct error why = { 0 };
    double start = 0;

    if (p->lacks)
        return plan_add (s, p, 0, p->group->why);
    if (p->holds)
        return plan_hold (s, p);
    s->tries++;
    bool known = s->generation == match_generation (s->m);
    int rc = match_reserve (s->m, p->job.id, p->job.req, s->now, p->job.duration, &start,
                            &why);
    if (rc == -EAGAIN && known) /* it gave back only what it had taken itself */
        s->generation = match_generation (s->m);
    if (rc == -ENOMEM || rc == -EINPROGRESS)
        return rc == -EINPROGRESS ? -EAGAIN : rc;
    if (rc == 0 && (rc = plan_add (s, p, start, NULL)) < 0)
        match_cancel (s->m, p->job.id);
    else if (rc < 0)
        rc = plan_add (s, p, 0, why.text);
    return rc;
}

/* -- a job that has its place in the plan -- */

/* Finds what is short now, for one job of each group, before its own reservation is in
 * the way. */
static void ask_why (struct sched *s, const struct pending *p, struct error *why)
{
    struct rset *r = NULL;

    if (p->group->bound != INFINITY)
        return;
    s->tries++;
    match_without_allocating (s->m, p->job.req, s->now, p->job.duration, &r, why);
    rset_destroy (r);
}

/* 0: the job keeps its place; 1: it has a place after a match; 2: it is out of the plan,
 * and must be tried; -EAGAIN: the search for its place continues; -ENOMEM. A job that
 * holds out, or accepts less time, is always tried. */
static int resume (struct sched *s, struct pending *p)
{
    double start = p->start;
    struct error why = { 0 };
    int rc = -EBUSY;

    if (p->lacks && licenses_lack (s, p, &why) != LACKS_NOTHING) {
        plan_keep (s, p, 0);
        return 0;
    }
    ask_why (s, p, &why);
    if (!p->lacks && p->job.max_wait == 0 && p->job.time_min == 0)
        rc = match_resume (s->m, p->job.id, p->job.req, s->now, p->job.duration, &start);
    if (rc == -ENOMEM || rc == -EINPROGRESS)
        return rc == -EINPROGRESS ? -EAGAIN : rc;
    s->tries += rc != 0;
    if (rc < 0) {
        plan_take_out (s, p);
        return 2;
    }
    note_miss (s, p->group, p->place.weight, why.text[0] ? why.text : NULL);
    plan_keep (s, p, start);
    return rc;
}

/* -- the steps of a pass: 1: *ret starts; 0: done; -EAGAIN: there is more; -ENOMEM -- */

/* Resumes the planned jobs in their turn; 0: *ret is the next job, or NULL; -EAGAIN,
 * -ENOMEM. */
static int resume_some (struct sched *s, struct pending **ret)
{
    int rc = 0;

    for (int n = 0; (*ret = plan_next (s)) && (*ret)->planned; n++) {
        if (n == KEEP_MAX)
            return -EAGAIN;
        if ((rc = resume (s, *ret)) != 0)
            return rc < 0 ? rc : -EAGAIN;
    }
    return 0;
}

static int front (struct sched *s, struct sched_decision *ret)
{
    struct pending *p;
    int rc = resume_some (s, &p);

    if (rc < 0)
        return rc;
    if (!p)
        return plan_drop_last (s) ? -EAGAIN : 0;
    /* Tried whatever is known of its group: too few tries of the group are no reason for
     * this job to wait. */
    if (!match_search_goes_on (s->m, p->job.id, s->now))
        rc = try (s, p, ret);
    if (rc == 0)
        rc = reserve (s, p);
    return rc == 0 ? -EAGAIN : rc;
}

static int behind (struct sched *s, struct sched_decision *ret)
{
    const struct order_link *link = order_first (&s->ready);

    plan_made (s);
    if (!link || match_nothing_free (s->m))
        return 0;
    struct group *g = CONTAINER_OF (link, struct group, head);
    struct order_link *first = order_after (&g->jobs, NULL, g->bound);
    struct pending *p = CONTAINER_OF (first, struct pending, place);
    struct queue_plan plan = plan_view (s);
    int rc = 0;

    switch (s->policy->pass (&plan, &p->job)) {
    case QUEUE_PASS:
        rc = try (s, p, ret);
        break;
    case QUEUE_WAIT:
        g->bound = first->weight;
        group_refresh (s, g);
        break;
    case QUEUE_CLOSED:
        return 0;
    }
    return rc == 0 ? -EAGAIN : rc;
}

static int step (struct sched *s, struct sched_decision *ret)
{
    if (plan_suspend (s))
        return -EAGAIN;
    int rc = front (s, ret);
    return rc == 0 ? behind (s, ret) : rc;
}

/* If a reservation waits for a late job, it is planned again; a long plan less often. */
static double renewal (const struct sched *s)
{
    return RENEW * (1 + (double)(s->nplan / RENEW_JOBS));
}

/* Checks what has changed since the last call. Every waiting job is in the plan, or
 * behind one that is: so a doubtful plan makes everything known doubtful. */
static void look_around (struct sched *s)
{
    uint64_t generation = match_generation (s->m), layout = match_layout (s->m);
    bool held = s->hold_until <= s->now;
    bool due =
        held || (s->first_start <= s->now && fabs (s->now - s->renewed) >= renewal (s));

    bool licenses = s->pool && s->pool_generation != s->pool->generation;

    if (generation == s->generation && layout == s->layout && !due && !licenses)
        return;
    s->pool_generation = s->pool ? s->pool->generation : 0;
    s->generation = generation;
    s->layout = layout;
    s->hold_until = INFINITY;
    if (due)
        s->renewed = s->now;
    plan_doubt_all (s);
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
        link ? CONTAINER_OF (link, const struct pending, place)->job.begin : INFINITY;
    /* If a start has come and the jobs it waits for are late, look again now and then. */
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
    if (!*planned && p->job.licenses && (p->lacks || (p->group && p->group->lacks)))
        return -EBUSY;
    if (!*planned) {
        double from = fmax (now, p->job.begin);
        s->tries++;
        int rc =
            match_earliest (s->m, p->job.req, from, p->job.duration, start, NULL, NULL);
        if (rc < 0)
            return rc == -ENOENT ? -EBUSY : rc;
    }
    return *start - now < SCHED_SOMEDAY ? 0 : -EBUSY;
}
