/* adoptconfig.c - see adoptconfig.h */
#include "exec/kube/core/adoptconfig.h"

#include "exec/namespaces.h"
#include "exec/podset.h"

#define USER_MAX 255
#define URGENCY_MAX 31
#define URGENCY_DEFAULT 16

static bool is_user (const char *text)
{
    size_t len = text ? strlen (text) : 0;

    return len > 0 && len <= USER_MAX && !strpbrk (text, " \t\r\n:/");
}

static int read_namespaces (const struct yaml_doc *doc, json_t *adopt, json_t *map,
                            struct adoptconfig *a, struct error *err)
{
    json_t *owner;
    struct error why = { 0 };
    const char *name;

    if (!json_is_object (map) || json_object_size (map) == 0)
        return yaml_error (doc, adopt, "namespaces", err,
                           "kube.adopt.namespaces: expected a mapping of namespaces to "
                           "their users, such as {team-a: alice}");
    if (json_object_size (map) > ADOPT_NAMESPACES_MAX)
        return yaml_error (doc, adopt, "namespaces", err,
                           "kube.adopt.namespaces: at most %d", ADOPT_NAMESPACES_MAX);
    json_object_foreach (map, name, owner) {
        if (namespace_is_template (name) || namespace_check (name, &why) < 0)
            return yaml_error (doc, map, name, err,
                               "kube.adopt.namespaces: '%.64s' is not the name of a "
                               "namespace",
                               name);
        if (!json_is_null (owner) && !is_user (json_string_value (owner)))
            return yaml_error (
                doc, map, name, err,
                "kube.adopt.namespaces.%s: expected the name of a user, or "
                "null",
                name);
    }
    a->namespaces = json_deep_copy (map);
    return a->namespaces ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int read_policy (const struct yaml_doc *doc, json_t *adopt, json_t *v,
                        struct adoptconfig *a, struct error *err)
{
    if (!podset_is_name (v))
        return yaml_error (doc, adopt, "owner-policy", err,
                           "kube.adopt.owner-policy: expected the name of a "
                           "ValidatingAdmissionPolicy");
    a->owner_policy = strdup (json_string_value (v));
    return a->owner_policy ? 0 : error_set (err, ENOMEM, "out of memory");
}

static int read_cancel (const struct yaml_doc *doc, json_t *adopt, json_t *v,
                        struct adoptconfig *a, struct error *err)
{
    const char *text = json_string_value (v);

    if (!text || (strcmp (text, "suspend") != 0 && strcmp (text, "delete") != 0))
        return yaml_error (doc, adopt, "on-cancel", err,
                           "kube.adopt.on-cancel: expected suspend or delete");
    a->delete_cancelled = strcmp (text, "delete") == 0;
    return 0;
}

static int read_classes (const struct yaml_doc *doc, json_t *adopt, json_t *map,
                         struct adoptconfig *a, struct error *err)
{
    json_t *urgency;
    const char *name;

    if (!json_is_object (map))
        return yaml_error (doc, adopt, "priority-classes", err,
                           "kube.adopt.priority-classes: expected a mapping of "
                           "PriorityClasses to urgencies, such as {high: 24}");
    json_object_foreach (map, name, urgency) {
        if (!json_is_integer (urgency) || json_integer_value (urgency) < 1
            || json_integer_value (urgency) > URGENCY_MAX)
            return yaml_error (doc, map, name, err,
                               "kube.adopt.priority-classes.%s: expected an urgency, 1 to "
                               "%d",
                               name, URGENCY_MAX);
    }
    a->priority_classes = json_deep_copy (map);
    return a->priority_classes ? 0 : error_set (err, ENOMEM, "out of memory");
}

static const struct key {
    const char *name;
    int (*read) (const struct yaml_doc *doc, json_t *adopt, json_t *v,
                 struct adoptconfig *a, struct error *err);
} keys[] = {
    { "namespaces", read_namespaces },
    { "owner-policy", read_policy },
    { "on-cancel", read_cancel },
    { "priority-classes", read_classes },
};

static int read_key (const struct yaml_doc *doc, json_t *adopt, const char *name,
                     struct adoptconfig *a, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (keys); i++)
        if (strcmp (keys[i].name, name) == 0)
            return keys[i].read (doc, adopt, json_object_get (adopt, name), a, err);
    return yaml_error (doc, adopt, name, err, "kube.adopt.%s: unknown key", name);
}

int adoptconfig_read (const struct yaml_doc *doc, const json_t *config,
                      struct adoptconfig *ret, struct error *err)
{
    json_t *adopt = json_object_get (config, "adopt"), *v;
    const char *name;
    int rc = 0;

    if (!json_is_object (adopt) && adopt)
        return yaml_error (doc, config, "adopt", err,
                           "kube.adopt: expected a mapping with the key namespaces");
    json_object_foreach (adopt, name, v) {
        if (rc == 0)
            rc = read_key (doc, adopt, name, ret, err);
    }
    if (rc == 0 && adopt && !ret->namespaces)
        rc = yaml_error (doc, config, "adopt", err,
                         "kube.adopt.namespaces: the key is missing");
    return rc;
}

void adoptconfig_release (struct adoptconfig *a)
{
    json_decref (a->namespaces);
    json_decref (a->priority_classes);
    free (a->owner_policy);
    *a = (struct adoptconfig){ 0 };
}

const char *adoptconfig_owner (const struct adoptconfig *a, const char *namespace_)
{
    return json_text (a->namespaces, namespace_);
}

int adoptconfig_urgency (const struct adoptconfig *a, const char *priority_class)
{
    const json_t *urgency = json_object_get (a->priority_classes, priority_class);

    return urgency ? (int)json_integer_value (urgency) : URGENCY_DEFAULT;
}
