/* minicluster.c - see minicluster.h */
#include "exec/kube/make/minicluster.h"

#include "exec/kube/core/kjob.h"
#include "exec/kube/make/fluxrun.h"
#include "protocol/inside.h"

/* The operator's own empty volume, in all its containers. */
#define HOME "/home/flux-operator"
#define OWN HOME "/fluxq"
#define BIN OWN "/bin"
#define RUN OWN "/run"
#define AGENT_PLACE "/fluxq/agent" /* as mounted */
#define KEY_VOLUME "fluxq-key"
#define CONNECT_TIMEOUT                                                                  \
    "60s" /* time that Flux waits for rank 0 before it tries again in 15 s */
#define AGENT_LINE                                                                       \
    BIN "/fluxq-shell --launch " POD_JOB "/launch --key " POD_KEY "/key --rank "
/* A label that the operator gives to each pod of the namespace without it: our pods have
 * it already, so the operator need not touch them. */
#define BROKER_LABEL "job-index"

const struct object_owner object_owner_minicluster = {
    .api = "flux-framework.org/v1alpha2",
    .kind = "MiniCluster",
    .prefix = "/apis/flux-framework.org/v1alpha2/namespaces/",
    .plural = "miniclusters",
    .size = "size",
};

/* -- the launch file -- */

static uint32_t gpus_per_task (const struct jobspec *js)
{
    struct jobspec_sizes z;

    jobspec_get_sizes (js, &z);
    return z.min_slots > 0 ? (uint32_t)(z.min_gpus / z.min_slots) : 0;
}

static int set_text (char **field, const char *text)
{
    free (*field);
    *field = strdup (text);
    return *field ? 0 : -ENOMEM;
}

static void drop_args (struct launch *l)
{
    for (size_t i = 0; i < l->nargs; i++)
        free (l->args[i]);
    l->args[0] = NULL;
    l->nargs = 0;
}

