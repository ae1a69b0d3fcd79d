/* podtemplate.c - see podtemplate.h */
#include "jobspec/attributes/podtemplate.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/yaml.h"
#include "jobspec/attributes/podreasons.h"

#define KEYS_MAX 64 /* labels, or annotations */
#define LIST_MAX 16 /* volumes, mounts, and others */
#define PATH_SIZE 256

const char *const podtemplate_fields[] = {
    "metadata.labels",        "metadata.annotations",
    "spec.dnsConfig",         "spec.volumes.emptyDir",
    "spec.volumes.configMap", "spec.volumes.secret",
    "spec.volumes.projected", NULL,
};

/* -- refusals -- */

/* The field that is being checked. */
struct field {
    const char *where;
    char path[PATH_SIZE];
    struct error *err;
};

PRINTF_LIKE (2, 3) static struct field below (const struct field *f, const char *fmt, ...)
{
    struct field ret = *f;
    size_t len = strlen (ret.path);
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (ret.path + len, sizeof (ret.path) - len, fmt, ap);
    va_end (ap);
    return ret;
}

static struct field key_of (const struct field *f, const char *key)
{
    return below (f, "%s%.64s", f->path[0] ? "." : "", key);
}

static int refuse (const struct field *f, const char *why)
{
    return error_set (f->err, EINVAL, "%s: %s: %s", f->where, f->path, why);
}

static int refuse_key (const struct field *f, const char *key)
{
    struct field at = key_of (f, key);
    const char *why = podtemplate_reason (at.path);

    return refuse (&at, why ? why : "a job's template may not have this field");
}

/* Check that o is an object with no other keys; another key is refused with its
 * reason. */
static int check_object (const struct field *f, const json_t *o, const char *const keys[])
{
    const char *key;
    json_t *value;

    if (!json_is_object (o))
        return refuse (f, "expected a mapping");
    json_object_foreach ((json_t *)o, key, value) {
        const char *const *k = keys;

        while (*k && strcmp (*k, key) != 0)
            k++;
        if (!*k)
            return refuse_key (f, key);
    }
    return 0;
}

static int check_list (const struct field *f, const json_t *list, size_t max)
{
    char why[64];

    snprintf (why, sizeof (why), "expected a list of at most %zu", max);
    return json_is_array (list) && json_array_size (list) <= max ? 0 : refuse (f, why);
}

/* -- metadata -- */

static bool ends_in (const char *text, size_t len, const char *domain)
{
    size_t n = strlen (domain);

    return len >= n && strncmp (text + len - n, domain, n) == 0
           && (len == n || text[len - n - 1] == '.');
}

/* Whether the key has a prefix of the user's own. Other keys belong to Kubernetes or
 * fluxq, or have no prefix, and Services and policies select by them. */
static bool is_own_key (const char *key)
{
    static const char *const domains[] = { "kubernetes.io", "k8s.io", "fluxq.io" };
    const char *slash = strchr (key, '/');
    size_t len = slash ? (size_t)(slash - key) : 0;

    if (len == 0 || len > 253 || strlen (slash + 1) == 0 || strlen (slash + 1) > 63
        || strspn (key, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len
        || !memchr (key, '.', len))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE (domains); i++)
        if (ends_in (key, len, domains[i]))
            return false;
    return true;
}

static int check_texts (const struct field *f, const json_t *o)
{
    const char *key;
    json_t *value;

    if (!json_is_object (o) || json_object_size (o) > KEYS_MAX)
        return refuse (f, "expected a mapping of at most 64 texts");
    json_object_foreach ((json_t *)o, key, value) {
        struct field at = key_of (f, key);

        if (!is_own_key (key))
            return refuse (&at, "expected a key with a prefix of your own, such as "
                                "example.org/team");
        if (!json_is_string (value))
            return refuse (&at,
                           "expected a text (in quotes, if it looks like a number or "
                           "a truth value)");
    }
    return 0;
}

static int check_metadata (const struct field *f, const json_t *o)
{
    static const char *const keys[] = { "labels", "annotations", NULL };
    int rc = check_object (f, o, keys);

    for (size_t i = 0; keys[i] && rc == 0; i++) {
        struct field at = key_of (f, keys[i]);
        const json_t *texts = json_object_get (o, keys[i]);

        if (texts)
            rc = check_texts (&at, texts);
    }
    return rc;
}

/* -- volumes -- */

