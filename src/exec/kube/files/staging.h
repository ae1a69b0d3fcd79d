/* staging.h - files copied to the pods and back (--stage-in, --stage-out)
 *
 * The agent itself copies files that the pods see through mounts (mounts.h). Other files
 * travel to the pods in the job's ConfigMap, as standard input does (inputfiles.h), and
 * come back as FRAME_FILE (stagefiles.h).
 *
 *     staging_fill (job, &launch, &err);              // loop's thread, with the launch file
 *     staging_read (&inputs, &list, &launch, max, &err);      // in a worker, as the user
 *     staging_set_modes (&launch, &inputs);           // loop's thread again
 */
#pragma once

#include "exec/exec.h"
#include "exec/kube/files/inputfiles.h"

/* Fills stage_in and stage_out of the launch file, which has its nodes and cwd already.
 * -EINVAL: relative names without a directory for them; -E2BIG; -ENOMEM. */
int staging_fill (const struct exec_job *job, struct launch *l, struct error *err);
/* Reads the files of the list that the pods do not see, at most max bytes. */
int staging_read (struct inputfiles *in, const struct stage_list *list,
                  const struct launch *l, size_t max, struct error *err);
/* Sets the permissions of the files that were read. */
void staging_set_modes (struct launch *l, const struct inputfiles *in);
/* The job's directory, if the job copies files and the pods do not see it: it is made
 * there. NULL: it is not. */
const char *staging_directory (const struct exec_job *job, const struct launch *l);
