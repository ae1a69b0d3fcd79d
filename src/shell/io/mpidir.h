/* mpidir.h - a directory for each virtual node, in which MPI libraries keep their files
 *
 *     autofree char *path = mpidir_path (&launch, rank);
 *     if (path && mpidir_make (&launch, rank, &err) < 0) ...;
 *
 * Virtual nodes (fluxqd --local with several nodes) share /tmp and /dev/shm of one
 * machine. Open MPI names its shared memory and its session directory there by host,
 * user and number of the task on its node, so two virtual nodes would use the same
 * files. Each virtual node has a directory of its own beside the spool instead.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"

/* Whether the nodes of the job are on one machine. */
bool mpidir_is_needed (const struct launch *launch);
/* The path of a rank's directory; the caller frees it. NULL: no memory. */
char *mpidir_path (const struct launch *launch, uint32_t rank);
/* Whether the path is the directory of any rank of the job. */
bool mpidir_is_own (const struct launch *launch, const char *path);
/* Makes the directory if the job needs it. 0, or negative errno with the reason. */
int mpidir_make (const struct launch *launch, uint32_t rank, struct error *err);
/* Removes the directory and what programs have left in it. */
void mpidir_remove (const struct launch *launch, uint32_t rank);
