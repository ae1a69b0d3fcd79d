/* hostfile.h - a file beside rank 0's spool with the job's hosts (rankhost.h) and the
 * number of tasks on each
 *
 * The file is for launchers such as Open MPI's mpirun. With fluxq-run --rsh in place of
 * ssh such a launcher starts its daemons on the other nodes; env.c sets the variables for
 * that.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"

/* The file's path; the caller frees it. NULL: no memory. */
char *hostfile_path (const struct launch *launch);
/* Writes "HOST slots=N" for each rank. 0 or negative errno. */
int hostfile_write (const struct launch *launch, struct error *err);
void hostfile_remove (const struct launch *launch);
