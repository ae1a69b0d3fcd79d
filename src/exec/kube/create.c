/* create.c - a job's objects and bindings: requests and what their answers mean (see
 * private.h) */
#include "exec/kube/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "exec/kube/staging.h"

#define GET_AGAIN 2.0
#define ADMIN_MAX ((size_t)128 << 10) /* bytes of a prolog; a ConfigMap holds 1 MiB */
#define BATCH "/apis/batch/v1/namespaces/"
#define CORE "/api/v1/namespaces/"
#define REST_KINDS                                                                       \
    ((1u << CALL_MAKE_CONFIGMAP) | (1u << CALL_MAKE_SECRET) | (1u << CALL_MAKE_SERVICE))

static void on_answer (const struct kube_result *res, void *arg);

/* ---- requests ---- */

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
    c->req = kube_send (k->x->kube, method, path, body, on_answer, c);
    if (!c->req) {
        free (c);
        return false;
    }
    DL_APPEND (k->calls, c);
    return true;
}

void calls_cancel (struct kjob *k)
{
    struct kcall *c, *tmp;

    DL_FOREACH_SAFE (k->calls, c, tmp)
    {
        kube_cancel (c->req);
        DL_DELETE (k->calls, c);
        free (c);
    }
}

static struct object_source source_of (const struct kjob *k)
{
    return (struct object_source){ .cfg = &k->x->cfg,
                                   .job = k->job,
                                   .cluster = k->x->host.cluster_id,
                                   .namespace_ = k->x->namespace_,
                                   .name = k->name,
                                   .agent = k->x->agent_name,
                                   .agent_digest = k->x->agent_digest,
                                   .inputs = output_inputs (k->out),
                                   .directory = staging_directory (k->job, &k->launch) };
}

static void make (struct kjob *k, enum call_kind kind, const char *group,
                  const char *kinds, json_t *object)
{
    char path[512];

    snprintf (path, sizeof (path), "%s%s/%s", group, k->x->namespace_, kinds);
    k->objects_asked |= 1u << kind;
    if (!object || !call_send (k, kind, 0, "POST", path, object))
        job_start_failed (k, true, "out of memory");
}

void create_job (struct kjob *k)
{
    struct object_source src = source_of (k);

    make (k, CALL_MAKE_JOB, BATCH, "jobs", object_job (&src));
}

void create_get_job (struct kjob *k)
{
    char path[512];

    snprintf (path, sizeof (path), BATCH "%s/jobs/%s", k->x->namespace_, k->name);
    k->objects_asked |= 1u << CALL_MAKE_JOB;
    if (!call_send (k, CALL_GET_JOB, 0, "GET", path, NULL))
        job_start_failed (k, true, "out of memory");
}

void create_look (struct kjob *k)
{
    char path[512];

    snprintf (path, sizeof (path), BATCH "%s/jobs/%s", k->x->namespace_, k->name);
    k->looked = !call_send (k, CALL_LOOK, 0, "GET", path, NULL);
}

/* The administrator's program as it is now. */
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
    json_t *o = object_configmap (src, k->uid, text.buf, text.len);
    src->prolog = src->epilog = NULL;
    return o;
}

void create_rest (struct kjob *k)
{
    struct object_source src = source_of (k);

    if (!(k->objects_asked & 1u << CALL_MAKE_CONFIGMAP))
        make (k, CALL_MAKE_CONFIGMAP, CORE, "configmaps", configmap_of (k, &src));
    if (!(k->objects_asked & 1u << CALL_MAKE_SECRET))
        make (k, CALL_MAKE_SECRET, CORE, "secrets",
              object_secret (&src, k->uid, output_key (k->out)));
    if (!(k->objects_asked & 1u << CALL_MAKE_SERVICE) && k->launch.nnodes > 1)
        make (k, CALL_MAKE_SERVICE, CORE, "services", object_service (&src, k->uid));
}

bool create_rest_done (const struct kjob *k)
{
    unsigned need = REST_KINDS;

    if (k->launch.nnodes < 2)
        need &= ~(1u << CALL_MAKE_SERVICE);
    return (k->objects_there & need) == need;
}

/* Index 0 first: the others look for it as soon as they run. */
void create_bindings (struct kjob *k)
{
    for (uint32_t r = 0; r < k->launch.nnodes; r++) {
        struct kpod *p = k->pods[r];
        char path[512];

        if (p && p->node && r == 0)
            k->bind0_done = true;
        if (!p || p->node || k->bind_asked[r] || (r > 0 && !k->bind0_done))
            continue;
        snprintf (path, sizeof (path), CORE "%s/pods/%s/binding", k->x->namespace_,
                  p->name);
        k->bind_asked[r] = 1;
        if (!call_send (k, CALL_BIND, r, "POST", path,
                        object_binding (k->x->namespace_, p->name, job_node_name (k, r))))
            job_start_failed (k, true, "out of memory");
    }
}

/* ---- no pods at the time limit ---- */

void create_diagnose (struct kjob *k, const char *limit)
{
    char path[512];

    k->diagnosed = true;
    snprintf (path, sizeof (path),
              CORE "%s/"
                   "events?limit=10&fieldSelector=reason%%3DFailedCreate%%"
                   "2CinvolvedObject.name%%3D%s",
              k->x->namespace_, k->name);
    if (!call_send (k, CALL_EVENTS, 0, "GET", path, NULL))
        job_start_failed (k, true, "not all pods were made in %s", limit);
}

