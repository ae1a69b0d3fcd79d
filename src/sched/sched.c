/* sched.c - jobs in and out of the queue, and the groups of equal ones */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "sched/sched_private.h"

struct sched *sched_create (struct matcher *m, const struct queue_policy *policy,
                            unsigned depth)
{
    struct sched *s = calloc (1, sizeof (*s));

    if (!s)
        return NULL;
    s->m = m;
    s->first_start = s->hold_until = INFINITY;
    s->generation = match_generation (m);
    s->layout = match_layout (m);
    match_search_in_pieces (m, MATCH_SEARCH);
    sched_set_policy (s, policy, depth);
    return s;
}

void sched_destroy (struct sched *s)
{
    if (!s)
        return;
    struct pending *p, *pnext;
    HASH_ITER (hh, s->by_id, p, pnext) {
        HASH_DEL (s->by_id, p);
        if (p->start > 0)
            match_cancel (s->m, p->job.id);
        free (p->why);
        free (p);
    }
    struct group *g, *gnext;
    HASH_ITER (hh, s->groups, g, gnext) {
        HASH_DEL (s->groups, g);
        free (g->why);
        free (g);
    }
    free (s->plan);
    free (s);
}

/* -- groups -- */

/* Removes the group from the set of its state. */
static void group_leave (struct sched *s, struct group *g)
{
    if (g->state == READY)
        order_remove (&s->ready, &g->head);
    else
        DL_DELETE (s->failed, g);
}

static void group_join (struct sched *s, struct group *g)
{
    const struct order_link *next = order_after (&g->jobs, NULL, g->bound);

    g->state = next ? READY : FAILED;
    if (next) {
        g->head.key = next->key;
        order_add (&s->ready, &g->head);
    } else {
        DL_APPEND (s->failed, g);
    }
}

void group_refresh (struct sched *s, struct group *g)
{
    group_leave (s, g);
    if (g->n > 0) {
        group_join (s, g);
        return;
    }
    HASH_DEL (s->groups, g);
    free (g->why);
    free (g);
}

void groups_reset (struct sched *s)
{
    struct group *g, *next;

    HASH_ITER (hh, s->groups, g, next) {
        g->misses = 0;
        if (g->bound == INFINITY)
            continue;
        g->bound = INFINITY;
        group_refresh (s, g);
    }
}

void group_set_why (struct sched *s, struct group *g, const char *why)
{
    g->why_starts = s->starts;
    g->lacks = false;
    if (g->why && strcmp (g->why, why) == 0)
        return;
    free (g->why);
    g->why = strdup (why);
}

static struct group *group_get (struct sched *s, uint64_t shape)
{
    struct group *g;

    HASH_FIND (hh, s->groups, &shape, sizeof (shape), g);
    if (g || !(g = calloc (1, sizeof (*g))))
        return g;
    g->shape = shape;
    g->bound = INFINITY;
    HASH_ADD (hh, s->groups, shape, sizeof (g->shape), g);
    if (!g->hh.tbl) {
        free (g);
        return NULL;
    }
    g->state = FAILED;
    DL_APPEND (s->failed, g);
    return g;
}

/* -- jobs in and out of the sets -- */

/* Listings ask for jobs in the order of their submits, so the job after the last one that
 * was found is tried first: it needs no look-up in the table. The one after that is fetched
 * into the cache meanwhile. */
struct pending *sched_find (const struct sched *s, uint64_t id)
{
    struct pending *p = s->found ? s->found->hh.next : NULL;

    if (!p || p->job.id != id)
        HASH_FIND (hh, s->by_id, &id, sizeof (id), p);
    ((struct sched *)s)->found = p;
    if (p && p->hh.next) {
        __builtin_prefetch (&((struct pending *)p->hh.next)->where);
        __builtin_prefetch (&((struct pending *)p->hh.next)->planned);
    }
    return p;
}

static void detach (struct sched *s, struct pending *p)
{
    struct group *g = p->group;

    match_search_forget (s->m, p->job.id);
    switch (p->where) {
    case WAITING:
        order_remove (&s->waiting, &p->place);
        break;
    case STOPPED:
        order_remove (&s->queues[p->job.queue].jobs, &p->rank);
        break;
    case ORDERED:
        if (p->planned)
            plan_leave (s, p);
        order_remove (&s->order, &p->rank);
        order_remove (&g->jobs, &p->place);
        g->n--;
        group_refresh (s, g);
        break;
    default:
        break;
    }
    p->where = NOWHERE;
    p->group = NULL;
}

/* Marks the jobs planned behind the key as doubtful. */
static void is_before_planned (struct sched *s, const struct order_key *key)
{
    if (s->nplan > 0 && order_compare (key, &s->plan[s->nplan - 1].key) < 0)
        plan_doubt (s, key);
}

/* A job that holds out, or accepts less time, is alone in its group. */
static uint64_t group_key (const struct pending *p)
{
    bool is_alone = p->job.max_wait > 0 || p->job.time_min > 0;
    uint64_t alone = is_alone ? p->job.id * UINT64_C (0x9e3779b97f4a7c15) : 0;

    return match_request_shape (p->job.req) ^ licenses_key (&p->job) ^ alone;
}

