/* job.c - a job's life, phase by phase (see private.h) */
#include "exec/kube/podmaker.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "exec/joblaunch.h"
#include "exec/kube/staging.h"
#include "exec/mounts.h"

#define LOST_WAIT 5.0        /* so long may the watch's news of a pod that went take */
#define ENDED_WAIT 1.0       /* its pod has ended: so long may its last bytes take */
#define OTHER_LOST_WAIT 30.0 /* another rank's: the agents find out by themselves */
#define JOIN_SLACK 60.0
#define LOOK_WAIT 10.0 /* why they were told to end: so long may the answer take */
#define SPOOL_MAX ((uint64_t)256 << 20)
#define PENDING_MAX ((size_t)9 << 20)

/* ---- what a job is told ---- */

void job_set_finish (struct kjob *k, int status, const char *reason, const char *fmt, ...)
{
    va_list ap;

    k->have_fin = true;
    k->fin = (struct frame_finish){ .status = status };
    snprintf (k->fin.reason, sizeof (k->fin.reason), "%s", reason);
    va_start (ap, fmt);
    vsnprintf (k->fin.text, sizeof (k->fin.text), fmt, ap);
    va_end (ap);
    job_poke (k);
}

void job_start_failed (struct kjob *k, bool retry, const char *fmt, ...)
{
    va_list ap;

    if (k->start_lost || k->told || k->have_fin)
        return;
    k->start_lost = true;
    k->start_retry = retry;
    va_start (ap, fmt);
    vsnprintf (k->fin.text, sizeof (k->fin.text), fmt, ap);
    va_end (ap);
    job_poke (k);
}

void job_blame (struct kjob *k, uint32_t rank, bool suspect)
{
    if (k->start_lost || k->told || k->have_fin)
        return;
    if (!k->blamed)
        k->blamed = hostlist_create ();
    if (k->blamed && hostlist_find (k->blamed, job_node_name (k, rank)) < 0)
        hostlist_append (k->blamed, job_node_name (k, rank));
    k->suspect |= suspect;
}

const char *job_node_name (const struct kjob *k, uint32_t rank)
{
    return rank < k->launch.nnodes ? k->launch.nodes[rank].name : "?";
}

bool job_node_down (const struct kjob *k, const struct kpod *pod)
{
    return pod && pod->node && pod->node->down_since > 0
           && clock_mono () - pod->node->down_since >= k->x->cfg.grace;
}

static void tell_ready (struct kjob *k)
{
    struct exec_host *host = &k->x->host;

    if (k->ready_told)
        return;
    k->ready_told = true;
    if (k->maker && k->maker->ready)
        k->maker->ready (k);
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
    if (k->start_lost) {
        autofree char *nodes = k->blamed ? hostlist_encode (k->blamed) : NULL;
        const struct exec_start_failure why = { .text = k->fin.text,
                                                .retry = k->start_retry,
                                                .nodes = nodes,
                                                .suspect = k->suspect,
                                                .drained = k->start_drained };
        host->start_failed (host->arg, k->id, &why);
    } else {
        char text[sizeof (k->fin.text) + sizeof (k->lost_text) + 2];

        snprintf (text, sizeof (text), "%s%s%s", k->fin.text,
                  k->fin.text[0] && k->lost_text[0] ? "; " : "", k->lost_text);
        host->finished (host->arg, k->id, k->fin.status, k->fin.reason, text);
    }
}

/* ---- the phases ---- */

/* The agent opens what it sees itself; "" is none, and no pattern of its own for standard
 * error means where standard output goes. */
static int tell_agent_files (struct kjob *k)
{
    const struct jobspec *js = k->job->js;
    unsigned by_agent = output_by_agent (k->out);

    if (!by_agent)
        return 0;
    k->launch.output = strdup (by_agent & OUTPUT_BY_AGENT ? js->output : "");
    if (js->error)
        k->launch.error = strdup (by_agent & ERROR_BY_AGENT ? js->error : "");
    return k->launch.output && !js->error == !k->launch.error ? 0 : -ENOMEM;
}