/* Names of the objects of jobs are refused: they have keys and scripts of other users. */
static int check_object_name (const struct field *f, const json_t *name)
{
    const char *text = json_string_value (name);

    if (!text || !*text || strlen (text) > 253
        || strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-.") != strlen (text))
        return refuse (f, "expected the name of an object in Kubernetes");
    return strncmp (text, "fluxq-", strlen ("fluxq-")) == 0
               ? refuse (f, "'fluxq-...' are the objects of jobs")
               : 0;
}

/* Check that no value except that of the key `but` is an object or a list. */
static int check_flat (const struct field *f, const json_t *o, const char *but)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)o, key, value) {
        struct field at = key_of (f, key);

        if ((json_is_object (value) || json_is_array (value)) && strcmp (key, but) != 0)
            return refuse (&at, "expected a text, a number or a truth value");
    }
    return 0;
}

static int check_items (const struct field *f, const json_t *items)
{
    static const char *const keys[] = { "key", "path", "mode", NULL };
    json_t *one;
    size_t i;
    int rc = items ? check_list (f, items, LIST_MAX) : 0;

    json_array_foreach (items, i, one) {
        struct field at = below (f, "[%zu]", i);

        if (rc == 0)
            rc = check_object (&at, one, keys);
        if (rc == 0)
            rc = check_flat (&at, one, "");
    }
    return rc;
}

/* Check a configMap or a secret; name: the key for its name. */
static int check_source (const struct field *f, const json_t *o, const char *name)
{
    const char *const keys[] = { name, "items", "optional", "defaultMode", NULL };
    struct field at = key_of (f, name), items = key_of (f, "items");
    int rc = check_object (f, o, keys);

    if (rc == 0)
        rc = check_flat (f, o, "items");
    if (rc == 0)
        rc = check_object_name (&at, json_object_get (o, name));
    return rc == 0 ? check_items (&items, json_object_get (o, "items")) : rc;
}

static int check_configmap (const struct field *f, const json_t *o)
{
    return check_source (f, o, "name");
}

static int check_secret (const struct field *f, const json_t *o)
{
    return check_source (f, o, "secretName");
}

static int check_emptydir (const struct field *f, const json_t *o)
{
    static const char *const keys[] = { "sizeLimit", NULL };
    int rc = check_object (f, o, keys);

    return rc == 0 ? check_flat (f, o, "") : rc;
}

static int check_projected (const struct field *f, const json_t *o)
{
    static const char *const keys[] = { "sources", "defaultMode", NULL };
    static const char *const kinds[] = { "configMap", "secret", NULL };
    struct field sources = key_of (f, "sources");
    const json_t *list = json_object_get (o, "sources");
    json_t *one;
    size_t i;
    int rc = check_object (f, o, keys);

    if (rc == 0)
        rc = check_flat (f, o, "sources");
    if (rc == 0)
        rc = check_list (&sources, list, LIST_MAX);
    json_array_foreach (list, i, one) {
        struct field at = below (&sources, "[%zu]", i);

        if (rc == 0)
            rc = check_object (&at, one, kinds);
        for (size_t k = 0; kinds[k] && rc == 0; k++) {
            struct field kind = key_of (&at, kinds[k]);
            const json_t *source = json_object_get (one, kinds[k]);

            if (source)
                rc = check_source (&kind, source, "name");
        }
    }
    return rc;
}

static const struct {
    const char *name;
    int (*check) (const struct field *f, const json_t *o);
} volume_kinds[] = {
    { "emptyDir", check_emptydir },
    { "configMap", check_configmap },
    { "secret", check_secret },
    { "projected", check_projected },
};

static const json_t *find_named (const json_t *list, const json_t *name)
{
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        if (json_equal (json_object_get (one, "name"), name))
            return one;
    }
    return NULL;
}

static int check_volume (const struct field *f, const json_t *o, const json_t *all)
{
    static const char *const keys[] = { "name",   "emptyDir",  "configMap",
                                        "secret", "projected", NULL };
    int rc = check_object (f, o, keys);

    if (rc < 0)
        return rc;
    if (!json_is_string (json_object_get (o, "name")) || json_object_size (o) != 2)
        return refuse (f, "expected a name and one source");
    if (find_named (all, json_object_get (o, "name")) != o)
        return refuse (f, "the name occurs twice");
    for (size_t i = 0; i < ARRAY_SIZE (volume_kinds) && rc == 0; i++) {
        struct field at = key_of (f, volume_kinds[i].name);
        const json_t *source = json_object_get (o, volume_kinds[i].name);

        if (source)
            rc = volume_kinds[i].check (&at, source);
    }
    return rc;
}

