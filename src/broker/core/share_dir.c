/* share_dir.c - see share_dir.h */
#include "broker/core/share_dir.h"

#include <sys/acl.h>

static int set (const char *path, acl_type_t type, const char *text, struct error *err)
{
    acl_t acl = acl_from_text (text);
    int rc = acl ? acl_set_file (path, type, acl) : -1;
    int errnum = errno;

    if (acl)
        acl_free (acl);
    if (rc == 0)
        return 0;
    return errnum == EOPNOTSUPP
               ? error_set (err, errnum,
                            "%s: its file system has no ACLs, by which the broker shares "
                            "it with the job's user: choose another state-dir, or leave "
                            "out `user`",
                            path)
               : error_errno (err, errnum, "%s: ACL", path);
}

int share_dir (const char *path, uid_t user, struct error *err)
{
    char text[128];

    snprintf (text, sizeof (text), "u::rwx,u:%u:rwx,g::---,m::rwx,o::---",
              (unsigned)user);
    int rc = set (path, ACL_TYPE_ACCESS, text, err);
    if (rc < 0)
        return rc;
    snprintf (text, sizeof (text), "u::rwx,u:%u:rwx,u:%u:rwx,g::---,m::rwx,o::---",
              (unsigned)user, (unsigned)geteuid ());
    return set (path, ACL_TYPE_DEFAULT, text, err);
}
