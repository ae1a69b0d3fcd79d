#include <errno.h>
#include <string.h>

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "common/parse.h"
#include "sched/order.h"
#include "sched/sched.h"

#define QUEUES_MAX 256
#define REASON_MAX (ERROR_TEXT_MAX + 128)

/* Where a job is: its `place` link is in the set that this names. */
enum where {
    NOWHERE,
    HELD,    /* in no set */
    WAITING, /* s->waiting, by begin time */
    ORDERED, /* its group's jobs; `rank` is in its queue's order */
};

struct pending {
    uint64_t id;
    struct order_link place;
    struct order_link rank;
    enum where where;
    unsigned queue;
    int64_t priority;
    double begin, duration;
    const struct match_request *req;
    struct group *group; /* when ORDERED */
    UT_hash_handle hh;
};

/* Jobs of one queue and one shape. */
struct group {
    struct {
        uint64_t shape, queue;
    } key;
    struct order jobs;
    struct order_link head; /* in s->ready, with the key of its first job */
    enum { READY, FAILED, PARKED } state;
    struct group *prev, *next; /* in s->failed */
    char *why;                 /* of the last failed try, or NULL */
    UT_hash_handle hh;
};

struct queue {
    bool exists, started;
    struct order jobs; /* all ORDERED ones */
};

struct sched {
    struct matcher *m;
    struct pending *by_id;
    struct group *groups;
    struct order ready;   /* groups to try, by their first job */
    struct group *failed; /* at this->generation */
    struct order waiting;
    struct queue queues[QUEUES_MAX];
    uint64_t generation; /* of the matcher when `failed` was last emptied */
    uint64_t full_at;    /* generation at which nothing was free, 0: none */
    uint64_t tries;
    char text[REASON_MAX];
};

struct sched *sched_create (struct matcher *m)
{
    struct sched *s = calloc (1, sizeof (*s));
    if (s)
        s->m = m;
    return s;
}

void sched_destroy (struct sched *s)
{
    if (!s)
        return;
    struct pending *p, *pnext;
    HASH_ITER (hh, s->by_id, p, pnext) {
        HASH_DEL (s->by_id, p);
        free (p);
    }
    struct group *g, *gnext;
    HASH_ITER (hh, s->groups, g, gnext) {
        HASH_DEL (s->groups, g);
        free (g->why);
        free (g);
    }
    free (s);
}

/* -- groups -- */

static struct pending *group_first (const struct group *g)
{
    return CONTAINER_OF (order_first (&g->jobs), struct pending, place);
}

/* Out of the set that its state names. */
static void group_leave (struct sched *s, struct group *g)
{
    if (g->state == READY)
        order_remove (&s->ready, &g->head);
    else if (g->state == FAILED)
        DL_DELETE (s->failed, g);
    g->state = PARKED;
}

static void group_make_ready (struct sched *s, struct group *g)
{
    group_leave (s, g);
    g->state = READY;
    g->head.key = order_first (&g->jobs)->key;
    order_add (&s->ready, &g->head);
}

static void group_fail (struct sched *s, struct group *g, const char *why)
{
    group_leave (s, g);
    g->state = FAILED;
    DL_APPEND (s->failed, g);
    if (g->why && strcmp (g->why, why) == 0)
        return;
    free (g->why);
    g->why = strdup (why);
}

static struct group *group_get (struct sched *s, uint64_t shape, unsigned queue)
{
    struct group *g, like = { .key = { shape, queue } };
    HASH_FIND (hh, s->groups, &like.key, sizeof (like.key), g);
    if (g || !(g = calloc (1, sizeof (*g))))
        return g;
    g->key = like.key;
    g->state = PARKED;
    HASH_ADD (hh, s->groups, key, sizeof (g->key), g);
    if (!g->hh.tbl) {
        free (g);
        return NULL;
    }
    return g;
}

/* Its first job may be another one now, or there may be none left. */
static void group_changed (struct sched *s, struct group *g)
{
    if (order_count (&g->jobs) == 0) {
        group_leave (s, g);
        HASH_DEL (s->groups, g);
        free (g->why);
        free (g);
    } else if (g->state == READY
               && order_compare (&g->head.key, &order_first (&g->jobs)->key) != 0) {
        group_make_ready (s, g);
    }
}

/* -- jobs in and out of the sets -- */

static struct pending *pending_find (const struct sched *s, uint64_t id)
{
    struct pending *p;
    HASH_FIND (hh, s->by_id, &id, sizeof (id), p);
    return p;
}