static int check_volumes (const struct field *f, const json_t *list)
{
    json_t *one;
    size_t i;
    int rc = check_list (f, list, LIST_MAX);

    json_array_foreach (list, i, one) {
        struct field at = below (f, "[%zu]", i);

        if (rc == 0)
            rc = check_volume (&at, one, list);
    }
    return rc;
}

/* -- the container -- */

static int check_mount (const struct field *f, const json_t *o, const json_t *all,
                        const json_t *volumes)
{
    static const char *const keys[] = { "name", "mountPath", "readOnly", NULL };
    const json_t *read_only = json_object_get (o, "readOnly");
    int rc = check_object (f, o, keys);

    if (rc < 0)
        return rc;
    if (!json_is_string (json_object_get (o, "name"))
        || !json_is_string (json_object_get (o, "mountPath"))
        || (read_only && !json_is_boolean (read_only)))
        return refuse (f, "expected name, mountPath and perhaps readOnly");
    if (!find_named (volumes, json_object_get (o, "name")))
        return refuse (f, "there is no volume of that name in spec.volumes");
    return find_named (all, json_object_get (o, "name")) != o
               ? refuse (f, "a volume can be mounted once")
               : 0;
}

static int check_container (const struct field *f, const json_t *o, const json_t *volumes)
{
    static const char *const keys[] = { "name", "volumeMounts", NULL };
    struct field mounts = key_of (f, "volumeMounts"), name = key_of (f, "name");
    const char *text = json_string_value (json_object_get (o, "name"));
    const json_t *list = json_object_get (o, "volumeMounts");
    json_t *one;
    size_t i;
    int rc =
        json_is_object (o) && (!text || strcmp (text, "job") != 0)
            ? refuse (&name, "expected 'job', the job's own container: another could "
                             "keep the pods from ending together")
            : check_object (f, o, keys);

    if (rc == 0 && list)
        rc = check_list (&mounts, list, LIST_MAX);
    json_array_foreach (list, i, one) {
        struct field at = below (&mounts, "[%zu]", i);

        if (rc == 0)
            rc = check_mount (&at, one, list, volumes);
    }
    return rc;
}

/* -- top level -- */

static int check_dns_entry (const struct field *f, const json_t *o)
{
    static const char *const keys[] = { "name", "value", NULL };
    int rc = json_is_string (o) ? 0 : check_object (f, o, keys);

    return rc == 0 ? check_flat (f, o, "") : rc;
}

/* Search domains do no harm: names of ranks end in a dot, so they are looked up as is. */
static int check_dns (const struct field *f, const json_t *o)
{
    static const char *const keys[] = { "searches", "options", NULL };
    int rc = check_object (f, o, keys);
    json_t *one;
    size_t k;

    for (size_t i = 0; keys[i] && rc == 0; i++) {
        struct field at = key_of (f, keys[i]);
        const json_t *list = json_object_get (o, keys[i]);

        if (list)
            rc = check_list (&at, list, LIST_MAX);
        json_array_foreach (list, k, one) {
            struct field entry = below (&at, "[%zu]", k);

            if (rc == 0)
                rc = check_dns_entry (&entry, one);
        }
    }
    return rc;
}

static int check_spec (const struct field *f, const json_t *spec)
{
    static const char *const keys[] = { "containers", "volumes", "dnsConfig", NULL };
    struct field containers = key_of (f, "containers"), volumes = key_of (f, "volumes");
    struct field dns = key_of (f, "dnsConfig");
    const json_t *list = json_object_get (spec, "containers");
    const json_t *v = json_object_get (spec, "volumes");
    json_t *one;
    size_t i;
    int rc = check_object (f, spec, keys);

    if (rc == 0 && v)
        rc = check_volumes (&volumes, v);
    if (rc == 0 && list)
        rc = check_list (&containers, list, LIST_MAX);
    json_array_foreach (list, i, one) {
        struct field at = below (&containers, "[%zu]", i);

        if (rc == 0)
            rc = check_container (&at, one, v);
    }
    if (rc == 0 && json_array_size (list) > 1)
        rc = refuse (&containers, "expected the container 'job' once");
    if (rc == 0 && json_object_get (spec, "dnsConfig"))
        rc = check_dns (&dns, json_object_get (spec, "dnsConfig"));
    return rc;
}

