/* zoneobject.c - see zoneobject.h */
#include "exec/kube/topology/zoneobject.h"

#include "common/parse.h"
#include "kube/quantity.h"

#define CORES_MAX 65536
#define GPUS_MAX 1024
#define PRINT_ANNOTATION "topology.node.k8s.io/fingerprint"
#define MIB ((int64_t)1 << 20)

/* The first attribute of that name counts. */
static const char *attribute (const json_t *object, const char *name)
{
    const json_t *item;
    size_t i;

    json_array_foreach (json_object_get (object, "attributes"), i, item) {
        if (strcmp (json_text (item, "name"), name) == 0)
            return json_text (item, "value");
    }
    return NULL;
}

static bool is_policy (const char *text)
{
    static const char *const known[] = { "none", "best-effort", "restricted",
                                         "single-numa-node" };

    for (size_t i = 0; text && i < ARRAY_SIZE (known); i++)
        if (strcmp (text, known[i]) == 0)
            return true;
    return false;
}

static bool is_single (const json_t *object)
{
    const char *policy = attribute (object, "topologyManagerPolicy");
    const char *old = json_string_value (
        json_array_get (json_object_get (object, "topologyPolicies"), 0));

    if (is_policy (policy))
        return strcmp (policy, "single-numa-node") == 0;
    return old
           && (strcmp (old, "SingleNUMANodeContainerLevel") == 0
               || strcmp (old, "SingleNUMANodePodLevel") == 0);
}

static void read_print (const json_t *object, struct zoneobject *z)
{
    const json_t *meta = json_object_get (object, "metadata");
    const char *print = attribute (object, "nodeTopologyPodsFingerprint");
    const char *method = attribute (object, "nodeTopologyPodsFingerprintMethod");

    z->only_exclusive =
        print && method && strcmp (method, "with-exclusive-resources") == 0;
    if (!print)
        print = json_text (json_object_get (meta, "annotations"), PRINT_ANNOTATION);
    bool fits = strlen (print) < sizeof (z->print);
    snprintf (z->print, sizeof (z->print), "%s", fits ? print : "unknown");
}

/* -- zones -- */

/* Reads an amount of a resource; they are numbers or texts in JSON. milli:
 * thousandths. */
static int amount (const json_t *resource, const char *key, bool milli, int64_t *ret)
{
    const json_t *v = json_object_get (resource, key);
    char number[32];
    const char *text = json_string_value (v);

    if (json_is_integer (v)) {
        snprintf (number, sizeof (number), "%jd", (intmax_t)json_integer_value (v));
        text = number;
    }
    return milli ? quantity_milli (text, ret) : quantity_value (text, ret);
}

/* Reads the total and the rest, in units of `unit`, rounded down. */
static int sizes (const json_t *resource, bool milli, int64_t unit, int64_t most,
                  int64_t ret[2])
{
    int64_t all, left;

    if (amount (resource, "allocatable", milli, &all) < 0
        || amount (resource, "available", milli, &left) < 0)
        return -EINVAL;
    ret[0] = MIN (all / unit, most);
    ret[1] = MIN (left / unit, ret[0]);
    return 0;
}

static bool is_extended (const char *name)
{
    return strchr (name, '/') != NULL;
}

static int read_resource (const json_t *resource, const char *gpu, struct zoneobject *z,
                          struct machine_zone *size, struct machine_zone *left)
{
    const char *name = json_text (resource, "name");
    int64_t n[2];
    int rc = 0;

    if (strcmp (name, "cpu") == 0) {
        if ((rc = sizes (resource, true, 1000, CORES_MAX, n)) < 0)
            return rc;
        size->cores = (uint32_t)n[0];
        left->cores = (uint32_t)n[1];
        z->has_cores = true;
    } else if (strcmp (name, "memory") == 0) {
        if ((rc = sizes (resource, false, MIB, INT64_MAX, n)) < 0)
            return rc;
        size->memory_mib = n[0];
        left->memory_mib = n[1];
        z->has_memory = true;
    } else if (gpu && strcmp (name, gpu) == 0) {
        if ((rc = sizes (resource, false, 1, GPUS_MAX, n)) < 0)
            return rc;
        size->gpus = (uint32_t)n[0];
        left->gpus = (uint32_t)n[1];
        z->has_gpus = true;
    }
    z->has_devices = z->has_devices || is_extended (name);
    return 0;
}

static int zone_id (const char *name)
{
    int64_t id;

    if (strncmp (name, "node-", 5) != 0
        || parse_int (name + 5, 0, MACHINE_ZONES_MAX - 1, &id, "zone", NULL) < 0)
        return -1;
    return (int)id;
}

/* The position for a zone of that id: behind one of the same id. */
static size_t place_of (const struct zoneobject *z, int id)
{
    size_t i = z->n;

    while (i > 0 && z->size[i - 1].id > id)
        i--;
    return i;
}

static int read_zone (const json_t *zone, const char *gpu, struct zoneobject *z,
                      struct error *err)
{
    const char *name = json_text (zone, "name");
    int id = zone_id (name);
    const json_t *resource;
    size_t i, at = id < 0 ? 0 : place_of (z, id);

    if (id < 0)
        return error_set (err, EINVAL, "zone '%.64s' is not one of node-0 to node-%d",
                          name, MACHINE_ZONES_MAX - 1);
    if (at > 0 && z->size[at - 1].id == id)
        return error_set (err, EINVAL, "zone %.64s is listed twice", name);
    struct machine_zone size = { .id = id }, left = { .id = id };
    json_array_foreach (json_object_get (zone, "resources"), i, resource) {
        if (read_resource (resource, gpu, z, &size, &left) < 0)
            return error_set (err, EINVAL, "zone %.64s: its %.64s is not a quantity",
                              name, json_text (resource, "name"));
    }
    memmove (&z->size[at + 1], &z->size[at], (z->n - at) * sizeof (z->size[0]));
    memmove (&z->left[at + 1], &z->left[at], (z->n - at) * sizeof (z->left[0]));
    z->size[at] = size;
    z->left[at] = left;
    z->n++;
    return 0;
}

int zoneobject_read (const json_t *object, const char *gpu_resource,
                     struct zoneobject *ret, struct error *err)
{
    const json_t *zones = json_object_get (object, "zones"), *zone;
    size_t i;

    *ret = (struct zoneobject){ .single = is_single (object) };
    read_print (object, ret);
    if (!json_is_array (zones))
        return error_set (err, EINVAL, "it has no list of zones");
    json_array_foreach (zones, i, zone) {
        int rc = strcmp (json_text (zone, "type"), "Node") == 0
                     ? read_zone (zone, gpu_resource, ret, err)
                     : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}
