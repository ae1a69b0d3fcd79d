/* job.c - a job's life, phase by phase (see private.h) */
#include "exec/kube/make/podmaker.h"
#include "exec/kube/needs/needs.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "exec/joblaunch.h"
#include "exec/kube/files/staging.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/podspec.h"
#include "exec/mounts.h"

#define JOIN_SLACK 60.0
#define KUBELETS_RETURN 20.0 /* until all kubelets have reported, with a margin */
#define SPOOL_MAX ((uint64_t)256 << 20)
#define PENDING_MAX ((size_t)9 << 20)

/* -- reports to the broker -- */

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
    char text[sizeof (k->fin.text)];

    if (k->start_lost || k->told || k->have_fin)
        return;
    if (k->phase == K_RUN) { /* it runs: this is about new ranks */
        va_start (ap, fmt);
        vsnprintf (text, sizeof (text), fmt, ap);
        va_end (ap);
        resize_failed (k, text);
        return;
    }
    k->start_lost = true;
    k->start_retry = retry;
    va_start (ap, fmt);
    vsnprintf (k->fin.text, sizeof (k->fin.text), fmt, ap);
    va_end (ap);
    job_poke (k);
}

void job_start_short (struct kjob *k, int errnum, const char *text)
{
    if (!k->start_lost && !k->told && !k->have_fin && k->phase != K_RUN)
        k->start_errno = errnum;
    job_start_failed (k, true, "%s", text);
}

static void note_node (struct hostlist **list, const char *name)
{
    if (!*list)
        *list = hostlist_create ();
    if (*list && hostlist_find (*list, name) < 0)
        hostlist_append (*list, name);
}

void job_blame (struct kjob *k, uint32_t rank, bool suspect)
{
    if (k->start_lost || k->told || k->have_fin)
        return;
    note_node (&k->blamed, job_node_name (k, rank));
    if (suspect)
        note_node (&k->suspects, job_node_name (k, rank));
}

const char *job_node_name (const struct kjob *k, uint32_t rank)
{
    return rank < MAX (k->launch.nnodes, k->nplaces) ? k->launch.nodes[rank].name : "?";
}