int podtemplate_check (const json_t *t, const char *where, struct error *err)
{
    static const char *const keys[] = { "metadata", "spec", NULL };
    const struct field top = { .where = where, .err = err };
    struct field metadata = key_of (&top, "metadata"), spec = key_of (&top, "spec");

    if (!json_is_object (t) || json_object_size (t) == 0)
        return error_set (err, EINVAL,
                          "%s: expected a Pod, or a pod template: a mapping of metadata "
                          "and spec",
                          where);
    int rc = check_object (&top, t, keys);
    if (rc == 0 && json_object_get (t, "metadata"))
        rc = check_metadata (&metadata, json_object_get (t, "metadata"));
    if (rc == 0 && json_object_get (t, "spec"))
        rc = check_spec (&spec, json_object_get (t, "spec"));
    if (rc == 0 && json_dumpb (t, NULL, 0, JSON_COMPACT) > PODTEMPLATE_MAX)
        rc = error_set (err, EFBIG, "%s: a template may have 64 KiB at most", where);
    return rc;
}

/* -- the file -- */

static int read_regular (const char *path, struct strbuf *sb, const char *where,
                         struct error *err)
{
    struct stat st;

    if (io_has_reader ())
        return io_read_file (path, sb, PODTEMPLATE_MAX, err) < 0
                   ? error_prefix (err, "%s", where)
                   : 0;
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s: %s", where, path);
    if (!S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "%s: %s is not a file", where, path);
    int rc = io_read_fd (fd, sb, PODTEMPLATE_MAX);
    if (rc == -EFBIG)
        return error_set (err, EFBIG, "%s: %s: a template may have 64 KiB at most", where,
                          path);
    return rc < 0 ? error_errno (err, -rc, "%s: %s", where, path) : 0;
}

/* The template in the document; in a PodTemplate it is one level down. */
static json_t *template_of (const json_t *root)
{
    static const char *const own[] = { "Pod", "PodTemplate", "PodTemplateSpec" };
    const json_t *inner = json_object_get (root, "template");
    const char *kind = json_string_value (json_object_get (root, "kind"));

    if (inner && (!kind || strcmp (kind, "PodTemplate") == 0))
        return json_deep_copy (inner);
    json_t *t = json_deep_copy (root);
    for (size_t i = 0; kind && i < ARRAY_SIZE (own); i++)
        if (strcmp (own[i], kind) == 0)
            json_object_del (t, "kind");
    json_object_del (t, "apiVersion");
    return t;
}

json_t *podtemplate_read (const char *path, const char *where, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (PODTEMPLATE_MAX + 1);
    struct error why = { 0 };
    json_t *t = NULL;

    if (read_regular (path, &sb, where, err) < 0)
        return NULL;
    struct yaml_doc *doc = yaml_load (sb.buf, sb.len, path, &why);
    if (!doc)
        return error_null (error_set (err, EINVAL, "%s: %s", where, why.text));
    t = template_of (yaml_root (doc));
    yaml_destroy (doc);
    if (podtemplate_check (t, where, err) == 0)
        return t;
    json_decref (t);
    return NULL;
}

/* -- queries -- */

bool podtemplate_sets (const json_t *t, const char *field)
{
    static const char volumes[] = "spec.volumes.";
    const json_t *spec = json_object_get (t, "spec");
    json_t *one;
    size_t i;

    if (strncmp (field, volumes, strlen (volumes)) == 0) {
        json_array_foreach (json_object_get (spec, "volumes"), i, one) {
            if (json_object_get (one, field + strlen (volumes)))
                return true;
        }
        return false;
    }
    return strncmp (field, "spec.", 5) == 0
               ? json_object_get (spec, field + 5) != NULL
               : json_object_get (json_object_get (t, "metadata"),
                                  field + strlen ("metadata."))
                     != NULL;
}

static json_t *mount_of (const json_t *mount, const json_t *volume)
{
    json_t *source = json_copy ((json_t *)volume);

    json_object_del (source, "name");
    return json_pack ("{s:O s:o s:b}", "path", json_object_get (mount, "mountPath"),
                      "volume", source, "read-only",
                      json_is_true (json_object_get (mount, "readOnly")));
}

json_t *podtemplate_mounts (const json_t *t)
{
    const json_t *spec = json_object_get (t, "spec");
    const json_t *job = json_array_get (json_object_get (spec, "containers"), 0);
    json_t *list = json_array (), *one;
    size_t i;
    int rc = 0;

    json_array_foreach (json_object_get (job, "volumeMounts"), i, one) {
        const json_t *volume =
            find_named (json_object_get (spec, "volumes"), json_object_get (one, "name"));

        rc |= json_array_append_new (list, mount_of (one, volume));
    }
    if (rc < 0) {
        json_decref (list);
        return NULL;
    }
    return list;
}
