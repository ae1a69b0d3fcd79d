/* adoptrun.c - the run of an adopted object, from start() to cleaned(), a function a
 * phase (see adopt.h)
 *
 * These pods have no agent: the object's status tells whether it has begun, ended or
 * failed, and the Job controller decides what a pod's failure means. The broker adds the
 * nodes, the clocks of a start, the time limit, and another attempt if nodes were lost.
 */
#include "exec/kube/adopt/adopt.h"
#include "exec/kube/make/calls.h"

#include <signal.h>
#include <stdarg.h>

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/knode.h"

/* time for the Job controller to decide what a lost pod means */
#define LOST_WAIT 3.0
#define DEADLINE_WAIT 30.0 /* ... and to end the Job at its time limit */
#define COLLECTOR_WAIT 10.0
#define HANG_AFTER 15.0

/* -- reports to the broker -- */

void adopt_enter (struct adoptee *a, enum adopt_phase phase)
{
    a->phase = phase;
    a->since = clock_mono ();
    adopt_poke (a);
}

void adopt_start_failed (struct adoptee *a, bool retry, const struct kpod *where,
                         const char *fmt, ...)
{
    struct exec_host *host = &a->x->host;
    /* its pods must be deleted */
    bool again = retry && !(a->group && a->phase == A_START);
    char text[600];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    const struct exec_start_failure why = {
        .text = text,
        .retry = again,
        .nodes = where && where->node ? where->node->name : NULL,
    };
    a->told = true;
    adopt_enter (a, A_ENDED);
    host->start_failed (host->arg, a->job->id, &why);
}

void adopt_start_short (struct adoptee *a)
{
    const struct exec_host *host = &a->x->host;
    const struct exec_start_failure why = { .text = "out of memory",
                                            .pause_errno = ENOMEM };

    if (a->group && a->phase == A_START) { /* its pods must be deleted */
        adopt_start_failed (a, true, NULL, "%s", why.text);
        return;
    }
    a->told = true;
    adopt_enter (a, A_ENDED);
    host->start_failed (host->arg, a->job->id, &why);
}

static void tell_ready (struct adoptee *a)
{
    struct exec_host *host = &a->x->host;

    if (a->ready_told)
        return;
    a->ready_told = true;
    host->ready (host->arg, a->job->id);
}

PRINTF_LIKE (4, 5)
static void finished (struct adoptee *a, int status, const char *reason, const char *fmt,
                      ...)
{
    struct exec_host *host = &a->x->host;
    char text[512];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    a->told = true;
    adopt_enter (a, A_ENDED);
    host->finished (host->arg, a->job->id, status, reason, text);
}

void adopt_finish_as_seen (struct adoptee *a)
{
    const struct adoptview *v = &a->view;
    int code = a->exit_code > 0 && a->exit_code < 256 ? a->exit_code : 1;

    tell_ready (a);
    if (!v->failed)
        finished (a, 0, "exited", "%s", "");
    else if (a->group)
        finished (a, code << 8, "exited", "%s%s%s", v->text, a->pod_text[0] ? "; " : "",
                  a->pod_text);
    else if (v->deadline)
        finished (a, SIGTERM, "timeout", "its Job failed: %s", v->text);
    else if (a->pod_text[0])
        finished (a, code << 8, "exited", "its Job failed: %s (%s ended with status %d)",
                  v->text, a->pod_text, code);
    else
        finished (a, code << 8, "exited", "its Job failed: %s", v->text);
}

/* -- START -- */

static void count_time (struct adoptee *a, const struct adopt_count *n, bool all_there)
{
    double now = clock_mono (), d = a->ticked > 0 ? now - a->ticked : 0;

    a->ticked = now;
    if (kube_away (a->x->kube))
        return;
    if (!all_there || n->unplaced > 0)
        a->spent_place += d;
    else if (n->pulling > 0)
        a->spent_pull += d;
    else
        a->spent_up += d;
}

static void judge_time (struct adoptee *a, const struct adopt_count *n, int64_t wanted)
{
    const struct exec_limits *limits = &a->job->limits;
    const struct kpod *p = n->behind;
    const char *node = p && p->node ? p->node->name : "no node yet";
    double limit = a->spent_place > limits->place                 ? limits->place
                   : a->spent_pull > limits->pull                 ? limits->pull
                   : a->spent_place + a->spent_up > limits->start ? limits->start
                                                                  : 0;

    if (limit == 0)
        return;
    if (p)
        adopt_start_failed (
            a, true, p,
            "%jd of %jd pods were not running after %.0f s: %.100s on %.100s%s%s",
            (intmax_t)(wanted - n->up), (intmax_t)wanted, limit, p->name, node,
            p->view.text[0] ? ": " : "", p->view.text);
    else
        adopt_start_failed (
            a, true, NULL,
            "%jd of %jd pods were not made in %.0f s (kubectl describe says why)",
            (intmax_t)(wanted - n->up), (intmax_t)wanted, limit);
}

