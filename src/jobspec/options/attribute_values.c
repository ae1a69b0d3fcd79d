/* attribute_values.c - values of attributes in jobspecs, events and answers; see
 * attributes.h
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "jobspec/attributes/text.h"
#include "jobspec/options/attributes.h"

#define SYSTEM "jobspec: attributes.system"

/* Whether the row's value is a member of struct jobspec. */
static bool is_in_jobspec (const struct attribute *a)
{
    return a->type != ATTRIBUTE_OWN && a->at < sizeof (struct jobspec);
}

static void *field_of (const struct attribute *a, const struct jobspec *js)
{
    return (char *)(uintptr_t)js + a->at;
}

const char *attribute_text (const struct attribute *a, const struct jobspec *js)
{
    bool has = is_in_jobspec (a) && a->type == ATTRIBUTE_TEXT;

    return has ? *(char **)field_of (a, js) : NULL;
}

/* A new value; NULL: not given, or out of memory. */
static json_t *to_json (const struct attribute *a, const struct jobspec *js, bool *given)
{
    void *field = field_of (a, js);
    double seconds;

    *given = false;
    if (!is_in_jobspec (a))
        return NULL;
    switch (a->type) {
    case ATTRIBUTE_OWN:
        return NULL;
    case ATTRIBUTE_TEXT:
        return (*given = *(char **)field) ? json_string (*(char **)field) : NULL;
    case ATTRIBUTE_NUMBER:
        return (*given = *(int64_t *)field) ? json_integer (*(int64_t *)field) : NULL;
    case ATTRIBUTE_FLAG:
        return (*given = *(bool *)field) ? json_true () : NULL;
    case ATTRIBUTE_SPAN:
    case ATTRIBUTE_TIME:
        seconds = *(double *)field;
        return (*given = seconds > 0) ? json_real (seconds) : NULL;
    }
    return NULL;
}

int attribute_read_line (const json_t *o, const char *key, const char *where, size_t max,
                         char **ret, struct error *err)
{
    const char *s;
    int rc = json_get_string (o, key, &s, JSON_OPTIONAL_KEY, where, err);

    if (rc <= 0)
        return rc;
    if (strlen (s) != json_string_length (json_object_get (o, key))
        || !text_is_line (s, max))
        return error_set (
            err, EINVAL,
            "%s.%s: must be a text of 1 to %zu bytes without control characters", where,
            key, max);
    return (*ret = strdup (s)) ? 0 : error_no_memory (err, "jobspec");
}

static int read_value (const struct attribute *a, const json_t *o, const char *key,
                       const char *where, struct jobspec *js, struct error *err)
{
    void *field = field_of (a, js);

    switch (a->type) {
    case ATTRIBUTE_OWN:
        break;
    case ATTRIBUTE_TEXT:
        return attribute_read_line (o, key, where, (size_t)a->max, field, err);
    case ATTRIBUTE_NUMBER:
        return json_get_int (o, key, (int64_t)a->min, (int64_t)a->max, field,
                             JSON_OPTIONAL_KEY, where, err);
    case ATTRIBUTE_FLAG:
        return json_get_bool (o, key, field, JSON_OPTIONAL_KEY, where, err);
    case ATTRIBUTE_SPAN:
    case ATTRIBUTE_TIME:
        return json_get_double (o, key, a->min, a->max, field, JSON_OPTIONAL_KEY, where,
                                err);
    }
    return 0;
}

/* Splits "fluxq.nice" into an object's name ("" for none) and the key. */
static const char *split (const char *path, char *object, size_t size)
{
    const char *dot = strchr (path, '.');

    snprintf (object, size, "%.*s", dot ? (int)(dot - path) : 0, path);
    return dot ? dot + 1 : path;
}

/* Whether path is in the object of this name, as "fluxq.nice" is in "fluxq". */
static bool is_in (const char *object, const char *path)
{
    size_t len = strlen (object);

    return len > 0 && !strncmp (path, object, len) && path[len] == '.';
}

