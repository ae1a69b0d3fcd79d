/* resize.c - changes the size of a running job (see run.h)
 *
 *   grows:    rank 0 is told --> the Job is patched, pods are made or bound --> FRAME_RESIZED
 *   shrinks:  rank 0 is told --> FRAME_RESIZED --> the Job is patched, pods of the ranks that
 *             went are deleted --> they are gone
 *
 * k->launch.nnodes is the number of ranks that the job cannot be without: during a
 * change the smaller of both sizes, so that the loss of another pod is no loss of the
 * job. k->nplaces is the number of ranks that get pods. Every step can be repeated after
 * a restart: rank 0 knows a change by its generation, patches are idempotent, and pods
 * are found again by their ranks.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/joblaunch.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"

static const struct exec_resize *change_of (const struct kjob *k)
{
    return &k->job->resize;
}

static bool grows (const struct kjob *k)
{
    return change_of (k)->nodes > change_of (k)->from;
}

uint32_t resize_least (const struct exec_job *job)
{
    const struct exec_resize *c = &job->resize;

    return c->active ? MIN (c->nodes, c->from) : (uint32_t)job->r->nranks;
}

static void tell (struct kjob *k, bool done, const char *text)
{
    struct exec_host *host = &k->x->host;
    uint32_t generation = change_of (k)->generation;

    if (k->resize.told_generation == generation)
        return;
    k->resize.told_generation = generation;
    host->resized (host->arg, k->id, generation, done, text);
}

void resize_failed (struct kjob *k, const char *text)
{
    if (k->resize.step != KRESIZE_NONE && grows (k)) {
        k->resize.step = KRESIZE_NONE;
        tell (k, false, text);
    } else {
        log_warning ("job %ju: %s", (uintmax_t)k->id, text);
    }
}

/* -- the Job -- */

/* If the Job controller serves the Job, the patch makes it add and remove pods; otherwise
 * the patch only keeps the spec true. */
static bool patch_job (struct kjob *k, uint32_t ranks)
{
    char path[512];

    if (k->resize.patched)
        return false;
    k->resize.patched = true;
    snprintf (path, sizeof (path), PATH_BATCH "%s/jobs/%s", k->space->name, k->name);
    json_t *patch = json_pack ("{s:{s:i s:i}}", "spec", "completions", (int)ranks,
                               "parallelism", (int)ranks);
    if (!patch || !call_send (k, CALL_RESIZE_JOB, ranks, "PATCH", path, patch))
        resize_failed (k, "out of memory");
    return true;
}

void resize_job_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res)
{
    char text[512];

    (void)c;
    if (res->status >= 200 && res->status < 300)
        return;
    snprintf (text, sizeof (text), "its Job cannot be patched: %.400s", res->err.text);
    if (!k->maker->managed_by && grows (k))
        resize_failed (k, text);
    else if (k->maker->managed_by && res->status == 403)
        log_warning ("job %ju: %s", (uintmax_t)k->id, text);
    else
        k->resize.patched = false; /* once more, later */
}

/* -- it grows -- */

static int take_nodes (struct kjob *k)
{
    struct launch all;
    struct error err = { 0 };

    if (joblaunch_fill (k->job, &all, &err) < 0)
        return -1;
    for (uint32_t r = change_of (k)->from; r < change_of (k)->nodes; r++)
        launch_put_node (&k->launch, r, &all.nodes[r]);
    launch_release (&all);
    return 0;
}

/* A failure leads to resize_failed(). */
static void look_at_new (struct kjob *k)
{
    for (uint32_t r = change_of (k)->from; r < change_of (k)->nodes; r++) {
        const struct kpod *p = k->pods[r];
        if (p && (p->view.terminal || p->view.exit_code >= 0))
            job_start_failed (k, true, "node %s: the pod of rank %u ended%s%s",
                              job_node_name (k, r), r, p->view.text[0] ? ": " : "",
                              p->view.text);
        else if (p)
            start_look_at_pod (k, r, p);
    }
}

static bool is_pulling (const struct kpod *p)
{
    return p && p->pulls && !p->pulled;
}

/* Pods that do not exist after the time limit of a start are late; a pull may take
 * longer. */
static void look_at_clock (struct kjob *k)
{
    if (clock_mono () < k->resize.place_by || k->resize.step != KRESIZE_PLACE)
        return;
    for (uint32_t r = change_of (k)->from; r < change_of (k)->nodes; r++) {
        const struct kpod *p = k->pods[r];
        if (is_pulling (p) || (p && p->view.started))
            continue;
        job_start_failed (k, true, "rank %u on %s: its pod %s after %.0f s", r,
                          job_node_name (k, r), p ? "does not run" : "was not made",
                          k->job->limits.start);
        return;
    }
}

