/* objects.c - see objects.h */
#include "exec/kube/make/objects.h"

#include <ctype.h>
#include <math.h>

#include "common/sha256.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/kjob.h"
#include "exec/kube/files/userfiles.h"
#include "exec/kube/make/podspec.h"
#include "exec/kube/make/rankname.h"
#include "exec/mounts.h"
#include "protocol/inside.h"

#define TTL_SECONDS 86400

const struct object_owner object_owner_job = { .api = "batch/v1",
                                               .kind = "Job",
                                               .prefix = "/apis/batch/v1/namespaces/",
                                               .plural = "jobs",
                                               .size = "parallelism" };
#define TERMINATION_GRACE 5

/* A label value: at most 63 of [A-Za-z0-9_.-], first and last alphanumeric. */
static void label_value (const char *text, char ret[64])
{
    size_t n = 0;

    for (; *text && n < 63; text++) {
        unsigned char c = (unsigned char)*text;
        bool fine = isalnum (c) || (n > 0 && strchr ("_.-", c));

        if (fine || n > 0)
            ret[n++] = (char)(fine ? c : '_');
    }
    while (n > 0 && !isalnum ((unsigned char)ret[n - 1]))
        n--;
    ret[n] = 0;
}

json_t *object_labels (const struct object_source *src)
{
    char id[24], attempt[12], user[64], submitted[OBJECT_SUBMITTED_MAX];

    snprintf (id, sizeof (id), "%ju", (uintmax_t)src->job->id);
    snprintf (attempt, sizeof (attempt), "%u", src->job->attempt);
    label_value (src->job->user.name ? src->job->user.name : "", user);
    object_submitted (src->job, submitted);
    json_t *labels = json_pack ("{s:s s:s s:s s:s s:s s:s}", LABEL_MANAGED, "fluxq",
                                LABEL_CLUSTER, src->cluster, LABEL_JOB, id, LABEL_ATTEMPT,
                                attempt, LABEL_USER, user, LABEL_SUBMITTED, submitted);
    if (labels && src->cfg && src->cfg->user_policies)
        json_object_set_new (labels, LABEL_UID,
                             json_sprintf ("%ju", (uintmax_t)src->job->user.uid));
    return labels;
}

/* The labels of a component's Job and pods. */
static json_t *part_labels (const struct object_source *src)
{
    json_t *labels = object_labels (src);

    if (labels && src->job->js->ncomponents > 0)
        json_object_set_new (labels, LABEL_COMPONENT,
                             json_sprintf ("%u", (unsigned)src->component));
    return labels;
}

json_t *object_user_policy (const struct object_source *src)
{
    char uid[24], name[OBJECT_NAME_MAX + 32];

    snprintf (uid, sizeof (uid), "%ju", (uintmax_t)src->job->user.uid);
    snprintf (name, sizeof (name), "fluxq-%s-user-%s", src->cluster, uid);
    json_t *of_user =
        json_pack ("{s:{s:s s:s s:s}}", "matchLabels", LABEL_MANAGED, "fluxq",
                   LABEL_CLUSTER, src->cluster, LABEL_UID, uid);
    return json_pack (
        "{s:s s:s s:{s:s s:s s:{s:s s:s s:s}} s:{s:O s:[s] s:[{s:[{s:o}]} {s:[{s:s "
        "s:i}]}]}}",
        "apiVersion", "networking.k8s.io/v1", "kind", "NetworkPolicy", "metadata", "name",
        name, "namespace", src->namespace_, "labels", LABEL_MANAGED, "fluxq",
        LABEL_CLUSTER, src->cluster, LABEL_UID, uid, "spec", "podSelector", of_user,
        "policyTypes", "Ingress", "ingress", "from", "podSelector", of_user, "ports",
        "protocol", "TCP", "port", AGENT_PORT);
}

json_t *object_metadata (const struct object_source *src, const char *uid)
{
    const struct object_owner *owner = src->owner ? src->owner : &object_owner_job;
    json_t *meta = json_pack ("{s:s s:s s:o}", "name", src->name, "namespace",
                              src->namespace_, "labels", object_labels (src));

    if (meta && uid)
        json_object_set_new (meta, "ownerReferences",
                             json_pack ("[{s:s s:s s:s s:s}]", "apiVersion", owner->api,
                                        "kind", owner->kind, "name", src->name, "uid",
                                        uid));
    return meta;
}

