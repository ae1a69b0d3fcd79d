/* podsize.c - see podsize.h */
#include "exec/kube/podsize.h"

#include <string.h>

#include "common/macros.h"
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

/* A ResourceList; which may be NULL. */
static struct podsize size_of_list (const json_t *list, const char *gpu)
{
    struct podsize s = { 0, 0, 0 };

    quantity_milli (json_string_value (json_object_get (list, "cpu")), &s.cpu_milli);
    quantity_value (json_string_value (json_object_get (list, "memory")), &s.memory);
    if (gpu)
        quantity_value (json_string_value (json_object_get (list, gpu)), &s.gpus);
    return s;
}

static struct podsize size_of_container (const json_t *container, const char *gpu)
{
    return size_of_list (
        json_object_get (json_object_get (container, "resources"), "requests"), gpu);
}

struct podsize podsize_of (const json_t *pod, const char *gpu)
{
    const json_t *spec = json_object_get (pod, "spec"), *own, *container;
    struct podsize sum = { 0, 0, 0 }, sidecars = { 0, 0, 0 }, init = { 0, 0, 0 };
    size_t i;

    json_array_foreach (json_object_get (spec, "initContainers"), i, container) {
        const char *policy =
            json_string_value (json_object_get (container, "restartPolicy"));
        struct podsize s = size_of_container (container, gpu);

        if (policy && strcmp (policy, "Always") == 0) {
            sidecars = podsize_add (sidecars, s);
            s = (struct podsize){ 0, 0, 0 };
        }
        init = max_of (init, podsize_add (sidecars, s));
    }
    json_array_foreach (json_object_get (spec, "containers"), i, container) {
        sum = podsize_add (sum, size_of_container (container, gpu));
    }
    sum = max_of (podsize_add (sum, sidecars), init);
    own = json_object_get (json_object_get (spec, "resources"), "requests");
    if (json_object_get (own, "cpu"))
        sum.cpu_milli = size_of_list (own, NULL).cpu_milli;
    if (json_object_get (own, "memory"))
        sum.memory = size_of_list (own, NULL).memory;
    return podsize_add (sum, size_of_list (json_object_get (spec, "overhead"), gpu));
}