static void place_new (struct kjob *k)
{
    look_at_new (k);
    look_at_clock (k);
    if (k->resize.step != KRESIZE_PLACE)
        return;
    patch_job (k, change_of (k)->nodes);
    k->maker->place (k);
    endpoints_write (k);
}

/* -- it shrinks -- */

static bool is_to_go (const struct kjob *k, const struct kpod *p)
{
    return job_rank_of (k, p) >= (int)change_of (k)->nodes;
}

/* Returns whether there are any. */
static bool delete_pods (struct kjob *k)
{
    char path[512];
    bool some = false;
    struct kpod *p;

    DL_FOREACH (k->all_pods, p) {
        if (!is_to_go (k, p))
            continue;
        some = true;
        if (p->deleted)
            continue;
        p->deleted = true;
        snprintf (path, sizeof (path), PATH_CORE "%s/pods/%s", k->space->name, p->name);
        if (!call_send (k, CALL_RESIZE_POD, (uint32_t)job_rank_of (k, p), "DELETE", path,
                        NULL))
            p->deleted = false;
    }
    return some;
}

void resize_pod_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res)
{
    struct kpod *p;

    if ((res->status >= 200 && res->status < 300) || res->status == 404)
        return;
    log_warning ("job %ju: the pod of rank %u, which is given back: %s", (uintmax_t)k->id,
                 c->rank, res->err.text);
    DL_FOREACH (k->all_pods, p)
        if (job_rank_of (k, p) == (int)c->rank)
            p->deleted = false;
}

static void remove_old (struct kjob *k)
{
    uint32_t nodes = change_of (k)->nodes;
    bool news = patch_job (k, nodes);

    if (news)
        endpoints_renew (k);
    endpoints_write (k);
    if (delete_pods (k) || !k->resize.patched)
        return;
    for (uint32_t r = nodes; r < k->room; r++)
        k->place_asked[r] = 0;
    k->resize.step = KRESIZE_NONE;
    if (k->maker->resized)
        k->maker->resized (k);
    tell (k, true, "");
}

/* -- the course -- */

static void told (int rc, void *arg)
{
    struct kjob *k = arg;

    if (k->resize.step != KRESIZE_TOLD)
        return;
    if (rc < 0)
        resize_failed (k, "rank 0's agent did not accept the change");
    else if (grows (k))
        k->resize.step = KRESIZE_PLACE;
    job_poke (k);
}

static void begin (struct kjob *k)
{
    const struct exec_resize *c = change_of (k);

    k->resize.step = KRESIZE_TOLD;
    k->resize.generation = c->generation;
    k->resize.patched = false;
    k->resize.place_by = clock_mono () + k->job->limits.start;
    k->launch.nnodes = resize_least (k->job);
    k->nplaces = grows (k) ? c->nodes : (uint32_t)k->launch.nnodes;
    if (grows (k) && take_nodes (k) < 0) {
        resize_failed (k, "out of memory");
        return;
    }
    if (grows (k))
        endpoints_renew (k);
    agentresize_begin (&k->resize.agent, k->link, k->job,
                       k->job->limits.start + k->job->limits.pull, told, k);
}

void resize_step (struct kjob *k)
{
    const struct exec_resize *c = change_of (k);

    if (!c->active || !k->link || k->have_fin || !k->maker || !k->x->pods_listed)
        return;
    if (k->resize.generation != c->generation)
        begin (k);
    if (k->resize.step == KRESIZE_PLACE)
        place_new (k);
    else if (k->resize.step == KRESIZE_REMOVE)
        remove_old (k);
}

void resize_frame (struct kjob *k, const struct frame *f)
{
    char text[256];

    if (!agentresize_is_about (k->job, f) || k->resize.told_generation == f->task)
        return;
    if (k->resize.generation != f->task) { /* the change as told before a restart */
        job_poke (k);
        resize_step (k);
    }
    agentresize_end (&k->resize.agent);
    snprintf (text, sizeof (text), "%.*s", (int)MIN (f->len, 250), f->data);
    if (f->stream != 0) {
        resize_failed (k, text);
    } else if (!grows (k)) {
        k->resize.step = KRESIZE_REMOVE;
    } else {
        k->resize.step = KRESIZE_NONE;
        k->launch.nnodes = k->nplaces = change_of (k)->nodes;
        if (k->maker->resized)
            k->maker->resized (k);
        tell (k, true, "");
    }
    job_poke (k);
}
