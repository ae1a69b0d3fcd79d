/* podwish.h - a user's choices for the pods of a job, as far as the queue allows them
 *
 *     podwish_set (&so->pods, "volume", "scratch:/scratch", "--volume", &err);
 *
 * attributes.system.fluxq.pods of a jobspec is an object of these keys, all optional:
 *
 *     executor          kind of the job's Kubernetes object: "job" or "minicluster"
 *     runtime-class, priority-class, service-account    names in Kubernetes
 *     volumes           array of {"name", "path"}: a volume of the administrator's list,
 *                       and the mount point
 *     shm-size          bytes of /dev/shm
 *     host-network      true
 *     pod-template      an object, see podtemplate.h; the option's value is a file
 *
 * The options of fluxq-submit have the same names, except --volume, which can be
 * repeated. exec/podset.h has the keys that a queue allows.
 */
#pragma once

#include "common/json.h"

#define PODWISH_VOLUMES_MAX 16
#define PODWISH_MINICLUSTER "minicluster"
#define PODWISH_SHM_MIN (INT64_C (1) << 20)
#define PODWISH_SHM_MAX (INT64_C (1) << 50)

/* Set the value of an option in *wishes, which is created if it is NULL; a volume is
 * added to the others. where begins the error. -EINVAL, -ENOMEM. */
int podwish_set (json_t **wishes, const char *option, const char *value,
                 const char *where, struct error *err);
/* Check the object of a jobspec. -EINVAL. */
int podwish_check (const json_t *wishes, const char *where, struct error *err);
/* Whether name is "job" or "minicluster". */
bool podwish_is_executor (const char *name);
/* Whether name can be a volume's: letters, digits, '-' and '_', at most 63. */
bool podwish_is_name (const char *name);
