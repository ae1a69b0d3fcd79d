/* outputfiles.h - the user's files of one job: which frame goes where (used by output.c,
 * in a worker thread, as the user)
 */
#ifndef FLUXQ_EXEC_KUBE_OUTPUTFILES_H
#define FLUXQ_EXEC_KUBE_OUTPUTFILES_H

#include "common/frame.h"
#include "common/json.h"
#include "common/launch.h"

struct outputfiles;

#define OUTPUTFILES_MAX 65536 /* files of one job */

/* Expand the patterns (NULL: none); nothing is opened yet. launch is borrowed. */
struct outputfiles *outputfiles_create (const struct launch *launch, const char *output,
                                        const char *error, struct error *err);
void outputfiles_destroy (struct outputfiles *f);
/* Open each once and make it empty, unless the job appends. */
int outputfiles_begin (struct outputfiles *f, struct error *err);
/* Cut each regular file back to its size in `sizes` (path -> bytes). */
int outputfiles_restore (struct outputfiles *f, json_t *sizes, struct error *err);
/* An OUTPUT frame's data. 0, or the first time a negative errno for a file that is given
 * up. */
int outputfiles_write (struct outputfiles *f, const struct frame *frame,
                       struct error *err);
/* fsync what was written to; new object path -> bytes of the regular files. NULL: no
 * memory. */
json_t *outputfiles_sync (struct outputfiles *f);

#endif