/* Most rows have no value: for those no text is made. */
int attributes_from_json (struct jobspec *js, const json_t *system, struct error *err)
{
    json_t *const top = (json_t *)(uintptr_t)system, *inner = NULL, *o;
    char object[32] = "", where[64];
    const char *key;
    int rc = 0;

    for (const struct attribute *a = attribute_table; a->name && rc >= 0; a++) {
        if (!is_in_jobspec (a))
            continue;
        if (!strchr (a->path, '.')) {
            o = top;
            key = a->path;
        } else {
            if (!is_in (object, a->path)) {
                split (a->path, object, sizeof (object));
                inner = NULL;
                rc = json_get_object (system, object, &inner, JSON_OPTIONAL_KEY, SYSTEM,
                                      err);
            }
            o = inner;
            key = a->path + strlen (object) + 1;
        }
        if (rc < 0 || !json_object_get (o, key))
            continue;
        snprintf (where, sizeof (where), SYSTEM "%s%s", o == top ? "" : ".",
                  o == top ? "" : object);
        rc = read_value (a, o, key, where, js, err);
    }
    return MIN (rc, 0);
}

int attributes_to_json (json_t *system, const struct jobspec *js)
{
    char object[32];
    bool given;
    int rc = 0;

    for (const struct attribute *a = attribute_table; a->name && rc == 0; a++) {
        json_t *value = to_json (a, js, &given), *o = system;
        if (!given)
            continue;
        const char *key = split (a->path, object, sizeof (object));
        if (*object && !(o = json_object_get (system, object)))
            rc = json_object_set_new (system, object, o = json_object ());
        rc |= json_object_set_new (o, key, value);
    }
    return rc;
}

int attributes_to_event (json_t *context, const struct jobspec *js)
{
    bool given;
    int rc = 0;

    for (const struct attribute *a = attribute_table; a->name; a++) {
        json_t *value = a->event ? to_json (a, js, &given) : NULL;
        if (a->event && given)
            rc |= json_object_set_new (context, a->event, value);
    }
    return rc;
}

int attributes_of_event (const json_t *context, json_t **ret)
{
    int rc = 0;

    *ret = NULL;
    for (const struct attribute *a = attribute_table; a->name; a++) {
        json_t *value = a->heading ? json_object_get (context, a->event) : NULL;
        if (value && !*ret)
            *ret = json_object ();
        if (value)
            rc |= json_object_set (*ret, a->event, value);
    }
    return rc ? -ENOMEM : 0;
}

int attributes_of_memo (const json_t *context, json_t **shown)
{
    json_t *copy = *shown ? json_copy (*shown) : json_object ();
    int rc = copy ? 0 : -ENOMEM;

    for (const struct attribute *a = attribute_table; a->name && rc == 0; a++) {
        json_t *value = a->changes ? json_object_get (context, a->event) : NULL;
        if (value && !json_is_string (value))
            rc = -EINVAL;
        else if (value && json_object_set (copy, a->event, value) < 0)
            rc = -ENOMEM;
    }
    if (rc < 0) {
        json_decref (copy);
        return rc;
    }
    json_decref (*shown);
    *shown = copy;
    return 0;
}

void attributes_show (json_t *o, const struct jobspec *js)
{
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->label && !a->heading)
            json_object_update_new (
                o, json_pack ("{s:s?}", a->name, attribute_text (a, js)));
}

/* FLUXQ_WCKEY of "wckey" */
static void own_variable (const struct attribute *a, char *ret, size_t size)
{
    size_t n = (size_t)snprintf (ret, size, "FLUXQ_%s", a->name);

    for (size_t i = 0; i < MIN (n, size - 1); i++)
        ret[i] = ret[i] == '-' ? '_' : (char)toupper ((unsigned char)ret[i]);
}

int attributes_to_environment (struct jobspec *js)
{
    char own[64];
    int rc = 0;

    for (const struct attribute *a = attribute_table; a->name; a++) {
        const char *text = a->variable ? attribute_text (a, js) : NULL;
        if (!text)
            continue;
        /* The environment of the jobspec itself stays as it was submitted. */
        json_t *env = js->environment ? json_copy (js->environment) : json_object ();
        own_variable (a, own, sizeof (own));
        rc |= json_object_set_new (env, own, json_string (text));
        rc |= json_object_set_new (env, a->variable, json_string (text));
        json_decref (js->environment);
        js->environment = env;
    }
    return rc ? -ENOMEM : 0;
}

void attributes_release (struct jobspec *js)
{
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (attribute_text (a, js))
            free (*(char **)field_of (a, js));
}
