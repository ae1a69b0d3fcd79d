/* stagefiles.h - the files of --stage-out that come from the pods, by frame (used by
 * output.c, in a worker thread, as the user)
 *
 *     struct stagefiles *f = stagefiles_create (&launch);
 *     stagefiles_check (f, &err);                  // at the job's start
 *     stagefiles_restore (f, sizes, &err);         // or after a restart
 *     stagefiles_write (f, &frame, &err);
 *     json_t *sizes = stagefiles_sync (f);
 *
 * A file is made, or truncated, when its first bytes arrive, so that an older file stays
 * until then. Files of ranks with interleaved frames are written at the same time.
 */
#pragma once

#include "common/json.h"
#include "protocol/frame.h"
#include "protocol/launch.h"

struct stagefiles;

#define STAGEFILES_MAX 65536 /* files of one job */

/* launch is borrowed. NULL: no memory. */
struct stagefiles *stagefiles_create (const struct launch *launch);
void stagefiles_destroy (struct stagefiles *f);
/* Whether all files can be written, as far as can be known before they come; changes
 * nothing. */
int stagefiles_check (struct stagefiles *f, struct error *err);
/* Cuts files back to their size in `sizes` (of stagefiles_sync(); NULL: none was begun).
 * A file that cannot be cut is given up; returns the first error. */
int stagefiles_restore (struct stagefiles *f, json_t *sizes, struct error *err);
/* Writes a FRAME_FILE. 0, or once a negative errno for each file that is given up:
 * "stage-out: NAME: why". Skips invalid frames. */
int stagefiles_write (struct stagefiles *f, const struct frame *frame, struct error *err);
/* Syncs the files written to; returns a new object "ENTRY.RANK" -> bytes. NULL: no
 * memory. */
json_t *stagefiles_sync (struct stagefiles *f);
