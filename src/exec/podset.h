/* podset.h - the pod settings of a queue, from its administrator
 *
 *     pods:                                    # of a queue; or, of all, directly below kube:
 *       node-selector: {pool: gpu}             # the queue's nodes have these labels,
 *       tolerations: [{key: gpu, operator: Exists}]       # only taints covered by these,
 *       resources: {rdma/hca: 1}               # and these; each pod requests them
 *       executor: minicluster                   # object made for a job; default: job
 *       runtime-class: nvidia
 *       priority-class: batch
 *       service-account: jobs
 *       image-pull-secrets: [registry]
 *       scheduler: default-scheduler           # binds pods to the nodes that we chose
 *       shm-size: 2Gi                          # /dev/shm
 *       host-network: true
 *       user-entry: false                      # see kube/userfiles.h
 *       namespace: jobs-%u                     # namespace of the pods, see spaceset.h
 *       allow:                                 # settings that jobs may choose themselves
 *         executor: [job]                         # absent: any
 *         runtime-class: [gvisor]
 *         priority-class: [low, high]
 *         service-account: [spark]
 *         shm-size: 8Gi                        # at most
 *         host-network: true
 *         pod-template: true                   # or a list of fields, see jobspec/attributes/podtemplate.h
 *         volumes: {scratch: {volume: {persistentVolumeClaim: {claimName: scratch}}}}
 *
 * A set is such a mapping, as JSON. A key of a queue overrides the same key of all
 * queues. The choices of a job are its wishes (jobspec/attributes/podwish.h); they override both.
 *
 *     podset_check (doc, mapping, "queue gpu: pods", &err);            // while reading
 *     json_t *all = podset_merge (defaults, queue);
 *     podset_admit (all, "gpu", js->pods, mounts, &err);               // at submit
 *     json_t *set = podset_merge (all, js->pods);                      // of the job's pods
 */
#pragma once

#include "common/yaml.h"

/* The broker sets this key in a set if the queue has a prolog or an epilog; it is no key
 * of the file. */
#define PODSET_ADMIN "admin-programs"
#define PODSET_PROPERTY "queue:" /* prefix of a queue's name: property of its nodes */

/* Whether it is a text that can be the name of an object in Kubernetes. */
bool podset_is_name (const json_t *v);
/* Checks a set. 0 or -EINVAL with the place; where: the prefix of the error, "queue gpu:
 * pods". */
int podset_check (const struct yaml_doc *doc, json_t *set, const char *where,
                  struct error *err);
/* Checks one key of a set. -ENOENT without an error: there is no key of this name. */
int podset_check_key (const struct yaml_doc *doc, json_t *set, const char *key,
                      const char *where, struct error *err);
/* Returns a new set: a key in `over` overrides the same key in `set`. Both may be NULL;
 * NULL: no memory. */
json_t *podset_merge (const json_t *set, const json_t *over);
/* Checks whether a job of the queue may have these wishes (NULL: none). 0, or -EINVAL and
 * a line that names the refused wish and the allowed ones. mounts: of the queue; the
 * job's volumes must not collide with them. */
int podset_admit (const json_t *set, const char *queue, const json_t *wishes,
                  const json_t *mounts, struct error *err);
/* Returns the queue's mounts and the volumes of the wishes, in the form of mounts.h.
 * Leaves out volumes that are not allowed any more. A new reference; NULL: none, or no
 * memory. */
json_t *podset_mounts (const json_t *set, const json_t *wishes, const json_t *mounts);
/* Returns whether a queue selects nodes; if so, nodes get a property for each of their
 * queues. queues: an object of sets by the name of the queue. */
bool podset_selects (const json_t *queues);
/* Returns whether the set's tolerations cover the taint (core/v1 Taint). */
bool podset_tolerates (const json_t *set, const json_t *taint);
