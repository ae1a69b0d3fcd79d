/* environment.c - see environment.h
 */
#include "jobspec/options/environment.h"

#include <ctype.h>
#include <strings.h>

#include "common/io.h"
#include "jobspec/attributes/base64.h"
#include "jobspec/attributes/text.h"
#include "jobspec/jobspec.h"

#define EXPORT_FILE_MAX (4u << 20) /* bytes */

/* One element of the list. */
struct item {
    const char *name;
    const char *value; /* NULL: NAME alone */
};

/* Copy the element at *spec, without the quotes of its value, into text; advances *spec
 * past the element and its comma. */
static int next_item (const char **spec, struct strbuf *text, struct item *item,
                      const char *where, struct error *err)
{
    const char *s = *spec;
    size_t name_len = 0;
    char quote = '\0';

    strbuf_reset (text);
    while (isspace ((unsigned char)*s))
        s++;
    for (; *s && (quote || *s != ','); s++) {
        if (quote && *s == quote)
            quote = '\0';
        else if (!quote && name_len > 0 && (*s == '\'' || *s == '"'))
            quote = *s;
        else
            strbuf_addch (text, *s);
        if (name_len == 0 && *s == '=')
            name_len = text->len;
    }
    *spec = *s ? s + 1 : s;
    if (text->err)
        return error_set (err, -text->err, "%s: out of memory", where);
    if (quote)
        return error_set (err, EINVAL, "%s: a quote %c is not closed", where, quote);
    if (name_len > 0)
        text->buf[name_len - 1] = '\0';
    item->name = text->buf;
    item->value = name_len > 0 ? text->buf + name_len : NULL;
    if (!text_is_variable (item->name, strlen (item->name)))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a variable",
                          where, item->name);
    if (item->value && text->len + 1 > JOBSPEC_STRING_MAX)
        return error_set (err, EINVAL, "%s: %.64s is longer than %d bytes", where,
                          item->name, JOBSPEC_STRING_MAX - 1);
    return 0;
}

static bool is_none (const char *spec)
{
    return !strcasecmp (spec, "NONE") || !strcasecmp (spec, "NIL");
}

static bool is_all (const struct item *item)
{
    return !item->value && !strcasecmp (item->name, "ALL");
}

int environment_check (const char *spec, const char *where, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (strlen (spec) + 1);
    struct item item;

    if (is_none (spec))
        return 0;
    do {
        int rc = next_item (&spec, &text, &item, where, err);

        if (rc < 0)
            return rc;
        if (!item.value && is_none (item.name))
            return error_set (err, EINVAL, "%s: %s must stand alone", where, item.name);
    } while (*spec);
    return 0;
}

static int set_variable (json_t *env, const char *name, const char *value)
{
    return json_object_set_new_nocheck (env, name, json_string_nocheck (value));
}

/* Whether the variable was set by fluxq for another job or is an option; the variables
 * that users set for their jobs are neither. */
static bool is_of_fluxq (const char *entry)
{
    return !strncmp (entry, "FLUXQ_", 6)
           && strncmp (entry, "FLUXQ_RESIZE_HOOK=", 18) != 0;
}

/* Whether the variable holds a token of "scontrol token": the jobspec is no place for
 * secrets, as it is kept in the journal. */
static bool is_secret (const char *entry)
{
    return !strncmp (entry, "SLURM_JWT=", 10);
}

/* Add a NAME=VALUE of the environment; a variable that the jobspec cannot hold is left
 * out. */
static int inherit (json_t *env, const char *entry)
{
    const char *equals = strchr (entry, '=');
    size_t name_len = equals ? (size_t)(equals - entry) : 0;

    if (name_len == 0 || is_of_fluxq (entry) || is_secret (entry)
        || strnlen (entry, JOBSPEC_STRING_MAX) >= JOBSPEC_STRING_MAX
        || !text_is_variable (entry, name_len))
        return 0;
    autofree char *name = strndup (entry, name_len);
    return name ? set_variable (env, name, equals + 1) : -1;
}

static int inherit_all (json_t *env, char *const list[])
{
    for (; list && *list; list++) {
        if (inherit (env, *list) < 0)
            return -1;
    }
    return 0;
}

