/* stagefiles.h - the files of --stage-out that come from the pods: which frame goes where
 * (used by output.c, in a worker thread, as the user)
 *
 *     struct stagefiles *f = stagefiles_create (&launch);
 *     stagefiles_check (f, &err);                  // at the job's start
 *     stagefiles_restore (f, sizes, &err);         // or after a restart
 *     stagefiles_write (f, &frame, &err);
 *     json_t *sizes = stagefiles_sync (f);
 *
 * A file is made, or emptied, when its first bytes are there, so that what is there before
 * stays until then. Those of ranks whose frames come mixed are written at the same time.
 */
#ifndef FLUXQ_EXEC_KUBE_STAGEFILES_H
#define FLUXQ_EXEC_KUBE_STAGEFILES_H

#include "common/frame.h"
#include "common/json.h"
#include "common/launch.h"

struct stagefiles;

#define STAGEFILES_MAX 65536 /* files of one job */

/* launch is borrowed. NULL: no memory. */
struct stagefiles *stagefiles_create (const struct launch *launch);
void stagefiles_destroy (struct stagefiles *f);
/* Whether all can be written, as far as it shows before they come; nothing is changed. */
int stagefiles_check (struct stagefiles *f, struct error *err);
/* Cut those that had been begun back to their size in `sizes` (of stagefiles_sync(); NULL:
 * none had). One that cannot be is given up: then the first error. */
int stagefiles_restore (struct stagefiles *f, json_t *sizes, struct error *err);
/* A FRAME_FILE. 0, or the first time a negative errno for a file that is given up:
 * "stage-out: NAME: why". A frame that makes no sense is passed over. */
int stagefiles_write (struct stagefiles *f, const struct frame *frame, struct error *err);
/* fsync what was written to; new object "ENTRY.RANK" -> bytes. NULL: no memory. */
json_t *stagefiles_sync (struct stagefiles *f);

#endif
