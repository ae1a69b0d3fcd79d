/* groupconfig.c - see groupconfig.h */
#include "exec/kube/core/groupconfig.h"

#include "common/parse.h"
#include "exec/exec.h"
#include "kube/quantity.h"

#define COUNT_MAX 10000
#define GPUS_MAX 1024
#define LABELS_MAX 32
#define TAINTS_MAX 16
#define TEXT_MAX 253
#define DELAY 180.0
#define DELAY_MAX 86400.0
#define CLASS "best-effort-atomic-scale-up.autoscaling.x-k8s.io"

struct reading {
    const struct yaml_doc *doc;
    json_t *entry; /* one group */
    struct groupconfig *g;
    const char *gpu_resource;
    struct error *err;
};

#define WRONG(r, key, fmt, ...)                                                          \
    yaml_error ((r)->doc, (r)->entry, key, (r)->err, "kube.node-groups: %s: " fmt, key,  \
                ##__VA_ARGS__)

static json_t *value (const struct reading *r, const char *key)
{
    return json_object_get (r->entry, key);
}

static bool is_name (const char *text, size_t max)
{
    size_t len = text ? strlen (text) : 0;

    return len > 0 && len <= max
           && strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len
           && !strchr ("-.", text[0]) && !strchr ("-.", text[len - 1]);
}

static int read_name (const struct reading *r, const struct groupconfigs *all)
{
    const char *name = json_string_value (value (r, "name"));

    if (!is_name (name, GROUP_NAME_MAX) || strchr (name, '.'))
        return WRONG (r, "name",
                      "expected 1 to %d small letters, digits and '-', with no '-' "
                      "first or last",
                      GROUP_NAME_MAX);
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].name && strcmp (all->list[i].name, name) == 0)
            return WRONG (r, "name", "there are two groups %s", name);
    r->g->name = strdup (name);
    return r->g->name ? 0 : error_no_memory (r->err, NULL);
}

static int read_count (const struct reading *r, const char *key, int64_t min, int64_t max,
                       int64_t otherwise, int64_t *ret)
{
    json_t *v = value (r, key);

    *ret = v ? json_integer_value (v) : otherwise;
    if ((v && !json_is_integer (v)) || *ret < min || *ret > max)
        return WRONG (r, key, "expected a whole number from %jd to %jd", (intmax_t)min,
                      (intmax_t)max);
    return 0;
}

static int read_counts (const struct reading *r)
{
    int64_t min, max;

    if (read_count (r, "max", 1, COUNT_MAX, 0, &max) < 0
        || read_count (r, "min", 0, max, 0, &min) < 0)
        return -EINVAL;
    r->g->min = (uint32_t)min;
    r->g->max = (uint32_t)max;
    return 0;
}

static bool is_text (const json_t *v, size_t min)
{
    return json_is_string (v) && json_string_length (v) >= min
           && json_string_length (v) <= TEXT_MAX;
}

static int read_labels (const struct reading *r)
{
    json_t *labels = value (r, "labels"), *v;
    const char *key;

    if (!json_is_object (labels) || json_object_size (labels) == 0
        || json_object_size (labels) > LABELS_MAX)
        return WRONG (r, "labels",
                      "expected 1 to %d labels, by which its nodes are known when they "
                      "are there",
                      LABELS_MAX);
    json_object_foreach (labels, key, v) {
        if (!*key || !is_text (v, 0))
            return yaml_error (
                r->doc, labels, key, r->err,
                "kube.node-groups: labels: %s: expected a text (in quotes, "
                "if it looks like a number or a truth value)",
                key);
    }
    r->g->labels = json_deep_copy (labels);
    return r->g->labels ? 0 : error_no_memory (r->err, NULL);
}

static bool is_taint (json_t *taint)
{
    static const char *const keys[] = { "key", "value", "effect", NULL };
    const char *effect = json_string_value (json_object_get (taint, "effect"));
    const json_t *v = json_object_get (taint, "value");

    return json_is_object (taint) && json_only_keys (taint, keys, "", NULL) == 0
           && is_text (json_object_get (taint, "key"), 1) && (!v || is_text (v, 0))
           && effect
           && (strcmp (effect, "NoSchedule") == 0 || strcmp (effect, "NoExecute") == 0
               || strcmp (effect, "PreferNoSchedule") == 0);
}

