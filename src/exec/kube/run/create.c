/* create.c - a job's objects: sends requests and handles their answers (see run.h) */
#include "exec/kube/files/output.h"
#include "exec/kube/make/calls.h"
#include "exec/kube/make/endpoints.h"
#include "exec/kube/make/miniclusters.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/make/podrights.h"
#include "exec/kube/make/rankname.h"
#include "exec/kube/namespaces/spaces.h"
#include "exec/kube/needs/needs.h"
#include "exec/kube/run/run.h"

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "kube/object.h"

#define GET_AGAIN 2.0
#define ADMIN_MAX ((size_t)128 << 10) /* bytes of a prolog; a ConfigMap holds 1 MiB */

static void make (struct kjob *k, enum call_kind kind, uint32_t part, const char *group,
                  const char *kinds, json_t *object)
{
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s", group, k->space->name, kinds);
    k->objects_asked |= 1u << kind;
    if (!object || !call_send (k, kind, part, "POST", path, object))
        job_start_short (k, ENOMEM, "out of memory");
}

/* The annotations of a job for which nodes were made; else NULL. Pods can only name a
 * request in their own namespace. */
static json_t *consumes (const struct kjob *k)
{
    char name[NEED_NAME_MAX];
    const struct groupconfig *g = needs_request (k->x, k->id, name);

    return g && k->space == k->x->space ? json_pack ("{s:s s:s}", NEED_CONSUMES, name,
                                                     NEED_CLASS, g->provision_class)
                                        : NULL;
}

static void make_job (struct kjob *k, enum call_kind kind, uint32_t part)
{
    struct object_source src = calls_source (k);
    autojson json_t *annotations = consumes (k);

    src.annotations = annotations;
    src.component = part;
    k->parts[part].asked = true;
    make (k, kind, part, src.owner->prefix, src.owner->plural, k->maker->object (&src));
}

void create_job (struct kjob *k)
{
    k->maker = podmaker_choose (k);
    k->short_names = k->maker && k->maker->managed_by;
    if (k->maker)
        make_job (k, CALL_MAKE_JOB, 0);
    else
        k->objects_asked &= ~(1u << CALL_MAKE_JOB); /* set again when that is known */
}

static bool send_get (struct kjob *k, enum call_kind kind, uint32_t part)
{
    const struct object_owner *o = calls_owner (k);
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s/%s", o->prefix, k->space->name, o->plural,
              k->parts[part].name);
    return call_send (k, kind, part, "GET", path, NULL);
}

static void get_job (struct kjob *k, uint32_t part)
{
    k->objects_asked |= 1u << CALL_MAKE_JOB;
    k->parts[part].asked = true;
    if (!send_get (k, CALL_GET_JOB, part))
        job_start_short (k, ENOMEM, "out of memory");
}

void create_get_job (struct kjob *k)
{
    for (uint32_t i = 0; i < k->nparts; i++)
        if (!k->parts[i].uid[0])
            get_job (k, i);
}

/* Whether a request of this kind is under way. */
static bool is_asking (const struct kjob *k, enum call_kind kind)
{
    const struct kcall *c;

    DL_SEARCH_SCALAR (k->calls, c, kind, kind);
    return c != NULL;
}

void create_look (struct kjob *k)
{
    for (uint32_t i = 0; i < k->nparts; i++)
        send_get (k, CALL_LOOK, i);
    k->looked = !is_asking (k, CALL_LOOK);
}

/* Reads the administrator's program in its present version. */
static int read_admin (struct kjob *k, const char *path, struct strbuf *text)
{
    struct error err = { 0 };

    strbuf_init (text, ADMIN_MAX + 1);
    if (!path || io_read_file (path, text, ADMIN_MAX, &err) >= 0)
        return 0;
    log_error ("job %ju: %s", (uintmax_t)k->id, err.text);
    job_start_failed (k, true, "%s", err.text);
    return -EIO;
}

