/* names.h - names, labels and paths of the objects of jobs, and within their pods
 *
 *     object_name (name, "c", 12, 0);                // "fluxq-c-12-0"
 *     snprintf (path, size, PATH_BATCH "%s/jobs/%s", namespace_, name);
 *
 * Pure.
 */
#pragma once

#include "exec/exec.h"

#define OBJECT_NAME_MAX 64

#define LABEL_MANAGED "app.kubernetes.io/managed-by"
#define LABEL_CLUSTER "fluxq.io/cluster"
#define LABEL_JOB "fluxq.io/job-id"
#define LABEL_ATTEMPT "fluxq.io/attempt"
#define LABEL_USER "fluxq.io/user"
#define LABEL_UID "fluxq.io/uid" /* on pods, with kube.user-policies */
#define LABEL_COMPONENT "fluxq.io/component" /* on Jobs and pods of a heterogeneous job */
/* Annotation of a Job whose ranks have the short names of rankname.h. Jobs of older
 * brokers do not have it, and keep their names. */
#define ANNOTATION_NAMES "fluxq.io/rank-names"
#define ANNOTATION_NAMES_SHORT "short"
/* Time of submission. Distinguishes the job from another one of the same id in an earlier
 * state of the broker (if the state directory was restored or made again). */
#define LABEL_SUBMITTED "fluxq.io/submitted"
#define OBJECT_SUBMITTED_MAX 32

/* -- in a pod -- */

/* Paths in the container. */
#define POD_BIN "/fluxq/bin"
#define POD_JOB "/fluxq/job"
#define POD_KEY "/fluxq/key"
#define POD_RUN "/fluxq/run"

/* The init container that brings the agent if an image has it, and the path of the agent
 * in that image. */
#define POD_AGENT "agent"
#define IMAGE_AGENT "/fluxq/fluxq-shell"

/* The container of the job's agent, in a Job's pods. */
#define POD_MAIN "job"

/* The administrator's containers: an init container and a sidecar. */
#define POD_PROLOG "prolog"
#define POD_EPILOG "epilog"

/* -- in the API server -- */

/* A path is one of these, a namespace, "/" and the plural of the kind. */
#define PATH_BATCH "/apis/batch/v1/namespaces/"
#define PATH_CORE "/api/v1/namespaces/"
#define PATH_DISCOVERY "/apis/discovery.k8s.io/v1/namespaces/"
#define PATH_MINICLUSTER "/apis/flux-framework.org/v1alpha2/namespaces/"

/* The query for objects with our labels; %s: the cluster id. */
#define SELECTOR_OURS                                                                    \
    "labelSelector=app.kubernetes.io%%2Fmanaged-by%%3Dfluxq"                             \
    "%%2Cfluxq.io%%2Fcluster%%3D%s"

void object_name (char ret[OBJECT_NAME_MAX], const char *cluster, uint64_t id,
                  unsigned attempt);
/* The name of a component's Job: "fluxq-c-12-0", then "fluxq-c-12-0-c1" ... */
void object_part_name (char ret[OBJECT_NAME_MAX], const char *name, uint32_t component);
/* Whether `object` is such a name. */
bool object_is_part (const char *object, const char *name);

/* The value of LABEL_SUBMITTED: unix time, with microseconds. */
void object_submitted (const struct exec_job *job, char ret[OBJECT_SUBMITTED_MAX]);
/* Whether that label value belongs to another job than this one of the same id. "": an
 * old broker made the object without the label, perhaps this broker. */
bool object_is_anothers (const struct exec_job *job, const char *submitted);

/* A value of binaryData, or of a Secret: base64. */
json_t *object_bytes (const void *data, size_t len);

/* Kinds of objects with our label, and how they are deleted. MiniClusters come first,
 * since the operator makes their Jobs; Jobs are next, since their controller makes pods.
 * Objects of the kinds before KUBE_ENDPOINTS have the name of their job. */
enum {
    KUBE_MINICLUSTERS,
    KUBE_JOBS,
    KUBE_CONFIGMAPS,
    KUBE_SECRETS,
    KUBE_SERVICES,
    KUBE_ENDPOINTS,
    KUBE_PODS,
    KUBE_KINDS
};
struct kube_kind {
    const char *prefix, *kind, *query;
};
extern const struct kube_kind kube_kinds[KUBE_KINDS];
