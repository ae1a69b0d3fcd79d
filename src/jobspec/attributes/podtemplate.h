/* podtemplate.h - a user's pod template: the fields of it that go into the job's pods
 *
 *     t = podtemplate_read ("pod.yaml", "--pod-template", &err);   // YAML or JSON, a Pod,
 *                                     // a PodTemplate or its `template`
 *     podtemplate_check (t, where, &err);                          // from a jobspec
 *     podtemplate_sets (t, "spec.volumes.secret")                  // for the queue's rules
 *
 * Only the fields below are allowed. Any other field is refused; the error has its path
 * and the reason: it would break the gang, an option does the same, or only the
 * administrator sets it.
 *
 *     metadata.labels, metadata.annotations     with a prefix of one's own: example.org/team
 *     spec.dnsConfig                            searches and options
 *     spec.volumes[]                            name, and one of emptyDir, configMap, secret,
 *                                               projected (of these two)
 *     spec.containers[0]                        name: job, and volumeMounts of these volumes
 *
 * A template is kept as an object of metadata and spec. Its volumes become mounts as in
 * mounts.h, like the mounts of a queue.
 */
#pragma once

#include "common/json.h"

#define PODTEMPLATE_MAX ((size_t)64 << 10) /* bytes of the file, and as compact JSON */

/* The fields that podtemplate_sets() takes; NULL-terminated. */
extern const char *const podtemplate_fields[];

/* Reads and checks the file; where begins the error. A new reference, or NULL. */
json_t *podtemplate_read (const char *path, const char *where, struct error *err);
/* 0 or -EINVAL. t can be any JSON value. */
int podtemplate_check (const json_t *t, const char *where, struct error *err);
/* Whether the template sets a field of podtemplate_fields. */
bool podtemplate_sets (const json_t *t, const char *field);
/* The template's mounts as an array of mounts.h: a new reference, NULL: no memory. */
json_t *podtemplate_mounts (const json_t *t);
