/* pods_broker.c - the broker makes the pods, each with its node, and writes the Job's
 * status (see podmaker.h)
 *
 * The pods are named after the Job and their rank, so that making one twice is harmless.
 * They look like those of the Job controller, and the Job owns them, so its deletion
 * deletes them. But the garbage collector is slow, so this file deletes all pods of a
 * job with one request.
 */
#include "exec/kube/make/calls.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/make/podrights.h"

#include "common/clock.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/jobstatus.h"
#include "exec/kube/make/podobject.h"
#include "exec/kube/make/rankname.h"

/* -- pods -- */

enum { NOT_ASKED, ASKED, SEEN }; /* k->place_asked */

static bool make_pod (struct kjob *k, const struct object_source *src,
                      const struct kpart *part, const json_t *job, uint32_t rank)
{
    struct pod_request ask = podrequest_of_rank (k->job->r, rank);
    char path[512], name[OBJECT_NAME_MAX + 16], host[RANKNAME_LABEL_MAX];

    snprintf (name, sizeof (name), "%s-%u", k->name, (unsigned)rank);
    rankname_label (src, rank, host);
    json_t *pod = podobject_make (job, part->uid, name, host, rank - part->first,
                                  job_node_name (k, rank), &ask, k->x->cfg.gpu_resource);
    snprintf (path, sizeof (path), PATH_CORE "%s/pods", k->space->name);
    k->place_asked[rank] = ASKED;
    return pod && call_send (k, CALL_PLACE, rank, "POST", path, pod);
}

/* True: all exist or were requested. */
static bool make_part (struct kjob *k, uint32_t part)
{
    struct object_source src = calls_source (k);

    src.component = part;
    autojson json_t *job = object_job (&src);
    bool fine = job != NULL;
    for (uint32_t r = k->parts[part].first; fine && r < k->nplaces; r++)
        if (job_part_of (k, r) == part && k->place_asked[r] == NOT_ASKED)
            fine = make_pod (k, &src, &k->parts[part], job, r);
    return fine;
}

/* Rank 0 goes first, since the others look for it. */
static bool make_pods (struct kjob *k)
{
    bool fine = true;

    for (uint32_t part = 0; fine && part < k->nparts; part++)
        fine = make_part (k, part);
    return fine;
}

/* After a restart, existing pods are not requested again: so the list comes first. */
static void place (struct kjob *k)
{
    bool some = false;

    if (k->recovering && !k->x->pods_listed)
        return;
    for (uint32_t r = 0; r < k->nplaces; r++) {
        if (k->pods[r])
            k->place_asked[r] = SEEN;
        else if (k->place_asked[r] == SEEN)
            job_start_failed (k, true, "rank %u on %s: its pod was deleted", r,
                              job_node_name (k, r));
        some |= k->place_asked[r] == NOT_ASKED;
    }
    if (some && !k->start_lost && !make_pods (k))
        job_start_short (k, ENOMEM, "out of memory");
}

/* 409: made before a restart, or by a request whose answer was lost. */
static void placed (struct kjob *k, uint32_t rank, const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200 || res->status == 409)
        return;
    if (res->status == 403 && strstr (res->err.text, " cannot create resource "))
        podrights_doubt (k->space);
    job_start_failed (k, call_may_pass (res),
                      "the pod of rank %u was not made on %s: %s", rank,
                      job_node_name (k, rank), res->err.text);
}

static void missing (struct kjob *k, const char *limit)
{
    uint32_t n = 0, first = 0;

    for (uint32_t r = (uint32_t)k->launch.nnodes; r-- > 0;)
        if (!k->pods[r]) {
            n++;
            first = r;
        }
    job_start_failed (k, true, "%u of %zu pods were not made in %s: %s-%u%s", n,
                      k->launch.nnodes, limit, k->name, first,
                      k->calls ? ": the API server has not answered yet"
                               : ": it went, or is another's");
}

/* -- the Job's status -- */

static void patch_status (struct kjob *k, uint32_t part, uint32_t what, json_t *status)
{
    char path[512];

    snprintf (path, sizeof (path), PATH_BATCH "%s/jobs/%s/status", k->space->name,
              k->parts[part].name);
    json_t *patch = status ? json_pack ("{s:o}", "status", status) : NULL;
    if (!patch || !call_send (k, CALL_STATUS, what, "PATCH", path, patch))
        log_warning ("job %ju: the status of its Job cannot be written: out of memory",
                     (uintmax_t)k->id);
}

static void ready (struct kjob *k)
{
    for (uint32_t i = 0; i < k->nparts; i++) {
        struct kpart *part = &k->parts[i];

        if (part->status_written || !part->uid[0])
            continue;
        part->status_written = true;
        patch_status (k, i, STATUS_RUNNING,
                      jobstatus_running (part->made_at, job_part_ranks (k, i)));
    }
}

static void resized (struct kjob *k)
{
    k->parts[0].status_written = false;
    ready (k);
}

static void ended (struct kjob *k)
{
    struct jobstatus_end end = { .start_failed = k->start_lost,
                                 .status = k->fin.status,
                                 .reason = k->fin.reason,
                                 .text = k->fin.text };

    for (uint32_t i = 0; i < k->nparts; i++) {
        const struct kpart *part = &k->parts[i];

        end.ranks = job_part_ranks (k, i);
        end.made = MIN (part->pods_seen, end.ranks);
        if (part->uid[0])
            patch_status (k, i, STATUS_ENDED,
                          jobstatus_ended (part->made_at, clock_wall (), &end));
    }
}

/* -- the end -- */

static void remove_pods (struct kjob *k)
{
    char path[1024];

    calls_pods_path (k, path, sizeof (path));
    if (!k->left_to_gc) /* otherwise, and if it fails, the garbage collector does it */
        call_send (k, CALL_DELETE_PODS, 0, "DELETE", path, NULL);
}

const struct podmaker pods_broker = {
    .name = "broker",
    .owner = &object_owner_job,
    .names_ranks = true,
    .managed_by = "fluxq.io/broker",
    .object = object_job,
    .asks_for_rank = true,
    .place = place,
    .placed = placed,
    .missing = missing,
    .ready = ready,
    .resized = resized,
    .ended = ended,
    .remove = remove_pods,
};
