/* details.c - see details.h
 *
 * The packed form is "key\0value\0key\0value\0\0".
 */
#include "job/details.h"

#include <string.h>

static const char *after (const char *text)
{
    return text + strlen (text) + 1;
}

int details_pack (const json_t *o, char **ret)
{
    const char *key;
    json_t *value;
    size_t size = 1;

    *ret = NULL;
    json_object_foreach ((json_t *)o, key, value) {
        if (*key && json_is_string (value))
            size += strlen (key) + json_string_length (value) + 2;
    }
    if (size == 1)
        return 0;
    char *to = *ret = calloc (1, size);
    if (!to)
        return -ENOMEM;
    json_object_foreach ((json_t *)o, key, value) {
        if (!*key || !json_is_string (value))
            continue;
        to = stpcpy (to, key) + 1;
        to = stpcpy (to, json_string_value (value)) + 1;
    }
    return 0;
}

const char *details_get (const char *packed, const char *key)
{
    for (; packed && *packed; packed = after (after (packed)))
        if (!strcmp (packed, key))
            return after (packed);
    return NULL;
}

json_t *details_to_json (const char *packed)
{
    json_t *o = packed ? json_object () : NULL;

    for (; o && *packed; packed = after (after (packed))) {
        if (json_object_set_new (o, packed, json_string (after (packed))) < 0) {
            json_decref (o);
            return NULL;
        }
    }
    return o;
}
