/* podset.c - see podset.h */
#include "exec/podset.h"

#include <inttypes.h>

#include "common/parse.h"
#include "exec/mounts.h"
#include "exec/spaceset.h"
#include "jobspec/attributes/podtemplate.h"
#include "jobspec/attributes/podwish.h"

#define TEXT_MAX 253 /* of names in Kubernetes */
#define COUNT_MAX 1000000

/* The place of a value, for error messages. */
struct place {
    const struct yaml_doc *doc;
    json_t *owner;
    const char *key, *where;
    struct error *err;
};

#define FAIL(p, fmt, ...)                                                                \
    yaml_error ((p)->doc, (p)->owner, (p)->key, (p)->err, "%s.%s: " fmt, (p)->where,     \
                (p)->key, ##__VA_ARGS__)

bool podset_is_name (const json_t *v)
{
    const char *text = json_string_value (v);
    size_t len = text ? strlen (text) : 0;

    return len > 0 && len <= TEXT_MAX
           && strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len;
}

static int check_name (const struct place *p, json_t *v)
{
    return podset_is_name (v)
               ? 0
               : FAIL (p, "expected the name of an object in Kubernetes (small "
                          "letters, digits, '-' and '.')");
}

/* problem: of an entry that is not valid. */
static int check_list (const struct place *p, json_t *v, const char *expected,
                       bool (*is_valid) (const json_t *), const char *problem)
{
    json_t *name;
    size_t i;

    if (!json_is_array (v))
        return FAIL (p, "expected a list of %s", expected);
    json_array_foreach (v, i, name) {
        if (!is_valid (name))
            return FAIL (p, "entry %zu%s", i + 1, problem);
    }
    return 0;
}

static int check_names (const struct place *p, json_t *v)
{
    return check_list (p, v, "names", podset_is_name,
                       " is not the name of an object in Kubernetes");
}

static bool is_executor (const json_t *v)
{
    return json_is_string (v) && podwish_is_executor (json_string_value (v));
}

static int check_executor (const struct place *p, json_t *v)
{
    return is_executor (v) ? 0 : FAIL (p, "expected job or minicluster");
}

static int check_executors (const struct place *p, json_t *v)
{
    return check_list (p, v, "job and minicluster", is_executor,
                       ": expected job or minicluster");
}

static int check_bool (const struct place *p, json_t *v)
{
    return json_is_boolean (v) ? 0 : FAIL (p, "expected true or false");
}

static int check_labels (const struct place *p, json_t *v)
{
    const char *key;
    json_t *value;

    if (!json_is_object (v))
        return FAIL (p, "expected a mapping of labels");
    json_object_foreach (v, key, value) {
        if (!json_is_string (value))
            return yaml_error (p->doc, v, key, p->err,
                               "%s.%s.%s: expected a text (in quotes, if it looks like a "
                               "number or a truth value)",
                               p->where, p->key, key);
    }
    return 0;
}

static bool is_one_of (const char *text, const char *const list[])
{
    for (size_t i = 0; list[i]; i++)
        if (strcmp (text, list[i]) == 0)
            return true;
    return false;
}

static const char *wrong_in_toleration (const json_t *t)
{
    static const char *const keys[] = { "key",    "operator",          "value",
                                        "effect", "tolerationSeconds", NULL };
    static const char *const operators[] = { "", "Equal", "Exists", NULL };
    static const char *const effects[] = { "", "NoSchedule", "PreferNoSchedule",
                                           "NoExecute", NULL };

    if (!json_is_object (t) || json_only_keys (t, keys, "", NULL) < 0)
        return "expected a mapping of key, operator, value, effect and tolerationSeconds";
    if (!is_one_of (json_text (t, "operator"), operators))
        return "operator: expected Equal or Exists";
    if (!is_one_of (json_text (t, "effect"), effects))
        return "effect: expected NoSchedule, PreferNoSchedule or NoExecute";
    if (!*json_text (t, "key") && strcmp (json_text (t, "operator"), "Exists") != 0)
        return "without a key the operator must be Exists";
    return NULL;
}

static int check_tolerations (const struct place *p, json_t *v)
{
    json_t *t;
    size_t i;

    if (!json_is_array (v))
        return FAIL (p, "expected a list of tolerations, as in a pod's spec");
    json_array_foreach (v, i, t) {
        const char *why = wrong_in_toleration (t);

        if (why)
            return FAIL (p, "entry %zu: %s", i + 1, why);
    }
    return 0;
}

/* Cores, memory and gpus come from the job's request. */
static int check_resources (const struct place *p, json_t *v)
{
    const char *name;
    json_t *n;

    if (!json_is_object (v))
        return FAIL (p, "expected a mapping of resources, such as {rdma/hca: 1}");
    json_object_foreach (v, name, n) {
        if (!strchr (name, '/'))
            return yaml_error (p->doc, v, name, p->err,
                               "%s.%s.%s: not an extended resource (VENDOR/NAME)",
                               p->where, p->key, name);
        if (!json_is_integer (n) || json_integer_value (n) < 1
            || json_integer_value (n) > COUNT_MAX)
            return yaml_error (p->doc, v, name, p->err,
                               "%s.%s.%s: expected a number from 1 to %d", p->where,
                               p->key, name, COUNT_MAX);
    }
    return 0;
}

static int bytes_of (const json_t *v, int64_t *ret)
{
    if (json_is_integer (v))
        *ret = json_integer_value (v);
    else if (!json_is_string (v)
             || parse_bytes (json_string_value (v), ret, "", NULL) < 0)
        return -EINVAL;
    return *ret >= PODWISH_SHM_MIN && *ret <= PODWISH_SHM_MAX ? 0 : -EINVAL;
}

static int check_bytes (const struct place *p, json_t *v)
{
    int64_t n;

    return bytes_of (v, &n) == 0 ? 0
                                 : FAIL (p, "expected an amount of memory such as 2Gi, "
                                            "from 1Mi to 1Pi");
}

static int check_volumes (const struct place *p, json_t *v)
{
    const char *name;
    json_t *body;
    struct error why = { 0 };

    if (!json_is_object (v))
        return FAIL (p, "expected a mapping of names to volumes");
    json_object_foreach (v, name, body) {
        autojson json_t *mount = json_is_object (body) ? json_copy (body) : NULL;
        autojson json_t *list = json_array ();

        if (!podwish_is_name (name))
            return yaml_error (p->doc, v, name, p->err,
                               "%s.%s: '%.64s' is not a name of letters, digits, '-' and "
                               "'_', at most 63",
                               p->where, p->key, name);
        if (!mount || json_object_get (mount, "path"))
            return yaml_error (p->doc, v, name, p->err,
                               "%s.%s.%s: expected a mapping of volume and read-only; "
                               "the path is the user's",
                               p->where, p->key, name);
        json_object_set_new (mount, "path", json_string ("/volume"));
        json_array_append (list, mount);
        if (mounts_check (list, &why) < 0)
            return yaml_error (p->doc, v, name, p->err, "%s.%s.%s: %s", p->where, p->key,
                               name, why.text);
    }
    return 0;
}

/* The fields of a template if the queue says `true`: none of them reads what belongs to
 * others. */
static const char *const template_default[] = { "metadata.labels", "metadata.annotations",
                                                "spec.dnsConfig", "spec.volumes.emptyDir",
                                                NULL };

static int check_template (const struct place *p, json_t *v)
{
    json_t *field;
    size_t i;

    if (json_is_boolean (v))
        return 0;
    if (!json_is_array (v))
        return FAIL (p, "expected true, false or a list of fields");
    json_array_foreach (v, i, field) {
        if (!json_is_string (field)
            || !is_one_of (json_string_value (field), podtemplate_fields))
            return FAIL (p,
                         "entry %zu is not one of metadata.labels, metadata.annotations, "
                         "spec.dnsConfig and spec.volumes.emptyDir, .configMap, .secret, "
                         ".projected",
                         i + 1);
    }
    return 0;
}

struct key {
    const char *name;
    int (*check) (const struct place *p, json_t *v);
};

static const struct key allow_keys[] = {
    { "executor", check_executors },
    { "runtime-class", check_names },
    { "priority-class", check_names },
    { "service-account", check_names },
    { "shm-size", check_bytes },
    { "host-network", check_bool },
    { "pod-template", check_template },
    { "volumes", check_volumes },
    { NULL, NULL },
};

static int check_keys (const struct place *p, json_t *v, const struct key *keys);

static int check_allow (const struct place *p, json_t *v)
{
    return check_keys (p, v, allow_keys);
}

/* clang-format off */
static const struct key set_keys[] = {
    { "node-selector", check_labels },
    { "tolerations", check_tolerations },
    { "resources", check_resources },
    { "executor", check_executor },
    { "runtime-class", check_name },
    { "priority-class", check_name },
    { "service-account", check_name },
    { "image-pull-secrets", check_names },
    { "scheduler", check_name },
    { "shm-size", check_bytes },
    { "host-network", check_bool },
    { "user-entry", check_bool },
    { "allow", check_allow },
    { NULL, NULL },
};
/* clang-format on */

static const struct key *find_key (const struct key *keys, const char *name)
{
    while (keys->name && strcmp (keys->name, name) != 0)
        keys++;
    return keys->name ? keys : NULL;
}

static int check_keys (const struct place *p, json_t *v, const struct key *keys)
{
    autofree char *where = NULL;
    const char *name;
    json_t *value;

    if (!json_is_object (v))
        return FAIL (p, "expected a mapping of settings");
    if (asprintf (&where, "%s.%s", p->where, p->key) < 0) {
        where = NULL;
        return error_set (p->err, ENOMEM, "out of memory");
    }
    json_object_foreach (v, name, value) {
        struct place at = { p->doc, v, name, where, p->err };
        const struct key *k = find_key (keys, name);

        if (!k)
            return FAIL (&at, "unknown key (see fluxq.yaml(5))");
        if (k->check (&at, value) < 0)
            return -EINVAL;
    }
    return 0;
}

/* Checks a key of the namespace; -ENOENT: no such key. */
static int check_space (const struct place *p)
{
    struct error why = { 0 };
    int rc = spaceset_check (p->key, json_object_get (p->owner, p->key), &why);

    return rc == 0 || rc == -ENOENT ? rc : FAIL (p, "%s", why.text);
}

int podset_check_key (const struct yaml_doc *doc, json_t *set, const char *key,
                      const char *where, struct error *err)
{
    const struct key *k = find_key (set_keys, key);
    struct place at = { doc, set, key, where, err };

    return k ? k->check (&at, json_object_get (set, key)) : check_space (&at);
}

int podset_check (const struct yaml_doc *doc, json_t *set, const char *where,
                  struct error *err)
{
    const char *name;
    json_t *value;

    json_object_foreach (set, name, value) {
        struct place at = { doc, set, name, where, err };
        int rc = podset_check_key (doc, set, name, where, err);

        if (rc == -ENOENT)
            return FAIL (&at, "unknown key (see fluxq.yaml(5))");
        if (rc < 0)
            return rc;
    }
    return 0;
}

json_t *podset_merge (const json_t *set, const json_t *over)
{
    json_t *all = set ? json_copy ((json_t *)set) : json_object ();

    if (all && over && json_object_update (all, (json_t *)over) < 0) {
        json_decref (all);
        return NULL;
    }
    return all;
}

/* -- choices of a job -- */

static int refuse (const char *name, const char *queue, const char *value,
                   const json_t *allowed, struct error *err)
{
    autostrbuf struct strbuf list = STRBUF_INIT (300);
    const char *key;
    json_t *item;
    size_t i;

    json_array_foreach (allowed, i, item) {
        strbuf_addf (&list, "%s%s", list.len ? ", " : "", json_string_value (item));
    }
    json_object_foreach ((json_t *)allowed, key, item) {
        strbuf_addf (&list, "%s%s", list.len ? ", " : "", key);
    }
    if (!list.len)
        return error_set (err, EINVAL, "--%s: queue %s does not allow its jobs to choose",
                          name, queue);
    return error_set (err, EINVAL, "--%s: queue %s does not have '%.64s', but %s", name,
                      queue, value, list.buf);
}

static int admit_name (const char *name, const char *queue, const json_t *value,
                       const json_t *allowed, struct error *err)
{
    json_t *item;
    size_t i;

    json_array_foreach (allowed, i, item) {
        if (json_equal (item, value))
            return 0;
    }
    return refuse (name, queue, json_string_value (value), allowed, err);
}

/* All executors, unless the queue has a list. A job may always name the executor that it
 * gets anyway. */
static int admit_executor (const json_t *set, const char *queue, const json_t *value,
                           const json_t *allowed, struct error *err)
{
    const char *own = json_text (set, "executor");

    if (!allowed || strcmp (own[0] ? own : "job", json_string_value (value)) == 0)
        return 0;
    return admit_name ("executor", queue, value, allowed, err);
}

static int admit_shm (const char *queue, const json_t *value, const json_t *allowed,
                      struct error *err)
{
    int64_t most;

    if (!allowed || bytes_of (allowed, &most) < 0)
        return refuse ("shm-size", queue, "", NULL, err);
    if (json_integer_value (value) > most)
        return error_set (err, EINVAL,
                          "--shm-size: queue %s allows at most %" PRId64 " MiB, %" PRId64
                          " are asked for",
                          queue, most >> 20, (int64_t)json_integer_value (value) >> 20);
    return 0;
}

static bool is_of_system (const char *path)
{
    return mounts_is_below (path, "/dev") || mounts_is_below (path, "/proc")
           || mounts_is_below (path, "/sys");
}

/* All volumes together, each at a path of its own. */
static int admit_mounts (const char *option, const json_t *set, const json_t *wishes,
                         const json_t *mounts, struct error *err)
{
    autojson json_t *all = podset_mounts (set, wishes, mounts);

    if (!all || mounts_check (all, err) == 0)
        return 0;
    error_prefix (err, "--%s", option);
    return -EINVAL;
}

static int admit_volumes (const json_t *set, const char *queue, const json_t *wishes,
                          const json_t *mounts, struct error *err)
{
    const json_t *allowed = json_object_get (json_object_get (set, "allow"), "volumes");
    json_t *one;
    size_t i;

    json_array_foreach (json_object_get (wishes, "volumes"), i, one) {
        const char *name = json_text (one, "name");

        if (!json_object_get (allowed, name))
            return refuse ("volume", queue, name, allowed, err);
    }
    json_array_foreach (json_object_get (wishes, "volumes"), i, one) {
        if (is_of_system (json_text (one, "path")))
            return error_set (err, EINVAL, "--volume: path: %.64s is the system's",
                              json_text (one, "path"));
    }
    return admit_mounts ("volume", set, wishes, mounts, err);
}

static bool template_may (const json_t *allowed, const char *field)
{
    json_t *one;
    size_t i;

    if (json_is_true (allowed))
        return is_one_of (field, template_default);
    json_array_foreach (allowed, i, one) {
        if (strcmp (json_string_value (one), field) == 0)
            return true;
    }
    return false;
}

static int admit_template (const json_t *set, const char *queue, const json_t *wishes,
                           const json_t *mounts, struct error *err)
{
    const json_t *allowed =
        json_object_get (json_object_get (set, "allow"), "pod-template");
    const json_t *template = json_object_get (wishes, "pod-template");
    autojson json_t *own = podtemplate_mounts (template);
    json_t *one;
    size_t i;

    if (!json_is_true (allowed) && !json_is_array (allowed))
        return error_set (err, EINVAL,
                          "--pod-template: queue %s does not allow its jobs to have one "
                          "(pods.allow.pod-template)",
                          queue);
    for (const char *const *f = podtemplate_fields; *f; f++)
        if (podtemplate_sets (template, *f) && !template_may (allowed, *f))
            return error_set (err, EINVAL,
                              "--pod-template: %s: queue %s does not allow this field "
                              "(pods.allow.pod-template)",
                              *f, queue);
    json_array_foreach (own, i, one) {
        if (is_of_system (json_text (one, "path")))
            return error_set (err, EINVAL,
                              "--pod-template: mountPath: %.64s is the system's",
                              json_text (one, "path"));
    }
    return admit_mounts ("pod-template", set, wishes, mounts, err);
}

int podset_admit (const json_t *set, const char *queue, const json_t *wishes,
                  const json_t *mounts, struct error *err)
{
    const json_t *allow = json_object_get (set, "allow");
    const char *name;
    json_t *value;
    int rc = 0;

    json_object_foreach ((json_t *)wishes, name, value) {
        const json_t *allowed = json_object_get (allow, name);

        if (strcmp (name, "executor") == 0)
            rc = admit_executor (set, queue, value, allowed, err);
        else if (strcmp (name, "volumes") == 0)
            rc = admit_volumes (set, queue, wishes, mounts, err);
        else if (strcmp (name, "pod-template") == 0)
            rc = admit_template (set, queue, wishes, mounts, err);
        else if (strcmp (name, "shm-size") == 0)
            rc = admit_shm (queue, value, allowed, err);
        else if (strcmp (name, "host-network") == 0)
            rc = json_is_true (allowed) ? 0 : refuse (name, queue, "", NULL, err);
        else
            rc = admit_name (name, queue, value, allowed, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

json_t *podset_mounts (const json_t *set, const json_t *wishes, const json_t *mounts)
{
    const json_t *allowed = json_object_get (json_object_get (set, "allow"), "volumes");
    json_t *list = mounts ? json_copy ((json_t *)mounts) : json_array (), *one;
    size_t i;

    json_array_foreach (json_object_get (wishes, "volumes"), i, one) {
        const json_t *volume = json_object_get (allowed, json_text (one, "name"));
        json_t *mount = volume ? json_copy ((json_t *)volume) : NULL;

        if (mount)
            json_object_set (mount, "path", json_object_get (one, "path"));
        if (mount)
            json_array_append_new (list, mount);
    }
    autojson json_t *own = podtemplate_mounts (json_object_get (wishes, "pod-template"));
    json_array_extend (list, own);
    if (json_array_size (list) == 0) {
        json_decref (list);
        return NULL;
    }
    return list;
}

/* -- nodes -- */

bool podset_selects (const json_t *queues)
{
    static const char *const keys[] = { "node-selector", "tolerations", "resources",
                                        NULL };
    const char *name, *key;
    json_t *set, *value;

    json_object_foreach ((json_t *)queues, name, set) {
        json_object_foreach (set, key, value) {
            if (is_one_of (key, keys))
                return true;
        }
    }
    return false;
}

bool podset_tolerates (const json_t *set, const json_t *taint)
{
    json_t *t;
    size_t i;

    json_array_foreach (json_object_get (set, "tolerations"), i, t) {
        const char *key = json_text (t, "key"), *effect = json_text (t, "effect");
        bool exists = strcmp (json_text (t, "operator"), "Exists") == 0;

        if (effect[0] && strcmp (effect, json_text (taint, "effect")) != 0)
            continue;
        if (key[0] ? strcmp (key, json_text (taint, "key")) != 0 : !exists)
            continue;
        if (exists || strcmp (json_text (t, "value"), json_text (taint, "value")) == 0)
            return true;
    }
    return false;
}
