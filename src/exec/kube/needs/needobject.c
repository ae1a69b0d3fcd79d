/* needobject.c - see needobject.h */
#include "exec/kube/needs/needobject.h"

#include "common/parse.h"
#include "exec/kube/core/names.h"
#include "kube/object.h"

#define LABEL_GROUP "fluxq.io/node-group"
#define LABEL_TRY "fluxq.io/try"
#define BACKOFF_LEAST 5.0
#define BACKOFF_MAX 3600.0

void need_name (char ret[NEED_NAME_MAX], const struct need_source *src)
{
    snprintf (ret, NEED_NAME_MAX, "fluxq-need-%s-%ju-%s-%u", src->cluster,
              (uintmax_t)src->job, src->group->name, src->attempt);
}

/* -- names and labels -- */

static json_t *labels (const struct need_source *src)
{
    char job[24], attempt[12], need[64];

    snprintf (job, sizeof (job), "%ju", (uintmax_t)src->job);
    snprintf (attempt, sizeof (attempt), "%u", src->attempt);
    snprintf (need, sizeof (need), "%s-%s-%s", job, src->group->name, attempt);
    return json_pack ("{s:s s:s s:s s:s s:s s:s}", LABEL_MANAGED, "fluxq", LABEL_CLUSTER,
                      src->cluster, LABEL_JOB, job, LABEL_GROUP, src->group->name,
                      LABEL_TRY, attempt, LABEL_NEED, need);
}

static json_t *metadata (const struct need_source *src, const char *name)
{
    return json_pack ("{s:s s:s s:o}", "name", name, "namespace", src->namespace_,
                      "labels", labels (src));
}

/* Whether the name is NAME, or "NAME-I". */
static bool has_name (const json_t *meta, const char *name)
{
    const char *is = json_text (meta, "name");
    size_t len = strlen (name);

    return strncmp (is, name, len) == 0
           && (!is[len]
               || (is[len] == '-' && is[len + 1]
                   && strspn (is + len + 1, "0123456789") == strlen (is + len + 1)));
}

int need_owner (const json_t *meta, const char *cluster, uint64_t *ret_job,
                char group[GROUP_NAME_MAX + 1], unsigned *ret_attempt)
{
    const json_t *has = json_object_get (meta, "labels");
    const char *name = json_text (has, LABEL_GROUP);
    char ours[NEED_NAME_MAX];
    int64_t job, attempt;

    if (strcmp (json_text (has, LABEL_MANAGED), "fluxq") != 0
        || strcmp (json_text (has, LABEL_CLUSTER), cluster) != 0 || !*name
        || strlen (name) > GROUP_NAME_MAX
        || parse_int (json_text (has, LABEL_JOB), 1, INT64_MAX, &job, "id", NULL) < 0
        || parse_int (json_text (has, LABEL_TRY), 0, UINT32_MAX, &attempt, "try", NULL)
               < 0)
        return -EINVAL;
    struct groupconfig g = { .name = (char *)name };
    struct need_source src = { .group = &g,
                               .cluster = cluster,
                               .job = (uint64_t)job,
                               .attempt = (unsigned)attempt };
    need_name (ours, &src);
    if (!has_name (meta, ours))
        return -EINVAL;
    *ret_job = (uint64_t)job;
    *ret_attempt = (unsigned)attempt;
    snprintf (group, GROUP_NAME_MAX + 1, "%s", name);
    return 0;
}

/* -- the pods -- */

static json_t *requests (const struct need_source *src)
{
    char cpu[16], memory[32], gpus[16];
    json_t *all;

    snprintf (cpu, sizeof (cpu), "%u", src->cores);
    snprintf (memory, sizeof (memory), "%jdMi", (intmax_t)src->memory_mib);
    snprintf (gpus, sizeof (gpus), "%u", src->gpus);
    all = json_pack ("{s:s* s:s* s:s*}", "cpu", src->cores > 0 ? cpu : NULL, "memory",
                     src->memory_mib > 0 ? memory : NULL, src->gpu_resource,
                     src->gpus > 0 ? gpus : NULL);
    return all;
}

static json_t *container (const struct need_source *src)
{
    json_t *limits = NULL, *asks = requests (src);
    char gpus[16];

    snprintf (gpus, sizeof (gpus), "%u", src->gpus);
    if (src->gpus > 0) /* extended resources need both, and equal */
        limits = json_pack ("{s:s}", src->gpu_resource, gpus);
    return json_pack ("{s:s s:s s:{s:o s:o*} s:{s:b s:{s:[s]}}}", "name", "place",
                      "image", src->image, "resources", "requests", asks, "limits",
                      limits, "securityContext", "allowPrivilegeEscalation", 0,
                      "capabilities", "drop", "ALL");
}

/* Tolerates all its taints, whatever their values. */
static json_t *tolerations (const struct groupconfig *g)
{
    json_t *list = json_array (), *taint;
    size_t i;

    json_array_foreach (g->taints, i, taint) {
        json_array_append_new (list, json_pack ("{s:O s:s s:O}", "key",
                                                json_object_get (taint, "key"),
                                                "operator", "Exists", "effect",
                                                json_object_get (taint, "effect")));
    }
    return list;
}