static json_t *configmap_of (struct kjob *k, struct object_source *src)
{
    autostrbuf struct strbuf text, prolog, epilog;
    bool fine = read_admin (k, k->job->prolog, &prolog) == 0;

    fine &= read_admin (k, k->job->epilog, &epilog) == 0;
    strbuf_init (&text, 8 << 20);
    if (!fine || launch_write (&k->launch, &text) < 0)
        return NULL;
    src->prolog = k->job->prolog ? &prolog : NULL;
    src->epilog = k->job->epilog ? &epilog : NULL;
    json_t *o = object_configmap (src, src->first_uid, text.buf, text.len);
    src->prolog = src->epilog = NULL;
    return o;
}

void create_rest (struct kjob *k)
{
    struct object_source src = calls_source (k);

    for (uint32_t i = 1; i < k->nparts; i++)
        if (!k->parts[i].asked)
            make_job (k, CALL_MAKE_PART, i);
    if (!(k->objects_asked & 1u << CALL_MAKE_CONFIGMAP))
        make (k, CALL_MAKE_CONFIGMAP, 0, PATH_CORE, "configmaps", configmap_of (k, &src));
    if (!(k->objects_asked & 1u << CALL_MAKE_SECRET))
        make (k, CALL_MAKE_SECRET, 0, PATH_CORE, "secrets",
              object_secret (&src, src.first_uid, k->out->key));
    if (!(k->objects_asked & 1u << CALL_MAKE_SERVICE) && k->room > 1
        && k->maker->names_ranks)
        make (k, CALL_MAKE_SERVICE, 0, PATH_CORE, "services",
              object_service (&src, src.first_uid));
}

bool create_rest_done (const struct kjob *k)
{
    unsigned need = REST_KINDS;

    if (k->room < 2 || !k->maker->names_ranks)
        need &= ~(1u << CALL_MAKE_SERVICE);
    return (k->objects_there & need) == need && job_is_made (k);
}

/* -- answers -- */

static bool is_ours (const struct kjob *k, const json_t *object)
{
    char id[24], attempt[12];

    snprintf (id, sizeof (id), "%ju", (uintmax_t)k->id);
    snprintf (attempt, sizeof (attempt), "%u", k->job->attempt);
    return strcmp (kube_label (object, LABEL_CLUSTER), k->x->host.cluster_id) == 0
           && strcmp (kube_label (object, LABEL_JOB), id) == 0
           && strcmp (kube_label (object, LABEL_ATTEMPT), attempt) == 0;
}

/* Whether an object of this job's name and id was made for another job. Without the label
 * it may be ours only if this job is recovered. */
static bool is_anothers (const struct kjob *k, const json_t *object)
{
    const char *submitted = kube_label (object, LABEL_SUBMITTED);

    return submitted[0] ? object_is_anothers (k->job, submitted) : !k->recovering;
}

/* Returns the number of running pods in its status. */
static json_int_t active_in (const json_t *object)
{
    return json_integer_value (
        json_object_get (json_object_get (object, "status"), "active"));
}

/* For the operator's Job: the MiniCluster, which owns all objects. */
static const char *uid_of (const json_t *object)
{
    const json_t *owner =
        podmaker_of (object) == &pods_minicluster ? object_owner_of (object) : NULL;
    const json_t *from = owner ? owner : json_object_get (object, "metadata");

    return json_string_value (json_object_get (from, "uid"));
}

/* The names of the ranks depend on the maker of the pods. */
static void name_ranks (struct kjob *k)
{
    struct object_source src = calls_source (k);
    char *all = NULL;

    if (!rankname_wanted (k->job))
        return;
    autofree char *host = rankname_pattern (&src);
    if (!host || asprintf (&all, "tcp:%s:%d", host, AGENT_PORT) < 0) {
        job_start_short (k, ENOMEM, "out of memory");
        return;
    }
    free (k->launch.rendezvous);
    k->launch.rendezvous = all;
}

/* Takes the existing Job or MiniCluster. The first one names the maker of all pods,
 * whatever the configuration is now. */
