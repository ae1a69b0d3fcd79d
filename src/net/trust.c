/* trust.c - see trust.h */
#include "net/trust.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/io.h"
#include "common/yaml.h"

#define CLIENT_YAML FLUXQ_SYSCONFDIR "/client.yaml"
#define CLIENT_YAML_MAX ((size_t)64 * 1024)

/* Reads client.yaml into text. 1: it exists, 0: it does not. */
static int read_settings (struct strbuf *text, struct error *err)
{
    struct stat st;
    autoclose int fd = open (CLIENT_YAML, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s", CLIENT_YAML);
    if (!S_ISREG (st.st_mode) || st.st_uid != 0 || (st.st_mode & 022) != 0)
        return error_set (err, EPERM,
                          "%s must belong to root and be writable for root only",
                          CLIENT_YAML);
    int rc = io_read_fd (fd, text, CLIENT_YAML_MAX);
    return rc < 0 ? error_errno (err, -rc, "%s", CLIENT_YAML) : 1;
}

static bool names_user (const json_t *item, uid_t uid)
{
    if (json_is_integer (item))
        return json_integer_value (item) == (json_int_t)uid;
    const struct passwd *pw = getpwnam (json_string_value (item));
    return pw && pw->pw_uid == uid;
}

/* 1: the list names the user; 0: it does not. */
static int find_user (const struct yaml_doc *doc, uid_t uid, struct error *err)
{
    json_t *root = yaml_root (doc), *item;
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_null (root))
        return 0;
    if (!json_is_object (root))
        return yaml_error (doc, root, NULL, err, "expected \"brokers: [USER]\"");
    json_object_foreach (root, key, value)
    {
        if (strcmp (key, "brokers") != 0)
            return yaml_error (doc, root, key, err, "'%s' is not a setting of clients",
                               key);
        if (!json_is_array (value))
            return yaml_error (doc, root, key, err, "expected a list of users");
    }
    json_array_foreach (json_object_get (root, "brokers"), i, item)
    {
        if (!json_is_string (item) && !json_is_integer (item))
            return yaml_error (doc, item, NULL, err, "expected a user");
        if (names_user (item, uid))
            return 1;
    }
    return 0;
}

/* As find_user(), for the administrator's file. */
static int is_configured (uid_t uid, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (CLIENT_YAML_MAX + 1);

    int rc = read_settings (&text, err);
    if (rc <= 0)
        return rc;
    struct yaml_doc *doc = yaml_load (text.buf, text.len, CLIENT_YAML, err);
    if (!doc)
        return -EINVAL;
    rc = find_user (doc, uid, err);
    yaml_destroy (doc);
    return rc;
}

int trust_check_peer (int fd, const char *path, struct error *err)
{
    struct ucred cred;
    socklen_t len = sizeof (cred);

    if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
        return error_errno (err, errno, "%s: whose broker it is", path);
    if (cred.uid == geteuid () || cred.uid == 0)
        return 0;
    int rc = is_configured (cred.uid, err);
    if (rc < 0)
        return -EPERM;
    return rc > 0 ? 0
                  : error_set (err, EPERM,
                               "%s: uid %u listens there, which is neither you nor root; "
                               "an administrator may name that user in %s",
                               path, (unsigned)cred.uid, CLIENT_YAML);
}