/* While the API server was away no kubelet could report. */
bool job_node_down (const struct kjob *k, const struct kpod *pod)
{
    if (!pod || !pod->node || pod->node->down_since == 0)
        return false;
    double down = clock_mono () - pod->node->down_since;
    return MIN (down, kube_back_for (k->x->kube) - KUBELETS_RETURN) >= k->x->cfg.grace;
}

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
    if (k->work.rc < 0 && output_shortage (k->out)) {
        job_start_short (k, output_shortage (k->out), k->work.err.text);
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
    staging_set_modes (&k->launch, output_inputs (k->out));
    k->ready_seen = output_was_ready (k->out) || k->job->started > 0;
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
    if (!k->uid[0]) {
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
        run_open_link (k);
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
        run_open_link (k);
    if (!k->have_fin && k->kill)
        carry_out_kill (k, now);
    else
        resize_step (k);
    if (!k->have_fin)
        losses_look (k, now);
    if (k->have_fin && !losses_explain (k, now)) {
        run_output (k, false);
        return;
    }
    if (k->have_fin) {
        losses_amend (k);
        k->phase = K_DRAIN;
        job_poke (k);
    } else
        run_output (k, false);
}

/* A file of --stage-out could not be written here: the job has otherwise succeeded. */
static void amend_staged (struct kjob *k)
{
    const char *problem = output_stage_problem (k->out);

    if (!problem || k->fin.status != 0 || strcmp (k->fin.reason, "exited") != 0)
        return;
    k->fin.status = 1 << 8;
    snprintf (k->fin.text, sizeof (k->fin.text), "%s", problem);
    if (!strncmp (k->lost_text, problem, strlen (problem)))
        k->lost_text[0] = '\0'; /* the same problem */
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
        else if (k->have_fin && !k->ready_seen
                 && k->phase
                        == K_BIND) { /* FINISH without READY: not all ranks joined */
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

    x->poked = NULL; /* jobs poked from here on wait for the next turn */
    while ((k = list)) {
        list = k->next_poked;
        k->poked = false;
        step (k);
    }
}

/* -- birth and end -- */

struct kjob *job_find (struct exec *x, uint64_t id)
{
    struct kjob *k;

    HASH_FIND (hh, x->jobs, &id, sizeof (id), k);
    return k;
}

/* Fills the executor's part of the launch file. */
static int fill_launch (struct kjob *k, struct error *err)
{
    struct object_source src = { .cfg = &k->x->cfg,
                                 .job = k->job,
                                 .cluster = k->x->host.cluster_id,
                                 .namespace_ = k->space->name,
                                 .name = k->name };
    autofree char *host = object_rank_host (&src);
    int rc = joblaunch_fill (k->job, &k->launch, err);

    if (rc == 0)
        rc = staging_fill (k->job, &k->launch, err);
    if (rc < 0)
        return rc;
    k->launch.cwd_fallback = !mounts_see (k->job->mounts, "/", k->launch.cwd, false);
    /* Our own clocks decide first: some rank may pull its image for long. */
    k->launch.join_timeout = k->job->limits.start + k->job->limits.pull + JOIN_SLACK;
    if (asprintf (&k->launch.script, "%s/script", object_programs (&k->x->cfg)) < 0)
        k->launch.script = NULL;
    k->launch.spool = strdup (POD_RUN "/spool");
    k->launch.spool_max = SPOOL_MAX;
    k->launch.serve_until_released = true;
    if (asprintf (&k->launch.listen, "tcp:0.0.0.0:%d", AGENT_PORT) < 0)
        k->launch.listen = NULL;
    if (asprintf (&k->launch.rendezvous, "tcp:%s:%d",
                  object_has_names (k->job) && host ? host : "127.0.0.1", AGENT_PORT)
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
    if (minicluster_wanted (k->settings))
        return minicluster_launch (&k->launch, k->job->js, &k->script, err);
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
    k->deleted_rank = k->evicted_rank = -1;
    object_name (k->name, x->host.cluster_id, job->id, job->attempt);
    strbuf_init (&k->pending, PENDING_MAX);
    strbuf_init (&k->writing, PENDING_MAX);
    const json_t *set = json_object_get (x->sets, job->queue ? job->queue : "");
    k->settings =
        podspec_settle (set ? set : x->cfg.pod_defaults, job, !recovering, &err);
    struct kspace *space = spaces_of_job (x, job, &err);
    k->space = space ? space : x->space;
    k->space->njobs++;
    if (k->settings && space && fill_launch (k, &err) == 0) {
        k->room = MAX ((uint32_t)k->launch.nnodes, k->launch.max_nodes);
        k->nplaces = resize_least (job);
        k->pods = launch_make_room (&k->launch, k->room) == 0
                      ? calloc (k->room, sizeof (struct kpod *))
                      : NULL;
        k->launch.nnodes = k->nplaces;
        k->place_asked = calloc (k->room, 1);
        k->out = output_create (job, &k->launch);
        startclock_init (&k->clock, (uint32_t)k->launch.nnodes, &job->limits,
                         clock_mono ());
    }
    HASH_ADD (hh, x->jobs, id, sizeof (k->id), k);
    job->aux = k;
    if (!k->pods || !k->place_asked || !k->out || !k->clock.ranks
        || endpoints_prepare (k) < 0) {
        k->room = k->pods ? k->room : 0;
        k->launch.nnodes = k->nplaces = k->pods ? k->nplaces : 0;
        job_start_failed (k, false, "%s", err.code ? err.text : "out of memory");
    }
    pods_adopt (k);
    job_poke (k);
    return k;
}

/* Called when no worker is at work and no request under way. */
void job_free (struct kjob *k)
{
    struct exec *x = k->x;

    agentresize_end (&k->resize.agent);
    agentlink_close (k->link);
    calls_cancel (k);
    HASH_DEL (x->jobs, k);
    k->space->njobs--;
    pods_abandon (k);
    if (k->poked)
        LL_DELETE2 (x->poked, k, next_poked);
    if (!x->closing)
        k->job->aux = NULL;
    output_destroy (k->out);
    strbuf_release (&k->pending);
    strbuf_release (&k->writing);
    launch_release (&k->launch);
    free (k->script);
    free (k->warning.text);
    json_decref (k->settings);
    free (k->pods);
    free (k->place_asked);
    free (k->slices);
    startclock_release (&k->clock);
    hostlist_destroy (k->blamed);
    hostlist_destroy (k->suspects);
    free (k);
}