static void events_answer (struct kjob *k, const struct kcall *c,
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
                      message ? message : "the Job controller said nothing");
}

/* ---- answers ---- */

/* A refusal that time may heal: a quota that is used up now, a token that has run out, a
 * right that we lack (just after its start the API server denies them all). */
static bool may_pass (const struct kube_result *res)
{
    return res->status == 0 || res->status == 401 || res->status >= 500
           || (res->status == 403
               && (strstr (res->err.text, "exceeded quota")
                   || strstr (res->err.text, "status unknown for quota")
                   || strstr (res->err.text, " cannot create resource ")
                   || strstr (res->err.text, " cannot get resource ")));
}

static const char *label_of (const json_t *object, const char *key)
{
    json_t *labels = json_object_get (json_object_get (object, "metadata"), "labels");
    const char *s = json_string_value (json_object_get (labels, key));

    return s ? s : "";
}

static bool is_ours (const struct kjob *k, const json_t *object)
{
    char id[24], attempt[12];

    snprintf (id, sizeof (id), "%ju", (uintmax_t)k->id);
    snprintf (attempt, sizeof (attempt), "%u", k->job->attempt);
    return strcmp (label_of (object, LABEL_CLUSTER), k->x->host.cluster_id) == 0
           && strcmp (label_of (object, LABEL_JOB), id) == 0
           && strcmp (label_of (object, LABEL_ATTEMPT), attempt) == 0;
}

static void take_job (struct kjob *k, const json_t *object)
{
    json_t *meta = json_object_get (object, "metadata");
    const char *uid = json_string_value (json_object_get (meta, "uid"));

    if (!is_ours (k, object) || !uid)
        job_start_failed (k, false, "there is a Job %s that is not ours", k->name);
    else if (json_object_get (meta, "deletionTimestamp"))
        job_start_failed (k, true, "the Job %s is being deleted", k->name);
    else
        snprintf (k->uid, sizeof (k->uid), "%s", uid);
}

static void make_job_answer (struct kjob *k, const struct kcall *c,
                             const struct kube_result *res)
{
    (void)c;
    if (res->status == 201 || res->status == 200)
        take_job (k, res->body);
    else if (res->status == 409)
        create_get_job (k);
    else
        job_start_failed (k, may_pass (res), "%s", res->err.text);
}

static void get_job_answer (struct kjob *k, const struct kcall *c,
                            const struct kube_result *res)
{
    (void)c;
    if (res->status == 200)
        take_job (k, res->body);
    else if (res->status == 404 && !k->ready_seen)
        create_job (k); /* it went between our two questions */
    else if (res->status == 404) {
        k->phase = K_RUN;
        job_set_finish (k, 9, "lost", "its Job %s is gone from the cluster", k->name);
    } else if (k->ready_seen && may_pass (res))
        k->get_again = clock_mono () + GET_AGAIN;
    else
        job_start_failed (k, may_pass (res), "%s", res->err.text);
    if (k->start_lost
        && k->ready_seen) { /* it had started: what we cannot pick up is lost */
        k->start_lost = false;
        k->phase = K_RUN;
        job_set_finish (k, 9, "lost", "its Job %s cannot be picked up again", k->name);
    }
}

static void look_answer (struct kjob *k, const struct kcall *c,
                         const struct kube_result *res)
{
    json_t *meta = json_object_get (res->body, "metadata");

    (void)c;
    k->looked = true;
    k->job_deleted =
        res->status == 404
        || (res->status == 200 && json_object_get (meta, "deletionTimestamp"));
}

/* The names say whose it is, and they are immutable: what exists is what we made before a
 * restart. */
static void make_rest_answer (struct kjob *k, const struct kcall *c,
                              const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200 || res->status == 409)
        k->objects_there |= 1u << c->kind;
    else
        job_start_failed (k, may_pass (res), "%s", res->err.text);
}

static void bind_answer (struct kjob *k, const struct kcall *c,
                         const struct kube_result *res)
{
    if (res->status == 201 || res->status == 200 || res->status == 409) {
        if (c->rank == 0)
            k->bind0_done = true;
    } else if (res->status == 404)
        k->bind_asked[c->rank] = 0; /* the watch tells what became of the pod */
    else {
        job_blame (k, c->rank, false);
        job_start_failed (k, may_pass (res), "rank %u cannot be bound to %s: %s", c->rank,
                          job_node_name (k, c->rank), res->err.text);
    }
}

static void (*const handlers[]) (struct kjob *k, const struct kcall *c,
                                 const struct kube_result *res) = {
    [CALL_MAKE_JOB] = make_job_answer,
    [CALL_GET_JOB] = get_job_answer,
    [CALL_MAKE_CONFIGMAP] = make_rest_answer,
    [CALL_MAKE_SECRET] = make_rest_answer,
    [CALL_MAKE_SERVICE] = make_rest_answer,
    [CALL_BIND] = bind_answer,
    [CALL_EVENTS] = events_answer,
    [CALL_DELETE] = remove_answer,
    [CALL_DELETE_POD] = remove_answer,
    [CALL_LIST_PODS] = remove_answer,
    [CALL_LOOK] = look_answer,
};

static void on_answer (const struct kube_result *res, void *arg)
{
    struct kcall *c = arg;
    struct kjob *k = c->k;

    DL_DELETE (k->calls, c);
    if (k->phase != K_REMOVE || handlers[c->kind] == remove_answer)
        handlers[c->kind](k, c, res);
    free (c);
    job_poke (k);
}
