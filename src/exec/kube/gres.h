/* gres.h - extended resources of the cluster ("vendor.com/thing") as generic resources
 *
 *     kube:
 *       gres: {hca: rdma/hca, "gpu:a100": nvidia.com/a100}
 *
 *     kube_gres_read (doc, config, &map, &err);
 *     kube_gres_name (map, "nvidia.com/gpu", "hca");              // "rdma/hca"
 *     kube_gres_of_node (allocatable, "nvidia.com/gpu", &list);
 *
 * Nodes offer each extended resource under its full name, pods ask for it by that; the map has
 * other names for those that submit. The resource of the gpus is none of these.
 */
#ifndef FLUXQ_EXEC_KUBE_GRES_H
#define FLUXQ_EXEC_KUBE_GRES_H

#include "common/gres.h"
#include "common/yaml.h"
#include "jobspec/jobspec.h"
#include "match/rset.h"

/* Key "gres" of kube: *ret, a new reference, is an object of names and resources. 0 or -EINVAL
 * with line and column, -ENOMEM. */
int kube_gres_read (const struct yaml_doc *doc, json_t *config, json_t **ret,
                    struct error *err);
/* What nodes have instead of what a request calls `type`, borrowed ("gpu" for the resource of
 * the gpus); NULL: the same. */
const char *kube_gres_name (const json_t *map, const char *gpu_resource,
                            const char *type);
/* allocatable: of a node's status, or NULL. Names too long for gres.h, and more than fit a
 * list, are left out. 0 or -ENOMEM; *ret is the caller's and was empty. */
int kube_gres_of_node (const json_t *allocatable, const char *gpu_resource,
                       struct gres_list *ret);
/* What the scheduler counts for the pod, see podsize.h. Likewise. */
int kube_gres_of_pod (const json_t *pod, const char *gpu_resource, struct gres_list *ret);
/* What of that is more than was given: a queue may have its pods ask for resources of their
 * own. Likewise. */
int kube_gres_beyond (const struct gres_list *pod, const struct gres_list *given,
                      struct gres_list *ret);
/* A container's requests or limits have so much of it, or more. 0 or -1. */
int kube_gres_raise (json_t *amounts, const char *name, int64_t count);
/* The same, in both, of what each rank has at least: of those that the job names, as a whole node
 * comes with all there are, and some are of no use to who did not ask (an address, a device that
 * is shared). */
int kube_gres_ask_least (const struct jobspec *js, const struct rset *r, json_t *requests,
                         json_t *limits);

#endif
