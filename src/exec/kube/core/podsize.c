/* podsize.c - see podsize.h */
#include "exec/kube/core/podsize.h"

#include "common/json.h"
#include "kube/object.h"
#include "kube/quantity.h"

static int64_t add (int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow (a, b, &sum) ? INT64_MAX : sum;
}

struct podsize podsize_add (struct podsize a, struct podsize b)
{
    return (struct podsize){ add (a.cpu_milli, b.cpu_milli), add (a.memory, b.memory),
                             add (a.gpus, b.gpus) };
}

struct podsize podsize_sub (struct podsize a, struct podsize b)
{
    return (struct podsize){ a.cpu_milli - b.cpu_milli, a.memory - b.memory,
                             a.gpus - b.gpus };
}

static struct podsize max_of (struct podsize a, struct podsize b)
{
    return (struct podsize){ MAX (a.cpu_milli, b.cpu_milli), MAX (a.memory, b.memory),
                             MAX (a.gpus, b.gpus) };
}

/* Reads a ResourceList, which may be NULL. */
static struct podsize size_of_list (const json_t *list, const char *gpu)
{
    struct podsize s = { 0, 0, 0 };

    quantity_milli (json_string_value (json_object_get (list, "cpu")), &s.cpu_milli);
    quantity_value (json_string_value (json_object_get (list, "memory")), &s.memory);
    if (gpu)
        quantity_value (json_string_value (json_object_get (list, gpu)), &s.gpus);
    return s;
}

static const json_t *find (const json_t *list, const char *name)
{
    const json_t *item;
    size_t i;

    json_array_foreach (list, i, item) {
        if (strcmp (json_text (item, "name"), name) == 0)
            return item;
    }
    return NULL;
}

/* Whether the node has refused the pod's new size: the pod keeps the old one. */
static bool resize_is_refused (const json_t *status)
{
    const json_t *c = kube_condition (status, "PodResizePending");

    return strcmp (json_text (c, "reason"), "Infeasible") == 0;
}

/* A container that is being resized holds the largest of its old, present and new size.
 * statuses: "containerStatuses" or "initContainerStatuses". */
static struct podsize size_of_container (const json_t *container, const json_t *status,
                                         const char *statuses, const char *gpu)
{
    struct podsize s = size_of_list (
        json_object_get (json_object_get (container, "resources"), "requests"), gpu);
    const json_t *now =
        find (json_object_get (status, statuses), json_text (container, "name"));
    const json_t *resources = json_object_get (now, "resources");
    struct podsize held;

    if (!resources)
        return s;
    held = max_of (size_of_list (json_object_get (resources, "requests"), gpu),
                   size_of_list (json_object_get (now, "allocatedResources"), gpu));
    return resize_is_refused (status) ? held : max_of (s, held);
}

static bool is_sidecar (const json_t *container)
{
    return strcmp (json_text (container, "restartPolicy"), "Always") == 0;
}

/* No sum of pods on one node can overflow, so an added pod can be subtracted again. */
static struct podsize cap (struct podsize s)
{
    return (struct podsize){ MIN (s.cpu_milli, PODSIZE_MAX), MIN (s.memory, PODSIZE_MAX),
                             MIN (s.gpus, PODSIZE_MAX) };
}

struct podsize podsize_of (const json_t *pod, const char *gpu)
{
    const json_t *spec = json_object_get (pod, "spec"), *own, *container;
    const json_t *status = json_object_get (pod, "status");
    struct podsize sum = { 0, 0, 0 }, sidecars = { 0, 0, 0 }, init = { 0, 0, 0 };
    size_t i;

    json_array_foreach (json_object_get (spec, "initContainers"), i, container) {
        struct podsize s;

        if (is_sidecar (container)) {
            s = size_of_container (container, status, "initContainerStatuses", gpu);
            sidecars = podsize_add (sidecars, s);
            s = (struct podsize){ 0, 0, 0 };
        } else
            s = size_of_container (container, NULL, "", gpu);
        init = max_of (init, podsize_add (sidecars, s));
    }
    json_array_foreach (json_object_get (spec, "containers"), i, container) {
        sum = podsize_add (
            sum, size_of_container (container, status, "containerStatuses", gpu));
    }
    sum = max_of (podsize_add (sum, sidecars), init);
    own = json_object_get (json_object_get (spec, "resources"), "requests");
    if (json_object_get (own, "cpu"))
        sum.cpu_milli = size_of_list (own, NULL).cpu_milli;
    if (json_object_get (own, "memory"))
        sum.memory = size_of_list (own, NULL).memory;
    return cap (
        podsize_add (sum, size_of_list (json_object_get (spec, "overhead"), gpu)));
}
