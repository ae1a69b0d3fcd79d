/* jobevents.c - a job's story as Events on its Job or MiniCluster, for kubectl describe
 * (see run.h)
 *
 * The object exists only while the job has nodes. So there are two events for each
 * attempt: one when the job runs, which also has the time and the reason of its wait,
 * and one when it has ended or its start has failed. Events are sent behind all requests
 * that jobs need, and left out when many wait already, or when the right is missing.
 */
#include "exec/kube/make/eventobject.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/run/run.h"

#include <sys/wait.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/parse.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

#define WAITING_MAX 1000 /* unanswered events; further ones are left out */
#define TEXT_MAX 1000

static void on_answer (const struct kube_result *res, void *arg)
{
    struct exec *x = arg;

    x->events_waiting--;
    if (res->status != 403 || x->events_refused
        || !strstr (res->err.text, " cannot create resource "))
        return;
    x->events_refused = true;
    log_warning ("kube: no events on Jobs (kube.job-events): %s", res->err.text);
}

static void tell (struct kjob *k, bool warning, const char *reason,
                  const struct strbuf *note)
{
    struct exec *x = k->x;
    char path[512];

    if (!x->cfg.job_events || x->events_refused || x->events_waiting >= WAITING_MAX
        || !k->parts[0].uid[0] || !k->maker || !note->buf)
        return;
    const struct eventobject e = { .namespace_ = k->space->name,
                                   .api = k->maker->owner->api,
                                   .kind = k->maker->owner->kind,
                                   .name = k->name,
                                   .uid = k->parts[0].uid,
                                   .cluster = x->host.cluster_id,
                                   .reason = reason,
                                   .note = note->buf,
                                   .warning = warning,
                                   .now = clock_wall () };
    json_t *event = eventobject_make (&e);
    eventobject_path (k->space->name, path, sizeof (path));
    if (event
        && kube_send_as (x->kube, KUBE_LATER | KUBE_BRIEF, "POST", path, event, on_answer,
                         x))
        x->events_waiting++;
}

static void add_wait (struct strbuf *sb, double from, double to, const char *for_what)
{
    if (to - from < 1)
        return;
    strbuf_adds (sb, ", ");
    strbuf_add_duration (sb, to - from);
    strbuf_addf (sb, " %s", for_what);
}

void jobevents_started (struct kjob *k)
{
    const struct exec_job *job = k->job;
    autofree char *nodes = rset_nodelist (job->r);
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

    strbuf_addf (&sb, "job %ju of %.32s: submitted to queue %.64s at ",
                 (uintmax_t)job->id, job->user.name, job->queue);
    strbuf_add_time (&sb, job->t_submit);
    add_wait (&sb, job->t_submit, job->t_eligible, "held, or for other jobs or a time");
    add_wait (&sb, job->t_eligible, job->t_alloc, "for its turn and its nodes");
    add_wait (&sb, job->t_alloc, clock_wall (), "until its pods were ready");
    if (job->attempt > 0)
        strbuf_addf (&sb, "; started again (%u)%s%.300s", job->attempt,
                     job->requeue_reason ? " after: " : "",
                     job->requeue_reason ? job->requeue_reason : "");
    strbuf_addf (&sb, "; runs on %.200s", nodes ? nodes : "?");
    tell (k, false, job->attempt > 0 ? "StartedAgain" : "Started", &sb);
}

void jobevents_ended (struct kjob *k)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    const struct frame_finish *fin = &k->fin;
    bool lost = strcmp (fin->reason, "lost") == 0;
    bool cancelled = strcmp (fin->reason, "cancelled") == 0;

    strbuf_addf (&sb, "job %ju: ", (uintmax_t)k->id);
    if (k->start_lost) {
        strbuf_addf (&sb, "%s%.700s", k->start_retry ? "may be queued again: " : "", fin->text);
        tell (k, true, "StartFailed", &sb);
        return;
    }
    if (WIFSIGNALED (fin->status))
        strbuf_addf (&sb, "%s, signal %d", fin->reason, WTERMSIG (fin->status));
    else
        strbuf_addf (&sb, "%s, status %d", fin->reason, WEXITSTATUS (fin->status));
    if (fin->text[0])
        strbuf_addf (&sb, ": %.700s", fin->text);
    tell (k, fin->status != 0 && !cancelled,
          lost          ? "NodeLost"
          : cancelled   ? "Cancelled"
          : fin->status ? "Failed"
                        : "Completed",
          &sb);
}