static void step_open (struct kjob *k)
{
    const struct frame_finish *fin;

    if (k->work.busy)
        return;
    if (!k->work.open) {
        run_open_output (k);
        return;
    }
    if (k->work.rc < 0) {
        job_start_failed (k, false, "%s", k->work.err.text);
        return;
    }
    if (tell_agent_files (k) < 0) {
        job_start_failed (k, true, "out of memory");
        return;
    }
    staging_set_modes (&k->launch, output_inputs (k->out));
    k->ready_seen = output_was_ready (k->out);
    fin = output_finish (k->out);
    if (fin) {
        tell_ready (k);
        k->have_fin = true;
        k->fin = *fin;
        k->phase = K_DRAIN;
        job_poke (k);
        return;
    }
    k->phase = K_CREATE;
    if (k->recovering && k->ready_seen)
        create_get_job (k); /* if it is gone, nothing may be started a second time */
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
    if (!k->uid[0]) {
        if (!(k->objects_asked & 1u << CALL_MAKE_JOB))
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
    if (agentmap_ensure (k->x) && create_rest_done (k)) {
        k->phase = K_BIND;
        job_poke (k);
    } else if (k->x->agent_err.code)
        job_start_failed (k, true, "%s", k->x->agent_err.text);
}

static void step_bind (struct kjob *k)
{
    start_look_at_pods (k);
    if (k->start_lost)
        return;
    start_tick (k);
    k->maker->place (k);
    if (k->start_lost)
        return;
    if (k->pods[0] && k->pods[0]->view.started)
        run_open_link (k);
    if (k->ready_seen) {
        k->phase = K_RUN;
        tell_ready (k);
        job_poke (k);
    } else
        start_judge (k);
}

/* Its agent; the pod itself may have an epilog yet. */
static bool has_ended (const struct kpod *p)
{
    return p->view.terminal || p->view.exit_code >= 0;
}

static bool rank_is_lost (const struct kjob *k, uint32_t rank)
{
    const struct kpod *p = k->pods[rank];

    return !p || has_ended (p) || job_node_down (k, p);
}

/* The agent went with the rest, so its last word of memory is not known: it was all that the
 * pod may have. */
static void oom_text (const struct kjob *k, uint32_t rank, char *buf, size_t size)
{
    const struct podmaker *maker = k->maker ? k->maker : &pods_controller;
    int64_t mib = maker->request (k->job->r, rank).memory_mib;

    if (mib > 0)
        snprintf (
            buf, size,
            "node %.100s: out of memory: it asked for %jd MiB, and all of that was in "
            "use when the kernel killed the processes of rank %u",
            job_node_name (k, rank), (intmax_t)mib, (unsigned)rank);
    else
        snprintf (
            buf, size,
            "node %.128s: out of memory: the kernel killed the processes of rank %u, "
            "which had asked for none",
            job_node_name (k, rank), (unsigned)rank);
}

/* Says why, from what is known of the pod; the node's name is in it. */
static void set_lost (struct kjob *k, uint32_t rank)
{
    const struct kpod *p = k->pods[rank];
    const char *node = job_node_name (k, rank);

    char text[sizeof (k->fin.text)];

    oom_text (k, rank, text, sizeof (text));
    if (p && p->view.oom)
        job_set_finish (k, SIGKILL, "oom", "%s", text);
    else if (job_node_down (k, p))
        job_set_finish (k, SIGKILL, "lost", "node %s: not ready for %.0f s (rank %u)",
                        node, k->x->cfg.grace, rank);
    else if (!p)
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %u is gone", node,
                        rank);
    else
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %u ended%s%s", node,
                        rank, p->view.text[0] ? ": " : "", p->view.text);
}

static void look_for_losses (struct kjob *k, double now)
{
    if (kube_away (k->x->kube)) { /* what is known of pods and nodes is old */
        k->lost_at = 0;
        return;
    }
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        double wait = OTHER_LOST_WAIT;

        if (!rank_is_lost (k, r))
            continue;
        if (r == 0)
            wait = k->pods[0] && has_ended (k->pods[0]) ? ENDED_WAIT : LOST_WAIT;
        if (k->lost_at == 0)
            k->lost_at = now;
        if (now - k->lost_at >= wait)
            set_lost (k, r);
        return;
    }
    k->lost_at = 0;
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

/* An agent cannot tell why its task was killed; the kubelet can. */
static void amend_finish (struct kjob *k)
{
    bool killed =
        strcmp (k->fin.reason, "lost") == 0
        || (strcmp (k->fin.reason, "signaled") == 0 && k->fin.status == SIGKILL);

    for (uint32_t r = 0; killed && r < k->launch.nnodes; r++) {
        if (!k->pods[r] || !k->pods[r]->view.oom || !strcmp (k->fin.reason, "oom"))
            continue;
        snprintf (k->fin.reason, sizeof (k->fin.reason), "oom");
        oom_text (k, r, k->fin.text, sizeof (k->fin.text));
        k->fin.status = SIGKILL;
    }
}