static int read_taints (const struct reading *r)
{
    json_t *taints = value (r, "taints"), *taint;
    size_t i;

    if (taints && (!json_is_array (taints) || json_array_size (taints) > TAINTS_MAX))
        return WRONG (r, "taints", "expected a list of at most %d taints", TAINTS_MAX);
    json_array_foreach (taints, i, taint) {
        if (!is_taint (taint))
            return WRONG (r, "taints",
                          "entry %zu: expected {key: ..., value: ..., effect: ...}, the "
                          "effect NoSchedule, NoExecute or PreferNoSchedule",
                          i + 1);
    }
    r->g->taints = taints ? json_deep_copy (taints) : json_array ();
    return r->g->taints ? 0 : error_no_memory (r->err, NULL);
}

/* Reads a quantity, or a whole number; *ret in thousandths or units, at least 1. */
static int read_quantity (const struct reading *r, const char *key,
                          int (*parse) (const char *text, int64_t *ret), const char *like,
                          int64_t *ret)
{
    json_t *v = value (r, key);
    char text[32];

    snprintf (text, sizeof (text), "%jd", (intmax_t)json_integer_value (v));
    const char *from = json_is_integer (v) ? text : json_string_value (v);
    if (parse (from, ret) < 0 || *ret < 1)
        return WRONG (r, key,
                      "expected how much of it jobs can have on one node, such as "
                      "%s",
                      like);
    return 0;
}

static int read_size (const struct reading *r)
{
    int64_t cpu, memory, gpus;
    char cpu_text[32], memory_text[32], gpu_text[32];

    if (read_quantity (r, "cpu", quantity_milli, "16", &cpu) < 0
        || read_quantity (r, "memory", quantity_value, "64Gi", &memory) < 0
        || read_count (r, "gpus", 0, GPUS_MAX, 0, &gpus) < 0)
        return -EINVAL;
    snprintf (cpu_text, sizeof (cpu_text), "%jdm", (intmax_t)cpu);
    snprintf (memory_text, sizeof (memory_text), "%jd", (intmax_t)memory);
    snprintf (gpu_text, sizeof (gpu_text), "%jd", (intmax_t)gpus);
    r->g->allocatable = json_pack ("{s:s s:s s:s}", "cpu", cpu_text, "memory",
                                   memory_text, r->gpu_resource, gpu_text);
    return r->g->allocatable ? 0 : error_no_memory (r->err, NULL);
}

static int read_delay (const struct reading *r)
{
    json_t *v = value (r, "delay");
    struct error why = { 0 };
    double *delay = &r->g->delay;

    *delay = v ? json_number_value (v) : DELAY;
    if (v && !json_is_number (v)
        && (!json_is_string (v)
            || parse_fsd (json_string_value (v), delay, "delay", &why) < 0))
        return WRONG (r, "delay", "expected a duration such as 3m");
    if (!(*delay >= 1 && *delay <= DELAY_MAX))
        return WRONG (r, "delay", "must be from 1s to 24h");
    return 0;
}

static int read_object_name (const struct reading *r, const char *key,
                             const char *otherwise, bool used, const char *with,
                             char **ret)
{
    json_t *v = value (r, key);

    if (v && !used)
        return WRONG (r, key, "needs provision: %s", with);
    if (v && !is_name (json_string_value (v), TEXT_MAX))
        return WRONG (r, key,
                      "expected a name in Kubernetes (small letters, digits, '-' "
                      "and '.')");
    if (!v && (!otherwise || !used))
        return 0;
    *ret = strdup (v ? json_string_value (v) : otherwise);
    return *ret ? 0 : error_no_memory (r->err, NULL);
}

