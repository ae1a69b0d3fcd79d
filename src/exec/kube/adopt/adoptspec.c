/* adoptspec.c - see adoptspec.h */
#include "exec/kube/adopt/adoptspec.h"

#include "common/gres.h"
#include "common/parse.h"
#include "exec/kube/adopt/adoptview.h"
#include "exec/kube/core/gres.h"
#include "exec/kube/core/podsize.h"

#define MIB ((int64_t)1 << 20)
#define WORDS_MAX 64   /* of the command, for display */
#define WORD_SIZE 1024 /* longer ones are not shown */
#define SECONDS_MAX 1000000000
#define NAME_SIZE 256

/* The input of a jobspec. */
struct ask {
    const json_t *pod; /* {"spec": ...} */
    const char *namespace_, *name, *queue;
    int64_t least, most;
    bool per_node;
    bool once;       /* a lost one cannot be made again by another release */
    int64_t seconds; /* 0: none given */
};

static bool has_some (const json_t *o, const char *key)
{
    const json_t *v = json_object_get (o, key);

    return json_array_size (v) > 0 || json_object_size (v) > 0
           || (json_is_string (v) && *json_string_value (v));
}

/* -- objects that cannot be planned -- */

static int check_affinity (const json_t *affinity, struct error *err)
{
    static const char *const kinds[] = { "nodeAffinity", "podAffinity",
                                         "podAntiAffinity" };

    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
        if (has_some (json_object_get (affinity, kinds[i]),
                      "requiredDuringSchedulingIgnoredDuringExecution"))
            return error_set (err, EINVAL,
                              "spec.affinity.%s: required terms cannot be planned; use "
                              "nodeSelector, or preferred terms",
                              kinds[i]);
    return 0;
}

static int check_spread (const json_t *spec, struct error *err)
{
    const json_t *c;
    size_t i;

    json_array_foreach (json_object_get (spec, "topologySpreadConstraints"), i, c) {
        if (strcmp (json_text (c, "whenUnsatisfiable"), "ScheduleAnyway") != 0)
            return error_set (err, EINVAL,
                              "spec.topologySpreadConstraints: cannot be planned; use "
                              "ScheduleAnyway, or the annotation " ADOPT_PER_NODE);
    }
    return 0;
}

static int check_gates (const json_t *spec, struct error *err)
{
    const json_t *gate;
    size_t i;

    json_array_foreach (json_object_get (spec, "schedulingGates"), i, gate) {
        if (strcmp (json_text (gate, "name"), ADOPT_QUEUE) != 0)
            return error_set (err, EINVAL,
                              "spec.schedulingGates: %.128s belongs to another program, "
                              "which would have to remove it",
                              json_text (gate, "name"));
    }
    return 0;
}

/* Checks for claims that kube-scheduler binds before the pod, which it does not see. */
static int check_claims (const json_t *spec, struct error *err)
{
    const json_t *volume;
    size_t i;

    if (strcmp (json_text (spec, "schedulerName"), ADOPT_SCHEDULER) != 0)
        return 0;
    if (has_some (spec, "resourceClaims"))
        return error_set (err, EINVAL,
                          "spec.resourceClaims: leave out schedulerName: " ADOPT_SCHEDULER
                          ", only kube-scheduler can allocate them");
    json_array_foreach (json_object_get (spec, "volumes"), i, volume) {
        if (json_object_get (volume, "persistentVolumeClaim")
            || json_object_get (volume, "ephemeral"))
            return error_set (err, EINVAL,
                              "spec.volumes: leave out schedulerName: " ADOPT_SCHEDULER
                              ", only kube-scheduler can bind the claim of %.64s",
                              json_text (volume, "name"));
    }
    return 0;
}

int adoptspec_check_pod (const json_t *spec, struct error *err)
{
    if (json_array_size (json_object_get (spec, "containers")) == 0)
        return error_set (err, EINVAL, "spec.containers: there is none");
    if (*json_text (spec, "nodeName"))
        return error_set (err, EINVAL, "spec.nodeName: the queue chooses the nodes");
    if (check_affinity (json_object_get (spec, "affinity"), err) < 0
        || check_spread (spec, err) < 0 || check_gates (spec, err) < 0
        || check_claims (spec, err) < 0)
        return -EINVAL;
    return 0;
}

/* -- the jobspec -- */

static json_t *vertex (const char *type, int64_t count)
{
    return json_pack ("{s:s s:I}", "type", type, "count", (json_int_t)count);
}

static json_t *cpu_vertex (int64_t milli, const struct adoptspec_how *how)
{
    if (milli == 0)
        milli = 1000;
    if (milli % 1000 == 0 || !how->fractional_cpu)
        return vertex ("core", (milli + 999) / 1000);
    return vertex (GRES_CPU_MILLI, milli);
}