/* A rank is lost, as the agents know sooner than the watch does: its pod may tell why. */
static bool loss_is_shown (struct kjob *k, double now)
{
    if (strcmp (k->fin.reason, "lost") != 0)
        return true;
    if (k->fin_at == 0)
        k->fin_at = now;
    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        if (rank_is_lost (k, r) || k->pods[r]->view.deleting)
            return true;
    return now >= k->fin_at + LOST_WAIT;
}

/* A rank whose pod has gone, or else is being deleted; -1: none, or the Job controller does
 * it, because another pod has failed. */
static int deleted_rank (const struct kjob *k)
{
    bool ends_others = !k->maker || k->maker->ends_others;
    int gone = -1, deleting = -1;

    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        const struct kpod *p = k->pods[r];

        if (ends_others && p && p->view.terminal && !p->view.deleting)
            return -1;
        if (!p && gone < 0)
            gone = (int)r;
        if (p && p->view.deleting && deleting < 0)
            deleting = (int)r;
    }
    return gone >= 0 ? gone : deleting;
}

void job_see_deletion (struct kjob *k)
{
    if (k->phase == K_RUN && k->ready_told && k->x->pods_listed && k->deleted_rank < 0)
        k->deleted_rank = deleted_rank (k);
}

/* The agents were told to end, but not by us: somebody deleted the Job or a pod. False:
 * not known yet. */
static bool explain_end (struct kjob *k, double now)
{
    bool told = strcmp (k->fin.reason, "cancelled") == 0;

    if (k->deleted_rank < 0)
        k->deleted_rank = deleted_rank (k);
    if (k->kill
        || (!told && (strcmp (k->fin.reason, "lost") != 0 || k->deleted_rank < 0)))
        return true;
    if (k->looked_at == 0) {
        k->looked_at = now;
        create_look (k);
    }
    if (!k->looked && now < k->looked_at + LOOK_WAIT)
        return false;
    if (!k->job_deleted && k->deleted_rank < 0 && now < k->looked_at + LOST_WAIT)
        return false; /* the agents may be faster than the watch */
    if (k->job_deleted)
        job_set_finish (k, SIGTERM, "cancelled",
                        "its Job %s was deleted from the cluster", k->name);
    else if (k->deleted_rank >= 0)
        job_set_finish (k, SIGKILL, "lost", "node %s: the pod of rank %d was deleted",
                        job_node_name (k, (uint32_t)k->deleted_rank), k->deleted_rank);
    return true;
}

static void step_run (struct kjob *k)
{
    double now = clock_mono ();

    tell_ready (k);
    if (k->pods[0] && k->pods[0]->view.started)
        run_open_link (k);
    if (!k->have_fin && k->kill)
        carry_out_kill (k, now);
    if (!k->have_fin)
        look_for_losses (k, now);
    if (k->have_fin && (!loss_is_shown (k, now) || !explain_end (k, now))) {
        run_output (k, false);
        return;
    }
    if (k->have_fin) {
        amend_finish (k);
        k->phase = K_DRAIN;
        job_poke (k);
    } else
        run_output (k, false);
}

/* A file of --stage-out that could not be written here: the job has succeeded otherwise. */
static void amend_staged (struct kjob *k)
{
    const char *problem = output_stage_problem (k->out);

    if (!problem || k->fin.status != 0 || strcmp (k->fin.reason, "exited") != 0)
        return;
    k->fin.status = 1 << 8;
    snprintf (k->fin.text, sizeof (k->fin.text), "%s", problem);
    if (!strncmp (k->lost_text, problem, strlen (problem)))
        k->lost_text[0] = '\0'; /* the same */
}

static void step_drain (struct kjob *k)
{
    if (!run_output_done (k)) {
        run_output (k, true);
        return;
    }
    if (k->link)
        agentlink_release (k->link, output_safe_offset (k->out));
    amend_staged (k);
    tell_end (k);
}

/* Before all ranks are ready a kill needs no agent. */
static void kill_before_ready (struct kjob *k)
{
    k->start_lost = false;
    job_set_finish (k, SIGTERM, k->kill_reason, "%s before it started", k->kill_reason);
    tell_end (k);
}