static int read_provision (const struct reading *r)
{
    static const char *const names[] = { [PROVISION_NONE] = "none",
                                         [PROVISION_REQUEST] = "request",
                                         [PROVISION_PODS] = "pods" };
    json_t *v = value (r, "provision");
    const char *text = v ? json_string_value (v) : "none";
    size_t i = 0;

    while (text && i < ARRAY_SIZE (names) && strcmp (names[i], text) != 0)
        i++;
    if (!text || i == ARRAY_SIZE (names))
        return WRONG (r, "provision", "expected request, pods or none");
    r->g->provision = (enum provision)i;
    int rc = read_object_name (r, "provisioning-class", CLASS, i == PROVISION_REQUEST,
                               "request", &r->g->provision_class);
    return rc < 0 ? rc
                  : read_object_name (r, "priority-class", NULL, i == PROVISION_PODS,
                                      "pods", &r->g->priority_class);
}

static int check_keys (const struct reading *r)
{
    static const char *const known[] = { "name",      "min",
                                         "max",       "labels",
                                         "taints",    "cpu",
                                         "memory",    "gpus",
                                         "provision", "provisioning-class",
                                         "delay",     "priority-class",
                                         NULL };
    const char *key;
    json_t *v;

    if (!json_is_object (r->entry))
        return yaml_error (r->doc, r->entry, NULL, r->err,
                           "kube.node-groups: expected a list of {name: ..., max: ..., "
                           "labels: ..., cpu: ..., memory: ...}");
    json_object_foreach (r->entry, key, v) {
        size_t i = 0;
        while (known[i] && strcmp (known[i], key) != 0)
            i++;
        if (!known[i])
            return WRONG (r, key, "unknown key");
    }
    return 0;
}

static int read_group (const struct reading *r, const struct groupconfigs *all)
{
    if (check_keys (r) < 0 || read_name (r, all) < 0 || read_counts (r) < 0
        || read_labels (r) < 0 || read_taints (r) < 0 || read_size (r) < 0
        || read_delay (r) < 0 || read_provision (r) < 0)
        return r->err->code == ENOMEM ? -ENOMEM : -EINVAL;
    return 0;
}

int groupconfig_read (const struct yaml_doc *doc, json_t *config,
                      const char *gpu_resource, struct groupconfigs *ret,
                      struct error *err)
{
    json_t *list = json_object_get (config, "node-groups"), *entry;
    size_t i, n = json_array_size (list);
    struct error own = { 0 };

    *ret = (struct groupconfigs){ 0 };
    if (!list)
        return 0;
    if (!json_is_array (list) || n > EXEC_GROUPS_MAX)
        return yaml_error (doc, config, "node-groups", err,
                           "kube.node-groups: expected a list of at most %d groups",
                           EXEC_GROUPS_MAX);
    if (!(ret->list = calloc (n + 1, sizeof (*ret->list))))
        return error_set (err, ENOMEM, "out of memory");
    json_array_foreach (list, i, entry) {
        const struct reading r = { doc, entry, &ret->list[ret->n], gpu_resource, &own };
        int rc = read_group (&r, ret);
        ret->n++;
        if (rc < 0)
            return error_set (err, own.code, "%s", own.text);
    }
    return 0;
}

void groupconfig_release (struct groupconfigs *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct groupconfig *c = &g->list[i];
        free (c->name);
        free (c->provision_class);
        free (c->priority_class);
        json_decref (c->labels);
        json_decref (c->taints);
        json_decref (c->allocatable);
    }
    free (g->list);
    *g = (struct groupconfigs){ 0 };
}

static bool has_all (const json_t *wanted, const json_t *labels)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *)wanted, key, v) {
        const json_t *is = json_object_get (labels, key);
        if (!is || !json_equal (v, is))
            return false;
    }
    return true;
}

int groupconfig_find (const struct groupconfigs *g, const json_t *labels)
{
    for (size_t i = 0; i < g->n; i++)
        if (has_all (g->list[i].labels, labels))
            return (int)i;
    return -1;
}

json_t *groupconfig_node (const struct groupconfig *g)
{
    return json_pack ("{s:{s:s s:O} s:{s:O} s:{s:O s:[{s:s s:s}]}}", "metadata", "name",
                      g->name, "labels", g->labels, "spec", "taints", g->taints, "status",
                      "allocatable", g->allocatable, "conditions", "type", "Ready",
                      "status", "True");
}
