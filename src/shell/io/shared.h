/* shared.h - files in a job's directory that the broker's user shares with the job's user
 *
 * A broker with fluxq-launch is not root: the job's directory is the broker's, and an ACL
 * (acl(5)) gives the user the same rights. New files inherit the ACL; their group bits are
 * its mask, so they decide whether the broker can open the file.
 */
#pragma once

#include <sys/types.h>

#include "common/macros.h"

/* The bits to add to the mode of a new file of this path that the broker must read and
 * write: 0060, or 0 if its directory is not shared. */
mode_t shared_bits (const char *path);
