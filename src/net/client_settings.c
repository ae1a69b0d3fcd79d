/* client_settings.c - see client_settings.h */
#include "net/client_settings.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "common/io.h"

#define FILE_MAX ((size_t)64 * 1024)
#define PIN_PREFIX "sha256//"
#define PIN_LEN (strlen (PIN_PREFIX) + 44)

/* -- values -- */

struct place {
    const struct yaml_doc *doc;
    const json_t *root;
    const char *key;
    struct error *err;
};

#define FAIL(p, ...) yaml_error ((p)->doc, (p)->root, (p)->key, (p)->err, __VA_ARGS__)

typedef int read_f (void *field, const json_t *value, const struct place *p);

static int read_path (void *field, const json_t *value, const struct place *p)
{
    const char *path = json_string_value (value);

    if (!path || *path != '/')
        return FAIL (p, "%s: expected the absolute path of a file", p->key);
    *(const char **)field = path;
    return 0;
}

static int read_brokers (void *field, const json_t *value, const struct place *p)
{
    const json_t *item;
    size_t i;

    if (!json_is_array (value))
        return FAIL (p, "expected a list of users");
    json_array_foreach (value, i, item) {
        if (!json_is_string (item) && !json_is_integer (item))
            return yaml_error (p->doc, item, NULL, p->err, "expected a user");
    }
    *(const json_t **)field = value;
    return 0;
}

static int read_pins (void *field, const json_t *value, const struct place *p)
{
    const json_t *item;
    size_t i;

    if (!json_is_array (value) || json_array_size (value) == 0)
        return FAIL (p, "pins: expected a list of keys of brokers");
    json_array_foreach (value, i, item) {
        const char *pin = json_string_value (item);
        if (!pin || strncmp (pin, PIN_PREFIX, strlen (PIN_PREFIX)) != 0
            || strlen (pin) != PIN_LEN)
            return FAIL (p, "pins: expected \"" PIN_PREFIX
                            "\" and the SHA-256 of a public key in base64");
    }
    *(const json_t **)field = value;
    return 0;
}

#define AT(field) offsetof (struct client_settings, field)
static const struct setting {
    const char *name;
    read_f *read;
    size_t offset;
    bool site_only;
} settings[] = {
    { "brokers", read_brokers, AT (brokers), true },
    { "ca", read_path, AT (ca), false },
    { "pins", read_pins, AT (pins), false },
    { "certificate", read_path, AT (certificate), false },
    { "key", read_path, AT (key), false },
};
#undef AT

static int read_value (struct client_settings *set, bool is_site, const json_t *value,
                       const struct place *p)
{
    for (size_t i = 0; i < ARRAY_SIZE (settings); i++) {
        if (strcmp (settings[i].name, p->key) != 0)
            continue;
        if (settings[i].site_only && !is_site)
            return FAIL (p, "only the administrator may set '%s', in %s", p->key,
                         CLIENT_SETTINGS_FILE);
        return settings[i].read ((char *)set + settings[i].offset, value, p);
    }
    return FAIL (p, "'%s' is not a setting of clients", p->key);
}

/* -- a file -- */

/* 1: it exists, 0: it does not. */
static int read_text (const char *path, bool is_site, struct strbuf *text,
                      struct error *err)
{
    struct stat st;
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s", path);
    bool owned = st.st_uid == 0 || (!is_site && st.st_uid == geteuid ());
    if (!S_ISREG (st.st_mode) || !owned || (st.st_mode & 022) != 0)
        return error_set (err, EPERM, "%s must belong to %s and be writable for %s only",
                          path, is_site ? "root" : "you", is_site ? "root" : "its owner");
    int rc = io_read_fd (fd, text, FILE_MAX);
    return rc < 0 ? error_errno (err, -rc, "%s", path) : 1;
}

static int read_document (struct client_settings *set, bool is_site, struct error *err)
{
    struct yaml_doc *doc = set->docs[is_site ? 0 : 1];
    json_t *root = yaml_root (doc), *value;
    const char *key;
    int rc = 0;

    if (json_is_null (root))
        return 0;
    if (!json_is_object (root))
        return yaml_error (doc, root, NULL, err, "expected \"brokers: [USER]\"");
    json_object_foreach (root, key, value) {
        const struct place p = { doc, root, key, err };

        if (rc == 0)
            rc = read_value (set, is_site, value, &p);
    }
    return rc;
}

static int read_file (struct client_settings *set, const char *path, bool is_site,
                      struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (FILE_MAX + 1);

    int rc = read_text (path, is_site, &text, err);
    if (rc <= 0)
        return rc;
    set->docs[is_site ? 0 : 1] = yaml_load (text.buf, text.len, path, err);
    return set->docs[is_site ? 0 : 1] ? read_document (set, is_site, err) : -EINVAL;
}

/* The user's file; false: the user has no home. */
static bool own_path (char path[PATH_MAX])
{
    const char *config = getenv ("XDG_CONFIG_HOME"), *home = getenv ("HOME");
    int n = -1;

    if (config && *config == '/')
        n = snprintf (path, PATH_MAX, "%s/fluxq/client.yaml", config);
    else if (home && *home == '/')
        n = snprintf (path, PATH_MAX, "%s/.config/fluxq/client.yaml", home);
    return n >= 0 && n < PATH_MAX;
}

int client_settings_read (struct client_settings *ret, enum client_settings_from from,
                          struct error *err)
{
    char path[PATH_MAX];

    *ret = (struct client_settings){ 0 };
    int rc = read_file (ret, CLIENT_SETTINGS_FILE, true, err);
    if (rc == 0 && from == CLIENT_SETTINGS_OWN && own_path (path))
        rc = read_file (ret, path, false, err);
    if (rc == 0 && !ret->certificate != !ret->key)
        rc = error_set (err, EINVAL, "client.yaml: certificate and key need each other");
    if (rc < 0)
        client_settings_release (ret);
    return rc;
}

void client_settings_release (struct client_settings *set)
{
    yaml_destroy (set->docs[0]);
    yaml_destroy (set->docs[1]);
    *set = (struct client_settings){ 0 };
}
