/* stage.c - see stage.h */
#include "jobspec/attributes/stage.h"

#include "jobspec/attributes/text.h"
#include "protocol/pattern.h"

static const char *base_name (const char *path)
{
    const char *slash = strrchr (path, '/');

    return slash ? slash + 1 : path;
}

static int check_name (const char *name, const char *where, struct error *err)
{
    const char *base = base_name (name);

    if (!text_is_line (name, STAGE_NAME_MAX))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a file", where,
                          name);
    if (!*base || !strcmp (base, ".") || !strcmp (base, ".."))
        return error_set (err, EINVAL, "%s: '%.200s' is a directory; name a file", where,
                          name);
    if (pattern_check_of_node (name, err) < 0) {
        error_prefix (err, "%s", where);
        return -EINVAL;
    }
    return 0;
}

int stage_list_add (struct stage_list *list, const char *from, const char *to,
                    const char *where, struct error *err)
{
    struct stage_entry entry, *v;

    if (check_name (from, where, err) < 0)
        return -EINVAL;
    to = to ? to : base_name (from);
    if (check_name (to, where, err) < 0)
        return -EINVAL;
    if (list->n >= STAGE_MAX)
        return error_set (err, EINVAL, "%s: more than %d files", where, STAGE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        if (!strcmp (list->v[i].to, to))
            return error_set (err, EINVAL,
                              "%s: '%.200s' and '%.200s' would both become '%.200s'",
                              where, list->v[i].from, from, to);
    }
    v = realloc (list->v, (list->n + 1) * sizeof (*v));
    if (v)
        list->v = v;
    entry = (struct stage_entry){ strdup (from), strdup (to) };
    if (!v || !entry.from || !entry.to) {
        free (entry.from);
        free (entry.to);
        return error_no_memory (err, where);
    }
    list->v[list->n++] = entry;
    return 0;
}

int stage_list_add_text (struct stage_list *list, const char *text, const char *where,
                         struct error *err)
{
    const char *colon = strchr (text, ':');
    autofree char *from = colon ? strndup (text, (size_t)(colon - text)) : strdup (text);

    if (!from)
        return error_no_memory (err, where);
    return stage_list_add (list, from, colon ? colon + 1 : NULL, where, err);
}

/* Read a string without NUL bytes; *ret NULL: the key is absent. */
static int take_name (const json_t *o, const char *key, enum json_need need,
                      const char *where, const char **ret, struct error *err)
{
    int rc = json_get_string (o, key, ret, need, where, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        *ret = NULL;
    else if (strlen (*ret) != json_string_length (json_object_get (o, key)))
        return error_set (err, EINVAL, "%s.%s: has a NUL byte", where, key);
    return 0;
}

int stage_list_from_json (struct stage_list *list, const json_t *array, const char *where,
                          struct error *err)
{
    static const char *const keys[] = { "from", "to", NULL };
    const json_t *o;
    size_t i;

    json_array_foreach (array, i, o) {
        const char *from, *to;
        char at[160];
        int rc;

        snprintf (at, sizeof (at), "%s[%zu]", where, i);
        if (!json_is_object (o))
            return error_set (err, EINVAL, "%s: expected an object, got %s", at,
                              json_type_name (o));
        if ((rc = json_only_keys (o, keys, at, err)) < 0
            || (rc = take_name (o, "from", JSON_REQUIRED, at, &from, err)) < 0
            || (rc = take_name (o, "to", JSON_OPTIONAL_KEY, at, &to, err)) < 0
            || (rc = stage_list_add (list, from, to, at, err)) < 0)
            return rc;
    }
    return 0;
}

json_t *stage_list_to_json (const struct stage_list *list)
{
    json_t *array = json_array ();

    for (size_t i = 0; array && i < list->n; i++) {
        if (json_array_append_new (array, json_pack ("{s:s s:s}", "from", list->v[i].from,
                                                     "to", list->v[i].to))
            < 0) {
            json_decref (array);
            return NULL;
        }
    }
    return array;
}

void stage_list_release (struct stage_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free (list->v[i].from);
        free (list->v[i].to);
    }
    free (list->v);
    *list = (struct stage_list){ 0 };
}