/* FINISH without READY. What an agent cannot open is no better on other nodes. */
static void start_refused (struct kjob *k)
{
    bool retry = k->blamed || strcmp (k->fin.reason, "startfail") != 0;
    char text[sizeof (k->fin.text)]; /* job_start_failed() writes over the other */

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
        else if (k->have_fin && !k->ready_seen
                 && k->phase
                        == K_BIND) { /* FINISH without READY: they did not all join */
            start_refused (k);
        }
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

void job_poke (struct kjob *k)
{
    if (k->poked)
        return;
    k->poked = true;
    k->next_poked = k->x->poked;
    k->x->poked = k;
    exec_soon (k->x);
}

void job_run_poked (struct exec *x)
{
    struct kjob *k, *list = x->poked;

    x->poked = NULL; /* those poked from here on wait for the next turn */
    while ((k = list)) {
        list = k->next_poked;
        k->poked = false;
        step (k);
    }
}

/* ---- birth and end ---- */

struct kjob *job_find (struct exec *x, uint64_t id)
{
    struct kjob *k;

    HASH_FIND (hh, x->jobs, &id, sizeof (id), k);
    return k;
}

/* The executor's part of the launch file. */
static int fill_launch (struct kjob *k, struct error *err)
{
    struct object_source src = { .cfg = &k->x->cfg,
                                 .job = k->job,
                                 .cluster = k->x->host.cluster_id,
                                 .namespace_ = k->x->namespace_,
                                 .name = k->name };
    autofree char *host = object_rank_host (&src);
    int rc = joblaunch_fill (k->job, &k->launch, err);

    if (rc == 0)
        rc = staging_fill (k->job, &k->launch, err);
    if (rc < 0)
        return rc;
    k->launch.cwd_fallback = !mounts_see (k->job->mounts, "/", k->launch.cwd, false);
    /* Our own clocks judge first: some rank may pull its image for long. */
    k->launch.join_timeout = k->job->limits.start + k->job->limits.pull + JOIN_SLACK;
    if (asprintf (&k->launch.script, "%s/script", object_programs (&k->x->cfg)) < 0)
        k->launch.script = NULL;
    k->launch.spool = strdup (POD_RUN "/spool");
    k->launch.spool_max = SPOOL_MAX;
    k->launch.serve_until_released = true;
    if (asprintf (&k->launch.listen, "tcp:0.0.0.0:%d", AGENT_PORT) < 0)
        k->launch.listen = NULL;
    if (asprintf (&k->launch.rendezvous, "tcp:%s:%d",
                  k->launch.nnodes > 1 && host ? host : "127.0.0.1", AGENT_PORT)
        < 0)
        k->launch.rendezvous = NULL;
    const char *input = k->job->js->input;
    bool wanted = inputfiles_wanted (input);
    if (wanted)
        k->launch.input = mounts_see (k->job->mounts, k->launch.cwd, input, false)
                              ? strdup (input)
                              : inputfiles_place (POD_JOB, input);
    if (!k->launch.script || !k->launch.spool || !k->launch.listen
        || !k->launch.rendezvous || (wanted && !k->launch.input))
        return error_set (err, ENOMEM, "out of memory");
    if (!k->launch.batch) {
        free (k->launch.script);
        k->launch.script = NULL;
    }
    return 0;
}

struct kjob *kjob_create (struct exec *x, struct exec_job *job, bool recovering)
{
    struct kjob *k = calloc (1, sizeof (*k));
    struct error err = { 0 };

    if (!k)
        return NULL;
    k->x = x;
    k->job = job;
    k->id = job->id;
    k->recovering = recovering;
    k->deleted_rank = -1;
    object_name (k->name, x->host.cluster_id, job->id, job->attempt);
    strbuf_init (&k->pending, PENDING_MAX);
    strbuf_init (&k->writing, PENDING_MAX);
    if (fill_launch (k, &err) == 0) {
        k->pods = calloc (k->launch.nnodes, sizeof (struct kpod *));
        k->place_asked = calloc (k->launch.nnodes, 1);
        k->out = output_create (job, &k->launch);
        startclock_init (&k->clock, (uint32_t)k->launch.nnodes, &job->limits,
                         clock_mono ());
    }
    HASH_ADD (hh, x->jobs, id, sizeof (k->id), k);
    job->aux = k;
    if (!k->pods || !k->place_asked || !k->out || !k->clock.ranks) {
        k->launch.nnodes = k->pods ? k->launch.nnodes : 0;
        job_start_failed (k, false, "%s", err.code ? err.text : "out of memory");
    }
    inventory_adopt (k);
    job_poke (k);
    return k;
}

/* No worker is at work and no request under way. */
void job_free (struct kjob *k)
{
    struct exec *x = k->x;

    agentlink_close (k->link);
    calls_cancel (k);
    HASH_DEL (x->jobs, k);
    inventory_abandon (k);
    if (k->poked)
        LL_DELETE2 (x->poked, k, next_poked);
    if (!x->closing)
        k->job->aux = NULL;
    output_destroy (k->out);
    strbuf_release (&k->pending);
    strbuf_release (&k->writing);
    launch_release (&k->launch);
    free (k->pods);
    free (k->place_asked);
    startclock_release (&k->clock);
    hostlist_destroy (k->blamed);
    free (k);
}
