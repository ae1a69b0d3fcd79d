/* spaceset.c - see spaceset.h */
#include "exec/spaceset.h"

#include "common/json.h"
#include "exec/namespaces.h"

static int check_namespace (const json_t *v, struct error *err)
{
    const char *text = json_string_value (v);

    return text ? namespace_check (text, err)
                : error_set (err, EINVAL, "expected a text");
}

static int check_bool (const json_t *v, struct error *err)
{
    return json_is_boolean (v) ? 0 : error_set (err, EINVAL, "expected true or false");
}

static int check_role (const json_t *v, struct error *err)
{
    const char *text = json_string_value (v);

    if (text && *text && strlen (text) < 254 && !strpbrk (text, "/% \t\n"))
        return 0;
    return error_set (err, EINVAL, "expected the name of a ClusterRole");
}

/* Labels that identify the broker's objects are not the administrator's. */
static int check_labels (const json_t *v, struct error *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object (v))
        return error_set (err, EINVAL, "expected a mapping of labels");
    json_object_foreach ((json_t *)v, key, value) {
        if (!json_is_string (value))
            return error_set (err, EINVAL,
                              "%.64s: expected a text (in quotes, if it looks like a "
                              "number or a truth value)",
                              key);
        if (strncmp (key, "fluxq.io/", strlen ("fluxq.io/")) == 0
            || strcmp (key, "app.kubernetes.io/managed-by") == 0)
            return error_set (err, EINVAL, "%.64s: is set by fluxq itself", key);
    }
    return 0;
}

/* Amounts may be numbers in YAML, as in kubectl. */
static int check_quota (const json_t *v, struct error *err)
{
    static const char *const keys[] = { "hard", "scopes", "scopeSelector", NULL };
    const json_t *hard = json_object_get (v, "hard");
    const char *name;
    json_t *amount;

    if (!json_is_object (v) || json_only_keys (v, keys, "", NULL) < 0
        || json_object_size (hard) == 0)
        return error_set (
            err, EINVAL,
            "expected the spec of a ResourceQuota: a mapping of hard, scopes "
            "and scopeSelector, such as {hard: {pods: 100}}");
    json_object_foreach ((json_t *)hard, name, amount) {
        if (!json_is_string (amount) && !json_is_integer (amount))
            return error_set (err, EINVAL, "hard.%.64s: expected an amount", name);
    }
    return 0;
}

static int check_mappings (const json_t *v, const char *key, const char *what,
                           struct error *err)
{
    json_t *item;
    size_t i;

    if (json_array_size (v) > SPACESET_POLICIES_MAX)
        return error_set (err, EINVAL, "at most %d entries", SPACESET_POLICIES_MAX);
    json_array_foreach (v, i, item) {
        if (!json_object_get (item, key))
            return error_set (err, EINVAL, "entry %zu: expected %s, with %s", i + 1, what,
                              key);
    }
    return 0;
}

static int check_limits (const json_t *v, struct error *err)
{
    if (json_array_size (v) == 0)
        return error_set (err, EINVAL, "expected a list, as the limits of a LimitRange");
    return check_mappings (v, "type", "an entry of the limits of a LimitRange", err);
}

static int check_policies (const json_t *v, struct error *err)
{
    if (json_is_boolean (v))
        return 0;
    if (json_array_size (v) == 0)
        return error_set (err, EINVAL,
                          "expected true, false or a list of specs of NetworkPolicies");
    return check_mappings (v, "podSelector", "the spec of a NetworkPolicy", err);
}

static const struct key {
    const char *name;
    int (*check) (const json_t *v, struct error *err);
} set_keys[] = {
    { "namespace", check_namespace },
    { "namespace-create", check_bool },
    { "namespace-labels", check_labels },
    { "namespace-role", check_role },
    { "quota", check_quota },
    { "limits", check_limits },
    { "network-policy", check_policies },
};

int spaceset_check (const char *key, const json_t *value, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (set_keys); i++)
        if (strcmp (set_keys[i].name, key) == 0)
            return set_keys[i].check (value, err);
    return -ENOENT;
}
