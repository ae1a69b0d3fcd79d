/* unprivileged.h - a broker without root, and jobs of other users
 *
 * In a pod the broker runs as a user of its own. A job's directory, its key and the
 * spool then belong to the broker, and the job's user reads them only through the
 * broker. The broker does not touch files of users: files that the pods do not see
 * (mounts.h) can be neither read nor written for them, and a job that names such a file
 * is refused.
 *
 *     if (unprivileged_for (uid)) ... we stay who we are
 *     unprivileged_refuse (&launch, output, error, input, &err)
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "protocol/launch.h"

/* Whether the broker cannot act as this user: it is neither root nor this user. */
bool unprivileged_for (uid_t uid);

/* -EPERM and the first file that we would have to touch; 0: there is none. output, error,
 * input: files that the agent does not handle, NULL or "": none; "/dev/null" does not
 * count. */
int unprivileged_refuse (const struct launch *l, const char *output, const char *error,
                         const char *input, struct error *err);
