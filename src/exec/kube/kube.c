/* kube.c - jobs as Indexed Jobs of a Kubernetes cluster: the executor's verbs
 *
 * The rooms, each with a header that says what comes in and what goes out; a room uses
 * those above it in this list, and the hooks of kube.c lead back:
 *
 *     core/        state.h       what all rooms share: settings, records, readers of pods
 *     files/       output.h      files of the broker's machine: output, input, staging
 *     make/        podmaker.h    the objects of a job, and the three makers of its pods
 *     namespaces/  spaces.h      the namespaces of jobs, and what each needs
 *     topology/    zones.h       NUMA zones of nodes
 *     cluster/     cluster.h     the nodes and pods of the cluster, and what is free
 *     needs/       needs.h       asks for nodes that pending jobs lack
 *     adopt/       adopt.h       runs objects that others made
 *     run/         run.h         a job's run, from start() to cleaned()
 *
 * Beside the verbs: lease.c keeps one broker at a time for a cluster id, sweep.c
 * removes objects that belong to no job, and review.c asks whom tokens belong to.
 */
#include "exec/kube/adopt/adopt.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/podrights.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/review.h"
#include "exec/kube/run/run.h"
#include "exec/kube/sweep.h"
#include "exec/kube/topology/zones.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/cluster/groups.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/lease.h"
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/needs/needs.h"
#include "exec/podset.h"

#define TICK_MS 500
#define REMOVALS_MS 3000
#define TERMINATE_SLACK 30.0

/* -- the clock -- */

static void on_turn (struct exec *x)
{
    job_run_poked (x);
    adopt_run_poked (x);
    inventory_flush (x);
}

/* Handles time limits, losses and checkpoints, which come due without an event. */
static void on_tick (uv_timer_t *timer)
{
    struct exec *x = timer->data;
    struct kjob *k, *tmp;

    HASH_ITER (hh, x->jobs, k, tmp) {
        job_poke (k);
    }
    agentmap_tick (x, clock_mono ());
    space_tick (x);
    sweep_tick (x, clock_mono ());
    needs_tick (x);
    zones_tick (x, clock_mono ());
    miniclusters_tick (x, clock_mono ());
    adopt_tick (x, clock_mono ());
    review_tick (x, clock_mono ());
}

/* -- news for the rooms above the one that has them -- */

static void on_job_pod (struct kjob *k, const struct kpod *p, const char *old_address)
{
    losses_see (k, p);
    if (p)
        endpoints_see (k, p, old_address);
}

static void on_pod_seen (struct exec *x, struct kpod *p, const json_t *pod)
{
    adopt_see_pod (x, p, pod);
    needs_see_pod (x, pod);
}

static void on_pod_gone (struct exec *x, const char *ns, const char *name, struct kpod *p)
{
    needs_lose_pod (x, ns, name);
    if (p)
        adopt_lose_pod (x, p);
}

static void exec_try_free (struct exec *x);

static const struct exec_hooks hooks = { .turn = on_turn,
                                         .worker_ended = exec_try_free,
                                         .answered = create_answered,
                                         .resize_failed = resize_failed,
                                         .job_pod = on_job_pod,
                                         .pod_seen = on_pod_seen,
                                         .pod_gone = on_pod_gone,
                                         .pod_is_covered = adopt_covers };

/* -- create and destroy -- */

static void exec_free (struct exec *x)
{
    strbuf_release (&x->agent);
    kube_config_release (&x->cfg);
    json_decref (x->sets);
    spaces_free (x);
    free (x->whoami);
    free (x->live);
    free (x);
}

static void on_closed (uv_handle_t *handle)
{
    struct exec *x = handle->data;

    x->open_handles--;
    exec_try_free (x);
}

/* While closing: frees x when the last worker, handle and request is done. */
static void exec_try_free (struct exec *x)
{
    struct kjob *k, *tmp;

    if (x->working > 0 || x->agent_removals > 0)
        return;
    HASH_ITER (hh, x->jobs, k, tmp) {
        kjob_free (k);
    }
    if (x->kube) {
        kube_destroy (x->kube);
        httpc_destroy (x->http);
        x->kube = NULL;
        uv_close ((uv_handle_t *)&x->soon, on_closed);
        uv_close ((uv_handle_t *)&x->tick, on_closed);
        return;
    }
    if (x->open_handles == 0)
        exec_free (x);
}