static json_t *one_a_node (const struct need_source *src)
{
    autojson json_t *all = labels (src);
    json_t *rule =
        json_pack ("{s:{s:[{s:s s:{s:{s:O}}}]}}", "podAntiAffinity",
                   "requiredDuringSchedulingIgnoredDuringExecution", "topologyKey",
                   "kubernetes.io/hostname", "labelSelector", "matchLabels", LABEL_NEED,
                   json_object_get (all, LABEL_NEED));

    return rule;
}

static json_t *pod_spec (const struct need_source *src)
{
    return json_pack ("{s:[o] s:O s:o s:o s:s s:b s:b s:i s:s* s:{s:b s:i s:{s:s}}}",
                      "containers", container (src), "nodeSelector", src->group->labels,
                      "tolerations", tolerations (src->group), "affinity",
                      one_a_node (src), "restartPolicy", "Never",
                      "automountServiceAccountToken", 0, "enableServiceLinks", 0,
                      "terminationGracePeriodSeconds", 0, "priorityClassName",
                      src->group->priority_class, "securityContext", "runAsNonRoot", 1,
                      "runAsUser", 65534, "seccompProfile", "type", "RuntimeDefault");
}

json_t *need_template (const struct need_source *src)
{
    char name[NEED_NAME_MAX];

    need_name (name, src);
    return json_pack ("{s:s s:s s:o s:{s:{s:o} s:o}}", "apiVersion", "v1", "kind",
                      "PodTemplate", "metadata", metadata (src, name), "template",
                      "metadata", "labels", labels (src), "spec", pod_spec (src));
}

json_t *need_request (const struct need_source *src)
{
    char name[NEED_NAME_MAX];

    need_name (name, src);
    return json_pack ("{s:s s:s s:o s:{s:s s:[{s:I s:{s:s}}]}}", "apiVersion",
                      "autoscaling.x-k8s.io/v1", "kind", "ProvisioningRequest",
                      "metadata", metadata (src, name), "spec", "provisioningClassName",
                      src->group->provision_class, "podSets", "count",
                      (json_int_t)src->nodes, "podTemplateRef", "name", name);
}

json_t *need_pod (const struct need_source *src, uint32_t i)
{
    char name[NEED_NAME_MAX], full[NEED_NAME_MAX + 12];
    json_t *spec = pod_spec (src);

    need_name (name, src);
    snprintf (full, sizeof (full), "%s-%u", name, i);
    if (spec)
        json_object_set_new (spec, "schedulerName", json_string ("fluxq"));
    return json_pack ("{s:s s:s s:o s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                      metadata (src, full), "spec", spec);
}

json_t *need_unschedulable (double now)
{
    char when[KUBE_TIME_MAX];

    kube_time_write (now, false, when);
    return json_pack ("{s:{s:[{s:s s:s s:s s:s s:s}]}}", "status", "conditions", "type",
                      "PodScheduled", "status", "False", "reason", "Unschedulable",
                      "lastTransitionTime", when, "message",
                      "no node is free for the job that this pod stands for");
}

/* -- answers -- */

/* Anybody who may write conditions may write any text there. */
static void tell (char text[EXEC_NEED_TEXT], const char *what, const json_t *c)
{
    const char *why = json_text (c, "message"), *reason = json_text (c, "reason");
    const char *more = *why ? why : reason;

    snprintf (text, EXEC_NEED_TEXT, "%s%s%.256s", what, *more ? ": " : "", more);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
            *p = '?';
}

enum need_phase need_conditions (const json_t *request, char text[EXEC_NEED_TEXT])
{
    static const struct {
        const char *type, *what;
        enum need_phase phase;
    } known[] = {
        /* the first True one counts */
        { "Failed", "the autoscaler has failed", NEED_REFUSED },
        { "CapacityRevoked", "the autoscaler has taken them away", NEED_REFUSED },
        { "BookingExpired", "the autoscaler has kept them long enough", NEED_REFUSED },
        { "Provisioned", "the autoscaler has made them", NEED_PROVISIONED },
        { "Accepted", "the autoscaler has accepted it", NEED_ASKED }
    };

    text[0] = 0;
    for (size_t i = 0; i < ARRAY_SIZE (known); i++) {
        const json_t *c =
            kube_condition (json_object_get (request, "status"), known[i].type);

        if (strcmp (json_text (c, "status"), "True") != 0)
            continue;
        tell (text, known[i].what, c);
        return known[i].phase;
    }
    return NEED_ASKED;
}

uint32_t need_count (const json_t *request)
{
    json_t *sets = json_object_get (json_object_get (request, "spec"), "podSets");
    json_int_t n =
        json_integer_value (json_object_get (json_array_get (sets, 0), "count"));

    return n > 0 && n <= INT32_MAX && json_array_size (sets) == 1 ? (uint32_t)n : 0;
}

double need_backoff (double delay, unsigned n)
{
    double wait = delay > BACKOFF_LEAST ? delay : BACKOFF_LEAST;

    for (unsigned i = 1; i < n && wait < BACKOFF_MAX; i++)
        wait *= 2;
    return wait < BACKOFF_MAX ? wait : BACKOFF_MAX;
}
