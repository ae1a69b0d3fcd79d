/* resizefile.h - what a malleable job's programs read of its size: a file on each of its nodes,
 * named by FLUXQ_RESIZE_FILE
 *
 *     FLUXQ_RESIZE_GENERATION=2          how often it has changed
 *     FLUXQ_RESIZE_STATE=grown           started, grown, shrinking, shrunk
 *     FLUXQ_RESIZE_OLD_NNODES=4
 *     FLUXQ_RESIZE_NNODES=6
 *     FLUXQ_RESIZE_NODELIST=node[0-5]    of a job that shrinks those that stay
 *
 * A shell may read it with "." as it is. It is replaced as a whole, by a rename, so that who
 * reads it has one state or the other.
 */
#ifndef FLUXQ_SHELL_RESIZEFILE_H
#define FLUXQ_SHELL_RESIZEFILE_H

#include "common/error.h"
#include "common/launch.h"
#include "shell/wire.h"

#define RESIZE_FILE_VARIABLE "FLUXQ_RESIZE_FILE"

/* The file of a rank, beside rank 0's spool; the caller frees. NULL: no memory. */
char *resizefile_path (const struct launch *launch, uint32_t rank);
/* The lines; the caller frees. NULL: no memory. */
char *resizefile_text (const struct launch *launch, const struct wire_resize *r);
/* 0 or negative errno with the reason. */
int resizefile_write (const struct launch *launch, uint32_t rank,
                      const struct wire_resize *r, struct error *err);
void resizefile_remove (const struct launch *launch, uint32_t rank);

#endif
