/* needs.c - see needs.h
 *
 *   NEW --needs_make()--> MAKING --all answered--> WAITING --refused, or it lacks more--> RETRY
 *    ^                 |                                                              |
 *    |                 +-- an answer is an error --> RETRY --back-off is over, next attempt
 *    +--------------------------------------------------------------------------------+
 *
 * In each of these states a need can be dropped, when it is not wanted any more; it is
 * freed after its last answer. needs_drop_strays() deletes objects that no need wants
 * (any more).
 */
#include "exec/kube/needs/needs_private.h"

#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/cluster/groups.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

/* -- needs -- */

struct kneed *needs_find (const struct exec *x, uint64_t job, const char *group)
{
    struct kneed *n;

    DL_FOREACH (x->needs->list, n) {
        if (n->job == job && strcmp (n->group->name, group) == 0 && !n->dropped)
            return n;
    }
    return NULL;
}

struct need_source needs_source (const struct kneed *n)
{
    const struct kube_config *cfg = &n->x->cfg;

    return (struct need_source){ .group = n->group,
                                 .cluster = n->x->host.cluster_id,
                                 .namespace_ = n->x->space->name,
                                 .gpu_resource = cfg->gpu_resource,
                                 .image = cfg->image ? cfg->image : "none",
                                 .job = n->job,
                                 .attempt = n->attempt,
                                 .nodes = n->count,
                                 .cores = n->cores,
                                 .gpus = n->gpus,
                                 .memory_mib = n->memory_mib };
}

void needs_free_if_done (struct kneed *n)
{
    if (!n->dropped || n->calls > 0)
        return;
    DL_DELETE (n->x->needs->list, n);
    free (n);
}

void needs_poke (struct exec *x, uint64_t job)
{
    struct kjob *k = job_find (x, job);

    if (k)
        job_poke (k);
}

void needs_retry_later (struct kneed *n, const char *what, const char *why)
{
    n->failures++;
    n->phase = RETRY;
    n->retry_at = clock_mono () + need_backoff (n->group->delay, n->failures);
    if (!why)
        return;
    snprintf (n->text, sizeof (n->text), "%s: %.256s", what, why);
    log_warning ("kube: job %ju: nodes of group %s: %s", (uintmax_t)n->job,
                 n->group->name, n->text);
}

/* -- the nodes wanted -- */

/* Existing objects of an earlier broker are adopted: they are the same attempt. */
static unsigned next_attempt (const struct exec *x, const struct kneed *n)
{
    unsigned attempt = n->attempt;
    struct seen *s, *tmp;

    HASH_ITER (hh, x->needs->seen, s, tmp) {
        if (s->job == n->job && strcmp (s->group, n->group->name) == 0)
            attempt = MAX (attempt, s->attempt + s->deleted);
    }
    return attempt;
}

static void look_at (struct kneed *n, double now)
{
    if (n->dropped)
        return;
    if (n->phase == WAITING && n->nodes > n->count) { /* it lacks more than before */
        n->phase = RETRY;
        n->retry_at = now;
    }
    if (n->phase == RETRY && now >= n->retry_at && n->calls == 0) {
        n->attempt++;
        n->asked = 0;
        n->phase = NEW;
    }
    if (n->phase == NEW) {
        n->attempt = next_attempt (n->x, n);
        needs_make (n);
    }
}

static void drop (struct kneed *n)
{
    uint64_t job = n->job;
    struct exec *x = n->x;

    n->dropped = true;
    needs_free_if_done (n);
    needs_poke (x, job);
}

/* A request stays until the job's pods have used it. */
static bool is_over (const struct kneed *n)
{
    const struct kjob *k = n->started ? job_find (n->x, n->job) : NULL;

    if (!n->started)
        return !n->wanted;
    return n->group->provision != PROVISION_REQUEST || !k || k->phase > K_BIND;
}

void needs_look (struct exec *x)
{
    struct kneed *n, *tmp;
    double now = clock_mono ();

    DL_FOREACH_SAFE (x->needs->list, n, tmp)
    {
        if (!n->dropped && is_over (n))
            drop (n);
        else
            look_at (n, now);
    }
    needs_drop_strays (x);
}

static struct kneed *take (struct exec *x, const struct exec_need *from)
{
    const struct groupconfig *group = &x->cfg.groups.list[from->group];
    struct kneed *n = needs_find (x, from->job, group->name);