static void take_job (struct kjob *k, uint32_t part, const json_t *object)
{
    json_t *meta = json_object_get (object, "metadata");
    const char *uid = uid_of (object), *kind = calls_owner (k)->kind;
    struct kpart *p = &k->parts[part];

    if (!is_ours (k, object) || !uid)
        job_start_failed (k, false, "a %s %s exists that is not fluxq's", kind, p->name);
    else if (is_anothers (k, object)) /* the removal of this attempt removes it */
        job_start_failed (k, true, "the %s %s is of an earlier job of this number", kind,
                          p->name);
    else if (json_object_get (meta, "deletionTimestamp"))
        job_start_failed (k, true, "the %s %s is being deleted", kind, p->name);
    else if (part > 0 && k->maker && podmaker_of (object) != k->maker)
        job_start_failed (k, true, "the %s %s has another maker of pods than %s", kind,
                          p->name, k->name);
    else {
        if (part == 0) {
            k->maker = podmaker_of (object);
            k->short_names = k->maker->managed_by && rankname_is_short (object);
            name_ranks (k);
        }
        p->status_written = active_in (object) == (json_int_t)job_part_ranks (k, part);
        snprintf (p->made_at, sizeof (p->made_at), "%s",
                  json_text (meta, "creationTimestamp"));
        snprintf (p->uid, sizeof (p->uid), "%s", uid);
    }
}

static void make_part_answer (struct kjob *k, const struct kcall *c,
                              const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200)
        take_job (k, c->rank, res->body);
    else if (res->status == 409)
        get_job (k, c->rank);
    else
        job_start_failed (k, call_may_pass (res), "%s", res->err.text);
}

static void make_job_answer (struct kjob *k, const struct kcall *c,
                             const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200) {
        if (podmaker_accept (k, k->maker, podmaker_of (res->body)))
            take_job (k, 0, res->body);
    } else if (res->status == 409)
        get_job (k, c->rank);
    else if (res->status == 404 && k->maker == &pods_minicluster
             && !strstr (res->err.text, "namespaces \"")) {
        /* the resource does not exist any more */
        miniclusters_look (k->x);
        job_start_failed (k, true, "the cluster has no MiniClusters: %s", res->err.text);
    } else
        job_start_failed (k, call_may_pass (res), "%s", res->err.text);
}

/* It was deleted between our two requests. */
static void make_again (struct kjob *k, uint32_t part)
{
    if (part == 0)
        create_job (k);
    else
        k->parts[part].asked = false; /* see create_rest() */
}

static void get_job_answer (struct kjob *k, const struct kcall *c,
                            const struct kube_result *res)
{
    const char *name = k->parts[c->rank].name;

    if (res->status == 200)
        take_job (k, c->rank, res->body);
    else if (res->status == 404 && !k->ready_seen)
        make_again (k, c->rank);
    else if (res->status == 404) {
        k->phase = K_RUN;
        job_set_finish (k, 9, "lost", "its %s %s is gone from the cluster",
                        calls_owner (k)->kind, name);
    } else if (k->ready_seen && call_may_pass (res))
        k->get_again = clock_mono () + GET_AGAIN;
    else
        job_start_failed (k, call_may_pass (res), "%s", res->err.text);
    if (k->start_lost && k->ready_seen) {
        /* it had started: if it cannot be found again, it is lost */
        k->start_lost = false;
        k->phase = K_RUN;
        job_set_finish (k, 9, "lost", "its %s %s cannot be picked up again",
                        calls_owner (k)->kind, name);
    }
}

/* Detects edits that make the Job controller remove pods. */
static void see_edits (struct kjob *k, uint32_t part, const json_t *spec)
{
    const char *size = calls_owner (k)->size;
    json_int_t now = json_integer_value (json_object_get (spec, size));
    uint32_t ranks = job_part_ranks (k, part);

    if (json_is_true (json_object_get (spec, "suspend")))
        snprintf (k->edited_text, sizeof (k->edited_text), "was suspended");
    else if (spec && now < (json_int_t)ranks)
        snprintf (k->edited_text, sizeof (k->edited_text),
                  "was changed: %s is %jd instead of %u", size, (intmax_t)now,
                  (unsigned)ranks);
    else
        return;
    k->changed_part = part;
}

static void look_answer (struct kjob *k, const struct kcall *c,
                         const struct kube_result *res)
{
    json_t *meta = json_object_get (res->body, "metadata");

    k->looked = !is_asking (k, CALL_LOOK);
    if (k->job_deleted) /* the reason is known */
        return;
    see_edits (k, c->rank, json_object_get (res->body, "spec"));
    k->job_deleted =
        res->status == 404
        || (res->status == 200 && json_object_get (meta, "deletionTimestamp"));
    if (k->job_deleted)
        k->changed_part = c->rank;
}

