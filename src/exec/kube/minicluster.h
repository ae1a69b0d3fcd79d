/* minicluster.h - a job as a MiniCluster of the Flux operator (flux-framework.org/v1alpha2)
 *
 *     if (minicluster_wanted (settings)) ...
 *     minicluster_check (settings, js, mounts, cfg, &err);     // at submit
 *     minicluster_launch (&launch, js, &script, &err);         // the agent's launch file
 *     json_t *o = minicluster_object (&source);
 *
 * The operator makes of it an Indexed Job, a headless Service and a ConfigMap with the shell
 * scripts by which the pods begin. In these the agent is Flux's initial program on rank 0, and
 * runs beside Flux on the others: output, status, steps, limits and files go their ways as in
 * any other job. A job's script is run once, in the Flux instance; a command's tasks are started
 * by `flux run` (fluxrun.h).
 *
 * The operator's volumes can neither be executable nor writable, but its own: the agent and the
 * script are copied to one of these before anything else is done. What it cannot be told at all
 * is refused by minicluster_check().
 * Source: the operator's API (api/v1alpha2), controllers and templates, commit 0d75cef8.
 */
#ifndef FLUXQ_EXEC_KUBE_MINICLUSTER_H
#define FLUXQ_EXEC_KUBE_MINICLUSTER_H

#include <stdbool.h>

#include "common/launch.h"
#include "exec/kube/objects.h"

#define MINICLUSTER_ENTRYPOINT                                                           \
    "-entrypoint" /* behind its name: the operator's ConfigMap */

/* settings: of the job's pods, see podset.h. */
bool minicluster_wanted (const json_t *settings);
/* Can the job be one? mounts: as mounts.h has them, or NULL. -EINVAL and what it would lack. */
int minicluster_check (const json_t *settings, const struct jobspec *js,
                       const json_t *mounts, struct error *err);
/* A filled launch file becomes one for a MiniCluster's pods. *script: the text in place of the
 * job's script, for a command (the caller frees), else NULL. -ENOMEM. */
int minicluster_launch (struct launch *l, const struct jobspec *js, char **script,
                        struct error *err);
/* A new reference; NULL: no memory. */
json_t *minicluster_object (const struct object_source *src);
/* The volume that the operator makes of a mount (mounts.h), and the name that it must have:
 * NULL, and why, if it makes none. A new reference. */
json_t *minicluster_volume (const json_t *mount, const char **name, const char **why);

#endif
