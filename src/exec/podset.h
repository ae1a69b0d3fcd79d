/* podset.h - how the pods of a queue are, as its administrator says
 *
 *     pods:                                    # of a queue; or, of all, directly below kube:
 *       node-selector: {pool: gpu}             # the queue's nodes have these labels,
 *       tolerations: [{key: gpu, operator: Exists}]       # no taint but such,
 *       resources: {rdma/hca: 1}               # and these, which each pod asks for
 *       executor: minicluster                   # what their jobs become; else job
 *       runtime-class: nvidia
 *       priority-class: batch
 *       service-account: jobs
 *       image-pull-secrets: [registry]
 *       scheduler: default-scheduler           # binds them, to the nodes that we chose
 *       shm-size: 2Gi                          # /dev/shm
 *       host-network: true
 *       user-entry: false                      # see kube/userfiles.h
 *       namespace: jobs-%u                     # where they are, see spaceset.h
 *       allow:                                 # what jobs may choose themselves
 *         executor: [job]                         # absent: any
 *         runtime-class: [gvisor]
 *         priority-class: [low, high]
 *         service-account: [spark]
 *         shm-size: 8Gi                        # at most
 *         host-network: true
 *         pod-template: true                   # or a list of fields, see jobspec/podtemplate.h
 *         volumes: {scratch: {volume: {persistentVolumeClaim: {claimName: scratch}}}}
 *
 * A set is such a mapping, as JSON. A key of a queue takes the place of the same key of all.
 * What a job chooses are its wishes (jobspec/podwish.h); they go over both.
 *
 *     podset_check (doc, mapping, "queue gpu: pods", &err);            // while reading
 *     json_t *all = podset_merge (defaults, queue);
 *     podset_admit (all, "gpu", js->pods, mounts, &err);               // at submit
 *     json_t *set = podset_merge (all, js->pods);                      // of the job's pods
 */
#ifndef FLUXQ_EXEC_PODSET_H
#define FLUXQ_EXEC_PODSET_H

#include <stdbool.h>

#include "common/json.h"
#include "common/yaml.h"

/* Of a set that the broker makes, no key of the file: the queue has a prolog or an epilog. */
#define PODSET_ADMIN "admin-programs"
#define PODSET_PROPERTY "queue:" /* and its name: of the nodes of a queue */

/* 0 or -EINVAL with the place; where: what the text begins with, "queue gpu: pods". */
int podset_check (const struct yaml_doc *doc, json_t *set, const char *where,
                  struct error *err);
/* The same of one key: -ENOENT, and nothing set, if there is no key of this name. */
int podset_check_key (const struct yaml_doc *doc, json_t *set, const char *key,
                      const char *where, struct error *err);
/* A new set: what is in `over` in place of the same key in `set`. Both may be NULL; NULL:
 * no memory. */
json_t *podset_merge (const json_t *set, const json_t *over);
/* May a job of the queue have these wishes (NULL: none)? 0, or -EINVAL and a line that says
 * which not, and what may be. mounts: the queue's, among which its volumes must find room. */
int podset_admit (const json_t *set, const char *queue, const json_t *wishes,
                  const json_t *mounts, struct error *err);
/* The queue's mounts and the volumes of the wishes, as mounts.h has them. A new reference,
 * NULL without any, or without memory; what is not allowed any more is left out. */
json_t *podset_mounts (const json_t *set, const json_t *wishes, const json_t *mounts);
/* queues: an object of sets by the name of the queue. Whether one of them says which nodes
 * it has: then each node is told whose it is. */
bool podset_selects (const json_t *queues);
/* Whether the set's tolerations cover the taint (core/v1 Taint). */
bool podset_tolerates (const json_t *set, const json_t *taint);

#endif
