/* reason.c - why a job waits in the queue, in a sentence, and until when
 *
 * A job that is not in the queue has the reason of a service of the broker, such as
 * src/broker/services/depend/depend.c (`reason` of struct broker_service).
 */
#include <math.h>

#include "common/parse.h"
#include "sched/sched_private.h"

static const char *const reason_names[] = {
    [SCHED_REASON_NONE] = "None",           [SCHED_REASON_PRIORITY] = "Priority",
    [SCHED_REASON_RESOURCES] = "Resources", [SCHED_REASON_HELD] = "JobHeldUser",
    [SCHED_REASON_BEGIN] = "BeginTime",     [SCHED_REASON_QUEUE_STOPPED] = "QueueStopped",
    [SCHED_REASON_LICENSES] = "Licenses",
};

static enum sched_reason_code reason_of (const struct pending *p)
{
    switch (p->where) {
    case HELD:
        return SCHED_REASON_HELD;
    case WAITING:
        return SCHED_REASON_BEGIN;
    case STOPPED:
        return SCHED_REASON_QUEUE_STOPPED;
    case ORDERED:
        if (p->planned ? p->lacks : p->group->why && p->group->lacks)
            return SCHED_REASON_LICENSES;
        return p->planned || p->group->why ? SCHED_REASON_RESOURCES
                                           : SCHED_REASON_PRIORITY;
    default:
        return SCHED_REASON_NONE;
    }
}

/* "; job 41 frees 8 nodes by 2026-11-20T14:20:00" */
static void add_blocker (const struct sched_reason *r, struct strbuf *sb)
{
    const struct match_blocker *b = &r->blockers[0];

    if (r->nblockers == 0 || (r->start > 0 && r->start > b->end + 1))
        return; /* it waits for its turn behind other jobs, not for this job */
    strbuf_addf (sb, "; job %llu %s %zu node%s ", (unsigned long long)b->job,
                 r->start > 0 ? "frees" : "has", b->nodes, b->nodes == 1 ? "" : "s");
    strbuf_adds (sb, r->start > 0 ? "by " : "and no time limit");
    if (r->start > 0)
        strbuf_add_time (sb, b->end);
}

#define WINDOWS_SHOWN 3
#define NODES_SHOWN 60 /* characters of a list of nodes; a longer list becomes a number */

/* "; node3 is reserved for resv-1 from 2026-11-20T14:00:00" */
static void add_window (const struct match_window *w, double now, struct strbuf *sb)
{
    bool planned = w->start > now;

    if (strlen (w->nodes) <= NODES_SHOWN)
        strbuf_addf (sb, "; %s", w->nodes);
    else
        strbuf_addf (sb, "; %zu nodes", w->nnodes);
    strbuf_addf (sb, " %s reserved for %s %s ", w->nnodes == 1 ? "is" : "are", w->name,
                 planned ? "from" : "until");
    strbuf_add_time (sb, planned ? w->start : w->end);
}

/* Adds the windows in its way now, or at its start. */
static void add_windows (const struct sched *s, const struct pending *p,
                         const struct sched_reason *r, struct strbuf *sb)
{
    double duration = p->job.duration > 0 ? p->job.duration : SCHED_YEAR;
    struct match_window w[WINDOWS_SHOWN];
    size_t n = match_windows_between (s->m, s->now, fmax (s->now, r->start) + duration, w,
                                      ARRAY_SIZE (w));

    for (size_t i = 0; i < n; i++)
        if (r->start <= 0 || w[i].start < r->start)
            add_window (&w[i], s->now, sb);
}

#define DRAINED_SHOWN 3

/* Adds "; node3 is drained: bad disk" for each drained node that the job could use. */
static void add_drained (const struct sched *s, const struct pending *p,
                         struct strbuf *sb)
{
    struct match_drained list[DRAINED_SHOWN + 1];
    size_t n = match_drained (s->m, p->job.req, list, ARRAY_SIZE (list));

    for (size_t i = 0; i < n && i < DRAINED_SHOWN; i++)
        strbuf_addf (sb, "; %.64s is drained%s%.80s", list[i].name,
                     list[i].reason ? ": " : "", list[i].reason ? list[i].reason : "");
    if (n > DRAINED_SHOWN)
        strbuf_adds (sb, "; more nodes are drained");
}

/* Jobs that started after the last try may have taken what was free then, so the job is
 * matched again: for the time up to its own reservation, which would be in the way. */
