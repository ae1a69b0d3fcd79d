/* admit.c - see admit.h */
#include "exec/kube/cluster/admit.h"

#include "common/json.h"
#include "exec/podset.h"
#include "kube/quantity.h"

/* Prefix of the taints that Kubernetes sets for a node's state. */
#define CONDITION_TAINT "node.kubernetes.io/"

static bool has_labels (const json_t *set, const json_t *node)
{
    json_t *labels = json_object_get (json_object_get (node, "metadata"), "labels");
    json_t *value;
    const char *key;

    json_object_foreach (json_object_get (set, "node-selector"), key, value) {
        if (strcmp (json_text (labels, key), json_string_value (value)) != 0
            || !json_object_get (labels, key))
            return false;
    }
    return true;
}

static bool has_resources (const json_t *set, const json_t *node)
{
    json_t *there = json_object_get (json_object_get (node, "status"), "allocatable");
    json_t *value;
    const char *name;

    json_object_foreach (json_object_get (set, "resources"), name, value) {
        int64_t n = 0;

        quantity_value (json_string_value (json_object_get (there, name)), &n);
        if (n < json_integer_value (value))
            return false;
    }
    return true;
}

bool admit_is_notice (const json_t *notices, const json_t *taint)
{
    json_t *item;
    size_t i;

    json_array_foreach (notices, i, item) {
        if (strcmp (json_string_value (item), json_text (taint, "key")) == 0)
            return true;
    }
    return false;
}

static enum admit taints (const json_t *set, const json_t *notices, const json_t *node,
                          char reason[ADMIT_REASON])
{
    enum admit state = ADMIT_YES;
    json_t *taint;
    size_t i;

    json_array_foreach (json_object_get (json_object_get (node, "spec"), "taints"), i,
                        taint) {
        const char *key = json_text (taint, "key");

        if (strcmp (json_text (taint, "effect"), "PreferNoSchedule") == 0
            || admit_is_notice (notices, taint) || podset_tolerates (set, taint))
            continue;
        if (strncmp (key, CONDITION_TAINT, strlen (CONDITION_TAINT)) != 0)
            return ADMIT_NO;
        key += strlen (CONDITION_TAINT);
        if (strcmp (key, "not-ready") == 0 || strcmp (key, "unreachable") == 0
            || strcmp (key, "unschedulable") == 0)
            continue; /* the condition and spec.unschedulable say the same */
        state = ADMIT_DRAINED;
        snprintf (reason, ADMIT_REASON, "%s", key);
    }
    return state;
}

enum admit admit_node (const json_t *set, const json_t *notices, const json_t *node,
                       char reason[ADMIT_REASON])
{
    reason[0] = '\0';
    if (!has_labels (set, node) || !has_resources (set, node))
        return ADMIT_NO;
    return taints (set, notices, node, reason);
}

/* The names so far are of queues for which the node is drained, and it does not belong to
 * this one. */
static void forget (char **names, size_t *n)
{
    while (*n > 0) {
        free (names[--*n]);
        names[*n] = NULL;
    }
}

enum admit admit_queues (const json_t *queues, const json_t *notices, const json_t *node,
                         char **names, char reason[ADMIT_REASON])
{
    enum admit best = ADMIT_NO;
    const char *queue;
    json_t *set;
    size_t n = 0;

    reason[0] = '\0';
    json_object_foreach ((json_t *)queues, queue, set) {
        char why[ADMIT_REASON];
        enum admit it = admit_node (set, notices, node, why);

        if (it == ADMIT_NO || it < best)
            continue;
        if (it > best)
            forget (names, &n);
        best = it;
        snprintf (reason, ADMIT_REASON, "%s", why);
        if (asprintf (&names[n], PODSET_PROPERTY "%s", queue) < 0)
            names[n] = NULL;
        n += names[n] != NULL;
    }
    return best;
}

json_t *admit_extract (const json_t *node)
{
    json_t *spec = json_object_get (node, "spec");
    json_t *status = json_object_get (node, "status");

    return json_pack ("{s:{s:O*} s:{s:O* s:O*} s:{s:O* s:O*}}", "metadata", "labels",
                      json_object_get (json_object_get (node, "metadata"), "labels"),
                      "spec", "taints", json_object_get (spec, "taints"), "unschedulable",
                      json_object_get (spec, "unschedulable"), "status", "allocatable",
                      json_object_get (status, "allocatable"), "conditions",
                      json_object_get (status, "conditions"));
}
