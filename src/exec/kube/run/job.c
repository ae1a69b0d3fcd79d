/* job.c - a job's life, phase by phase (see run.h) */
#include "exec/kube/files/output.h"
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/needs/needs.h"
#include "exec/kube/run/run.h"

#include <signal.h>

#include "common/clock.h"
#include "common/hostlist.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/files/staging.h"
#include "exec/kube/make/minicluster.h"

/* -- reports to the broker -- */

static void tell_ready (struct kjob *k)
{
    struct exec_host *host = &k->x->host;

    if (k->ready_told)
        return;
    k->ready_told = true;
    if (k->maker && k->maker->ready)
        k->maker->ready (k);
    if (k->job->started == 0)
        jobevents_started (k);
    host->ready (host->arg, k->id);
}

static void tell_end (struct kjob *k)
{
    struct exec_host *host = &k->x->host;

    if (k->told)
        return;
    k->told = true;
    k->phase = K_ENDED;
    calls_drop_unsent (k);
    if (k->maker && k->maker->ended)
        k->maker->ended (k);
    jobevents_ended (k);
    if (k->start_lost) {
        autofree char *nodes = k->blamed ? hostlist_encode (k->blamed) : NULL;
        autofree char *suspects = k->suspects ? hostlist_encode (k->suspects) : NULL;
        const struct exec_start_failure why = { .text = k->fin.text,
                                                .retry = k->start_retry,
                                                .nodes = nodes,
                                                .suspects = suspects,
                                                .drained = k->start_drained,
                                                .pause_errno = k->start_errno };
        host->start_failed (host->arg, k->id, &why);
    } else {
        char text[sizeof (k->fin.text) + sizeof (k->lost_text) + 2];

        snprintf (text, sizeof (text), "%s%s%s", k->fin.text,
                  k->fin.text[0] && k->lost_text[0] ? "; " : "", k->lost_text);
        host->finished (host->arg, k->id, k->fin.status, k->fin.reason, text);
    }
}

/* -- the phases -- */

/* The agent opens files that it sees itself. "" is none; without a pattern of its own,
 * standard error goes to standard output. */
static int tell_agent_files (struct kjob *k)
{
    const struct jobspec *js = k->job->js;
    unsigned by_agent = k->out->by_agent;

    if (!by_agent)
        return 0;
    k->launch.output = strdup (by_agent & OUTPUT_BY_AGENT ? js->output : "");
    if (js->error)
        k->launch.error = strdup (by_agent & ERROR_BY_AGENT ? js->error : "");
    return k->launch.output && !js->error == !k->launch.error ? 0 : -ENOMEM;
}

static void step_open (struct kjob *k)
{
    if (k->work.busy)
        return;
    if (!k->work.open) {
        agentio_open_output (k);
        return;
    }
    if (k->work.rc < 0 && k->out->shortage) {
        job_start_short (k, k->out->shortage, k->work.err.text);
        return;
    }
    if (k->work.rc < 0) {
        job_start_failed (k, false, "%s", k->work.err.text);
        return;
    }
    if (tell_agent_files (k) < 0) {
        job_start_short (k, ENOMEM, "out of memory");
        return;
    }
    staging_set_modes (&k->launch, &k->out->inputs);
    k->ready_seen = k->out->was_ready || k->job->started > 0;
    if (k->out->finished) {
        tell_ready (k);
        k->have_fin = true;
        k->fin = k->out->finish;
        k->phase = K_DRAIN;
        job_poke (k);
        return;
    }
    k->phase = K_CREATE;
    /* If it is gone, nothing may be started a second time; nor a Job beside a
     * MiniCluster. */
    if (k->recovering && (k->ready_seen || minicluster_wanted (k->settings)))
        create_get_job (k);
    job_poke (k);
}

static void step_create (struct kjob *k)
{
    if (!k->ready_seen) {
        start_tick (k);
        start_judge (k);
        if (k->start_lost)
            return;
    }
    if (!k->parts[0].uid[0] || (k->ready_seen && !job_is_made (k))) {
        if (!needs_settled (k->x, k->id))
            return;
        if (!(k->objects_asked & 1u << CALL_MAKE_JOB) && space_ensure (k))
            create_job (k);
        if (k->get_again > 0 && clock_mono () >= k->get_again) {
            k->get_again = 0;
            create_get_job (k);
        }
        return;
    }
    if (k->ready_seen) {
        k->phase = K_RUN;
        job_poke (k);
        return;
    }
    create_rest (k);
    bool apart = userpolicy_ensure (k);
    if (k->start_lost)
        return;
    if (apart && agentmap_ensure (k->space, k->launch.flux) && create_rest_done (k)) {
        k->phase = K_BIND;
        job_poke (k);
    } else if (k->space->agent_err.code)
        job_start_failed (k, true, "%s", k->space->agent_err.text);
}