json_t *object_owner_of (const json_t *object)
{
    const json_t *meta = json_object_get (object, "metadata");

    return json_array_get (json_object_get (meta, "ownerReferences"), 0);
}

static json_t *resources (const struct object_source *src)
{
    struct rset ranks = podrequest_ranks (src->job->r, src->component);
    struct pod_request q = podrequest_least (&ranks);
    json_t *requests = json_object (), *limits = json_object ();
    char text[32];

    if (q.cpu_milli > 0)
        json_object_set_new (requests, "cpu",
                             json_string (podrequest_cpu (q.cpu_milli, text)));
    if (q.memory_mib > 0) {
        snprintf (text, sizeof (text), "%jdMi", (intmax_t)q.memory_mib);
        json_object_set_new (requests, "memory", json_string (text));
        json_object_set_new (limits, "memory", json_string (text));
    }
    /* a job with parts of CPUs gets no more than these */
    if (rset_cpu_milli (&ranks) > 0 && q.cpu_milli > 0)
        json_object_set (limits, "cpu", json_object_get (requests, "cpu"));
    /* makes the class Guaranteed: kubelets align no other pods */
    if (src->cfg->numa != KUBE_NUMA_OFF && q.cpu_milli > 0 && q.memory_mib > 0)
        json_object_set (limits, "cpu", json_object_get (requests, "cpu"));
    if (q.gpus > 0) {
        snprintf (text, sizeof (text), "%u", q.gpus);
        json_object_set_new (requests, src->cfg->gpu_resource, json_string (text));
        json_object_set_new (limits, src->cfg->gpu_resource, json_string (text));
    }
    if (src->job->js && ranks.nranks > 0)
        kube_gres_ask_least (jobspec_component (src->job->js, src->component), &ranks,
                             requests, limits);
    return json_pack ("{s:o s:o}", "requests", requests, "limits", limits);
}

static json_t *pod_security (const struct object_source *src)
{
    const struct exec_user *u = &src->job->user;
    json_t *groups = json_array ();
    json_t *sc;

    for (size_t i = 0; i < u->ngroups; i++)
        json_array_append_new (groups, json_integer (u->groups[i]));
    /* fsGroup lets the user read the key and write the spool. */
    sc = json_pack ("{s:I s:I s:I s:o}", "runAsUser", (json_int_t)u->uid, "runAsGroup",
                    (json_int_t)u->gid, "fsGroup", (json_int_t)u->gid,
                    "supplementalGroups", groups);
    if (sc && u->uid != 0)
        json_object_set_new (sc, "runAsNonRoot", json_true ());
    if (sc && src->cfg->restricted)
        json_object_set_new (sc, "seccompProfile",
                             json_pack ("{s:s}", "type", "RuntimeDefault"));
    return sc;
}

static void set_security (const struct object_source *src, json_t *c)
{
    if (c && src->cfg->pull_policy)
        json_object_set_new (c, "imagePullPolicy", json_string (src->cfg->pull_policy));
    if (c && src->cfg->restricted)
        json_object_set_new (c, "securityContext",
                             json_pack ("{s:b s:{s:[s]}}", "allowPrivilegeEscalation", 0,
                                        "capabilities", "drop", "ALL"));
}

PRINTF_LIKE (2, 3) static void add_set (json_t *command, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    json_array_append_new (command, json_string ("--set"));
    json_array_append_new (command, json_string (text));
}

const char *object_programs (const struct kube_config *cfg)
{
    return cfg->agent_image ? POD_BIN : POD_JOB;
}

/* For the agent: the rank of a pod, from its index in its Job. */
static void rank_text (const struct object_source *src, char text[64])
{
    size_t first;

    rset_component (src->job->r, src->component, &first);
    if (src->component == 0)
        snprintf (text, 64, "$(JOB_COMPLETION_INDEX)");
    else
        snprintf (text, 64, "%zu+$(JOB_COMPLETION_INDEX)", first);
}