static const char *const rest_kinds[] = { [CALL_MAKE_CONFIGMAP] = "configmaps",
                                          [CALL_MAKE_SECRET] = "secrets",
                                          [CALL_MAKE_SERVICE] = "services" };

static void check_rest (struct kjob *k, enum call_kind kind)
{
    char path[512];

    snprintf (path, sizeof (path), PATH_CORE "%s/%s?fieldSelector=metadata.name%%3D%s",
              k->space->name, rest_kinds[kind], k->name);
    if (!call_send (k, CALL_CHECK_REST, kind, "GET", path, NULL))
        job_start_short (k, ENOMEM, "out of memory");
}

/* These objects are immutable: one that belongs to our Job was made by us, before a
 * restart or by a request whose answer was lost. */
static void check_rest_answer (struct kjob *k, const struct kcall *c,
                               const struct kube_result *res)
{
    json_t *item = json_array_get (json_object_get (res->body, "items"), 0);
    const char *owner = json_text (object_owner_of (item), "uid");

    if (res->status != 200)
        job_start_failed (k, call_may_pass (res), "%s", res->err.text);
    else if (!item)
        k->objects_asked &= ~(1u << c->rank); /* was deleted between our requests */
    else if (strcmp (owner, k->parts[0].uid) == 0)
        k->objects_there |= 1u << c->rank;
    else
        job_start_failed (k, true, "%s %s is of an earlier job of this number",
                          rest_kinds[c->rank], k->name);
}

static void make_rest_answer (struct kjob *k, const struct kcall *c,
                              const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200)
        k->objects_there |= 1u << c->kind;
    else if (res->status == 409)
        check_rest (k, c->kind);
    else
        job_start_failed (k, call_may_pass (res), "%s", res->err.text);
}

static void place_answer (struct kjob *k, const struct kcall *c,
                          const struct kube_result *res)
{
    k->maker->placed (k, c->rank, res);
}

/* The job does not depend on it. 404: somebody deleted the Job; 422: the status says
 * already that the job has ended. */
static void status_answer (struct kjob *k, const struct kcall *c,
                           const struct kube_result *res)
{
    (void)c;
    if (res->status == 403)
        podrights_doubt (k->space);
    if ((res->status < 200 || res->status > 299) && res->status != 404
        && !(res->status == 422 && c->rank == STATUS_RUNNING))
        log_warning ("job %ju: the status of its Job cannot be written: %s",
                     (uintmax_t)k->id, res->err.text);
}

static void (*const handlers[]) (struct kjob *k, const struct kcall *c,
                                 const struct kube_result *res) = {
    [CALL_MAKE_JOB] = make_job_answer,
    [CALL_MAKE_PART] = make_part_answer,
    [CALL_GET_JOB] = get_job_answer,
    [CALL_MAKE_CONFIGMAP] = make_rest_answer,
    [CALL_MAKE_SECRET] = make_rest_answer,
    [CALL_MAKE_SERVICE] = make_rest_answer,
    [CALL_MAKE_ENDPOINTS] = endpoints_answer,
    [CALL_CHECK_REST] = check_rest_answer,
    [CALL_PLACE] = place_answer,
    [CALL_STATUS] = status_answer,
    [CALL_EVENTS] = calls_diagnosed,
    [CALL_DELETE] = remove_answer,
    [CALL_DELETE_POD] = remove_answer,
    [CALL_DELETE_PODS] = remove_answer,
    [CALL_LIST_PODS] = remove_answer,
    [CALL_LOOK] = look_answer,
    [CALL_LOG] = pods_minicluster_log,
    [CALL_RESIZE_JOB] = resize_job_answer,
    [CALL_RESIZE_POD] = resize_pod_answer,
};

/* Answers of a job that is being removed count only if they are about its removal. */
void create_answered (struct kjob *k, const struct kcall *c,
                      const struct kube_result *res)
{
    space_doubt (k->space, res);
    if (k->phase != K_REMOVE || handlers[c->kind] == remove_answer
        || c->kind == CALL_STATUS)
        handlers[c->kind](k, c, res);
}
