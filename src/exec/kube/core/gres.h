/* gres.h - extended resources of the cluster ("vendor.com/thing") as generic resources
 *
 *     kube:
 *       gres: {hca: rdma/hca, "gpu:a100": nvidia.com/a100}
 *
 *     kube_gres_read (doc, config, &map, &err);
 *     kube_gres_name (map, "nvidia.com/gpu", "hca");              // "rdma/hca"
 *     kube_gres_of_node (allocatable, "nvidia.com/gpu", &list);
 *
 * Nodes offer each extended resource under its full name, and pods request it by that
 * name; the map has other names for users. The resource of the gpus is not among these.
 * Ephemeral storage is GRES_TMP_DISK, in MiB.
 */
#pragma once

#include "common/gres.h"
#include "common/yaml.h"
#include "jobspec/jobspec.h"
#include "match/machine/rset.h"

/* Reads the key "gres" of kube: *ret, a new reference, maps names to resources. 0 or
 * -EINVAL with line and column, -ENOMEM. */
int kube_gres_read (const struct yaml_doc *doc, json_t *config, json_t **ret,
                    struct error *err);
/* Returns the full name of the resource that a request calls `type`, borrowed ("gpu" for
 * the resource of the gpus); NULL: the same name. */
const char *kube_gres_name (const json_t *map, const char *gpu_resource,
                            const char *type);
/* Reads the resources of a node. allocatable: of its status, or NULL. Leaves out names
 * too long for gres.h, and resources that do not fit a list. 0 or -ENOMEM; *ret is the
 * caller's and was empty. */
int kube_gres_of_node (const json_t *allocatable, const char *gpu_resource,
                       struct gres_list *ret);
/* Reads the resources of a pod, as the scheduler counts them, see podsize.h. Errors and
 * *ret as above. */
int kube_gres_of_pod (const json_t *pod, const char *gpu_resource, struct gres_list *ret);
/* Finds the resources of the pod beyond those given to it, since a queue may have its
 * pods request more. Errors and *ret as above. */
int kube_gres_beyond (const struct gres_list *pod, const struct gres_list *given,
                      struct gres_list *ret);
/* Raises a container's requests or limits of the resource to count, if they are less. 0
 * or -1. */
int kube_gres_raise (json_t *amounts, const char *name, int64_t count);
/* Raises a container's request of temporary disk likewise. There is no limit, which would
 * end a job that uses more while the disk has room. */
int kube_gres_raise_disk (json_t *requests, int64_t mib);
/* Raises both to the smallest amount of a rank, for resources that the job names. A whole
 * node comes with all its resources, and some are of no use to a job that did not request
 * them (an address, a shared device). */
int kube_gres_ask_least (const struct jobspec *js, const struct rset *r, json_t *requests,
                         json_t *limits);