static json_t *admin_command (const struct object_source *src, const char *name)
{
    const struct exec_job *job = src->job;
    char timeout[32], program[64], rank[64];

    snprintf (timeout, sizeof (timeout), "%.0f", job->admin_timeout);
    snprintf (program, sizeof (program), "%s/%s", object_programs (src->cfg), name);
    rank_text (src, rank);
    json_t *c = json_pack ("[s s s s s s s s s s]", POD_BIN "/fluxq-shell",
                           ADMINRUN_COMMAND, "--program", program, "--timeout", timeout,
                           "--report", "/dev/termination-log", "--rank", rank);
    add_set (c, "FLUXQ_JOB_ID=%ju", (uintmax_t)job->id);
    add_set (c, "FLUXQ_JOB_USER=%s", job->user.name);
    add_set (c, "FLUXQ_JOB_UID=%u", (unsigned)job->user.uid);
    add_set (c, "FLUXQ_JOB_GID=%u", (unsigned)job->user.gid);
    add_set (c, "FLUXQ_QUEUE=%s", job->queue);
    add_set (c, "FLUXQ_NODENAME=$(FLUXQ_NODENAME)"); /* the kubelet fills these in */
    add_set (c, "FLUXQ_NNODES=%zu", job->r->nranks);
    add_set (c, "FLUXQ_RESTART_COUNT=%u", job->attempt);
    add_set (c, "FLUXQ_ADMIN_PROGRAM=%s", name);
    return c;
}

/* A container with the administrator's image and program. Nothing of it belongs to the
 * job, so its exit status can be believed. The epilog's container waits until the others
 * have ended. */
static json_t *admin_container (const struct object_source *src, const char *name)
{
    const struct kube_config *cfg = src->cfg;
    const char *image = cfg->admin_image ? cfg->admin_image : cfg->image;
    bool is_epilog = !strcmp (name, POD_EPILOG);
    json_t *command = admin_command (src, name);

    if (is_epilog)
        json_array_append_new (command, json_string ("--wait"));
    json_t *c =
        json_pack ("{s:s s:s s:o s:[{s:s s:{s:{s:s}}}] s:[{s:s s:s s:b} {s:s s:s s:b}]}",
                   "name", name, "image", image ? image : "", "command", command, "env",
                   "name", "FLUXQ_NODENAME", "valueFrom", "fieldRef", "fieldPath",
                   "spec.nodeName", "volumeMounts", "name", "bin", "mountPath", POD_BIN,
                   "readOnly", 1, "name", "job", "mountPath", POD_JOB, "readOnly", 1);
    if (c && is_epilog)
        json_object_set_new (c, "restartPolicy", json_string ("Always"));
    set_security (src, c);
    return c;
}

/* Copies the agent from its image, and other executable files, to a volume that the other
 * containers see. */
static json_t *agent_container (const struct object_source *src)
{
    json_t *c = json_pack ("{s:s s:s s:[s s s s] s:s s:[{s:s s:s} {s:s s:s s:b}]}",
                           "name", POD_AGENT, "image", src->cfg->agent_image, "command",
                           IMAGE_AGENT, INSTALL_COMMAND, POD_BIN, src->agent_digest,
                           "terminationMessagePolicy", "FallbackToLogsOnError",
                           "volumeMounts", "name", "bin", "mountPath", POD_BIN, "name",
                           "job", "mountPath", POD_JOB, "readOnly", 1);
    json_t *command = json_object_get (c, "command");

    json_array_append_new (command, json_string (POD_JOB "/script"));
    if (src->job->prolog)
        json_array_append_new (command, json_string (POD_JOB "/" POD_PROLOG));
    if (src->job->epilog)
        json_array_append_new (command, json_string (POD_JOB "/" POD_EPILOG));
    set_security (src, c);
    return c;
}

/* In this order: each starts when the one before it has ended, or runs as a sidecar. */
static json_t *init_containers (const struct object_source *src)
{
    json_t *list = json_array ();

    if (src->cfg->agent_image)
        json_array_append_new (list, agent_container (src));
    if (src->job->epilog) /* before it, so that it runs when the prolog fails */
        json_array_append_new (list, admin_container (src, POD_EPILOG));
    if (src->job->prolog)
        json_array_append_new (list, admin_container (src, POD_PROLOG));
    return list;
}

