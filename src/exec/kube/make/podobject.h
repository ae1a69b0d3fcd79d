/* podobject.h - a pod of an Indexed Job, as the Job controller would make it
 *
 *     pod = podobject_make (job, uid, "fluxq-c-1-0-3", "n3", 3, "node7", &ask, "nvidia.com/gpu");
 *
 * Made from the Job's own template (object_job()), so that both makers make equal pods;
 * in addition it has its node, and the amounts of its rank. It
 * has no finalizer: nothing waits for it.
 * Source: kubernetes.io, "Jobs", completion mode Indexed.
 */
#pragma once

#include "exec/kube/make/objects.h"

/* job: the result of object_job(); uid: the Job's; host: see rankname_label(). New
 * reference, NULL without memory. */
json_t *podobject_make (const json_t *job, const char *uid, const char *name,
                        const char *host, uint32_t index, const char *node,
                        const struct pod_request *ask, const char *gpu_resource);