/* Checks that the amounts of a slot do not exceed a count of RFC 14. */
static int check_size (const struct podsize *size, struct error *err)
{
    if (size->cpu_milli > INT32_MAX || size->gpus > INT32_MAX
        || size->memory / MIB >= INT32_MAX)
        return error_set (err, EINVAL,
                          "its pods request more than any node has (cpu, memory or "
                          "gpus)");
    return 0;
}

static json_t *in_slot (const struct ask *ask, const struct adoptspec_how *how,
                        struct error *err)
{
    struct podsize size = podsize_of (ask->pod, how->gpu_resource);
    struct gres_list gres = { 0 };
    int64_t mib = size.memory / MIB + (size.memory % MIB > 0);

    if (check_size (&size, err) < 0)
        return NULL;
    if (kube_gres_of_pod (ask->pod, how->gpu_resource, &gres) < 0)
        return error_null (error_set (err, ENOMEM, "out of memory"));
    json_t *with = json_pack ("[o]", cpu_vertex (size.cpu_milli, how));
    if (with && size.gpus > 0)
        json_array_append_new (with, vertex ("gpu", size.gpus));
    for (size_t i = 0; with && i < gres.n; i++)
        if (gres.v[i].count > 0 && !gres_is_reserved (gres.v[i].name))
            json_array_append_new (with, vertex (gres.v[i].name, gres.v[i].count));
    if (with && mib > 0)
        json_array_append_new (with, json_pack ("{s:s s:I s:s}", "type", "memory",
                                                "count", (json_int_t)mib, "unit", "MiB"));
    gres_release (&gres);
    return with;
}

static json_t *count_of (const struct ask *ask)
{
    if (ask->least == ask->most)
        return json_integer (ask->most);
    return json_pack ("{s:I s:I s:s s:I}", "min", (json_int_t)ask->least, "max",
                      (json_int_t)ask->most, "operator", "+", "operand", (json_int_t)1);
}

static json_t *resources_of (const struct ask *ask, const struct adoptspec_how *how,
                             struct error *err)
{
    json_t *with = in_slot (ask, how, err);

    if (!with)
        return NULL;
    json_t *count = ask->per_node ? json_integer (1) : count_of (ask);
    json_t *slot = json_pack ("{s:s s:o s:s s:o}", "type", "slot", "count", count,
                              "label", "pod", "with", with);
    if (!ask->per_node)
        return json_pack ("[o]", slot);
    return json_pack ("[{s:s s:o s:[o]}]", "type", "node", "count", count_of (ask),
                      "with", slot);
}

/* Returns the command of the first container, for people: only the pods run it. */
static json_t *command_of (const json_t *container)
{
    static const char *const keys[] = { "command", "args" };
    json_t *list = json_array ();

    for (size_t k = 0; k < ARRAY_SIZE (keys); k++) {
        const json_t *word;
        size_t i;

        json_array_foreach (json_object_get (container, keys[k]), i, word) {
            if (json_array_size (list) < WORDS_MAX && json_is_string (word)
                && json_string_length (word) < WORD_SIZE
                && strlen (json_string_value (word)) == json_string_length (word))
                json_array_append (list, (json_t *)word);
        }
    }
    if (json_array_size (list) == 0 || !*json_string_value (json_array_get (list, 0)))
        json_array_insert_new (list, 0, json_string ("pods"));
    return list;
}

static json_t *constraints_of (const json_t *selector)
{
    json_t *list = json_array (), *value;
    const char *key;

    json_object_foreach ((json_t *)selector, key, value) {
        json_array_append_new (
            list, json_sprintf ("%s=%s", key,
                                json_is_string (value) ? json_string_value (value) : ""));
    }
    return json_pack ("{s:o}", "properties", list);
}

static json_t *system_of (const struct ask *ask)
{
    const json_t *spec = json_object_get (ask->pod, "spec");
    const char *image =
        json_text (json_array_get (json_object_get (spec, "containers"), 0), "image");
    char name[NAME_SIZE];

    snprintf (name, sizeof (name), "%s/%s", ask->namespace_, ask->name);
    json_t *system =
        json_pack ("{s:{s:s} s:s}", "job", "name", name, "queue", ask->queue);
    if (system && ask->seconds > 0)
        json_object_set_new (system, "duration", json_integer (ask->seconds));
    if (system && has_some (spec, "nodeSelector"))
        json_object_set_new (system, "constraints",
                             constraints_of (json_object_get (spec, "nodeSelector")));
    autojson json_t *own = json_object ();
    if (own && *image && strlen (image) < NAME_SIZE)
        json_object_set_new (own, "image", json_string (image));
    if (own && ask->once)
        json_object_set_new (own, "requeue", json_false ());
    if (system && json_object_size (own) > 0)
        json_object_set (system, "fluxq", own);
    return system;
}