/* Adds the directory for staged files: of this pod alone, empty. */
static int add_directory (const struct object_source *src, json_t *volumes,
                          json_t *places)
{
    int rc = 0;

    if (!src->directory)
        return 0;
    if (volumes)
        rc |= json_array_append_new (
            volumes, json_pack ("{s:s s:{}}", "name", "directory", "emptyDir"));
    if (places)
        rc |= json_array_append_new (places, json_pack ("{s:s s:s}", "name", "directory",
                                                        "mountPath", src->directory));
    return rc;
}

static bool wants_userfiles (const struct object_source *src)
{
    return !json_is_false (json_object_get (src->pods, "user-entry"));
}

static json_t *container (const struct object_source *src)
{
    const char *image = src->job->js->image ? src->job->js->image : src->cfg->image;
    char rank[64];

    rank_text (src, rank);
    json_t *c = json_pack (
        "{s:s s:s s:[s s s s s s s] s:[{s:i}] s:o s:s s:[{s:s s:s s:b} {s:s s:s s:b} "
        "{s:s s:s s:b} "
        "{s:s s:s}]}",
        "name", POD_MAIN, "image", image ? image : "", "command", POD_BIN "/fluxq-shell",
        "--launch", POD_JOB "/launch", "--key", POD_KEY "/key", "--rank", rank, "ports",
        "containerPort", AGENT_PORT, "resources", resources (src),
        "terminationMessagePolicy", "FallbackToLogsOnError", "volumeMounts", "name",
        "bin", "mountPath", POD_BIN, "readOnly", 1, "name", "job", "mountPath", POD_JOB,
        "readOnly", 1, "name", "key", "mountPath", POD_KEY, "readOnly", 1, "name", "run",
        "mountPath", POD_RUN);

    if (c
        && (mounts_add_places (src->job->mounts, json_object_get (c, "volumeMounts")) < 0
            || add_directory (src, NULL, json_object_get (c, "volumeMounts")) < 0
            || (wants_userfiles (src)
                && userfiles_add_places (src->job, json_object_get (c, "volumeMounts"))
                       < 0))) {
        json_decref (c);
        return NULL;
    }
    if (src->job->js->malleable) /* no launch file names ranks that come later */
        json_object_set_new (c, "env",
                             json_pack ("[{s:s s:{s:{s:s}}}]", "name",
                                        AGENT_NODE_VARIABLE, "valueFrom", "fieldRef",
                                        "fieldPath", "spec.nodeName"));
    set_security (src, c);
    return c;
}

static json_t *volume_item (const char *name, int mode)
{
    return json_pack ("{s:s s:s s:i}", "key", name, "path", name, "mode", mode);
}

/* Items of the job's ConfigMap that are mounted, see object_configmap(). */
static json_t *job_items (const struct object_source *src)
{
    json_t *items = json_array ();
    int program = src->cfg->agent_image ? 0444 : 0755;

    json_array_append_new (items, volume_item ("launch", 0444));
    json_array_append_new (items, volume_item ("script", program));
    if (src->job->prolog)
        json_array_append_new (items, volume_item (POD_PROLOG, program));
    if (src->job->epilog)
        json_array_append_new (items, volume_item (POD_EPILOG, program));
    for (size_t i = 0; src->inputs && i < src->inputs->n; i++)
        json_array_append_new (items, volume_item (src->inputs->v[i].name, 0444));
    if (wants_userfiles (src))
        userfiles_add_items (src->job, items);
    return items;
}

/* The agent's program under all its names. */
static json_t *agent_items (void)
{
    static const char *const names[] = { "fluxq-shell", "fluxq-run", "fluxq-bcast" };
    json_t *items = json_array ();
    char path[64];

    for (size_t i = 0; i < ARRAY_SIZE (names); i++)
        json_array_append_new (
            items, json_pack ("{s:s s:s}", "key", "fluxq-shell", "path", names[i]));
    for (size_t i = 0; inside_clients[i]; i++) {
        snprintf (path, sizeof (path), INSIDE_DIR "/%s", inside_clients[i]);
        json_array_append_new (
            items, json_pack ("{s:s s:s}", "key", "fluxq-shell", "path", path));
    }
    return items;
}