static void on_agent_removed (const struct kube_result *res, void *arg)
{
    struct kspace *s = arg;

    (void)res;
    s->agent_removal = NULL;
    s->x->agent_removals--;
    exec_try_free (s->x);
}

static void on_removals_late (uv_timer_t *timer)
{
    struct exec *x = timer->data;
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        kube_cancel (s->agent_removal);
        s->agent_removal = NULL;
    }
    x->agent_removals = 0;
    exec_try_free (x);
}

/* Removes the agent's ConfigMap at the end if no job has it mounted. */
static void remove_agent (struct kspace *s)
{
    agentmap_unwatch (s);
    userpolicies_drop (s);
    if (s->njobs > 0 || s->agent_state == AGENTMAP_UNKNOWN)
        return;
    kube_cancel (s->agent_req);
    s->agent_req = NULL;
    s->agent_removal = agentmap_delete (s, on_agent_removed);
    s->x->agent_removals += s->agent_removal != NULL;
}

static void remove_agents (struct exec *x)
{
    struct kspace *s, *tmp;

    HASH_ITER (hh, x->spaces, s, tmp) {
        space_cancel (s);
        remove_agent (s);
    }
    if (x->agent_removals > 0)
        uv_timer_start (&x->soon, on_removals_late, REMOVALS_MS, 0);
}

static void kube_exec_destroy (struct exec *x)
{
    struct kjob *k, *tmp;

    if (!x)
        return;
    x->closing = true;
    uv_timer_stop (&x->soon);
    uv_timer_stop (&x->tick);
    sweep_cancel (x);
    review_cancel (x);
    pulls_cancel (x);
    podrights_cancel (x);
    miniclusters_cancel (x);
    needs_stop (x);
    remove_agents (x);
    HASH_ITER (hh, x->jobs, k, tmp) {
        calls_cancel (k);
        agentlink_close (k->link);
        k->link = NULL;
        pods_abandon (k);
        if (!k->work.busy)
            kjob_free (k);
    }
    adopt_stop (x);
    inventory_stop (x);
    groups_stop (x);
    exec_try_free (x);
}

/* A broker that has lost its claim sends nothing any more. */
static void check_claim (void *arg)
{
    exec_claim_check (arg);
}

static int connect_cluster (struct exec *x, struct error *err)
{
    struct kubeconfig *kc = kubeconfig_load (x->cfg.kubeconfig, x->cfg.context, err);
    const char *ns = x->cfg.namespace_;

    if (!kc)
        return -EINVAL;
    if (kc->tls.insecure)
        log_warning ("kube: insecure-skip-tls-verify: any program that answers for %s is "
                     "accepted as the API server, and gets the broker's token and the "
                     "keys of all jobs; set certificate-authority instead",
                     kc->server);
    if (!ns)
        ns = kc->namespace_ ? kc->namespace_ : "default";
    x->space = spaces_get (x, ns);
    x->http = httpc_create (x->host.loop, err);
    if (!x->http || !x->space) {
        kubeconfig_destroy (kc);
        return -ENOMEM;
    }
    httpc_set_guard (x->http, check_claim, x->host.claim);
    x->kube = kube_create (x->http, x->host.loop, kc, err);
    if (!x->kube)
        return -ENOMEM;
    kube_set_budget (x->kube, x->cfg.request_rate, x->cfg.request_burst);
    podrights_begin (x);
    miniclusters_look (x);
    return 0;
}