static void renew_why (struct sched *s, const struct pending *p)
{
    struct group *g = p->group;
    double until = p->start > 0 ? p->start - s->now : INFINITY;
    double duration = p->job.duration > 0 ? fmin (p->job.duration, until) : until;
    struct error why = { 0 };
    struct rset *r = NULL;

    if (!g->why || g->lacks || g->why_starts == s->starts || duration <= 0)
        return;
    g->why_starts = s->starts;
    s->tries++;
    if (match_without_allocating (s->m, p->job.req, s->now,
                                  isfinite (duration) ? duration : 0, &r, &why)
        == -EBUSY)
        group_set_why (s, g, why.text);
    rset_destroy (r);
}

/* Adds what is short, what the job waits for, when it starts, and how many jobs are
 * ahead. */
static void add_wait (const struct sched *s, const struct pending *p,
                      const struct sched_reason *r, struct strbuf *sb)
{
    const char *why = p->why ? p->why : p->group->why;
    struct error lack = { 0 };

    if (r->code == SCHED_REASON_LICENSES && licenses_lack (s, p, &lack) != LACKS_NOTHING)
        why = lack.text;
    strbuf_adds (sb, why                                 ? why
                     : r->code == SCHED_REASON_RESOURCES ? "nothing is free now"
                     : r->ahead > 0                      ? ""
                                                         : "it is tried next");
    add_blocker (r, sb);
    if (r->code == SCHED_REASON_RESOURCES) {
        add_windows (s, p, r, sb);
        add_drained (s, p, sb);
    }
    if (r->start > 0) {
        strbuf_adds (sb, "; starts about ");
        strbuf_add_time (sb, r->start);
    }
    if (r->ahead > 0)
        strbuf_addf (sb, "%s%zu job%s ahead", sb->len == 0 ? "" : "; ", r->ahead,
                     r->ahead == 1 ? "" : "s");
}

static void add_text (const struct sched *s, const struct pending *p,
                      const struct sched_reason *r, struct strbuf *sb)
{
    switch (r->code) {
    case SCHED_REASON_HELD:
        strbuf_adds (sb, "held"); /* the queue does not know who holds it */
        return;
    case SCHED_REASON_BEGIN:
        strbuf_adds (sb, "may not start before ");
        strbuf_add_time (sb, p->job.begin);
        return;
    case SCHED_REASON_QUEUE_STOPPED:
        strbuf_adds (sb, "its queue is stopped");
        return;
    case SCHED_REASON_RESOURCES:
    case SCHED_REASON_LICENSES:
    case SCHED_REASON_PRIORITY:
        add_wait (s, p, r, sb);
        return;
    default:
        return;
    }
}

int sched_position (const struct sched *s, uint64_t id, size_t *ahead, double *start)
{
    const struct pending *p = sched_find (s, id);

    if (!p || p->where != ORDERED)
        return -ENOENT;
    *ahead = order_rank (&s->order, &p->rank.key);
    *start = p->start > 0 && p->start - s->now < SCHED_SOMEDAY ? p->start : 0;
    return 0;
}

size_t sched_blockers (const struct sched *s, uint64_t id, struct match_blocker *ret,
                       size_t max)
{
    const struct pending *p = sched_find (s, id);

    return p && p->start > 0 ? match_blockers (s->m, id, ret, max) : 0;
}

int sched_reason (struct sched *s, uint64_t id, struct sched_reason *ret)
{
    const struct pending *p = sched_find (s, id);

    if (!p)
        return -ENOENT;
    *ret = (struct sched_reason){ .code = reason_of (p) };
    ret->name = reason_names[ret->code];
    sched_position (s, id, &ret->ahead, &ret->start);
    if (p->where == ORDERED && !p->why)
        renew_why (s, p);
    ret->nblockers = sched_blockers (s, id, ret->blockers, SCHED_BLOCKERS_MAX);
    autostrbuf struct strbuf sb = STRBUF_INIT (REASON_MAX);
    add_text (s, p, ret, &sb);
    snprintf (s->text, sizeof (s->text), "%s", sb.buf);
    ret->text = s->text;
    return 0;
}

const char *sched_reason_name (const struct sched *s, uint64_t id)
{
    const struct pending *p = sched_find (s, id);

    return p ? reason_names[reason_of (p)] : NULL;
}