/* The agent's directory: a ConfigMap, or a volume that agent_container() fills. */
static json_t *agent_volume (const struct object_source *src)
{
    if (src->cfg->agent_image)
        return json_pack ("{s:s s:{}}", "name", "bin", "emptyDir");
    return json_pack ("{s:s s:{s:s s:i s:o}}", "name", "bin", "configMap", "name",
                      src->agent, "defaultMode", 0755, "items", agent_items ());
}

static json_t *volumes (const struct object_source *src)
{
    json_t *list = json_pack ("[o {s:s s:{s:s s:i s:o}} {s:s s:{s:s s:i}} {s:s s:{}}]",
                              agent_volume (src), "name", "job", "configMap", "name",
                              src->name, "defaultMode", 0444, "items", job_items (src),
                              "name", "key", "secret", "secretName", src->name,
                              "defaultMode", 0400, "name", "run", "emptyDir");

    if (mounts_add_volumes (src->job->mounts, list) < 0
        || add_directory (src, list, NULL) < 0) {
        json_decref (list);
        return NULL;
    }
    return list;
}

static json_t *pod_spec (const struct object_source *src)
{
    int grace =
        TERMINATION_GRACE + (src->job->epilog ? (int)ceil (src->job->admin_timeout) : 0);
    json_t *spec = json_pack (
        "{s:s s:s s:i s:b s:b s:o s:[o] s:o}", "schedulerName", "fluxq", "restartPolicy",
        "Never", "terminationGracePeriodSeconds", grace, "enableServiceLinks", 0,
        "automountServiceAccountToken", 0, "securityContext", pod_security (src),
        "containers", container (src), "volumes", volumes (src));
    json_t *containers = json_object_get (spec, "containers"), *init;

    if (!spec)
        return NULL;
    init = init_containers (src);
    if (json_array_size (init) > 0)
        json_object_set (spec, "initContainers", init);
    json_decref (init);
    if (rankname_wanted (src->job))
        json_object_set_new (spec, "subdomain", json_string (src->name));
    if (podspec_apply (src->pods, spec, json_array_get (containers, 0)) < 0) {
        json_decref (spec);
        return NULL;
    }
    /* A pod with the node's network has the node's host name. */
    if (rankname_fits (src) && !json_is_true (json_object_get (spec, "hostNetwork")))
        json_object_set_new (spec, "setHostnameAsFQDN", json_true ());
    return spec;
}

/* In a malleable job the failure of one pod does not end the others, which may not need
 * it: each index fails alone. No pod is made a second time. */
static int make_malleable (json_t *spec)
{
    json_t *rules = json_object_get (json_object_get (spec, "podFailurePolicy"), "rules");

    return json_object_set_new (spec, "backoffLimit", json_integer (INT32_MAX))
           | json_object_set_new (spec, "backoffLimitPerIndex", json_integer (0))
           | json_object_set_new (json_array_get (rules, 0), "action",
                                  json_string ("FailIndex"));
}

json_t *object_template (const struct object_source *src)
{
    json_t *template =
        json_pack ("{s:{s:o s:O*} s:o}", "metadata", "labels", part_labels (src),
                   "annotations", src->annotations, "spec", pod_spec (src));

    if (podspec_name (src->pods, json_object_get (template, "metadata")) < 0) {
        json_decref (template);
        return NULL;
    }
    return template;
}

static json_t *job_metadata (const struct object_source *src)
{
    json_t *meta = object_metadata (src, src->component > 0 ? src->first_uid : NULL);
    char name[OBJECT_NAME_MAX];

    object_part_name (name, src->name, src->component);
    if (src->short_names && rankname_wanted (src->job))
        json_object_set_new (
            meta, "annotations",
            json_pack ("{s:s}", ANNOTATION_NAMES, ANNOTATION_NAMES_SHORT));
    if (json_object_set_new (meta, "name", json_string (name)) == 0
        && json_object_set_new (meta, "labels", part_labels (src)) == 0)
        return meta;
    json_decref (meta);
    return NULL;
}

