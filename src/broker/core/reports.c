/* reports.c - what the executor reports of an attempt, and what becomes of the job
 *
 *   ready ------------> start
 *   finished ---------> finish; lost a node: requeue
 *   start_failed -----> is the broker's machine short of something? --> requeue,
 *                       or exception "start-failed"
 *   released, cleaned -> release, free; clean
 */
#include "broker/core/exec_job.h"
#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/service.h"
#include "broker/core/start.h"
#include "broker/core/turn.h"
#include "common/clock.h"

static void host_ready (void *arg, uint64_t id)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);
    if (!e || entry_job (e)->state != JOB_RUN || entry_job (e)->started)
        return;
    entry_set_note (e, NULL);
    services_call (ready, b, e);
    broker_emit_or_stop (b, e, "start", NULL);
}

int broker_requeue (struct broker *b, struct entry *e, const char *reason,
                    const struct service_requeue *how, json_t *context)
{
    json_object_set_new (context, "reason", broker_text (reason));
    json_object_set_new (context, "order", json_string (how->at_end ? "end" : "old"));
    if (how->at_end)
        json_object_set_new (context, "turn",
                             json_integer ((json_int_t)b->table.next_id));
    services_call (requeues, b, e, how, context);
    entry_set_note (e, reason);
    services_call (attempt_ends, b, e);
    return broker_emit_or_stop (b, e, "requeue", context);
}

enum requeue_as {
    REQUEUE_LATER,   /* the start has failed */
    REQUEUE_AT_ONCE, /* its nodes are drained; does not count as a failed start */
    /* does not count either: the broker is short of something; the job keeps its place */
    REQUEUE_IN_PLACE,
};

/* Requeues the job: at once after a good start, else after growing delays, and without
 * the nodes at fault (hostlist, or NULL). */
static int queue_again (struct broker *b, struct entry *e, const char *reason,
                        const char *nodes, enum requeue_as how)
{
    bool at_once = how != REQUEUE_LATER;
    bool at_end = broker_config (b)->requeue_at_end && how != REQUEUE_IN_PLACE;
    const struct config *c = broker_config (b);
    unsigned failed =
        entry_job (e)->started || at_once ? 0 : entry_job (e)->failed_starts + 1;
    double wait = job_backoff (failed, c->start_backoff, c->start_backoff_max);
    const struct service_requeue requeue = { .nodes = nodes,
                                             .avoids = failed || at_once,
                                             .at_end = at_end };
    json_t *context = json_pack ("{s:f}", "begin", failed ? clock_wall () + wait : 0.0);

    if (at_once)
        json_object_set_new (context, "uncounted", json_true ());
    return broker_requeue (b, e, reason, &requeue, context);
}

/* Requeues the job as if it had not been tried. */
static void start_was_short (struct broker *b, struct entry *e, const char *text)
{
    log_info ("job %ju: did not start, and is queued again: %s", (uintmax_t)entry_id (e),
              text);
    if (entry_job (e)->state == JOB_RUN)
        queue_again (b, e, text, NULL, REQUEUE_IN_PLACE);
    else
        broker_act (b, e, JOB_ACT_CLEANUP);
}

static void judge_failure (struct broker *b, struct entry *e,
                           const struct exec_start_failure *why)
{
    log_warning ("job %ju: start failed: %s", (uintmax_t)entry_id (e), why->text);
    if (entry_job (e)->state == JOB_RUN && why->drained) {
        queue_again (b, e, why->text, NULL, REQUEUE_AT_ONCE);
        return;
    }
    if (entry_job (e)->state == JOB_RUN)
        services_call (start_failed, b, e, why);
    if (entry_job (e)->state == JOB_RUN && why->retry
        && (!entry_job (e)->started || exec_job_may_run_again (b, e->js))
        && entry_job (e)->failed_starts < broker_config (b)->start_retries) {
        queue_again (b, e, why->text, why->nodes, REQUEUE_LATER);
        return;
    }
    if (entry_job (e)->state == JOB_RUN
        && broker_exception (b, e, "start-failed", b->uid, why->text) == -ENOMEM)
        broker_no_memory ("the end of a job");
    /* In CLEANUP (also by that exception) the job's objects are removed; nothing has to
     * be waited for. */
    broker_act (b, e, JOB_ACT_CLEANUP);
}

/* A failed start, until it is known whether the broker's machine was short of something:
 * an agent without room for its spool, for example, just ends. */
struct failure {
    struct broker *b;
    uint64_t id;
    unsigned attempt;
    struct exec_start_failure why; /* its texts are copies */
};

static void failure_free (struct failure *f)
{
    free ((char *)f->why.text);
    free ((char *)f->why.nodes);
    free ((char *)f->why.suspects);
    free (f);
}

static void examined (bool is_ours, void *arg)
{
    struct failure *f = arg;
    struct entry *e = f->b->dead ? NULL : entry_find (f->b, f->id);

    if (e && start_is_examined (e) && entry_job (e)->restarts == f->attempt
        && !entry_job (e)->finished) {
        start_set_examined (e, false);
        if (is_ours)
            start_was_short (f->b, e, f->why.text);
        else
            judge_failure (f->b, e, &f->why);
    }
    failure_free (f);
}

