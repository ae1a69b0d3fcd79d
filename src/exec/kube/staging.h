/* staging.h - files that are brought to the pods and back (--stage-in, --stage-out)
 *
 * What the pods see through mounts (mounts.h) the agent copies itself. Any other file goes
 * there in the job's ConfigMap, as its standard input does (inputfiles.h), and comes back
 * as FRAME_FILE (stagefiles.h).
 *
 *     staging_fill (job, &launch, &err);              // loop's thread, with the launch file
 *     staging_read (&inputs, &list, &launch, max, &err);      // in a worker, as the user
 *     staging_set_modes (&launch, &inputs);           // loop's thread again
 */
#ifndef FLUXQ_EXEC_KUBE_STAGING_H
#define FLUXQ_EXEC_KUBE_STAGING_H

#include "exec/exec.h"
#include "exec/kube/inputfiles.h"

/* The launch file's stage_in and stage_out; its nodes and cwd are there. -EINVAL: relative
 * names where there is no directory for them; -E2BIG; -ENOMEM. */
int staging_fill (const struct exec_job *job, struct launch *l, struct error *err);
/* Read what the pods do not see of the files to be brought there, at most max bytes. */
int staging_read (struct inputfiles *in, const struct stage_list *list,
                  const struct launch *l, size_t max, struct error *err);
/* The permissions of the files that were read. */
void staging_set_modes (struct launch *l, const struct inputfiles *in);
/* The job's directory, when it brings files and the pods do not see it: it is made there.
 * NULL: it is not. */
const char *staging_directory (const struct exec_job *job, const struct launch *l);

#endif