static int kube_exec_create (const struct exec_host *host, const struct yaml_doc *doc,
                             json_t *config, struct exec **ret, struct error *err)
{
    struct exec *x = calloc (1, sizeof (*x));

    if (!x)
        return error_set (err, ENOMEM, "out of memory");
    x->host = *host;
    x->hooks = &hooks;
    int rc = kube_config_read (doc, config, &x->cfg, err);
    if (rc < 0 || (rc = agentmap_load (x, err)) < 0
        || (rc = connect_cluster (x, err)) < 0) {
        if (x->http)
            httpc_destroy (x->http);
        exec_free (x);
        return rc;
    }
    uv_timer_init (host->loop, &x->soon);
    uv_timer_init (host->loop, &x->tick);
    x->soon.data = x->tick.data = x;
    x->open_handles = 2;
    uv_timer_start (&x->tick, on_tick, TICK_MS, TICK_MS);
    rc = groups_start (x) < 0 ? error_set (err, ENOMEM, "out of memory")
                              : needs_start (x, err);
    if (rc == 0)
        rc = inventory_start (x, err);
    if (rc == 0)
        rc = adopt_start (x, err);
    if (rc < 0) {
        kube_exec_destroy (x);
        return rc;
    }
    log_info ("kube: cluster %s, namespace %s", kube_server (x->kube), x->space->name);
    *ret = x;
    return 0;
}

/* -- jobs -- */

static int kube_exec_queues (struct exec *x, const json_t *sets)
{
    json_t *all = json_object ();
    const char *name;
    json_t *set;
    int rc = 0;

    json_object_foreach ((json_t *)sets, name, set) {
        rc |= json_object_set_new (all, name, podset_merge (x->cfg.pod_defaults, set));
    }
    if (!all || rc < 0) {
        json_decref (all);
        return -ENOMEM;
    }
    json_decref (x->sets);
    x->sets = all;
    x->queues = podset_selects (sets) ? all : NULL;
    inventory_queues_changed (x);
    return 0;
}

static void kube_exec_start (struct exec *x, struct exec_job *job)
{
    if (job->adopted) {
        adopt_run_start (x, job, false);
        needs_started (x, job->id);
        return;
    }
    if (!job->aux && !kjob_create (x, job, false))
        log_error ("job %ju: out of memory", (uintmax_t)job->id);
    needs_started (x, job->id);
}

static void kube_exec_recover (struct exec *x, struct exec_job *job)
{
    struct kjob *k = job->aux;

    if (job->adopted) {
        adopt_run_start (x, job, true);
        return;
    }
    if (!k && !(k = kjob_create (x, job, true)))
        log_error ("job %ju: out of memory", (uintmax_t)job->id);
    else
        /* normally it exists: then it must be removed */
        agentmap_ensure (k->space, k->launch.flux);
}

static void kube_exec_terminate (struct exec *x, struct exec_job *job, const char *reason,
                                 double grace)
{
    struct kjob *k = job->aux;

    (void)x;
    if (job->adopted) {
        adopt_run_terminate (job, reason);
        return;
    }
    if (!k || k->kill)
        return;
    k->kill = true;
    snprintf (k->kill_reason, sizeof (k->kill_reason), "%s", reason);
    k->kill_grace = grace;
    k->kill_by = clock_mono () + grace + TERMINATE_SLACK;
    if (job->js && job->js->stage_out.n > 0)
        k->kill_by += AGENT_STAGE_SECONDS;
    job_poke (k);
}

/* Whether the job's agent can be reached. */
static int is_reached (const struct exec_job *job, struct error *err)
{
    const struct kjob *k = job->aux;

    if (job->adopted)
        return error_set (
            err, EOPNOTSUPP,
            "it is %s: its pods have no agent of fluxq; use kubectl logs, exec or attach",
            job->adopted);
    if (k && k->link && k->phase == K_RUN)
        return 0;
    if (k && k->recovering && k->phase < K_RUN)
        return error_set (err, EBUSY,
                          "the broker has just started and is looking for its pods: try "
                          "again");
    return error_set (err, ESRCH, "job %ju does not run", (uintmax_t)job->id);
}

static int kube_exec_signal (struct exec *x, struct exec_job *job, int signum,
                             enum exec_whom whom, int64_t step,
                             void (*done) (int rc, void *arg), void *arg,
                             struct error *err)
{
    struct kjob *k = job->aux;
    int rc = is_reached (job, err);

    (void)x;
    if (rc < 0)
        return rc;
    agentlink_signal (k->link, signum, whom, step, done, arg);
    return 0;
}

static int kube_exec_steps (struct exec *x, struct exec_job *job, bool fresh,
                            exec_steps_fn *done, void *arg, struct error *err)
{
    struct kjob *k = job->aux;
    int rc = is_reached (job, err);

    (void)x;
    if (rc < 0)
        return rc;
    agentlink_steps (k->link, fresh, done, arg);
    return 0;
}

