/* mounts.c - see mounts.h */
#include "exec/mounts.h"

#define PATH_TEXT_MAX 8192
#define AGENTS_OWN "/fluxq" /* directory of the agent's files, see kube/objects.h */

static const char *path_of (const json_t *mount)
{
    return json_string_value (json_object_get (mount, "path"));
}

static bool has_dots (const char *path)
{
    for (const char *p = path; (p = strstr (p, "..")); p += 2) {
        if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
            return true;
    }
    return false;
}

bool mounts_is_below (const char *path, const char *dir)
{
    size_t len = strlen (dir);

    return strncmp (path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static int check_path (const char *path, struct error *err)
{
    size_t len = path ? strlen (path) : 0;

    if (len < 2 || len > 1024 || path[0] != '/' || path[len - 1] == '/' || has_dots (path)
        || strstr (path, "//") || strchr (path, ':'))
        return error_set (err, EINVAL,
                          "path: expected a directory such as /home (absolute, without "
                          "'..', ':' or a '/' at the end)");
    if (mounts_is_below (path, AGENTS_OWN))
        return error_set (err, EINVAL, "path: %s is the agent's", AGENTS_OWN);
    return 0;
}

static int check_mount (const json_t *mount, struct error *err)
{
    static const char *const keys[] = { "path", "volume", "read-only", NULL };
    const json_t *volume = json_object_get (mount, "volume");
    const json_t *read_only = json_object_get (mount, "read-only");

    if (!json_is_object (mount))
        return error_set (err, EINVAL, "expected a mapping of path and volume");
    if (json_only_keys (mount, keys, "mounts", err) < 0
        || check_path (path_of (mount), err) < 0)
        return -EINVAL;
    if (!json_is_object (volume) || json_object_size (volume) != 1)
        return error_set (
            err, EINVAL,
            "volume: expected one volume source as in a pod's spec, such as "
            "{nfs: {server: fs1, path: /export/home}}");
    if (read_only && !json_is_boolean (read_only))
        return error_set (err, EINVAL, "read-only: expected true or false");
    return 0;
}

int mounts_check (const json_t *list, struct error *err)
{
    const json_t *mount, *other;
    size_t i, k;

    if (!json_is_array (list) || json_array_size (list) > MOUNTS_MAX)
        return error_set (err, EINVAL, "expected a list of at most %d mappings",
                          MOUNTS_MAX);
    json_array_foreach (list, i, mount) {
        if (check_mount (mount, err) < 0)
            return -EINVAL;
        json_array_foreach (list, k, other) {
            if (k < i && strcmp (path_of (mount), path_of (other)) == 0)
                return error_set (err, EINVAL, "path: %s is listed twice",
                                  path_of (mount));
        }
    }
    return 0;
}

bool mounts_see (const json_t *list, const char *cwd, const char *path, bool to_write)
{
    autostrbuf struct strbuf full = STRBUF_INIT (PATH_TEXT_MAX);
    const json_t *mount;
    size_t i;

    if (path[0] != '/')
        strbuf_addf (&full, "%s/", strcmp (cwd, "/") ? cwd : "");
    strbuf_adds (&full, path);
    if (full.err || has_dots (full.buf))
        return false;
    json_array_foreach (list, i, mount) {
        if (mounts_is_below (full.buf, path_of (mount))
            && !(to_write && json_is_true (json_object_get (mount, "read-only"))))
            return true;
    }
    return false;
}

static void name_of (size_t i, char name[32])
{
    snprintf (name, 32, "mount-%zu", i);
}

int mounts_add_volumes (const json_t *list, json_t *volumes)
{
    const json_t *mount;
    char name[32];
    size_t i;
    int rc = 0;

    json_array_foreach (list, i, mount) {
        json_t *volume = json_deep_copy (json_object_get (mount, "volume"));

        name_of (i, name);
        rc |= json_object_set_new (volume, "name", json_string (name));
        rc |= json_array_append_new (volumes, volume);
    }
    return rc < 0 ? -ENOMEM : 0;
}

int mounts_add_places (const json_t *list, json_t *places)
{
    const json_t *mount;
    char name[32];
    size_t i;
    int rc = 0;

    json_array_foreach (list, i, mount) {
        name_of (i, name);
        rc |= json_array_append_new (
            places,
            json_pack ("{s:s s:s s:b}", "name", name, "mountPath", path_of (mount),
                       "readOnly", json_is_true (json_object_get (mount, "read-only"))));
    }
    return rc < 0 ? -ENOMEM : 0;
}
