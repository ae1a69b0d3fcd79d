/* outputfiles.h - the user's output files of one job, by frame (used by output.c, in a
 * worker thread, as the user)
 */
#pragma once

#include "common/json.h"
#include "protocol/frame.h"
#include "protocol/launch.h"

struct outputfiles;

#define OUTPUTFILES_MAX 65536 /* files of one job */

/* Expands the patterns (NULL: none); opens nothing yet. launch is borrowed. */
struct outputfiles *outputfiles_create (const struct launch *launch, const char *output,
                                        const char *error, struct error *err);
void outputfiles_destroy (struct outputfiles *f);
/* Opens each file once and truncates it, unless the job appends. */
int outputfiles_begin (struct outputfiles *f, struct error *err);
/* Cuts each regular file back to its size in `sizes` (path -> bytes). */
int outputfiles_restore (struct outputfiles *f, json_t *sizes, struct error *err);
/* Writes the data of an OUTPUT frame. 0, or once a negative errno for each file that is
 * given up. */
int outputfiles_write (struct outputfiles *f, const struct frame *frame,
                       struct error *err);
/* Syncs the files written to; returns a new object path -> bytes of the regular files.
 * NULL: no memory. */
json_t *outputfiles_sync (struct outputfiles *f);
