/* calls.c - see calls.h */
#include "exec/kube/make/calls.h"

#include "exec/kube/make/podmaker.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/files/output.h"
#include "exec/kube/files/staging.h"

/* -- requests -- */

/* Requests of a start, which can be dropped when the job does not start. */
#define START_KINDS                                                                      \
    ((1u << CALL_MAKE_JOB) | (1u << CALL_MAKE_PART) | (1u << CALL_PLACE) | REST_KINDS)

/* Requests of running jobs, and those that free nodes, go first; those for objects of
 * ended jobs do not. */
static unsigned flags_of (enum call_kind kind)
{
    bool later = START_KINDS & 1u << kind || kind == CALL_DELETE;
    unsigned flags = later ? KUBE_LATER : 0;

    if (kind == CALL_PLACE || kind == CALL_STATUS || kind == CALL_MAKE_ENDPOINTS
        || REST_KINDS & 1u << kind)
        flags |= KUBE_BRIEF;
    return kind == CALL_DELETE_PODS || kind == CALL_CHECK_REST ? KUBE_BRIEF_LIST : flags;
}

static void on_answer (const struct kube_result *res, void *arg)
{
    struct kcall *c = arg;
    struct kjob *k = c->k;

    DL_DELETE (k->calls, c);
    k->x->hooks->answered (k, c, res);
    free (c);
    job_poke (k);
}

bool call_send (struct kjob *k, enum call_kind kind, uint32_t rank, const char *method,
                const char *path, json_t *body)
{
    struct kcall *c = calloc (1, sizeof (*c));

    if (!c) {
        json_decref (body);
        return false;
    }
    c->k = k;
    c->kind = kind;
    c->rank = rank;
    c->req = kube_send_as (k->x->kube, flags_of (kind), method, path, body, on_answer, c);
    if (!c->req) {
        free (c);
        return false;
    }
    DL_APPEND (k->calls, c);
    return true;
}

static void call_drop (struct kcall *c)
{
    kube_cancel (c->req);
    DL_DELETE (c->k->calls, c);
    free (c);
}

void calls_cancel (struct kjob *k)
{
    struct kcall *c, *tmp;

    DL_FOREACH_SAFE (k->calls, c, tmp)
    {
        call_drop (c);
    }
}

void calls_drop_unsent (struct kjob *k)
{
    struct kcall *c, *tmp;

    DL_FOREACH_SAFE (k->calls, c, tmp)
    {
        if (START_KINDS & 1u << c->kind && kube_is_unsent (c->req))
            call_drop (c);
    }
}

void call_delete (struct kjob *k, uint32_t kind, const char *name)
{
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s/%s%s", kube_kinds[kind].prefix,
              k->space->name, kube_kinds[kind].kind, name, kube_kinds[kind].query);
    if (!call_send (k, CALL_DELETE, kind, "DELETE", path, NULL))
        k->delete_refused = true;
}

void calls_pods_path (const struct kjob *k, char *path, size_t size)
{
    snprintf (path, size,
              PATH_CORE "%s/pods?labelSelector=fluxq.io%%2Fcluster%%3D%s%%2C"
                        "fluxq.io%%2Fjob-id%%3D%ju%%2Cfluxq.io%%2Fattempt%%3D%u",
              k->space->name, k->x->host.cluster_id, (uintmax_t)k->id, k->job->attempt);
}

const struct object_owner *calls_owner (const struct kjob *k)
{
    return k->maker ? k->maker->owner : &object_owner_job;
}

struct object_source calls_source (const struct kjob *k)
{
    return (struct object_source){ .cfg = &k->x->cfg,
                                   .job = k->job,
                                   .pods = k->settings,
                                   .cluster = k->x->host.cluster_id,
                                   .namespace_ = k->space->name,
                                   .name = k->name,
                                   .agent = k->x->agent_name,
                                   .agent_digest = k->x->agent_digest,
                                   .managed_by = k->maker ? k->maker->managed_by : NULL,
                                   .owner = calls_owner (k),
                                   .short_names = k->short_names,
                                   .first_uid = k->parts[0].uid,
                                   .script = k->script,
                                   .inputs = &k->out->inputs,
                                   .directory = staging_directory (k->job, &k->launch) };
}

/* Refusals that time may heal, or the administrator: a quota that is used up, an expired
 * token, a missing right (just after its start the API server denies all requests), a
 * missing namespace. */
bool call_may_pass (const struct kube_result *res)
{
    return res->status == 0 || res->status == 401 || res->status >= 500
           || (res->status == 404 && strstr (res->err.text, "namespaces \""))
           || (res->status == 403
               && (strstr (res->err.text, "exceeded quota")
                   || strstr (res->err.text, "status unknown for quota")
                   || strstr (res->err.text, "because it is being terminated")
                   || strstr (res->err.text, " cannot create resource ")
                   || strstr (res->err.text, " cannot get resource ")));
}

/* -- no pods at the time limit -- */

/* The first rank without a pod, or the first of all. */
static uint32_t missing_rank (const struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        if (!k->pods[r])
            return r;
    return 0;
}

void calls_diagnose (struct kjob *k, const char *limit)
{
    const struct kpart *part = &k->parts[job_part_of (k, missing_rank (k))];
    char path[512];

    k->diagnosed = true;
    snprintf (path, sizeof (path),
              PATH_CORE "%s/"
                        "events?limit=10&fieldSelector=reason%%3DFailedCreate%%"
                        "2CinvolvedObject.name%%3D%s",
              k->space->name, part->name);
    if (!call_send (k, CALL_EVENTS, 0, "GET", path, NULL))
        job_start_failed (k, true, "not all pods were made in %s", limit);
}

void calls_diagnosed (struct kjob *k, const struct kcall *c,
                           const struct kube_result *res)
{
    json_t *items = json_object_get (res->body, "items");
    json_t *last = json_array_get (items, json_array_size (items) - 1);
    const char *message = json_string_value (json_object_get (last, "message"));
    unsigned made = 0;

    (void)c;
    for (uint32_t r = 0; r < k->launch.nnodes; r++)
        made += k->pods[r] != NULL;
    job_start_failed (k, true, "%u of %u pods were not made in %.0f s: %s",
                      (unsigned)k->launch.nnodes - made, (unsigned)k->launch.nnodes,
                      startclock_limit (&k->clock, START_LATE_PLACE),
                      message ? message : k->maker->silence);
}
