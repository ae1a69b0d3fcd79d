/* resizefile.h - a file on each node that tells programs the size of a malleable job,
 * named by FLUXQ_RESIZE_FILE
 *
 *     FLUXQ_RESIZE_GENERATION=2          number of changes so far
 *     FLUXQ_RESIZE_STATE=grown           started, grown, shrinking, shrunk
 *     FLUXQ_RESIZE_OLD_NNODES=4
 *     FLUXQ_RESIZE_NNODES=6
 *     FLUXQ_RESIZE_NODELIST=node[0-5]    while the job shrinks: the nodes that stay
 *
 * A shell can read the file with ".". The file is replaced as a whole, by a rename, so a
 * reader gets one state or the other.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"
#include "shell/io/wire.h"

#define RESIZE_FILE_VARIABLE "FLUXQ_RESIZE_FILE"

/* The path of a rank's file, beside rank 0's spool; the caller frees it. NULL: no
 * memory. */
char *resizefile_path (const struct launch *launch, uint32_t rank);
/* The text of the file; the caller frees it. NULL: no memory. */
char *resizefile_text (const struct launch *launch, const struct wire_resize *r);
/* 0 or negative errno with the reason. */
int resizefile_write (const struct launch *launch, uint32_t rank,
                      const struct wire_resize *r, struct error *err);
void resizefile_remove (const struct launch *launch, uint32_t rank);
