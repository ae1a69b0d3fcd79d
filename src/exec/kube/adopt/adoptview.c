/* adoptview.c - see adoptview.h */
#include "exec/kube/adopt/adoptview.h"

#include "common/json.h"
#include "kube/object.h"

static int64_t number_of (const json_t *o, const char *key, int64_t none)
{
    const json_t *n = json_object_get (o, key);

    return json_is_integer (n) && json_integer_value (n) >= 0 ? json_integer_value (n)
                                                              : none;
}

static void read_condition (const json_t *c, struct adoptview *v)
{
    const char *type = json_text (c, "type");
    bool failed = strcmp (type, "Failed") == 0;

    if (strcmp (json_text (c, "status"), "True") != 0)
        return;
    if (strcmp (type, "Suspended") == 0)
        v->at_rest = true;
    v->ending |= strcmp (type, "SuccessCriteriaMet") == 0;
    v->ending |= strcmp (type, "FailureTarget") == 0;
    if (!failed && strcmp (type, "Complete") != 0)
        return;
    v->over = true;
    v->failed = failed;
    if (!failed)
        return;
    v->deadline = strcmp (json_text (c, "reason"), "DeadlineExceeded") == 0;
    snprintf (v->text, sizeof (v->text), "%.64s: %.180s", json_text (c, "reason"),
              json_text (c, "message"));
}

static bool has_uncounted (const json_t *status)
{
    const json_t *lists = json_object_get (status, "uncountedTerminatedPods");

    return json_array_size (json_object_get (lists, "succeeded")) > 0
           || json_array_size (json_object_get (lists, "failed")) > 0;
}

bool adoptview_is_gated (const json_t *spec)
{
    const json_t *gate;
    size_t i;

    json_array_foreach (json_object_get (spec, "schedulingGates"), i, gate) {
        if (strcmp (json_text (gate, "name"), ADOPT_QUEUE) == 0)
            return true;
    }
    return false;
}

const char *adoptview_status (const json_t *meta)
{
    const json_t *notes = json_object_get (meta, "annotations");
    const char *of = json_text (notes, ADOPT_STATUS_OF);

    return *of && strcmp (of, json_text (meta, "uid")) == 0
               ? json_text (notes, ADOPT_STATUS)
               : "";
}

void adoptview_read (const json_t *job, struct adoptview *ret)
{
    const json_t *meta = json_object_get (job, "metadata");
    const json_t *spec = json_object_get (job, "spec");
    const json_t *status = json_object_get (job, "status"), *condition;
    const json_t *pod = json_object_get (json_object_get (spec, "template"), "spec");
    size_t i;

    *ret = (struct adoptview){ .parallelism = number_of (spec, "parallelism", 1),
                               .completions = number_of (spec, "completions", -1),
                               .succeeded = number_of (status, "succeeded", 0),
                               .active = number_of (status, "active", 0),
                               .terminating = number_of (status, "terminating", 0),
                               .generation = number_of (meta, "generation", 0) };
    ret->suspended = json_is_true (json_object_get (spec, "suspend"));
    ret->deleting = json_object_get (meta, "deletionTimestamp") != NULL;
    json_array_foreach (json_object_get (status, "conditions"), i, condition) {
        read_condition (condition, ret);
    }
    ret->at_rest &= ret->suspended;
    ret->counting = has_uncounted (status);
    ret->started = kube_time_read (json_text (status, "startTime"));
    ret->binds = strcmp (json_text (pod, "schedulerName"), ADOPT_SCHEDULER) == 0;
    ret->gated = adoptview_is_gated (pod);
    snprintf (ret->version, sizeof (ret->version), "%s",
              json_text (meta, "resourceVersion"));
    snprintf (ret->status, sizeof (ret->status), "%s", adoptview_status (meta));
}

int64_t adoptview_wanted (const struct adoptview *v, int64_t parallelism,
                          int64_t succeeded)
{
    if (v->completions < 0)
        return succeeded > 0 ? 0 : parallelism;
    return MAX (MIN (parallelism, v->completions - succeeded), 0);
}

bool adoptview_is_end (const char *status)
{
    static const char *const words[] = { "COMPLETED", "FAILED",    "CANCELLED",
                                         "TIMEOUT",   "NODE_FAIL", "OUT_OF_MEMORY",
                                         "PREEMPTED", "DEADLINE",  "ENDED" };
    size_t len = strcspn (status, " ");

    for (size_t i = 0; i < ARRAY_SIZE (words); i++)
        if (len == strlen (words[i]) && strncmp (status, words[i], len) == 0)
            return true;
    return false;
}