/* Add a NAME of the list: a variable that the user names can begin with FLUXQ_. */
static int inherit_one (json_t *env, char *const list[], const char *name)
{
    size_t len = strlen (name);

    for (; list && *list; list++) {
        const char *value = *list + len + 1;

        if (strncmp (*list, name, len) || (*list)[len] != '=')
            continue;
        if (len + 2 + strlen (value) > JOBSPEC_STRING_MAX)
            return 0;
        return set_variable (env, name, value);
    }
    return 0;
}

/* 1: the list has ALL, 0: it does not. */
static int has_all (const char *spec, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (strlen (spec) + 1);
    struct item item;

    while (*spec) {
        int rc = next_item (&spec, &text, &item, "--export", err);

        if (rc < 0)
            return rc;
        if (is_all (&item))
            return 1;
    }
    return 0;
}

static int add_items (json_t *env, const char *spec, char *const environ_list[],
                      struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (strlen (spec) + 1);
    struct item item;

    while (*spec) {
        int rc = next_item (&spec, &text, &item, "--export", err);

        if (rc < 0)
            return rc;
        if (is_all (&item))
            continue;
        if (item.value)
            rc = set_variable (env, item.name, item.value);
        else
            rc = inherit_one (env, environ_list, item.name);
        if (rc < 0)
            return error_no_memory (err, "--export");
    }
    return 0;
}

static int select_variables (json_t *env, const char *spec, char *const environ_list[],
                             struct error *err)
{
    int all = has_all (spec, err);

    if (all < 0)
        return all;
    if (all && inherit_all (env, environ_list) < 0)
        return error_no_memory (err, "--export");
    return add_items (env, spec, environ_list, err);
}

int environment_select (const char *spec, char *const environ_list[], json_t **ret,
                        struct error *err)
{
    json_t *env = json_object ();
    int rc = 0;

    if (!env)
        return error_no_memory (err, "--export");
    if (!spec || !is_none (spec))
        rc = select_variables (env, spec ? spec : "ALL", environ_list, err);
    if (rc < 0)
        json_decref (env);
    else
        *ret = env;
    return rc;
}

int environment_take_bytes (json_t *env, json_t **ret)
{
    const char *name;
    json_t *value;
    void *next;
    int rc = 0;

    *ret = NULL;
    json_object_foreach_safe (env, next, name, value)
    {
        const char *text = json_string_value (value);
        size_t len = json_string_length (value);
        if (text_is_utf8 (text, len, NULL))
            continue;
        autofree char *encoded = malloc (BASE64_ENCODED (len) + 1);
        if (!encoded || (!*ret && !(*ret = json_object ())))
            return -ENOMEM;
        base64_encode (text, len, encoded);
        rc |= json_object_set_new_nocheck (*ret, name, json_string (encoded));
        json_object_del (env, name);
    }
    return rc < 0 ? -ENOMEM : 0;
}

bool environment_wants_login (const char *spec)
{
    return spec && strcasecmp (spec, "NIL") != 0
           && (is_none (spec) || has_all (spec, NULL) == 0);
}

static int add_entry (json_t *env, const char *path, unsigned number, const char *entry,
                      size_t len, struct error *err)
{
    const char *equals = memchr (entry, '=', len);
    size_t name_len = equals ? (size_t)(equals - entry) : 0;

    if (!equals || !text_is_variable (entry, name_len))
        return error_set (err, EINVAL,
                          "--export-file: %s: entry %u ('%.32s') is not NAME=VALUE", path,
                          number, entry);
    if (len + 1 > JOBSPEC_STRING_MAX)
        return error_set (err, EINVAL, "--export-file: %s: entry %u (%.*s) is too long",
                          path, number, (int)MIN (name_len, (size_t)64), entry);
    autofree char *name = strndup (entry, name_len);
    if (!name || set_variable (env, name, equals + 1) < 0)
        return error_no_memory (err, "--export-file");
    return 0;
}

int environment_add_file (json_t *env, const char *path, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (EXPORT_FILE_MAX);
    unsigned n = 0;

    int rc = io_read_file (path, &text, EXPORT_FILE_MAX, err);
    if (rc < 0)
        error_prefix (err, "--export-file");
    for (size_t at = 0, len; rc >= 0 && at < text.len; at += len + 1) {
        len = strnlen (text.buf + at, text.len - at);
        rc = add_entry (env, path, ++n, text.buf + at, len, err);
    }
    return MIN (rc, 0);
}