static int attach_ordered (struct sched *s, struct pending *p)
{
    struct order_key key = { s->policy->rank (&p->job), p->job.id, p->job.turn };

    p->rank.key = key;
    p->rank.weight = 0;
    if (!s->queues[p->job.queue].started) {
        p->where = STOPPED;
        order_add (&s->queues[p->job.queue].jobs, &p->rank);
        return 0;
    }
    struct group *g = group_get (s, group_key (p));
    if (!g)
        return -ENOMEM;
    p->group = g;
    p->where = ORDERED;
    p->place.key = key;
    double duration = /* the least */
        p->job.time_min > 0 ? p->job.time_min : p->job.duration;
    p->place.weight = duration > 0 ? MIN (duration, SCHED_YEAR) : SCHED_YEAR;
    order_add (&s->order, &p->rank);
    order_add (&g->jobs, &p->place);
    g->n++;
    group_refresh (s, g);
    is_before_planned (s, &key);
    return 0;
}

/* The earliest begin first; microseconds are precise enough to sort by. */
static void attach_waiting (struct sched *s, struct pending *p)
{
    p->where = WAITING;
    p->place.key =
        (struct order_key){ -(int64_t)(MIN (p->job.begin, 1e12) * 1e6), p->job.id, 0 };
    p->place.weight = 0;
    order_add (&s->waiting, &p->place);
}

void sched_forget (struct sched *s, struct pending *p)
{
    detach (s, p);
    s->found = s->found == p ? NULL : s->found;
    HASH_DEL (s->by_id, p);
    free (p->why);
    free (p);
}

static struct pending *pending_get (struct sched *s, uint64_t id)
{
    struct pending *p = sched_find (s, id);

    if (p || !(p = calloc (1, sizeof (*p))))
        return p;
    p->job.id = id;
    HASH_ADD (hh, s->by_id, job.id, sizeof (p->job.id), p);
    if (!p->hh.tbl) {
        free (p);
        return NULL;
    }
    return p;
}

int sched_enqueue (struct sched *s, const struct sched_entry *e)
{
    if (e->queue >= QUEUES_MAX || !s->queues[e->queue].exists || !e->req
        || match_has (s->m, e->id))
        return -EINVAL;
    struct pending *p = pending_get (s, e->id);
    if (!p)
        return -ENOMEM;
    detach (s, p);
    p->job = *e;
    p->job.turn = e->turn ? e->turn : e->id;
    if (e->licenses)
        s->pool = e->licenses->pool;
    p->job.max_wait = match_request_is_elastic (e->req) ? e->max_wait : 0;
    if (e->held) {
        p->where = HELD;
    } else if (e->begin > 0) {
        attach_waiting (s, p);
    } else if (attach_ordered (s, p) < 0) {
        sched_forget (s, p);
        return -ENOMEM;
    }
    return 0;
}

int sched_dequeue (struct sched *s, uint64_t id)
{
    struct pending *p = sched_find (s, id);

    if (!p)
        return -ENOENT;
    sched_forget (s, p);
    return 0;
}

/* Moves the jobs of the queue, or of all queues, into the order, or out of it. Without
 * memory some wait until the next call. */
static void queue_move (struct sched *s, unsigned queue)
{
    struct pending *p, *next;

    HASH_ITER (hh, s->by_id, p, next) {
        if ((p->job.queue != queue && queue != ALL_QUEUES)
            || (p->where != STOPPED && p->where != ORDERED))
            continue;
        detach (s, p);
        if (attach_ordered (s, p) < 0) {
            p->where = STOPPED;
            order_add (&s->queues[p->job.queue].jobs, &p->rank);
        }
    }
}

int sched_queue_set (struct sched *s, unsigned queue, bool started)
{
    if (queue >= QUEUES_MAX)
        return -EINVAL;
    struct queue *q = &s->queues[queue];
    bool was = q->started;
    q->exists = true;
    q->started = started;
    if (was != started)
        queue_move (s, queue);
    return 0;
}

int sched_ripen (struct sched *s, double now)
{
    struct order_link *link;

    while ((link = order_first (&s->waiting))) {
        struct pending *p = CONTAINER_OF (link, struct pending, place);
        if (p->job.begin > now)
            return 0;
        detach (s, p);
        if (attach_ordered (s, p) < 0) {
            attach_waiting (s, p);
            return -ENOMEM;
        }
    }
    return 0;
}

void sched_set_policy (struct sched *s, const struct queue_policy *policy, unsigned depth)
{
    bool reorder = s->policy && s->policy->rank != policy->rank;

    s->policy = policy;
    s->depth = MIN (depth ? depth : policy->depth, QUEUE_DEPTH_MAX);
    plan_doubt_all (s);
    if (reorder) {
        sched_unplan (s);
        queue_move (s, ALL_QUEUES);
    }
}

bool sched_may_pass (const struct sched *s, const struct sched_entry *e)
{
    struct queue_plan plan = { .depth = s->depth, .jobs = 1 };

    return s->policy->pass (&plan, e) == QUEUE_PASS;
}

size_t sched_front (const struct sched *s, const struct sched_entry **list, size_t room)
{
    const struct order_link *link = order_first (&s->order);
    size_t n = 0;

    for (; link && n < room; link = order_after (&s->order, &link->key, INFINITY)) {
        const struct pending *p = CONTAINER_OF (link, struct pending, rank);
        if (!p->lacks)
            list[n++] = &p->job;
    }
    return n;
}

size_t sched_pending (const struct sched *s)
{
    return HASH_COUNT (s->by_id);
}
