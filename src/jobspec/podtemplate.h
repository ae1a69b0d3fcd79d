/* podtemplate.h - a user's own pod template: what of it goes into the pods of his job
 *
 *     t = podtemplate_read ("pod.yaml", "--pod-template", &err);   // YAML or JSON, a Pod,
 *                                     // a PodTemplate or its `template`
 *     podtemplate_check (t, where, &err);                          // what came by a jobspec
 *     podtemplate_sets (t, "spec.volumes.secret")                  // for the queue's rules
 *
 * These fields there are, and no others; any other is refused by its path, with the reason:
 * because it would break the gang, because an option says the same, or because it is the
 * administrator's.
 *
 *     metadata.labels, metadata.annotations     with a prefix of one's own: example.org/team
 *     spec.dnsConfig                            searches and options
 *     spec.volumes[]                            name, and one of emptyDir, configMap, secret,
 *                                               projected (of these two)
 *     spec.containers[0]                        name: job, and volumeMounts of these volumes
 *
 * A template is kept as an object of metadata and spec. Volumes become entries of mounts.h,
 * which is the queue's way to say the same.
 */
#ifndef FLUXQ_JOBSPEC_PODTEMPLATE_H
#define FLUXQ_JOBSPEC_PODTEMPLATE_H

#include <stdbool.h>

#include "common/json.h"

#define PODTEMPLATE_MAX ((size_t)64 << 10) /* bytes of the file, and as compact JSON */

/* The names that podtemplate_sets() knows; NULL-terminated. */
extern const char *const podtemplate_fields[];

/* Reads and checks; where begins the error. A new reference, or NULL. */
json_t *podtemplate_read (const char *path, const char *where, struct error *err);
/* 0 or -EINVAL. t may be anything. */
int podtemplate_check (const json_t *t, const char *where, struct error *err);
bool podtemplate_sets (const json_t *t, const char *field);
/* An array as mounts.h has it, of what is mounted: a new reference, NULL without memory. */
json_t *podtemplate_mounts (const json_t *t);

#endif
