/* object.c - see object.h */
#include "kube/object.h"

#include <math.h>
#include <time.h>

#include "common/json.h"

#define KEY "\"managedFields\":["
#define KEY_LEN (sizeof (KEY) - 1)

/* Finds the next key. A key follows a brace or a comma: nothing within a string looks
 * like that, since quotes in strings are escaped. NULL: there is none (any more). */
static const char *find_key (const char *text, const char *end)
{
    const char *at = text;

    while ((at = memmem (at, (size_t)(end - at), KEY, KEY_LEN))
           && (at == text || (at[-1] != ',' && at[-1] != '{')))
        at += KEY_LEN;
    return at;
}

/* s is behind the opening quote. Returns the position behind the closing one, or end. */
static const char *skip_string (const char *s, const char *end)
{
    while (s < end && *s != '"')
        s += *s == '\\' && end - s > 1 ? 2 : 1;
    return s < end ? s + 1 : end;
}

/* s is within an array. Returns the bracket that closes it, or NULL. */
static const char *skip_items (const char *s, const char *end)
{
    unsigned depth = 1;

    while (s < end) {
        char c = *s++;

        if (c == '"')
            s = skip_string (s, end);
        else if (c == '[')
            depth++;
        else if (c == ']' && --depth == 0)
            return s - 1;
    }
    return NULL;
}

size_t kube_object_strip (const char *text, size_t len, char *to)
{
    const char *end = text + len, *key, *rest;
    char *at = to;

    while ((key = find_key (text, end)) && (rest = skip_items (key + KEY_LEN, end))) {
        size_t n = (size_t)(key - text) + KEY_LEN;

        memcpy (at, text, n);
        at += n;
        text = rest;
    }
    memcpy (at, text, (size_t)(end - text));
    return (size_t)(at - to) + (size_t)(end - text);
}

json_t *kube_object_parse (const char *text, size_t len, const char *what,
                           struct error *err)
{
    autofree char *copy = malloc (len + 1);

    if (!copy)
        return error_null (error_set (err, ENOMEM, "%s: out of memory", what));
    return json_parse (copy, kube_object_strip (text, len, copy), what, err);
}

const char *kube_label (const json_t *object, const char *key)
{
    return json_text (json_object_get (json_object_get (object, "metadata"), "labels"),
                      key);
}

const json_t *kube_condition (const json_t *status, const char *type)
{
    const json_t *c;
    size_t i;

    json_array_foreach (json_object_get (status, "conditions"), i, c) {
        if (strcmp (json_text (c, "type"), type) == 0)
            return c;
    }
    return NULL;
}

void kube_time_write (double when, bool micro, char ret[KUBE_TIME_MAX])
{
    time_t t = (time_t)floor (when);
    struct tm tm;
    size_t n = gmtime_r (&t, &tm) ? strftime (ret, 32, "%Y-%m-%dT%H:%M:%S", &tm) : 0;

    if (micro)
        snprintf (ret + n, KUBE_TIME_MAX - n, ".%06uZ",
                  (unsigned)((when - floor (when)) * 1e6));
    else
        snprintf (ret + n, KUBE_TIME_MAX - n, "Z");
}

double kube_time_read (const char *text)
{
    struct tm tm = { 0 };

    return strptime (text, "%Y-%m-%dT%H:%M:%S", &tm) ? (double)timegm (&tm) : 0;
}