static struct failure *failure_create (struct broker *b, const struct entry *e,
                                       const struct exec_start_failure *why)
{
    struct failure *f = calloc (1, sizeof (*f));

    if (!f)
        return NULL;
    *f = (struct failure){
        .b = b, .id = entry_id (e), .attempt = entry_job (e)->restarts, .why = *why
    };
    f->why.text = strdup (why->text);
    f->why.nodes = why->nodes ? strdup (why->nodes) : NULL;
    f->why.suspects = why->suspects ? strdup (why->suspects) : NULL;
    if (f->why.text && !f->why.nodes == !why->nodes && !f->why.suspects == !why->suspects)
        return f;
    failure_free (f);
    return NULL;
}

static void host_start_failed (void *arg, uint64_t id,
                               const struct exec_start_failure *why)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);

    if (!e || entry_job (e)->finished || start_is_examined (e))
        return;
    if (why->pause_errno) {
        pause_note (b, why->text, why->pause_errno);
        start_was_short (b, e, why->text);
        return;
    }
    struct failure *f = why->drained || entry_job (e)->state != JOB_RUN
                            ? NULL
                            : failure_create (b, e, why);
    if (f && pause_examine (b, entry_job (e)->t_alloc, examined, f) == 0) {
        start_set_examined (e, true);
        return;
    }
    if (f)
        failure_free (f);
    judge_failure (b, e, why);
}

static void host_shortage (void *arg, const char *what, int errnum)
{
    pause_note (arg, what, errnum);
}

/* The exception for an executor's reason; NULL: none, the status is enough. */
static const char *exception_of (const char *reason)
{
    static const struct {
        const char *reason, *type;
    } table[] = {
        { "timeout", "timeout" },        { "cancelled", "cancel" },
        { "lost", "node-lost" },         { "oom", "oom" },
        { "startfail", "start-failed" },
    };
    for (size_t i = 0; i < ARRAY_SIZE (table); i++)
        if (!strcmp (reason, table[i].reason))
            return table[i].type;
    return NULL;
}

static bool is_to_be_queued_again (const struct broker *b, const struct entry *e,
                                   const char *reason)
{
    return strcmp (reason, "lost") == 0 && entry_job (e)->state == JOB_RUN && e->js
           && exec_job_may_run_again (b, e->js);
}

/* The job lost a node: requeues it if it may, and makes the text for the user in buf. */
static bool survives (struct broker *b, struct entry *e, const char *text, char *buf,
                      size_t size)
{
    const struct job *job = entry_job (e);
    unsigned tries = job->started ? job->reruns : job->failed_starts;

    if (tries < broker_config (b)->start_retries) {
        snprintf (buf, size, "node lost: %s", text);
        return queue_again (b, e, buf, NULL, REQUEUE_LATER) == 0;
    }
    snprintf (buf, size, "%s", text);
    if (tries > 0)
        snprintf (buf, size, "%s (try %u of %u)", text, tries + 1,
                  broker_config (b)->start_retries + 1);
    return false;
}

static void host_finished (void *arg, uint64_t id, int status, const char *reason,
                           const char *text)
{
    struct broker *b = arg;
    struct entry *e = entry_find (b, id);

    if (!e || entry_job (e)->finished
        || (entry_job (e)->state != JOB_RUN && entry_job (e)->state != JOB_CLEANUP))
        return;
    char lost[512];
    if (is_to_be_queued_again (b, e, reason)) {
        if (survives (b, e, text, lost, sizeof (lost)))
            return;
        text = lost;
    }
    const char *type = exception_of (reason);
    services_call (attempt_ends, b, e);
    int rc = type && !entry_job (e)->has_exception
                 ? broker_exception (b, e, type, b->uid, text)
                 : 0;
    if (rc != -ENOMEM)
        rc = broker_emit (b, e, "finish",
                          json_pack ("{s:i s:o s:o}", "status", status & 0xffff, "reason",
                                     broker_text (reason), "text", broker_text (text)));
    if (rc == -ENOMEM) /* the executor does not report twice */
        broker_no_memory ("the end of a job");
}

static void host_released (void *arg, uint64_t id)
{
    struct entry *e = entry_find (arg, id);

    if (e && entry_job (e)->state == JOB_CLEANUP && entry_job (e)->allocated
        && !entry_job (e)->released)
        start_release (arg, e);
}

static void host_cleaned (void *arg, uint64_t id)
{
    struct entry *e = entry_find (arg, id);
    services_call (cleaned, arg, id);
    if (e)
        start_close_attempt (arg, e);
}

static void host_output (void *arg, uint64_t id)
{
    struct entry *e = entry_find (arg, id);
    if (e)
        services_call (output, arg, e);
}

static void host_note (void *arg, uint64_t id, const char *text)
{
    struct entry *e = entry_find (arg, id);
    if (e)
        entry_set_note (e, text);
}

static void host_init (struct broker *b, struct exec_host *h)
{
    (void)b;
    h->ready = host_ready;
    h->start_failed = host_start_failed;
    h->shortage = host_shortage;
    h->finished = host_finished;
    h->released = host_released;
    h->cleaned = host_cleaned;
    h->output = host_output;
    h->note = host_note;
}

const struct broker_service service_reports = {
    .name = "reports",
    .host = host_init,
};
