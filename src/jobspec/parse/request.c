/* request.c - see request.h
 */
#include "jobspec/parse/request.h"

#include "common/parse.h"
#include "common/yaml.h"
#include "jobspec/jobspec_private.h"

/* -- tasks -- */

static bool is_scalar (const json_t *v)
{
    return v && !json_is_object (v) && !json_is_array (v) && !json_is_null (v);
}

static int check_command (const json_t *list, const struct place *task, struct error *err)
{
    struct place at = { task, "command", 0 };
    size_t i;
    json_t *v;

    if (!json_is_array (list) || json_array_size (list) == 0)
        return jobspec_fail (err, &at, "expected a list of at least one string");
    json_array_foreach ((json_t *)list, i, v) {
        struct place here = { &at, NULL, i };

        if (!is_scalar (v))
            return jobspec_fail (err, &here, "expected a string, got %s",
                                 json_type_name (v));
    }
    return 0;
}

static int check_task_count (const json_t *v, const struct place *task, struct error *err)
{
    static const char *const keys[] = { "per_slot", "per_resource", "total" };
    struct place at = { task, "count", 0 };

    if (!json_is_object (v))
        return jobspec_fail (err, &at, "expected an object, got %s",
                             v ? json_type_name (v) : "nothing");
    for (size_t i = 0; json_object_size (v) == 1 && i < ARRAY_SIZE (keys); i++) {
        const json_t *n = json_object_get (v, keys[i]);
        struct place here = { &at, keys[i], 0 };

        if (!n)
            continue;
        if (i == 1 && json_is_object (n)) /* per_resource: type and count */
            return 0;
        if (!json_is_integer (n) || json_integer_value (n) < 1)
            return jobspec_fail (err, &here, "expected a positive integer");
        return 0;
    }
    return jobspec_fail (
        err, &at, "needs exactly one of the keys per_slot, per_resource and total");
}

static int check_task (const json_t *task, const struct place *at, struct error *err)
{
    static const char *const keys[] = { "command", "slot", "count", "attributes",
                                        "distribution" };
    const char *key;
    json_t *v;

    if (!json_is_object (task))
        return jobspec_fail (err, at, "expected an object, got %s",
                             json_type_name (task));
    json_object_foreach ((json_t *)task, key, v) {
        struct place here = { at, key, 0 };
        size_t i = 0;

        while (i < ARRAY_SIZE (keys) && strcmp (keys[i], key))
            i++;
        if (i == ARRAY_SIZE (keys))
            return jobspec_fail (err, &here, "unknown key");
        if (i == 3 && !json_is_object (v))
            return jobspec_fail (err, &here, "expected an object, got %s",
                                 json_type_name (v));
        if ((i == 1 || i == 4) && !is_scalar (v))
            return jobspec_fail (err, &here, "expected a string, got %s",
                                 json_type_name (v));
    }
    if (!json_object_get (task, "slot"))
        return jobspec_fail (err, at, "the key 'slot' is missing");
    int rc = check_command (json_object_get (task, "command"), at, err);
    return rc < 0 ? rc : check_task_count (json_object_get (task, "count"), at, err);
}