static json_t *jobspec_of (const struct ask *ask, const struct adoptspec_how *how,
                           struct error *err)
{
    const json_t *spec = json_object_get (ask->pod, "spec");
    json_t *resources;

    if (ask->most > ADOPT_PODS_MAX)
        return error_null (
            error_set (err, EINVAL, "it requests %jd pods at once; a job has at most %d",
                       (intmax_t)ask->most, ADOPT_PODS_MAX));
    if (adoptspec_check_pod (spec, err) < 0
        || !(resources = resources_of (ask, how, err)))
        return NULL;
    json_t *command =
        command_of (json_array_get (json_object_get (spec, "containers"), 0));
    json_t *js =
        json_pack ("{s:i s:o s:[{s:o s:s s:{s:i}}] s:{s:o}}", "version", 1, "resources",
                   resources, "tasks", "command", command, "slot", "pod", "count",
                   "per_slot", 1, "attributes", "system", system_of (ask));
    if (!js)
        error_set (err, ENOMEM, "out of memory");
    return js;
}

/* -- Jobs -- */

static int check_manager (const json_t *job, struct error *err)
{
    const json_t *labels = json_object_get (json_object_get (job, "metadata"), "labels");
    const char *by = json_text (json_object_get (job, "spec"), "managedBy");

    if (*by && strcmp (by, "kubernetes.io/job-controller") != 0)
        return error_set (err, EINVAL, "spec.managedBy: %.128s manages the Job", by);
    if (json_object_get (labels, "kueue.x-k8s.io/queue-name"))
        return error_set (err, EINVAL,
                          "it also has the label kueue.x-k8s.io/queue-name: two queues "
                          "cannot both release it");
    return 0;
}

static int read_least (const json_t *notes, struct ask *ask, struct error *err)
{
    const char *text = json_string_value (json_object_get (notes, ADOPT_MIN));

    ask->least = ask->most;
    return text ? parse_int (text, 1, ask->most, &ask->least, ADOPT_MIN, err) : 0;
}

static int read_per_node (const json_t *notes, struct ask *ask, struct error *err)
{
    const char *text = json_text (notes, ADOPT_PER_NODE);

    ask->per_node = strcmp (text, "true") == 0;
    if (*text && !ask->per_node && strcmp (text, "false") != 0)
        return error_set (err, EINVAL, ADOPT_PER_NODE ": '%.32s' is not true or false",
                          text);
    return 0;
}

json_t *adoptspec_of_job (const json_t *job, const struct adoptspec_how *how,
                          struct error *err)
{
    const json_t *meta = json_object_get (job, "metadata");
    const json_t *spec = json_object_get (job, "spec");
    const json_t *notes = json_object_get (meta, "annotations");
    const json_t *seconds = json_object_get (spec, "activeDeadlineSeconds");
    struct adoptview v;

    adoptview_read (job, &v);
    struct ask ask = { .pod = json_object_get (spec, "template"),
                       .namespace_ = json_text (meta, "namespace"),
                       .name = json_text (meta, "name"),
                       .queue = json_text (json_object_get (meta, "labels"), ADOPT_QUEUE),
                       .most = adoptview_wanted (&v, v.parallelism, v.succeeded) };
    if (check_manager (job, err) < 0)
        return NULL;
    if (ask.most < 1)
        return error_null (
            error_set (err, EINVAL, "spec.parallelism: no pods are requested"));
    if (json_is_integer (seconds))
        ask.seconds = MIN (MAX (json_integer_value (seconds), 1), SECONDS_MAX);
    if (read_least (notes, &ask, err) < 0 || read_per_node (notes, &ask, err) < 0)
        return NULL;
    return jobspec_of (&ask, how, err);
}

/* -- pods -- */

json_t *adoptspec_of_pods (const json_t *pod, const char *namespace_, const char *name,
                           uint32_t n, const struct adoptspec_how *how, struct error *err)
{
    const json_t *meta = json_object_get (pod, "metadata");
    const json_t *seconds =
        json_object_get (json_object_get (pod, "spec"), "activeDeadlineSeconds");
    struct ask ask = { .pod = pod,
                       .namespace_ = namespace_,
                       .name = name,
                       .queue = json_text (json_object_get (meta, "labels"), ADOPT_QUEUE),
                       .least = n,
                       .most = n };

    if (n < 1)
        return error_null (error_set (err, EINVAL, "the group has no pods"));
    if (json_is_integer (seconds))
        ask.seconds = MIN (MAX (json_integer_value (seconds), 1), SECONDS_MAX);
    if (read_per_node (json_object_get (meta, "annotations"), &ask, err) < 0)
        return NULL;
    ask.once = true;
    return jobspec_of (&ask, how, err);
}