json_t *object_job (const struct object_source *src)
{
    int ranks = (int)podrequest_ranks (src->job->r, src->component).nranks;
    json_t *spec = json_pack (
        "{s:s s:i s:i s:i s:s s:i s:{s:[{s:s s:[{s:s s:s}]}]} s:o}", "completionMode",
        "Indexed", "completions", ranks, "parallelism", ranks, "backoffLimit", 0,
        "podReplacementPolicy", "Failed", "ttlSecondsAfterFinished", TTL_SECONDS,
        "podFailurePolicy", "rules", "action", "FailJob", "onPodConditions", "type",
        "DisruptionTarget", "status", "True", "template", object_template (src));

    if (spec && src->job->js->malleable && make_malleable (spec) < 0) {
        json_decref (spec);
        return NULL;
    }
    if (spec && src->managed_by)
        json_object_set_new (spec, "managedBy", json_string (src->managed_by));
    return json_pack ("{s:s s:s s:o s:o}", "apiVersion", object_owner_job.api, "kind",
                      object_owner_job.kind, "metadata", job_metadata (src), "spec",
                      spec);
}

json_t *object_configmap (const struct object_source *src, const char *uid,
                          const char *launch, size_t launch_len)
{
    const struct jobspec *js = src->job->js;
    const char *script = src->script ? src->script : js->script ? js->script : "";
    size_t script_len = src->script || !js->script ? strlen (script) : js->script_len;
    /* Command jobs have a script entry, too: one list of volume items serves both. */
    json_t *data = json_pack ("{s:o s:o}", "launch", object_bytes (launch, launch_len),
                              "script", object_bytes (script, script_len));
    int rc = 0;

    for (size_t i = 0; src->inputs && i < src->inputs->n; i++) {
        const struct inputfile *file = &src->inputs->v[i];

        rc |= json_object_set_new (
            data, file->name, object_bytes (file->data ? file->data : "", file->len));
    }
    if (wants_userfiles (src))
        rc |= userfiles_add_data (src->job, data);
    if (rc < 0) {
        json_decref (data);
        return NULL;
    }
    if (data && src->prolog)
        json_object_set_new (data, POD_PROLOG,
                             object_bytes (src->prolog->buf, src->prolog->len));
    if (data && src->epilog)
        json_object_set_new (data, POD_EPILOG,
                             object_bytes (src->epilog->buf, src->epilog->len));
    return json_pack ("{s:s s:s s:o s:b s:o}", "apiVersion", "v1", "kind", "ConfigMap",
                      "metadata", object_metadata (src, uid), "immutable", 1,
                      "binaryData", data);
}

json_t *object_secret (const struct object_source *src, const char *uid,
                       const uint8_t key[AGENT_KEY_SIZE])
{
    char hex[2 * AGENT_KEY_SIZE + 1];
    json_t *o;

    hex_encode (key, AGENT_KEY_SIZE, hex);
    o = json_pack ("{s:s s:s s:o s:b s:s s:{s:o}}", "apiVersion", "v1", "kind", "Secret",
                   "metadata", object_metadata (src, uid), "immutable", 1, "type",
                   "Opaque", "data", "key", object_bytes (hex, strlen (hex)));
    secret_wipe (hex, sizeof (hex));
    return o;
}

json_t *object_service (const struct object_source *src, const char *uid)
{
    return json_pack ("{s:s s:s s:o s:{s:s s:[{s:s s:i}]}}", "apiVersion", "v1", "kind",
                      "Service", "metadata", object_metadata (src, uid), "spec",
                      "clusterIP", "None", "ports", "name", "agent", "port", AGENT_PORT);
}

json_t *object_agent (const char *cluster, const char *namespace_, const char *name,
                      const void *program, size_t len)
{
    return json_pack ("{s:s s:s s:{s:s s:s s:{s:s s:s}} s:b s:{s:o}}", "apiVersion", "v1",
                      "kind", "ConfigMap", "metadata", "name", name, "namespace",
                      namespace_, "labels", LABEL_MANAGED, "fluxq", LABEL_CLUSTER,
                      cluster, "immutable", 1, "binaryData", "fluxq-shell",
                      object_bytes (program, len));
}

json_t *object_binding (const char *namespace_, const char *pod, const char *node)
{
    return json_pack ("{s:s s:s s:{s:s s:s} s:{s:s s:s s:s}}", "apiVersion", "v1", "kind",
                      "Binding", "metadata", "name", pod, "namespace", namespace_,
                      "target", "apiVersion", "v1", "kind", "Node", "name", node);
}
