/* job_reports.c - what the broker is told of a local job, each thing once */
#include <signal.h>

#include "common/hostlist.h"
#include "exec/local/private.h"

void local_tell_ready (struct local_job *l)
{
    if (l->ready_told || l->end_told)
        return;
    l->ready_told = true;
    if (l->starting)
        uv_timer_stop (&l->timer);
    l->starting = false;
    l->x->host->ready (l->x->host->arg, l->job->id);
    l->x->host->output (l->x->host->arg, l->job->id);
}

void local_tell_shortage (struct local_job *l, const char *path, int errnum)
{
    struct error err = { 0 };

    error_errno (&err, errnum, "%s", path);
    l->x->host->shortage (l->x->host->arg, err.text, errnum);
}

/* Agents are children of the broker. */
void local_tell_short (struct local_job *l, int errnum, const char *text)
{
    const struct exec_start_failure why = { .text = text, .pause_errno = errnum };

    if (l->end_told)
        return;
    l->end_told = true;
    l->x->host->start_failed (l->x->host->arg, l->job->id, &why);
}

void local_tell_start_failed (struct local_job *l, bool retry, const char *text)
{
    if (l->end_told)
        return;
    l->end_told = true;
    autofree char *nodes = l->blamed ? hostlist_encode (l->blamed) : NULL;
    /* The user of an agent may have killed it, unless we are that user. */
    bool ours = l->job->user.uid == geteuid ();
    const struct exec_start_failure why = {
        .text = text, .retry = retry, .nodes = nodes, .suspects = ours ? nodes : NULL
    };
    l->x->host->start_failed (l->x->host->arg, l->job->id, &why);
}

/* Before all ranks were ready: a job that lost an agent may succeed in another attempt, a
 * job that cannot open its output may not. */
void local_tell_finish (struct local_job *l, const struct frame_finish *fin)
{
    bool lost = strcmp (fin->reason, "lost") == 0;

    if (l->end_told)
        return;
    if (l->broken[0] && !l->ending && !strcmp (fin->reason, "cancelled")) {
        local_tell_lost (l); /* we have ended them */
        return;
    }
    if (!strcmp (fin->reason, "startfail") || (lost && !l->ready_told && !l->ending)) {
        local_tell_start_failed (l, lost || l->blamed, fin->text);
        return;
    }
    l->end_told = true;
    l->x->host->finished (l->x->host->arg, l->job->id, fin->status, fin->reason,
                          fin->text);
}

void local_tell_lost (struct local_job *l)
{
    struct frame_finish fin = { .status = SIGKILL, .reason = "lost" };
    const char *node = l->job->r->nranks > 0 ? l->job->r->ranks[0].node : "?";

    if (!l->blamed)
        local_blame (l, 0);
    if (l->broken[0] || l->lost[0])
        snprintf (fin.text, sizeof (fin.text), "%s", l->broken[0] ? l->broken : l->lost);
    else
        snprintf (fin.text, sizeof (fin.text), "node %.200s: its agent %s", node,
                  l->killed ? "did not end it and was killed" : "ended without a word");
    if (l->killed)
        snprintf (fin.reason, sizeof (fin.reason), "%.15s", l->end_reason);
    local_tell_finish (l, &fin);
}

void local_tell_usage (struct local_job *l, const struct frame *f)
{
    l->x->host->usage (l->x->host->arg, l->job->id, f->data, f->len);
}

void local_tell_usages (struct local_job *l)
{
    struct frame f;
    ssize_t n;

    for (size_t at = 0; (n = frame_parse (l->usage.buf + at, l->usage.len - at, &f)) > 0;
         at += (size_t)n)
        local_tell_usage (l, &f);
    strbuf_reset (&l->usage);
}

void local_tell_prolog_failed (struct local_job *l, const struct local_admin *a)
{
    const struct hostlist *failed = admin_failed_nodes (a);
    autofree char *nodes = failed ? hostlist_encode (failed) : NULL;
    const struct exec_start_failure why = { .text = admin_failure (a),
                                            .retry = true,
                                            .nodes = nodes,
                                            .drained = nodes != NULL,
                                            .pause_errno = admin_shortage (a) };

    l->end_told = true;
    l->x->host->start_failed (l->x->host->arg, l->job->id, &why);
}