static void detach (struct sched *s, struct pending *p)
{
    if (p->where == WAITING) {
        order_remove (&s->waiting, &p->place);
    } else if (p->where == ORDERED) {
        order_remove (&p->group->jobs, &p->place);
        order_remove (&s->queues[p->queue].jobs, &p->rank);
        group_changed (s, p->group);
    }
    p->where = NOWHERE;
    p->group = NULL;
}

static int attach_ordered (struct sched *s, struct pending *p)
{
    struct group *g = group_get (s, match_request_shape (p->req), p->queue);
    if (!g)
        return -ENOMEM;
    bool fresh = order_count (&g->jobs) == 0;
    p->group = g;
    p->where = ORDERED;
    p->place.key = p->rank.key = (struct order_key){ p->priority, p->id };
    order_add (&g->jobs, &p->place);
    order_add (&s->queues[p->queue].jobs, &p->rank);
    if (!fresh)
        group_changed (s, g);
    else if (s->queues[p->queue].started)
        group_make_ready (s, g);
    return 0;
}

/* The earliest first; microseconds are fine enough to sort by. */
static void attach_waiting (struct sched *s, struct pending *p)
{
    p->where = WAITING;
    p->place.key = (struct order_key){ -(int64_t)(MIN (p->begin, 1e12) * 1e6), p->id };
    order_add (&s->waiting, &p->place);
}

static void forget (struct sched *s, struct pending *p)
{
    detach (s, p);
    HASH_DEL (s->by_id, p);
    free (p);
}

static struct pending *pending_get (struct sched *s, uint64_t id)
{
    struct pending *p = pending_find (s, id);
    if (p || !(p = calloc (1, sizeof (*p))))
        return p;
    p->id = id;
    HASH_ADD (hh, s->by_id, id, sizeof (p->id), p);
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
    p->queue = e->queue;
    p->priority = e->priority;
    p->begin = e->begin;
    p->duration = e->duration;
    p->req = e->req;
    if (e->held) {
        p->where = HELD;
    } else if (e->begin > 0) {
        attach_waiting (s, p);
    } else if (attach_ordered (s, p) < 0) {
        forget (s, p);
        return -ENOMEM;
    }
    return 0;
}

int sched_dequeue (struct sched *s, uint64_t id)
{
    struct pending *p = pending_find (s, id);
    if (!p)
        return -ENOENT;
    forget (s, p);
    return 0;
}

int sched_queue_set (struct sched *s, unsigned queue, bool started)
{
    if (queue >= QUEUES_MAX)
        return -EINVAL;
    struct queue *q = &s->queues[queue];
    if (q->exists && q->started == started)
        return 0;
    q->exists = true;
    q->started = started;
    struct group *g, *next;
    HASH_ITER (hh, s->groups, g, next) {
        if (g->key.queue != queue)
            continue;
        if (started)
            group_make_ready (s, g);
        else
            group_leave (s, g);
    }
    return 0;
}

/* -- a pass -- */

/* Jobs whose begin time has come join the order. */
static int ripen (struct sched *s, double now)
{
    struct order_link *link;
    while ((link = order_first (&s->waiting))) {
        struct pending *p = CONTAINER_OF (link, struct pending, place);
        if (p->begin > now)
            return 0;
        detach (s, p);
        if (attach_ordered (s, p) < 0) {
            attach_waiting (s, p);
            return -ENOMEM;
        }
    }
    return 0;
}

/* What failed may fit again when anything became free. */
static void new_generation (struct sched *s, uint64_t generation)
{
    if (s->generation == generation)
        return;
    s->generation = generation;
    while (s->failed)
        group_make_ready (s, s->failed);
}

/* 1: started, 0: the group failed, -ENOMEM. */
static int group_try (struct sched *s, struct group *g, double now,
                      struct sched_decision *ret)
{
    struct pending *p = group_first (g);
    struct error why = { 0 };
    s->tries++;
    int rc = match_allocate (s->m, p->id, p->req, now, p->duration, &ret->r, &why);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0) {
        group_fail (s, g, why.text);
        return 0;
    }
    ret->id = p->id;
    forget (s, p);
    return 1;
}

