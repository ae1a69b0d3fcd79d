/* rankname.h - the names of a job's ranks in the cluster's DNS
 *
 *     n3.fluxq-main-12-0.ns.svc.cluster.local                   short names: the broker makes
 *                                                               the pods
 *     fluxq-main-12-0-3.fluxq-main-12-0.ns.svc.cluster.local    another makes the pods, or an
 *                                                               older broker made them
 *
 * SLURM_JOB_NODELIST has these names, and `hostname` in the pod prints the same name. The
 * Job controller and the Flux operator choose the host names of their pods. Those of the
 * broker are short, because the kernel takes at most 64 characters, with the domain.
 * Source: kubernetes.io, "DNS for Services and Pods", setHostnameAsFQDN; RFC 1123.
 */
#pragma once

#include "exec/kube/make/objects.h"

#define RANKNAME_LABEL_MAX (OBJECT_NAME_MAX + 16)

/* Whether the ranks have names: the job has several ranks, or may have. */
bool rankname_wanted (const struct exec_job *job);

/* Whether the ranks of this Job have short names. */
bool rankname_is_short (const json_t *job);

/* The host name of the rank's pod: the first label of its name. The pod of a rank without
 * a name has its own. */
void rankname_label (const struct object_source *src, uint32_t rank,
                     char ret[RANKNAME_LABEL_MAX]);

/* The names with %r for the rank (protocol/launch.h). The final dot makes a resolver ask
 * once, not once for each search domain: a query without an answer costs 5 s. NULL without
 * memory. Caller frees. */
char *rankname_pattern (const struct object_source *src);

/* Whether the pods can have their whole names as host names: the kernel takes each, and
 * the pods of a further component from the Job controller do not, which counts from 0. */
bool rankname_fits (const struct object_source *src);
