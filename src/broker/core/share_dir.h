/* share_dir.h - a directory of the broker that a job's user may use as well
 *
 * A broker that is not root cannot give the job's directory to its user. With an ACL
 * (acl(5)) the user has the rights of an owner in the directory, and the broker has them in
 * all that the user makes there.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"

/* -EOPNOTSUPP: the file system has no ACLs. Blocks: on a worker thread. */
int share_dir (const char *path, uid_t user, struct error *err);