int sched_next (struct sched *s, double now, unsigned max_tries,
                struct sched_decision *ret)
{
    uint64_t generation = match_generation (s->m);
    struct order_link *link;
    int rc = ripen (s, now);
    if (rc < 0)
        return rc;
    new_generation (s, generation);
    for (unsigned n = 0; s->full_at != generation && (link = order_first (&s->ready));
         n++) {
        if (max_tries > 0 && n == max_tries)
            return -EAGAIN;
        rc = group_try (s, CONTAINER_OF (link, struct group, head), now, ret);
        if (rc != 0)
            return rc;
        if (match_nothing_free (s->m))
            s->full_at = generation;
    }
    return 0;
}

double sched_wakeup (const struct sched *s)
{
    const struct order_link *link = order_first (&s->waiting);
    return link ? CONTAINER_OF (link, const struct pending, place)->begin : 0;
}

/* -- reasons -- */

static size_t jobs_ahead (const struct sched *s, const struct pending *p)
{
    size_t ahead = 0;
    for (size_t i = 0; i < QUEUES_MAX; i++) {
        if (s->queues[i].started)
            ahead += order_rank (&s->queues[i].jobs, &p->rank.key);
    }
    return ahead;
}

static bool is_head (const struct sched *s, const struct pending *p)
{
    return order_first (&s->queues[p->queue].jobs) == &p->rank && jobs_ahead (s, p) == 0;
}

/* Without counting those ahead, but for the few that are first in their queue. */
static enum sched_reason_code reason_of (const struct sched *s, const struct pending *p)
{
    switch (p->where) {
    case HELD:
        return SCHED_REASON_HELD;
    case WAITING:
        return SCHED_REASON_BEGIN;
    case ORDERED:
        if (!s->queues[p->queue].started)
            return SCHED_REASON_QUEUE_STOPPED;
        if (p->group->why || (is_head (s, p) && match_nothing_free (s->m)))
            return SCHED_REASON_RESOURCES;
        return SCHED_REASON_PRIORITY;
    default:
        return SCHED_REASON_NONE;
    }
}

static void add_text (const struct pending *p, const struct sched_reason *r,
                      struct strbuf *sb)
{
    switch (r->code) {
    case SCHED_REASON_HELD:
        strbuf_addf (sb, "held by its user; release it with fluxq-ctl release %llu",
                     (unsigned long long)p->id);
        return;
    case SCHED_REASON_BEGIN:
        strbuf_adds (sb, "may not start before ");
        strbuf_add_time (sb, p->begin);
        return;
    case SCHED_REASON_QUEUE_STOPPED:
        strbuf_adds (sb, "its queue is stopped");
        return;
    case SCHED_REASON_RESOURCES:
    case SCHED_REASON_PRIORITY:
        if (p->group->why)
            strbuf_addf (sb, "%s%s", p->group->why, r->ahead > 0 ? "; " : "");
        if (r->ahead > 0)
            strbuf_addf (sb, "%zu job%s ahead", r->ahead, r->ahead == 1 ? "" : "s");
        else if (!p->group->why)
            strbuf_adds (sb, r->code == SCHED_REASON_RESOURCES ? "nothing is free now"
                                                               : "it is tried next");
        return;
    default:
        return;
    }
}

static const char *const reason_names[] = {
    [SCHED_REASON_NONE] = "None",
    [SCHED_REASON_PRIORITY] = "Priority",
    [SCHED_REASON_RESOURCES] = "Resources",
    [SCHED_REASON_HELD] = "JobHeldUser",
    [SCHED_REASON_BEGIN] = "BeginTime",
    [SCHED_REASON_QUEUE_STOPPED] = "QueueStopped",
};

int sched_reason (struct sched *s, uint64_t id, struct sched_reason *ret)
{
    const struct pending *p = pending_find (s, id);
    if (!p)
        return -ENOENT;
    autostrbuf struct strbuf sb;
    strbuf_init (&sb, REASON_MAX);
    ret->code = reason_of (s, p);
    ret->name = reason_names[ret->code];
    ret->ahead = p->where == ORDERED ? jobs_ahead (s, p) : 0;
    add_text (p, ret, &sb);
    snprintf (s->text, sizeof (s->text), "%s", sb.buf);
    ret->text = s->text;
    return 0;
}

const char *sched_reason_name (const struct sched *s, uint64_t id)
{
    const struct pending *p = pending_find (s, id);
    return p ? reason_names[reason_of (s, p)] : NULL;
}

size_t sched_pending (const struct sched *s)
{
    return HASH_COUNT (s->by_id);
}

uint64_t sched_tries (const struct sched *s)
{
    return s->tries;
}