static int kube_exec_connect (struct exec *x, struct exec_job *job,
                              const struct agentstream_events *ev, void *arg,
                              struct agentstream **ret, struct error *err)
{
    struct kjob *k = job->aux;
    int rc = is_reached (job, err);

    (void)x;
    if (rc < 0)
        return rc;
    *ret = agentlink_connect (k->link, ev, arg, err);
    return *ret ? 0 : -EIO;
}

static void kube_exec_limit (struct exec *x, struct exec_job *job)
{
    const struct kjob *k = job->adopted ? NULL : job->aux;

    (void)x;
    if (k && k->link) /* otherwise when the link opens */
        agentlink_limit (k->link, job->time_limit);
}

static void kube_exec_resize (struct exec *x, struct exec_job *job)
{
    (void)x;
    if (job->aux)
        job_poke (job->aux);
}

static void kube_exec_cleanup (struct exec *x, struct exec_job *job)
{
    struct kjob *k = job->aux;

    if (job->adopted) {
        adopt_run_cleanup (x, job);
        return;
    }
    if (!k)
        k = kjob_create (x, job, true); /* perhaps from before a restart */
    if (!k) {
        log_error ("job %ju: out of memory", (uintmax_t)job->id);
        return;
    }
    k->told = true;
    k->phase = K_REMOVE;
    job_poke (k);
}

static int kube_exec_check_config (const struct yaml_doc *doc, json_t *config,
                                   struct error *err)
{
    struct kube_config cfg;
    int rc = kube_config_read (doc, config, &cfg, err);

    if (rc == 0)
        kube_config_release (&cfg);
    return rc;
}

static const char *kube_exec_resource (const struct exec *x, const char *type)
{
    return kube_gres_name (x->cfg.gres, x->cfg.gpu_resource, type);
}

static const char *kube_exec_no_parts (const json_t *config)
{
    return json_is_false (json_object_get (config, "fractional-cpu"))
               ? "parts of a CPU are not available here; request whole ones, such as "
                 "--cpus-per-task=1, or ask the administrator of fluxq for "
                 "kube.fractional-cpu"
               : NULL;
}

static int kube_exec_claim (const struct exec_host *host, const struct yaml_doc *doc,
                            json_t *config, struct exec_claim **ret, struct error *err)
{
    struct kube_config cfg;
    int rc = kube_config_read (doc, config, &cfg, err);

    if (rc < 0)
        return rc;
    rc = cfg.lease ? lease_claim (host, &cfg, ret, err) : 0;
    kube_config_release (&cfg);
    return rc;
}

/* They run in containers of the job's pods. */
static const char *kube_exec_no_admin (const json_t *config)
{
    return json_object_get (config, "admin-image") || json_object_get (config, "image")
               ? NULL
               : "this needs an image to run in, kube.admin-image";
}

static const struct exec_option options[] = {
    { .name = "kube", .help = "run jobs on Kubernetes" },
    { .name = "kubeconfig",
      .arg = "FILE",
      .help = "how to reach the cluster (default: kube.kubeconfig, $KUBECONFIG)",
      .key = "kubeconfig" },
    { .name = NULL },
};

const struct exec_ops exec_kube = {
    .name = "kube",
    .options = options,
    .create = kube_exec_create,
    .check_config = kube_exec_check_config,
    .no_admin = kube_exec_no_admin,
    .topology = TOPOLOGY_LABELS,
    .claim = kube_exec_claim,
    .destroy = kube_exec_destroy,
    .queues = kube_exec_queues,
    .check = run_check,
    .start = kube_exec_start,
    .recover = kube_exec_recover,
    .terminate = kube_exec_terminate,
    .signal = kube_exec_signal,
    .steps = kube_exec_steps,
    .connect = kube_exec_connect,
    .limit = kube_exec_limit,
    .resize = kube_exec_resize,
    .cleanup = kube_exec_cleanup,
    .sweep = sweep_told,
    .adopted = adopt_answered,
    .foreign_state = adopt_state,
    .amounts = inventory_amounts,
    .review = review_token,
    .needs = needs_told,
    .need_state = needs_state,
    .resource = kube_exec_resource,
    .no_parts = kube_exec_no_parts,
};
