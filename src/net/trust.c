/* trust.c - see trust.h */
#include "net/trust.h"

#include <pwd.h>
#include <sys/socket.h>

#include "net/client_settings.h"

static bool names_user (const json_t *item, uid_t uid)
{
    if (json_is_integer (item))
        return json_integer_value (item) == (json_int_t)uid;
    const struct passwd *pw = getpwnam (json_string_value (item));
    return pw && pw->pw_uid == uid;
}

/* 1: the administrator's file names the user; 0: it does not. */
static int is_configured (uid_t uid, struct error *err)
{
    struct client_settings set;
    const json_t *item;
    int rc = client_settings_read (&set, CLIENT_SETTINGS_SITE, err);
    bool found = false;
    size_t i;

    if (rc < 0)
        return rc;
    json_array_foreach (set.brokers, i, item) {
        found |= names_user (item, uid);
    }
    client_settings_release (&set);
    return found;
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
                               path, (unsigned)cred.uid, CLIENT_SETTINGS_FILE);
}