static void step_bind (struct kjob *k)
{
    start_look_at_pods (k);
    if (k->start_lost)
        return;
    start_tick (k);
    k->maker->place (k);
    endpoints_write (k);
    if (k->start_lost)
        return;
    if (k->pods[0] && k->pods[0]->view.started)
        agentio_open_link (k);
    if (k->ready_seen) {
        k->phase = K_RUN;
        tell_ready (k);
        job_poke (k);
    } else
        start_judge (k);
}

static void carry_out_kill (struct kjob *k, double now)
{
    if (!k->kill_sent && k->link) {
        k->kill_sent = true;
        agentlink_terminate (k->link, k->kill_reason, k->kill_grace);
    }
    if (now >= k->kill_by)
        job_set_finish (k, SIGKILL, k->kill_reason,
                        "%s: the agent did not answer, its pods are deleted",
                        k->kill_reason);
}

static void step_run (struct kjob *k)
{
    double now = clock_mono ();

    tell_ready (k);
    if (k->pods[0] && k->pods[0]->view.started)
        agentio_open_link (k);
    if (!k->have_fin && k->kill)
        carry_out_kill (k, now);
    else
        resize_step (k);
    if (!k->have_fin)
        losses_look (k, now);
    if (k->have_fin && !losses_explain (k, now)) {
        agentio_write (k, false);
        return;
    }
    if (k->have_fin) {
        losses_amend (k);
        k->phase = K_DRAIN;
        job_poke (k);
    } else
        agentio_write (k, false);
}

/* A file of --stage-out could not be written here: the job has otherwise succeeded. */
static void amend_staged (struct kjob *k)
{
    const char *problem = k->out->stage_problem;

    if (!problem[0] || k->fin.status != 0 || strcmp (k->fin.reason, "exited") != 0)
        return;
    k->fin.status = 1 << 8;
    snprintf (k->fin.text, sizeof (k->fin.text), "%s", problem);
    if (!strncmp (k->lost_text, problem, strlen (problem)))
        k->lost_text[0] = '\0'; /* the same problem */
}

static void step_drain (struct kjob *k)
{
    if (!agentio_is_written (k)) {
        agentio_write (k, true);
        return;
    }
    if (k->link)
        agentlink_release (k->link, k->out->safe);
    amend_staged (k);
    tell_end (k);
}

/* Before all ranks are ready, a kill needs no agent. */
static void kill_before_ready (struct kjob *k)
{
    k->start_lost = false;
    job_set_finish (k, SIGTERM, k->kill_reason, "%s before it started", k->kill_reason);
    tell_end (k);
}

/* FINISH without READY. A file that an agent cannot open fails on other nodes, too. */
static void start_refused (struct kjob *k)
{
    bool retry = k->blamed || strcmp (k->fin.reason, "startfail") != 0;
    char text[sizeof (k->fin.text)]; /* job_start_failed() overwrites the other */

    snprintf (text, sizeof (text), "%s",
              k->fin.text[0] ? k->fin.text : "the agents did not join");
    k->have_fin = false;
    job_start_failed (k, retry, "%s", text);
}

static void step (struct kjob *k)
{
    if (k->phase < K_RUN && !k->told && !k->work.busy) {
        if (k->kill)
            kill_before_ready (k);
        else if (k->start_lost)
            tell_end (k);
        else if (k->have_fin && !k->ready_seen && k->phase == K_BIND)
            start_refused (k); /* FINISH without READY: not all ranks joined */
    }
    switch (k->told && k->phase < K_ENDED ? K_ENDED : k->phase) {
    case K_OPEN:
        step_open (k);
        break;
    case K_CREATE:
        step_create (k);
        break;
    case K_BIND:
        step_bind (k);
        break;
    case K_RUN:
        step_run (k);
        break;
    case K_DRAIN:
        step_drain (k);
        break;
    case K_ENDED:
        break;
    case K_REMOVE:
        remove_step (k); /* may free k */
        break;
    }
}

void job_run_poked (struct exec *x)
{
    struct kjob *k, *list = x->poked;

    x->poked = NULL; /* jobs poked from here on wait for the next turn */
    while ((k = list)) {
        list = k->next_poked;
        k->poked = false;
        step (k);
    }
}
