/* jobspec.c - see jobspec.h. The tree is in resources.c, attributes in attributes.c.
 */
#include "common/printable.h"
#include "jobspec/jobspec_private.h"

#include <stdarg.h>

#include "jobspec/attributes/text.h"
#include "jobspec/options/attributes.h"

/* -- errors -- */

static void add_place (struct strbuf *sb, const struct place *at)
{
    if (at->up)
        add_place (sb, at->up);
    if (!at->key)
        strbuf_addf (sb, "[%zu]", at->index);
    else
        strbuf_addf (sb, "%s%.64s", at->up ? "." : "", at->key);
}

int jobspec_fail (struct error *err, const struct place *at, const char *fmt, ...)
{
    enum { PLACE_MAX = 200 };
    autostrbuf struct strbuf place = STRBUF_INIT (16384);
    const char *text;
    char reason[256];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (reason, sizeof (reason), fmt, ap);
    va_end (ap);
    if (at)
        add_place (&place, at);
    /* Keep the end of a deep place, which says more. */
    text = place.len > PLACE_MAX ? place.buf + place.len - PLACE_MAX : place.buf;
    return error_set (err, EINVAL, "jobspec: %s%s%s%s", text == place.buf ? "" : "...",
                      text, at ? ": " : "", reason);
}

/* -- tasks -- */

static int parse_command (struct jobspec *js, const json_t *list,
                          const struct place *task, struct error *err)
{
    struct place at = { task, "command", 0 };
    size_t n = json_array_size (list);

    if (!json_is_array (list) || n == 0)
        return jobspec_fail (err, &at, "expected a list of at least one string");
    js->command = calloc (n + 1, sizeof (*js->command));
    if (!js->command)
        return error_no_memory (err, "jobspec");
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get (list, i);
        const char *s = json_string_value (v);
        struct place here = { &at, NULL, i };

        if (!s)
            return jobspec_fail (err, &here, "expected a string, got %s",
                                 json_type_name (v));
        if (strlen (s) != json_string_length (v))
            return jobspec_fail (err, &here, "has a NUL byte");
        if (json_string_length (v) >= JOBSPEC_STRING_MAX)
            return jobspec_fail (err, &here, "is longer than %d bytes",
                                 JOBSPEC_STRING_MAX - 1);
        js->command[i] = strdup (s);
        if (!js->command[i])
            return error_no_memory (err, "jobspec");
        js->ncommand++;
    }
    if (js->command[0][0] == '\0')
        return jobspec_fail (err, &at, "the name of the program is empty");
    return 0;
}

static int parse_task_count (struct jobspec *js, const json_t *v,
                             const struct place *task, struct error *err)
{
    struct place at = { task, "count", 0 };

    if (!json_is_object (v))
        return jobspec_fail (err, &at, "expected an object, got %s",
                             v ? json_type_name (v) : "nothing");
    if (json_object_get (v, "per_resource"))
        return jobspec_fail (err, &at,
                             "per_resource is not supported by fluxq; use per_slot");
    const json_t *n = json_object_get (v, "per_slot");
    js->task_count_kind = n ? JOBSPEC_PER_SLOT : JOBSPEC_TOTAL;
    if (!n)
        n = json_object_get (v, "total");
    if (!n || json_object_size (v) != 1)
        return jobspec_fail (err, &at,
                             "needs exactly one of the keys per_slot and total");
    at.key = n == json_object_get (v, "total") ? "count.total" : "count.per_slot";
    if (!json_is_integer (n))
        return jobspec_fail (err, &at, "expected a positive integer, got %s",
                             json_type_name (n));
    js->task_count = json_integer_value (n);
    if (js->task_count < 1 || js->task_count > JOBSPEC_COUNT_MAX)
        return jobspec_fail (err, &at, "%jd is not an integer from 1 to %d",
                             (intmax_t)js->task_count, JOBSPEC_COUNT_MAX);
    return 0;
}

static int parse_task (struct jobspec *js, const json_t *task, const struct place *at,
                       struct error *err)
{
    struct place slot_at = { at, "slot", 0 };
    const char *key, *slot;
    json_t *value;

    if (!json_is_object (task))
        return jobspec_fail (err, at, "expected an object, got %s",
                             json_type_name (task));
    json_object_foreach ((json_t *)task, key, value) {
        struct place here = { at, key, 0 };

        if (!strcmp (key, "attributes") || !strcmp (key, "distribution"))
            return jobspec_fail (err, &here, "not supported by fluxq");
        if (strcmp (key, "command") && strcmp (key, "slot") && strcmp (key, "count"))
            return jobspec_fail (err, &here, "unknown key");
    }
    slot = json_string_value (json_object_get (task, "slot"));
    if (!slot)
        return jobspec_fail (err, &slot_at, "expected the label of a slot");
    if (!jobspec_find_slot (js, slot))
        return jobspec_fail (err, &slot_at, "no slot of resources has the label '%.64s'",
                             slot);
    js->slot_label = strdup (slot);
    if (!js->slot_label)
        return error_no_memory (err, "jobspec");
    if (parse_command (js, json_object_get (task, "command"), at, err) < 0)
        return -EINVAL;
    return parse_task_count (js, json_object_get (task, "count"), at, err);
}

