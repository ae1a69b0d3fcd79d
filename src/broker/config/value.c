/* value.c - setters for values of fluxq.yaml, by kind; see config_private.h
 */
#include "broker/config/config_private.h"

#include <sys/stat.h>

#include "common/parse.h"

#define TIMEOUT_MAX 86400.0

const struct config_key *config_find_key (const struct config_key *keys, const char *name)
{
    for (; keys->name; keys++)
        if (!strcmp (keys->name, name))
            return keys;
    return NULL;
}

int config_read_mapping (void *c, const struct config_key *keys, json_t *body,
                         const char *what, const struct config_place *p)
{
    const char *name;
    json_t *value;

    if (!json_is_object (body))
        return FAIL (p, "%s: expected a mapping of settings", what);
    json_object_foreach (body, name, value) {
        struct config_place at = { p->doc, body, name, p->err };
        const struct config_key *k = config_find_key (keys, name);
        if (!k)
            return FAIL (&at, "%s: unknown key '%s' (see fluxq.yaml(5))", what, name);
        if (k->read (k, (char *)c + k->offset, value, &at) < 0)
            return -EINVAL;
    }
    return 0;
}

static void free_names (char **names)
{
    for (char **s = names; s && *s; s++)
        free (*s);
    free (names);
}

void config_release (void *c, const struct config_key *keys)
{
    for (const struct config_key *k = keys; k->name; k++) {
        void *field = (char *)c + k->offset;

        if (k->read == value_string || k->read == value_program)
            free (*(char **)field);
        else if (k->read == value_strings)
            free_names (*(char ***)field);
        else if (k->read == value_mapping)
            config_release (field, k->keys);
    }
}

int value_mapping (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    return config_read_mapping (field, key->keys, value, p->key, p);
}

int value_string (const struct config_key *key, void *field, json_t *value,
                  const struct config_place *p)
{
    char **text_field = field;
    const char *text = json_string_value (value);

    (void)key;
    if (!text || !*text)
        return FAIL (p, "%s: expected a text, got %s", p->key, json_type_name (value));
    free (*text_field);
    *text_field = strdup (text);
    return *text_field ? 0 : error_set (p->err, ENOMEM, "out of memory");
}

int value_duration (const struct config_key *key, void *field, json_t *value,
                    const struct config_place *p)
{
    double *seconds = field;
    struct error why = { 0 };

    (void)key;
    if (json_is_number (value) && json_number_value (value) >= 0) {
        *seconds = json_number_value (value);
        return 0;
    }
    if (!json_is_string (value)
        || parse_fsd (json_string_value (value), seconds, p->key, &why) < 0)
        return FAIL (p, "%s: expected a duration such as 90s, 5m or 1.5h", p->key);
    return 0;
}

/* An administrator's program. The file must exist: otherwise every node would be drained
 * because of it. */
int value_program (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    const char *path = json_string_value (value);
    struct stat st;

    if (!path || (*path != '/' && strcmp (path, CONFIG_NO_PROGRAM) != 0))
        return FAIL (p, "%s: expected the absolute path of a program, or none", p->key);
    if (*path == '/' && stat (path, &st) < 0)
        return FAIL (p, "%s: %s: %s", p->key, path, strerror (errno));
    if (*path == '/' && (!S_ISREG (st.st_mode) || !(st.st_mode & 0111)))
        return FAIL (p, "%s: %s is not an executable program (chmod +x)", p->key, path);
    return value_string (key, field, value, p);
}

/* The timeout of a start, which must be finite. */
int value_timeout (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    double seconds;
    int rc = value_duration (key, &seconds, value, p);

    if (rc == 0 && (seconds < 1 || seconds > TIMEOUT_MAX))
        return FAIL (p, "%s: must be from 1s to 24h", p->key);
    if (rc == 0)
        *(double *)field = seconds;
    return rc;
}

int value_seconds (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    const double *seconds = field;
    int rc = value_duration (key, field, value, p);

    if (rc == 0 && (*seconds < (double)key->min || *seconds > (double)key->max))
        return FAIL (p, "%s: expected a duration from %jd to %jd seconds", p->key,
                     (intmax_t)key->min, (intmax_t)key->max);
    return rc;
}

int value_int (const struct config_key *key, void *field, json_t *value,
               const struct config_place *p)
{
    int64_t number = json_integer_value (value);
    int32_t small = (int32_t)number;

    if (!json_is_integer (value) || number < key->min || number > key->max)
        return FAIL (p, "%s: expected an integer from %jd to %jd", p->key,
                     (intmax_t)key->min, (intmax_t)key->max);
    if (key->size == sizeof (number))
        memcpy (field, &number, sizeof (number));
    else
        memcpy (field, &small, sizeof (small));
    return 0;
}

int value_bytes (const struct config_key *key, void *field, json_t *value,
                 const struct config_place *p)
{
    int64_t bytes = json_is_integer (value) ? json_integer_value (value) : -1;

    if (json_is_string (value)
        && parse_bytes (json_string_value (value), &bytes, p->key, NULL) < 0)
        bytes = -1;
    if (bytes != 0 && (bytes < key->min || bytes > key->max))
        return FAIL (p, "%s: expected 0 or an amount from %jd MiB on, such as 512Mi",
                     p->key, (intmax_t)key->min >> 20);
    *(uint64_t *)field = (uint64_t)bytes;
    return 0;
}

int value_bool (const struct config_key *key, void *field, json_t *value,
                const struct config_place *p)
{
    (void)key;
    if (!json_is_boolean (value))
        return FAIL (p, "%s: expected true or false", p->key);
    *(bool *)field = json_is_true (value);
    return 0;
}

int value_private (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    static const struct {
        const char *word;
        unsigned part;
    } parts[] = { { "jobs", PRIVATE_JOBS },
                  { "arguments", PRIVATE_ARGUMENTS },
                  { "usage", PRIVATE_USAGE } };
    unsigned all = 0;

    (void)key;
    for (size_t i = 0; i < json_array_size (value); i++) {
        const char *word = json_string_value (json_array_get (value, i));
        unsigned before = all;
        for (size_t k = 0; k < ARRAY_SIZE (parts); k++)
            if (word && !strcmp (word, parts[k].word))
                all |= parts[k].part;
        if (all == before)
            return FAIL (p, "%s: expected a list of jobs, arguments and usage, each once",
                         p->key);
    }
    if (!json_is_array (value))
        return FAIL (p, "%s: expected a list of jobs, arguments and usage", p->key);
    *(unsigned *)field = all;
    return 0;
}

int value_strings (const struct config_key *key, void *field, json_t *value,
                   const struct config_place *p)
{
    (void)key;
    if (!json_is_array (value) || json_array_size (value) > 10000)
        return FAIL (p, "%s: expected a list of names", p->key);
    size_t n = json_array_size (value);
    char **list = calloc (n + 1, sizeof (*list));
    if (!list)
        return error_set (p->err, ENOMEM, "out of memory");
    *(char ***)field = list; /* config_destroy() frees it, even if incomplete */
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value (json_array_get (value, i));
        if (!text)
            return FAIL (p, "%s: entry %zu is not a name", p->key, i + 1);
        if (!(list[i] = strdup (text)))
            return error_set (p->err, ENOMEM, "out of memory");
    }
    return 0;
}
