/* kjob.c - makes the record of a job at its start or recovery, and frees it when nothing
 * of the job is left (see run.h) */
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/hostlist.h"
#include "exec/joblaunch.h"
#include "exec/kube/cluster/cluster.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/files/output.h"
#include "exec/kube/files/staging.h"
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/minicluster.h"
#include "exec/kube/make/podspec.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/mounts.h"

#define JOIN_SLACK 60.0
#define SPOOL_MAX ((uint64_t)256 << 20)
#define PENDING_MAX ((size_t)9 << 20)

/* Fills the executor's part of the launch file. */
static int fill_launch (struct kjob *k, struct error *err)
{
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
    if (asprintf (&k->launch.rendezvous, "tcp:127.0.0.1:%d", AGENT_PORT) < 0)
        k->launch.rendezvous = NULL; /* names of ranks: see name_ranks() in create.c */
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

/* A job, and the Jobs of its components: one block of memory. */
static struct kjob *record_of (const struct exec *x, struct exec_job *job)
{
    size_t n = job->js ? job->js->ncomponents + 1 : 1, first;
    struct kjob *k = calloc (1, sizeof (*k) + n * sizeof (struct kpart));

    if (!k)
        return NULL;
    object_name (k->name, x->host.cluster_id, job->id, job->attempt);
    k->parts = (struct kpart *)(k + 1);
    k->nparts = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        rset_component (job->r, i, &first);
        k->parts[i].first = (uint32_t)first;
        object_part_name (k->parts[i].name, k->name, i);
    }
    return k;
}

struct kjob *kjob_create (struct exec *x, struct exec_job *job, bool recovering)
{
    struct kjob *k = record_of (x, job);
    struct error err = { 0 };

    if (!k)
        return NULL;
    k->x = x;
    k->job = job;
    k->id = job->id;
    k->recovering = recovering;
    k->deleted_rank = k->evicted_rank = -1;
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
void kjob_free (struct kjob *k)
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