int minicluster_launch (struct launch *l, const struct jobspec *js, char **script,
                        struct error *err)
{
    *script = NULL;
    l->flux = true;
    if (!l->batch && !(*script = fluxrun_script (l, gpus_per_task (js))))
        return error_set (err, ENOMEM, "out of memory");
    if (!l->batch)
        drop_args (l);
    l->batch = true;
    if (set_text (&l->script, BIN "/script") < 0
        || set_text (&l->spool, RUN "/spool") < 0)
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

/* -- volumes -- */

/* The volume sources that the operator knows: each has a text, for which the operator has
 * a field. */
static const struct source {
    const char *name, *text, *field;
    bool alone; /* the source has nothing but its text */
    bool names; /* the volume has the name of the text, and its mount that of the key */
    const char *why; /* the reason why the operator does not mount another one */
} sources[] = {
    { "hostPath", "path", "hostPath", false, false,
      "from the host it mounts only directories" },
    { "persistentVolumeClaim", "claimName", "claimName", false, false,
      "its claim has no name" },
    { "secret", "secretName", "secretName", true, false,
      "it mounts a whole secret, with the usual modes" },
    { "configMap", "name", "configMapName", true, true,
      "it mounts a whole ConfigMap, with the usual modes" },
};

/* Returns the text of the source; NULL: the operator does not mount it. Only sources on
 * the host have a type. */
static const char *text_of (const struct source *s, const json_t *source)
{
    const char *type = json_text (source, "type");

    if ((*type && strcmp (type, "Directory") != 0)
        || (s->alone && json_object_size (source) != 1))
        return NULL;
    return json_string_value (json_object_get (source, s->text));
}

json_t *minicluster_volume (const json_t *mount, const char **name, const char **why)
{
    const json_t *volume = json_object_get (mount, "volume");
    json_t *made = NULL;
    bool read_only = json_is_true (json_object_get (mount, "read-only"));

    *name = NULL;
    *why = "it mounts only hostPath, persistentVolumeClaim, secret and configMap";
    for (size_t i = 0; i < ARRAY_SIZE (sources); i++) {
        const json_t *source = json_object_get (volume, sources[i].name);

        if (!source)
            continue;
        const char *text = text_of (&sources[i], source);
        made = text ? json_pack ("{s:s}", sources[i].field, text) : NULL;
        *name = sources[i].names ? text : NULL;
        *why = sources[i].why;
        read_only |= json_is_true (json_object_get (source, "readOnly"));
    }
    if (made)
        json_object_set (made, "path", json_object_get (mount, "path"));
    if (made && read_only)
        json_object_set_new (made, "readOnly", json_true ());
    return made;
}

static int add_mounts (const json_t *mounts, json_t *volumes)
{
    const json_t *mount;
    size_t i;
    int rc = 0;

    json_array_foreach (mounts, i, mount) {
        char number[32];
        const char *name, *why;
        json_t *volume = minicluster_volume (mount, &name, &why);

        snprintf (number, sizeof (number), "mount-%zu", i);
        rc |= json_object_set_new (volumes, name ? name : number, volume);
    }
    return rc;
}

static int add_shm (const json_t *size, json_t *volumes)
{
    const char *given = json_string_value (size);
    char text[32];

    if (!size)
        return 0;
    snprintf (text, sizeof (text), "%jd", (intmax_t)json_integer_value (size));
    return json_object_set_new (volumes, "shm",
                                json_pack ("{s:b s:s s:s}", "emptyDir", 1,
                                           "emptyDirMedium", "memory",
                                           "emptyDirSizeLimit", given ? given : text));
}

/* Returns the items of the job's ConfigMap that the pod of a Job mounts, without
 * modes. */
static json_t *job_items (const json_t *spec)
{
    json_t *items = json_object (), *volume, *item;
    size_t i, j;

    json_array_foreach (json_object_get (spec, "volumes"), i, volume) {
        const char *name = json_string_value (json_object_get (volume, "name"));
        const json_t *map = json_object_get (volume, "configMap");

        if (!name || strcmp (name, "job") != 0)
            continue;
        json_array_foreach (json_object_get (map, "items"), j, item) {
            json_object_set (items, json_string_value (json_object_get (item, "key")),
                             json_object_get (item, "path"));
        }
    }
    return items;
}

static json_t *volumes_of (const struct object_source *src, const json_t *spec)
{
    json_t *volumes = json_pack (
        "{s:{s:s s:s s:b s:{s:s}} s:{s:s s:s s:b s:o} s:{s:s s:s s:b}}", src->agent,
        "configMapName", src->agent, "path", AGENT_PLACE, "readOnly", 1, "items",
        "fluxq-shell", "fluxq-shell", src->name, "configMapName", src->name, "path",
        POD_JOB, "readOnly", 1, "items", job_items (spec), KEY_VOLUME, "secretName",
        src->name, "path", POD_KEY, "readOnly", 1);

    if (volumes
        && (add_mounts (src->job->mounts, volumes) < 0
            || add_shm (json_object_get (src->pods, "shm-size"), volumes) < 0)) {
        json_decref (volumes);
        return NULL;
    }
    return volumes;
}

/* -- the object -- */

static void copy (json_t *to, const json_t *from, const char *key)
{
    json_t *v = json_object_get (from, key);

    if (v)
        json_object_set (to, key, v);
}

/* The operator passes on only fsGroup of a pod's security, but all of a container's. */
static json_t *security (const json_t *spec, const json_t *container)
{
    static const char *const of_pod[] = { "runAsUser", "runAsGroup", "runAsNonRoot",
                                          "seccompProfile" };
    const json_t *own = json_object_get (container, "securityContext");
    const json_t *pod = json_object_get (spec, "securityContext");
    json_t *sc = own ? json_copy ((json_t *)own) : json_object ();

    for (size_t i = 0; i < ARRAY_SIZE (of_pod); i++)
        copy (sc, pod, of_pod[i]);
    return sc;
}

/* First of all, makes the agent and the script executable, and the agent's other names. */
static json_t *commands (void)
{
    autostrbuf struct strbuf init = STRBUF_INIT (4096);

    strbuf_adds (&init, "mkdir -p " BIN " " RUN " && cp " AGENT_PLACE
                        "/fluxq-shell " POD_JOB "/script " BIN " && chmod 755 " BIN
                        "/fluxq-shell " BIN "/script && ln -sf fluxq-shell " BIN
                        "/fluxq-run && ln -sf fluxq-shell " BIN
                        "/fluxq-bcast && mkdir -p " BIN "/" INSIDE_DIR);
    for (size_t i = 0; inside_clients[i]; i++)
        strbuf_addf (&init, " && ln -sf ../fluxq-shell " BIN "/" INSIDE_DIR "/%s",
                     inside_clients[i]);
    strbuf_adds (&init, " || exit 1");
    return json_pack ("{s:s s:s}", "init", init.buf, "workerPre",
                      AGENT_LINE "$JOB_COMPLETION_INDEX &");
}

static json_t *container (const struct object_source *src, const json_t *spec)
{
    const json_t *own = json_array_get (json_object_get (spec, "containers"), 0);
    const json_t *secrets = json_object_get (spec, "imagePullSecrets");
    json_t *c = json_pack ("{s:b s:b s:s s:s s:[i] s:o s:o s:o s:O s:O}", "runFlux", 1,
                           "launcher", 1, "command", AGENT_LINE "0", "workingDir", HOME,
                           "ports", AGENT_PORT, "commands", commands (), "volumes",
                           volumes_of (src, spec), "securityContext",
                           security (spec, own), "image", json_object_get (own, "image"),
                           "resources", json_object_get (own, "resources"));

    if (c)
        copy (c, own, "imagePullPolicy");
    if (c && secrets)
        json_object_set (c, "imagePullSecret",
                         json_object_get (json_array_get (secrets, 0), "name"));
    return c;
}

/* It requests as much as the job's own container, which starts after it: the class of a
 * pod depends on all its containers. */
static json_t *view (const struct object_source *src, const json_t *spec)
{
    const json_t *own = json_array_get (json_object_get (spec, "containers"), 0);
    const struct kube_config *cfg = src->cfg;
    json_t *c = json_pack ("{s:o s:O}", "securityContext", security (spec, own),
                           "resources", json_object_get (own, "resources"));

    if (c && cfg->flux_image)
        json_object_set_new (c, "image", json_string (cfg->flux_image));
    if (c && cfg->flux_in_image)
        json_object_set_new (c, "disable", json_true ());
    if (c && cfg->pull_policy && strcmp (cfg->pull_policy, "Always") == 0)
        json_object_set_new (c, "pullAlways", json_true ());
    return c;
}

static json_t *pod (const json_t *template)
{
    static const char *const same[] = { "nodeSelector",       "tolerations",
                                        "serviceAccountName", "runtimeClassName",
                                        "schedulerName",      "restartPolicy" };
    const json_t *meta = json_object_get (template, "metadata");
    const json_t *spec = json_object_get (template, "spec");
    json_t *p = json_pack (
        "{s:O s:b s:{s:O}}", "labels", json_object_get (meta, "labels"),
        "automountServiceAccountToken", 0, "securityContext", "fsGroup",
        json_object_get (json_object_get (spec, "securityContext"), "fsGroup"));

    if (!p)
        return NULL;
    json_object_set_new (json_object_get (p, "labels"), BROKER_LABEL,
                         json_string ("fluxq"));
    copy (p, meta, "annotations");
    for (size_t i = 0; i < ARRAY_SIZE (same); i++)
        copy (p, spec, same[i]);
    return p;
}

/* The largest number of nodes of the request, as far as the operator can count. Flux
 * lists that many hosts, and starts with those that are there. */
static json_int_t largest (const struct object_source *src)
{
    struct jobspec_sizes z;

    jobspec_get_sizes (src->job->js, &z);
    if (z.max_nodes < (int64_t)src->job->r->nranks || z.max_nodes >= JOBSPEC_COUNT_MAX)
        return (json_int_t)src->job->r->nranks;
    return z.max_nodes;
}

json_t *minicluster_object (const struct object_source *src)
{
    autojson json_t *template = object_template (src);
    const json_t *spec = json_object_get (template, "spec");
    json_int_t size = (json_int_t)src->job->r->nranks;

    if (!spec)
        return NULL;
    return json_pack (
        "{s:s s:s s:o s:{s:I s:I s:I s:I s:i s:o s:{s:b} s:{s:s s:o} s:o s:[o]}}",
        "apiVersion", object_owner_minicluster.api, "kind", object_owner_minicluster.kind,
        "metadata", object_metadata (src, NULL), "spec", "size", size, "minSize", size,
        "maxSize", largest (src), "tasks",
        (json_int_t)jobspec_task_total (src->job->js, (int64_t)rset_slots (src->job->r)),
        "backoffLimit", 1, /* the operator takes 0 for 100 */
        "jobLabels", object_labels (src), "network", "disableAffinity", 1, "flux",
        "connectTimeout", CONNECT_TIMEOUT, "container", view (src, spec), "pod",
        pod (template), "containers", container (src, spec));
}
