/* podwish.c - see podwish.h */
#include "jobspec/attributes/podwish.h"

#include <inttypes.h>

#include "common/parse.h"
#include "jobspec/attributes/podtemplate.h"
#include "jobspec/attributes/text.h"

#define PATH_TEXT_MAX 1024
#define OBJECT_NAME_MAX 253

bool podwish_is_name (const char *name)
{
    static const char chars[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t len = strlen (name);

    return len > 0 && len <= 63 && strspn (name, chars) == len;
}

bool podwish_is_executor (const char *name)
{
    return strcmp (name, "job") == 0 || strcmp (name, PODWISH_MINICLUSTER) == 0;
}

static int check_executor (const char *name, const char *where, struct error *err)
{
    if (!podwish_is_executor (name))
        return error_set (err, EINVAL,
                          "%s: '%.64s' is not an executor for jobs: job (an Indexed Job "
                          "of Kubernetes) or minicluster",
                          where, name);
    return 0;
}

static int check_object_name (const char *name, const char *where, struct error *err)
{
    size_t len = strlen (name);

    if (len == 0 || len > OBJECT_NAME_MAX
        || strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != len)
        return error_set (err, EINVAL,
                          "%s: '%.64s' is not the name of an object in Kubernetes (small "
                          "letters, digits, '-' and '.')",
                          where, name);
    return 0;
}

static int check_shm (int64_t bytes, const char *where, struct error *err)
{
    if (bytes < PODWISH_SHM_MIN || bytes > PODWISH_SHM_MAX)
        return error_set (err, ERANGE, "%s: must be from 1 MiB to 1 PiB", where);
    return 0;
}

static int check_volume (const char *name, const char *path, const char *where,
                         struct error *err)
{
    if (!name || !path || !podwish_is_name (name) || path[0] != '/'
        || !text_is_line (path, PATH_TEXT_MAX))
        return error_set (err, EINVAL,
                          "%s: expected NAME:PATH, a volume's name and an absolute path",
                          where);
    return 0;
}

static int check_volumes (const json_t *list, const char *where, struct error *err)
{
    static const char *const keys[] = { "name", "path", NULL };
    json_t *one;
    size_t i;
    int rc = 0;

    if (!json_is_array (list) || json_array_size (list) > PODWISH_VOLUMES_MAX)
        return error_set (err, EINVAL, "%s.volumes: expected an array of at most %d",
                          where, PODWISH_VOLUMES_MAX);
    json_array_foreach (list, i, one) {
        rc = json_is_object (one)
                 ? json_only_keys (one, keys, where, err)
                 : error_set (err, EINVAL, "%s.volumes: expected objects", where);
        if (rc == 0)
            rc = check_volume (json_string_value (json_object_get (one, "name")),
                               json_string_value (json_object_get (one, "path")), where,
                               err);
        if (rc < 0)
            break;
    }
    return rc;
}

int podwish_check (const json_t *wishes, const char *where, struct error *err)
{
    static const char *const keys[] = {
        "runtime-class", "priority-class", "service-account", "volumes", "shm-size",
        "host-network",  "pod-template",   "executor",        NULL
    };
    const json_t *template = json_object_get (wishes, "pod-template");
    const char *name = NULL;
    json_t *volumes = json_object_get (wishes, "volumes");
    bool on = true;
    int64_t bytes = 0;
    int rc = json_only_keys (wishes, keys, where, err);

    for (size_t i = 0; i < 3 && rc >= 0; i++) {
        rc = json_get_string (wishes, keys[i], &name, JSON_OPTIONAL_KEY, where, err);
        if (rc == 1)
            rc = check_object_name (name, where, err);
    }
    if (rc >= 0)
        rc = json_get_string (wishes, "executor", &name, JSON_OPTIONAL_KEY, where, err);
    if (rc == 1)
        rc = check_executor (name, where, err);
    if (rc >= 0)
        rc = json_get_int (wishes, "shm-size", PODWISH_SHM_MIN, PODWISH_SHM_MAX, &bytes,
                           JSON_OPTIONAL_KEY, where, err);
    if (rc >= 0)
        rc = json_get_bool (wishes, "host-network", &on, JSON_OPTIONAL_KEY, where, err);
    if (rc >= 0 && !on)
        rc = error_set (err, EINVAL, "%s.host-network: expected true", where);
    if (rc >= 0 && volumes)
        rc = check_volumes (volumes, where, err);
    if (rc >= 0 && template)
        rc = podtemplate_check (template, "attributes.system.fluxq.pods.pod-template",
                                err);
    return rc < 0 ? -EINVAL : 0;
}

/* "scratch:/scratch" */
static int add_volume (json_t *wishes, const char *value, const char *where,
                       struct error *err)
{
    const char *colon = strchr (value, ':');
    autofree char *name = colon ? strndup (value, (size_t)(colon - value)) : NULL;
    json_t *list = json_object_get (wishes, "volumes");

    if (check_volume (name, colon ? colon + 1 : NULL, where, err) < 0)
        return -EINVAL;
    if (!list && json_object_set_new (wishes, "volumes", list = json_array ()) < 0)
        return error_no_memory (err, where);
    if (json_array_size (list) >= PODWISH_VOLUMES_MAX)
        return error_set (err, E2BIG, "%s: at most %d volumes", where,
                          PODWISH_VOLUMES_MAX);
    return json_array_append_new (
               list, json_pack ("{s:s s:s}", "name", name, "path", colon + 1))
                   < 0
               ? error_no_memory (err, where)
               : 0;
}

static int value_of (const char *option, const char *value, json_t **ret,
                     const char *where, struct error *err)
{
    int64_t bytes;
    int rc;

    if (strcmp (option, "host-network") == 0) {
        *ret = json_true ();
        return 0;
    }
    if (strcmp (option, "pod-template") == 0) {
        *ret = podtemplate_read (value, where, err);
        return *ret ? 0 : -EINVAL;
    }
    if (strcmp (option, "shm-size") == 0) {
        rc = parse_memory_mib (value, &bytes, where, err);
        if (rc == 0)
            rc = check_shm (bytes <= PODWISH_SHM_MAX >> 20 ? bytes << 20 : INT64_MAX,
                            where, err);
        *ret = rc == 0 ? json_integer (bytes << 20) : NULL;
        return rc;
    }
    rc = strcmp (option, "executor") == 0 ? check_executor (value, where, err)
                                          : check_object_name (value, where, err);
    *ret = rc == 0 ? json_string (value) : NULL;
    return rc;
}

int podwish_set (json_t **wishes, const char *option, const char *value,
                 const char *where, struct error *err)
{
    json_t *v = NULL;

    if (!*wishes && !(*wishes = json_object ()))
        return error_no_memory (err, where);
    if (strcmp (option, "volume") == 0)
        return add_volume (*wishes, value, where, err);
    int rc = value_of (option, value, &v, where, err);
    if (rc == 0 && json_object_set_new (*wishes, option, v) < 0)
        rc = error_no_memory (err, where);
    return rc;
}