    if (n || !(n = calloc (1, sizeof (*n))))
        return n;
    n->x = x;
    n->group = group;
    n->job = from->job;
    DL_APPEND (x->needs->list, n);
    return n;
}

void needs_told (struct exec *x, const struct exec_need *list, size_t count)
{
    uint32_t coming[EXEC_GROUPS_MAX];
    struct kneed *n;

    if (!x->needs)
        return;
    for (size_t i = 0; i < x->cfg.groups.n; i++)
        coming[i] = groups_below_min (x, i);
    DL_FOREACH (x->needs->list, n) {
        n->wanted = false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct exec_need *from = &list[i];
        if (from->group >= x->cfg.groups.n || !(n = take (x, from)))
            continue;
        n->wanted = true;
        n->by_min = MIN (coming[from->group], from->nodes);
        coming[from->group] -= n->by_min;
        n->nodes = from->nodes - n->by_min;
        n->cores = from->cores;
        n->gpus = from->gpus;
        n->memory_mib = from->memory_mib;
    }
    x->needs->told = true;
    needs_look (x);
}

void needs_started (struct exec *x, uint64_t job)
{
    struct kneed *n;

    if (!x->needs)
        return;
    DL_FOREACH (x->needs->list, n) {
        n->started |= n->job == job;
    }
    needs_look (x);
}

void needs_tick (struct exec *x)
{
    if (x->needs && x->needs->list)
        needs_look (x);
}

/* -- requests -- */

bool needs_settled (const struct exec *x, uint64_t job)
{
    struct kneed *n;
    struct seen *s, *tmp;

    if (!x->needs)
        return true;
    DL_FOREACH (x->needs->list, n) {
        if (n->job == job && n->group->provision == PROVISION_PODS)
            return false;
    }
    HASH_ITER (hh, x->needs->seen, s, tmp) {
        if (s->job == job && s->pod && !s->stuck)
            return false;
    }
    return true;
}

const struct groupconfig *needs_request (const struct exec *x, uint64_t job,
                                         char name[NEED_NAME_MAX])
{
    const struct kneed *n;

    if (!x->needs)
        return NULL;
    DL_FOREACH (x->needs->list, n) {
        struct need_source src = needs_source (n);
        if (n->job != job || n->group->provision != PROVISION_REQUEST
            || n->phase != WAITING)
            continue;
        need_name (name, &src);
        return n->group;
    }
    return NULL;
}

void needs_state (struct exec *x, uint64_t job, size_t group,
                  struct exec_need_state *ret)
{
    const struct kneed *n;

    *ret = (struct exec_need_state){ 0 };
    if (!x->needs || group >= x->cfg.groups.n
        || !(n = needs_find (x, job, x->cfg.groups.list[group].name)))
        return;
    ret->asked = n->asked;
    if (n->by_min > 0 && !n->text[0])
        snprintf (ret->text, sizeof (ret->text),
                  "the group always has %u, so %u of them come anyway", n->group->min,
                  n->by_min);
    else
        snprintf (ret->text, sizeof (ret->text), "%s", n->text);
    if (n->phase == RETRY && n->retry_at > clock_mono ())
        snprintf (ret->text + strlen (ret->text), sizeof (ret->text) - strlen (ret->text),
                  "; asked again in %.0f s", n->retry_at - clock_mono () + 0.5);
}

/* -- life -- */

int needs_start (struct exec *x, struct error *err)
{
    if (x->cfg.groups.n == 0)
        return 0;
    x->needs = calloc (1, sizeof (*x->needs));
    if (!x->needs)
        return error_set (err, ENOMEM, "out of memory");
    for (size_t i = 0; i < x->cfg.groups.n; i++)
        x->needs->uses_requests |= x->cfg.groups.list[i].provision == PROVISION_REQUEST;
    return x->needs->uses_requests ? needs_watch (x, err) : 0;
}

void needs_stop (struct exec *x)
{
    struct kneeds *all = x->needs;
    struct need_call *c, *ctmp;
    struct kneed *n, *ntmp;
    struct seen *s, *stmp;

    if (!all)
        return;
    kube_watch_stop (all->watch);
    DL_FOREACH_SAFE (all->calls, c, ctmp)
    {
        kube_cancel (c->req);
        need_call_free (c);
    }
    DL_FOREACH_SAFE (all->list, n, ntmp)
    {
        free (n);
    }
    HASH_ITER (hh, all->seen, s, stmp) {
        HASH_DEL (all->seen, s);
        free (s->name);
        free (s);
    }
    free (all);
    x->needs = NULL;
}
