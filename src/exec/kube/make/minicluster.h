/* minicluster.h - a job as a MiniCluster of the Flux operator
 * (flux-framework.org/v1alpha2)
 *
 *     if (minicluster_wanted (settings)) ...
 *     minicluster_check (settings, js, mounts, cfg, &err);     // at submit
 *     minicluster_launch (&launch, js, &script, &err);         // the agent's launch file
 *     json_t *o = minicluster_object (&source);
 *
 * The operator makes an Indexed Job from it, a headless Service, and a ConfigMap with
 * the shell scripts that start the pods. In these pods the agent is Flux's initial
 * program on rank 0, and runs beside Flux on the others: output, status, steps, limits
 * and files work as in any other job. A job's script runs once, in the Flux instance;
 * `flux run` starts the tasks of a command (fluxrun.h).
 *
 * Except for its own, the operator's volumes are neither executable nor writable: the
 * pods first copy the agent and the script to one of the operator's own volumes.
 * minicluster_check() refuses settings that the operator does not know.
 * Source: the operator's API (api/v1alpha2), controllers and templates, commit 0d75cef8.
 */
#pragma once

#include <stdbool.h>

#include "exec/kube/make/objects.h"
#include "protocol/launch.h"

#define MINICLUSTER_ENTRYPOINT                                                           \
    "-entrypoint" /* suffix of its name: the operator's ConfigMap */

/* settings: of the job's pods, see podset.h. */
bool minicluster_wanted (const json_t *settings);
/* Checks whether the job can be a MiniCluster. mounts: in the form of mounts.h, or NULL.
 * -EINVAL and the setting that would be lost. */
int minicluster_check (const json_t *settings, const struct jobspec *js,
                       const json_t *mounts, struct error *err);
/* Changes a filled launch file for a MiniCluster's pods. *script: for a command, the text
 * that replaces the job's script (the caller frees), else NULL. -ENOMEM. */
int minicluster_launch (struct launch *l, const struct jobspec *js, char **script,
                        struct error *err);
/* A new reference; NULL: no memory. */
json_t *minicluster_object (const struct object_source *src);
/* Returns the volume that the operator makes of a mount (mounts.h), and the name that it
 * must have; NULL with the reason: it makes none. A new reference. */
json_t *minicluster_volume (const json_t *mount, const char **name, const char **why);