static int parse_tasks (struct jobspec *js, const json_t *list, struct error *err)
{
    struct place at = { NULL, "tasks", 0 }, first = { &at, NULL, 0 };

    if (!json_is_array (list))
        return jobspec_fail (err, &at, "expected a list, got %s", json_type_name (list));
    if (json_array_size (list) != 1)
        return jobspec_fail (err, &at, "has %zu elements, must have exactly one",
                             json_array_size (list));
    return parse_task (js, json_array_get (list, 0), &first, err);
}

/* -- top level -- */

int jobspec_check_keys (const json_t *root, struct error *err)
{
    static const char *const required[] = { "version", "resources", "tasks",
                                            "attributes" };
    const char *key;
    json_t *value;

    if (!json_is_object (root))
        return jobspec_fail (err, NULL, "expected an object, got %s",
                             json_type_name (root));
    json_object_foreach ((json_t *)root, key, value) {
        struct place here = { NULL, key, 0 };
        size_t i = 0;

        while (i < ARRAY_SIZE (required) && strcmp (key, required[i]))
            i++;
        if (i == ARRAY_SIZE (required))
            return jobspec_fail (err, &here, "unknown key");
    }
    for (size_t i = 0; i < ARRAY_SIZE (required); i++) {
        if (!json_object_get (root, required[i]))
            return jobspec_fail (err, NULL, "the key '%s' is missing", required[i]);
    }
    return 0;
}

static int check_version (const json_t *version, struct error *err)
{
    struct place at = { NULL, "version", 0 };

    /* The examples of RFC 14 have version 999. */
    if (!json_is_integer (version)
        || (json_integer_value (version) != 1 && json_integer_value (version) != 999))
        return jobspec_fail (err, &at, "must be 1");
    return 0;
}

/* A jobspec has both the script and the command that runs it, or neither. */
static int check_batch (const struct jobspec *js, struct error *err)
{
    struct place at = { NULL, "tasks[0].command[0]", 0 };
    bool runs_script = !strcmp (js->command[0], JOBSPEC_SCRIPT_COMMAND);

    if (js->script && !runs_script)
        return jobspec_fail (
            err, &at, "must be '" JOBSPEC_SCRIPT_COMMAND "', as there is a script");
    if (!js->script && runs_script)
        return jobspec_fail (err, &at, "attributes.system.files.script is missing");
    return 0;
}

static int default_name (struct jobspec *js, struct error *err)
{
    if (js->name)
        return 0;
    const char *slash = strrchr (js->command[0], '/');
    js->name = strndup (slash ? slash + 1 : js->command[0], 255);
    if (!js->name)
        return error_no_memory (err, "jobspec");
    if (!text_is_line (js->name, 255) || printable_check (js->name, "name", NULL) < 0) {
        free (js->name);
        js->name = strdup ("job");
    }
    return js->name ? 0 : error_no_memory (err, "jobspec");
}

static int parse_all (struct jobspec *js, struct error *err)
{
    int rc = jobspec_check_keys (js->root, err);

    if (rc == 0)
        rc = check_version (json_object_get (js->root, "version"), err);
    if (rc == 0)
        rc = jobspec_parse_resources (json_object_get (js->root, "resources"), false,
                                      &js->resources, &js->nresources, err);
    if (rc == 0)
        rc = parse_tasks (js, json_object_get (js->root, "tasks"), err);
    if (rc == 0)
        rc = jobspec_parse_attributes (js, json_object_get (js->root, "attributes"), err);
    if (rc == 0)
        rc = check_batch (js, err);
    if (rc == 0)
        rc = jobspec_check_malleable (js, err);
    if (rc == 0)
        rc = jobspec_parse_components (js, err);
    if (rc == 0)
        rc = jobspec_check_segments (js, err);
    return rc < 0 ? rc : default_name (js, err);
}

struct jobspec *jobspec_from_json (json_t *root, struct error *err)
{
    struct jobspec *js = calloc (1, sizeof (*js));

    if (!js)
        return error_null (error_no_memory (err, "jobspec"));
    js->root = json_incref (root);
    if (parse_all (js, err) < 0) {
        jobspec_destroy (js);
        return NULL;
    }
    return js;
}

struct jobspec *jobspec_parse (const char *text, size_t len, struct error *err)
{
    autojson json_t *root = NULL;

    if (len > JOBSPEC_TEXT_MAX)
        return error_null (error_set (err, EFBIG,
                                      "jobspec: has %zu bytes, at most %d are accepted",
                                      len, JOBSPEC_TEXT_MAX));
    root = json_parse (text, len, "jobspec", err);
    return root ? jobspec_from_json (root, err) : NULL;
}

void jobspec_destroy (struct jobspec *js)
{
    if (!js)
        return;
    jobspec_release_components (js);
    jobspec_release_resources (js->resources, js->nresources);
    for (size_t i = 0; i < js->ncommand; i++)
        free (js->command[i]);
    free (js->command);
    free (js->slot_label);
    attributes_release (js);
    free (js->cwd);
    free (js->output);
    free (js->error);
    free (js->input);
    stage_list_release (&js->stage_in);
    stage_list_release (&js->stage_out);
    free (js->submit_dir);
    free (js->script_path);
    free ((char *)js->script);
    dependencies_release (&js->depend);
    array_spec_release (&js->array);
    json_decref (js->environment);
    json_decref (js->root);
    free (js);
}

char *jobspec_encode (const struct jobspec *js)
{
    return json_dumps (js->root, JSON_COMPACT | JSON_SORT_KEYS);
}

bool jobspec_is_batch (const struct jobspec *js)
{
    return js->script != NULL;
}