static int check_tasks (const json_t *list, struct error *err)
{
    struct place at = { NULL, "tasks", 0 };
    size_t i;
    json_t *task;

    if (!json_is_array (list))
        return jobspec_fail (err, &at, "expected a list, got %s", json_type_name (list));
    json_array_foreach ((json_t *)list, i, task) {
        struct place here = { &at, NULL, i };
        int rc = check_task (task, &here, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* -- attributes -- */

static int read_duration (struct jobspec_request *q, const json_t *v,
                          const struct place *system, struct error *err)
{
    struct place at = { system, "duration", 0 };

    if (json_is_string (v))
        return parse_fsd (json_string_value (v), &q->duration,
                          "jobspec: attributes.system.duration", err);
    if (!json_is_number (v))
        return jobspec_fail (err, &at, "expected a number, got %s", json_type_name (v));
    q->duration = json_number_value (v);
    if (!(q->duration >= 0 && q->duration <= JOBSPEC_REQUEST_DURATION_MAX))
        return jobspec_fail (err, &at, "%g is not a number of seconds from 0 to %g",
                             q->duration, JOBSPEC_REQUEST_DURATION_MAX);
    return 0;
}

static int read_system (struct jobspec_request *q, const json_t *system,
                        const struct place *at, struct error *err)
{
    struct place constraints_at = { at, "constraints", 0 };
    const json_t *duration = json_object_get (system, "duration");

    q->constraints = json_object_get (system, "constraints");
    if (q->constraints && !json_is_object (q->constraints))
        return jobspec_fail (err, &constraints_at, "expected an object, got %s",
                             json_type_name (q->constraints));
    return duration ? read_duration (q, duration, at, err) : 0;
}

static int read_attributes (struct jobspec_request *q, const json_t *attributes,
                            struct error *err)
{
    struct place at = { NULL, "attributes", 0 }, system_at = { &at, "system", 0 };
    const char *key;
    json_t *v;

    if (json_is_null (attributes))
        return 0;
    if (!json_is_object (attributes))
        return jobspec_fail (err, &at, "expected an object, got %s",
                             json_type_name (attributes));
    json_object_foreach ((json_t *)attributes, key, v) {
        struct place here = { &at, key, 0 };

        if (strcmp (key, "user") && strcmp (key, "system"))
            return jobspec_fail (err, &here, "unknown key (user, system)");
    }
    v = json_object_get (attributes, "system");
    if (!v || json_is_null (v))
        return 0;
    if (!json_is_object (v))
        return jobspec_fail (err, &system_at, "expected an object, got %s",
                             json_type_name (v));
    return read_system (q, v, &system_at, err);
}

/* -- top level -- */

static int read_version (struct jobspec_request *q, const json_t *v, struct error *err)
{
    struct place at = { NULL, "version", 0 };

    if (!json_is_integer (v) || json_integer_value (v) < 1
        || json_integer_value (v) > 9999)
        return jobspec_fail (err, &at, "expected an integer from 1 to 9999");
    q->version = (int)json_integer_value (v);
    return 0;
}

static int read_all (struct jobspec_request *q, struct error *err)
{
    const json_t *root = q->root;
    int rc = jobspec_check_keys (root, err);

    if (rc == 0)
        rc = read_version (q, json_object_get (root, "version"), err);
    if (rc == 0)
        rc = jobspec_parse_resources (json_object_get (root, "resources"), true,
                                      &q->resources, &q->nresources, err);
    if (rc == 0)
        rc = check_tasks (json_object_get (root, "tasks"), err);
    if (rc == 0)
        rc = read_attributes (q, json_object_get (root, "attributes"), err);
    return rc;
}

static bool begins_as_json (const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && strchr (" \t\r\n", text[i]) && text[i])
        i++;
    return i < len && text[i] == '{';
}

/* JSON is YAML, but libyaml does not accept all of it (surrogate pairs), and is slower.
 */
static json_t *load (const char *text, size_t len, const char *name, struct error *err)
{
    bool json = begins_as_json (text, len);
    json_t *root = NULL;

    if (len > JOBSPEC_TEXT_MAX)
        return error_null (error_set (err, EFBIG,
                                      "%s: has %zu bytes, at most %d are accepted", name,
                                      len, JOBSPEC_TEXT_MAX));
    if (json && (root = json_parse (text, len, name, err)))
        return root;
    struct yaml_doc *doc = yaml_load (text, len, name, json ? NULL : err);
    if (!doc)
        return NULL;
    root = json_incref (yaml_root (doc));
    yaml_destroy (doc);
    return root;
}

static int load_and_read (struct jobspec_request *q, const char *text, size_t len,
                          const char *name, struct error *err)
{
    q->root = load (text, len, name, err);
    if (!q->root)
        return -EINVAL;
    int rc = read_all (q, err);
    if (rc < 0)
        error_prefix (err, "%s", name);
    return rc;
}

int jobspec_resources_parse (const char *text, size_t len, const char *name,
                             struct jobspec_request **ret, struct error *err)
{
    struct error why = { 0 };
    struct jobspec_request *q = calloc (1, sizeof (*q));

    *ret = NULL;
    if (!q)
        return error_no_memory (err, name);
    if (load_and_read (q, text, len, name, &why) < 0) {
        jobspec_request_destroy (q);
        return error_set (err, why.code, "%s", why.text);
    }
    *ret = q;
    return 0;
}

void jobspec_request_destroy (struct jobspec_request *q)
{
    if (!q)
        return;
    jobspec_release_resources (q->resources, q->nresources);
    json_decref (q->root);
    free (q);
}