static void step_start (struct adoptee *a)
{
    struct adopt_count n;
    int64_t slots = rset_slots (a->job->r);

    adopt_count_pods (a, &n);
    int64_t succeeded = MAX ((int64_t)n.succeeded, a->view.succeeded);
    int64_t wanted =
        adoptview_wanted (&a->view, MIN (slots, a->view.parallelism), succeeded);
    if (!a->seen)
        return;
    if (a->view.over) {
        adopt_finish_as_seen (a);
    } else if (n.broken) {
        adopt_start_failed (a, n.broken->view.trouble != POD_FATAL, n.broken,
                            "pod %.100s on %.100s: %s", n.broken->name,
                            n.broken->node ? n.broken->node->name : "no node",
                            n.broken->view.text);
    } else if (adopt_place (a) < 0) {
        adopt_start_short (a);
    } else if (n.up + n.ran >= wanted && (a->group || !a->view.suspended)
               && n.up + n.ran + succeeded > 0) {
        tell_ready (a);
        adopt_enter (a, A_RUN);
    } else {
        count_time (a, &n, n.up + n.unplaced + n.pulling + n.created >= (uint64_t)wanted);
        judge_time (a, &n, wanted);
    }
}

void adopt_placed (struct adoptee *a, const char *pod, const struct kube_result *res)
{
    struct adoptpod *ap;

    if ((res->status >= 200 && res->status <= 299) || res->status == 404
        || res->status == 409)
        return;
    DL_FOREACH (a->pods, ap) {
        if (strcmp (ap->p->name, pod) != 0)
            continue;
        ap->asked = false;
        ap->node[0] = '\0';
    }
    if (a->job && a->phase == A_START && !a->told)
        adopt_start_failed (a, call_may_pass (res), NULL,
                      "pod %.100s cannot be placed: %s", pod, res->err.text);
    else
        log_warning ("kube: pod %s/%s cannot be placed: %s", a->namespace_, pod,
                     res->err.text);
}

/* -- RUN -- */

/* The Job controller enforces the limit, and the object reports the end. */
static void enforce_limit (struct adoptee *a, double now)
{
    double limit = a->job->time_limit, ran;

    if (limit <= 0)
        return;
    if (a->limit_at == 0)
        a->limit_at = a->job->started > 0 ? now - (clock_wall () - a->job->started) : now;
    ran = now - a->limit_at;
    if (ran < limit)
        return;
    if (a->group || ran > limit + DEADLINE_WAIT) {
        finished (a, SIGTERM, "timeout", "time limit of %.0f s reached", limit);
    } else if (!a->deadline_sent) {
        a->deadline_sent = true;
        adopt_patch (a, ADOPT_CALL_DEADLINE,
                     json_pack ("{s:{s:i}}", "spec", "activeDeadlineSeconds", 1));
    }
}

/* True: wait for the Job controller's decision, or the loss was reported. */
static bool look_for_losses (struct adoptee *a, const struct adopt_count *n, double now)
{
    const struct kpod *p = n->on_lost_node ? n->on_lost_node : n->evicted;

    if (!p || kube_away (a->x->kube)) {
        a->lost_at = 0;
        return false;
    }
    if (a->lost_at == 0)
        a->lost_at = now;
    if (now - a->lost_at < LOST_WAIT)
        return true;
    if (p == n->on_lost_node)
        finished (a, SIGKILL, "lost", "node %.128s: %s", p->node->name,
                  p->node->gone ? "it was deleted from the cluster"
                                : "it does not answer any more");
    else
        finished (a, SIGKILL, "lost", "node %.128s: pod %.100s was evicted: %s",
                  p->node ? p->node->name : "?", p->name, p->view.evicted);
    return true;
}

static void step_run (struct adoptee *a)
{
    double now = clock_mono ();
    struct adopt_count n;

    tell_ready (a);
    if (!a->seen) /* the broker was told, and will end the job */
        return;
    adopt_count_pods (a, &n);
    if (a->view.over)
        adopt_finish_as_seen (a);
    else if (a->view.suspended && !a->group)
        finished (a, SIGKILL, "lost", "its Job was suspended, not by fluxq");
    else if (!look_for_losses (a, &n, now)) {
        if (adopt_place (a) < 0)
            log_error ("job %ju: out of memory", (uintmax_t)a->job->id);
        enforce_limit (a, now);
    }
}

/* -- the end -- */

/* Deletes pods on a node that is gone, where nobody confirms their end, and pods that
 * nobody else deletes once their object has gone without them. */
static void end_pods (struct adoptee *a, double now)
{
    struct adoptpod *ap;
    char path[768];

    DL_FOREACH (a->pods, ap) {
        const struct kpod *p = ap->p;
        bool lost = p->node && p->node->down_since > 0
                    && now - p->node->down_since >= a->x->cfg.grace;

        if (p->view.terminal || ap->removed
            || (!lost && (a->seen || a->group || now - a->since < COLLECTOR_WAIT)))
            continue;
        ap->removed = true;
        snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s%s", a->namespace_, p->name,
                  lost ? "?gracePeriodSeconds=0" : "");
        adopt_send (a, ADOPT_CALL_POD, "DELETE", path, json_object (), NULL);
    }
}

