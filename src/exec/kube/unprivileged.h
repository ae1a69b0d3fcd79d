/* unprivileged.h - a broker without root, and jobs of others
 *
 * In a pod the broker runs as a user of its own, who is nobody else's. A job's directory,
 * its key and the spool are the broker's then, and read by the job's user through the broker
 * only. Files of users are left alone: what the pods do not see (mounts.h) can be neither
 * read nor written for them, and a job that names such a file is refused.
 *
 *     if (unprivileged_for (uid)) ... we stay who we are
 *     unprivileged_refuse (&launch, output, error, input, &err)
 */
#ifndef FLUXQ_EXEC_KUBE_UNPRIVILEGED_H
#define FLUXQ_EXEC_KUBE_UNPRIVILEGED_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/launch.h"

/* The broker cannot act as this user: it is neither root nor this user. */
bool unprivileged_for (uid_t uid);

/* -EPERM and the first file that we would have to touch; 0: there is none. output, error,
 * input: those that are left to us, NULL or "": none; "/dev/null" does not count. */
int unprivileged_refuse (const struct launch *l, const char *output, const char *error,
                         const char *input, struct error *err);

#endif
