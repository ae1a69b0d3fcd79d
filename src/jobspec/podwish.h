/* podwish.h - what of its pods a job chooses itself, where its queue allows that
 *
 *     podwish_set (&so->pods, "volume", "scratch:/scratch", "--volume", &err);
 *
 * attributes.system.fluxq.pods of a jobspec, an object of these, all optional:
 *
 *     executor          what the job becomes there: "job" or "minicluster"
 *     runtime-class, priority-class, service-account    names in Kubernetes
 *     volumes           array of {"name", "path"}: of the administrator's list, and where
 *     shm-size          bytes of /dev/shm
 *     host-network      true
 *     pod-template      an object, see podtemplate.h; the option's value is a file
 *
 * The names are those of the options of fluxq-submit, but for --volume, which may stand there
 * several times. Which of them a queue allows is in exec/podset.h.
 */
#ifndef FLUXQ_JOBSPEC_PODWISH_H
#define FLUXQ_JOBSPEC_PODWISH_H

#include <stdbool.h>

#include "common/json.h"

#define PODWISH_VOLUMES_MAX 16
#define PODWISH_MINICLUSTER "minicluster"
#define PODWISH_SHM_MIN (INT64_C (1) << 20)
#define PODWISH_SHM_MAX (INT64_C (1) << 50)

/* One option's value into *wishes (NULL: an object is made); a volume is added to those that
 * are there. where begins the error. -EINVAL, -ENOMEM. */
int podwish_set (json_t **wishes, const char *option, const char *value,
                 const char *where, struct error *err);
/* The object of a jobspec. -EINVAL. */
int podwish_check (const json_t *wishes, const char *where, struct error *err);
/* What a job may become: one of two words. */
bool podwish_is_executor (const char *name);
/* Of a volume: letters, digits, '-' and '_', at most 63. */
bool podwish_is_name (const char *name);

#endif