static void tell_hang (struct adoptee *a, double now)
{
    struct exec_host *host = &a->x->host;
    char text[512];

    if (now - a->since < HANG_AFTER || a->hang_told > 0)
        return;
    a->hang_told = now;
    snprintf (text, sizeof (text), "its nodes are not free yet: %s of %.63s/%.200s",
              adopt_has_live_pods (a) ? "there are still pods"
                                      : "the Job controller has not suspended",
              a->namespace_, a->name);
    log_warning ("job %ju: %s", (uintmax_t)a->job->id, text);
    host->note (host->arg, a->job->id, text);
}

static void leave (struct adoptee *a)
{
    struct exec *x = a->x;
    uint64_t id = a->job->id;

    a->job->aux = NULL;
    a->job = NULL;
    a->active = false;
    adopt_enter (a, A_WAITS);
    adopt_recount (a);
    if (!a->released_told)
        x->host.released (x->host.arg, id);
    x->host.cleaned (x->host.arg, id);
}

/* The run is at rest when the object is gone, over, or suspended and the Job controller
 * knows. */
static void step_remove (struct adoptee *a)
{
    double now = clock_mono ();
    bool gone = (!a->seen && !a->group) || !a->space;

    if (a->space && !a->space->listed)
        return;
    if (!gone && !a->view.over && !a->view.suspended)
        adopt_suspend (a);
    bool rests =
        a->group || gone || a->view.over || a->view.at_rest
        || (a->view.suspended && a->npods == 0 && !a->ready_told && a->view.started == 0);
    if (rests && !a->calls && !adopt_has_live_pods (a)) {
        leave (a);
        return;
    }
    end_pods (a, now);
    tell_hang (a, now);
}

static void step_killed (struct adoptee *a)
{
    bool timeout = strcmp (a->kill_reason, "timeout") == 0;

    if (timeout)
        tell_ready (a);
    finished (a, SIGTERM, a->kill_reason, "%s",
              timeout         ? "time limit reached"
              : a->ready_told ? ""
                              : "before it started");
}

void adopt_step (struct adoptee *a)
{
    if (a->kill && !a->told && a->phase != A_REMOVE) {
        step_killed (a);
        return;
    }
    switch (a->phase) {
    case A_RELEASE:
        adopt_step_release (a);
        break;
    case A_START:
        step_start (a);
        break;
    case A_RUN:
        step_run (a);
        break;
    case A_REMOVE:
        step_remove (a);
        break;
    case A_WAITS:
    case A_ENDED:
        break;
    }
}

/* -- the verbs -- */

static struct adoptee *take (struct exec *x, struct exec_job *job)
{
    struct adoptee *a = x->adopt ? adopt_get (x, job->adopted_key, job->adopted) : NULL;

    if (!a)
        return NULL;
    if (a->job == job)
        return a;
    snprintf (a->token, sizeof (a->token), "%s", job->adopted_key);
    if (a->group && job->r)
        a->size = rset_slots (job->r);
    a->id = job->id;
    a->job = job;
    job->aux = a;
    a->active = true;
    a->ended = false;
    a->recovering = a->kill = a->told = a->released_told = a->ready_told = false;
    a->deadline_sent = false;
    a->ticked = a->spent_place = a->spent_pull = a->spent_up = 0;
    a->lost_at = a->limit_at = a->hang_told = 0;
    a->tried[0] = '\0';
    if (!a->view.over) /* otherwise the pods tell how it ended */
        adopt_begin_pods (a);
    adopt_enter (a, A_RELEASE);
    adopt_recount (a);
    return a;
}

void adopt_run_start (struct exec *x, struct exec_job *job, bool recovering)
{
    struct adoptee *a = job->aux;

    if (a)
        return;
    if (!(a = take (x, job))) {
        log_error ("job %ju: %s: out of memory", (uintmax_t)job->id, job->adopted);
        return;
    }
    a->recovering = recovering;
    a->ready_told = recovering && job->started > 0;
}

void adopt_run_terminate (struct exec_job *job, const char *reason)
{
    struct adoptee *a = job->aux;

    if (!a || a->kill)
        return;
    a->kill = true;
    snprintf (a->kill_reason, sizeof (a->kill_reason), "%s", reason);
    adopt_poke (a);
}

void adopt_run_cleanup (struct exec *x, struct exec_job *job)
{
    struct adoptee *a = job->aux ? job->aux : take (x, job);

    if (!a) {
        log_error ("job %ju: %s: out of memory", (uintmax_t)job->id, job->adopted);
        return;
    }
    a->told = true;
    adopt_enter (a, A_REMOVE);
}
