/* objects.h - the Kubernetes objects of a job, as JSON
 *
 * All are pure functions of their arguments; new references, NULL without memory. Their
 * names derive from the job's id and attempt, so that creating one twice is harmless:
 *
 *     fluxq-CLUSTER-ID-ATTEMPT           Job or MiniCluster, ConfigMap (script, launch file),
 *                                        Secret (key); Service and EndpointSlice (ranks > 1)
 *     fluxq-CLUSTER-ID-ATTEMPT-RANK      pods (podobject.h); the Job controller adds a
 *                                        random suffix
 *     fluxq-agent-CLUSTER-HASH           ConfigMap with the agent, shared by all jobs
 */
#ifndef FLUXQ_EXEC_KUBE_MAKE_OBJECTS_H
#define FLUXQ_EXEC_KUBE_MAKE_OBJECTS_H

#include "common/strbuf.h"
#include "exec/exec.h"
#include "exec/kube/core/config.h"
#include "exec/kube/files/inputfiles.h"
#include "protocol/agent_api.h"

#define OBJECT_NAME_MAX 64

#define LABEL_MANAGED "app.kubernetes.io/managed-by"
#define LABEL_CLUSTER "fluxq.io/cluster"
#define LABEL_JOB "fluxq.io/job-id"
#define LABEL_ATTEMPT "fluxq.io/attempt"
#define LABEL_USER "fluxq.io/user"
#define LABEL_UID "fluxq.io/uid" /* on pods, with kube.user-policies */
/* Time of submission. Distinguishes the job from another one of the same id in an earlier
 * state of the broker (if the state directory was restored or made anew). */
#define LABEL_SUBMITTED "fluxq.io/submitted"
#define OBJECT_SUBMITTED_MAX 32

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

/* The object that is made first for a job and owns its other objects: a Job, or a
 * MiniCluster, which becomes one. */
struct object_owner {
    const char *api, *kind;
    const char *prefix, *plural; /* of its path: PREFIX NAMESPACE "/" PLURAL */
    const char *size;            /* the field of its spec with the number of pods */
};
extern const struct object_owner object_owner_job, object_owner_minicluster;

struct object_source {
    const struct kube_config *cfg;
    const struct exec_job *job;
    const json_t *pods; /* pod settings, see exec/podset.h; or NULL */
    const char *cluster, *namespace_, *name; /* name: of the job's objects */
    const char *agent;                       /* name of the agent's ConfigMap */
    const char *agent_digest;                /* first digits of its SHA-256 */
    const struct inputfiles *inputs;         /* files for the tasks to read, or NULL */
    const char *directory;                /* made empty in the pods, for files; or NULL */
    const struct strbuf *prolog, *epilog; /* the texts, for the ConfigMap; or NULL */
    json_t *annotations;                  /* of the pods, or NULL */
    /* the maker of the Job's pods; NULL: the Job controller */
    const char *managed_by;
    const struct object_owner *owner; /* NULL: a Job */
    const char *script;               /* replaces the job's own; or NULL */
};

/* The directory in the pods from which the job's script and the administrator's programs
 * run: the mount of the ConfigMap, or the agent's directory if execution is not allowed
 * there. */
const char *object_programs (const struct kube_config *cfg);

void object_name (char ret[OBJECT_NAME_MAX], const char *cluster, uint64_t id,
                  unsigned attempt);
/* A rank's name in the cluster's DNS, with %r for its number (protocol/launch.h):
 * "fluxq-c-1-0-%r.fluxq-c-1-0.ns.svc.cluster.local.". The final dot makes a resolver ask
 * once, not once for each search domain: a query without an answer costs 5 s. Caller
 * frees. */
char *object_rank_host (const struct object_source *src);

/* The value of LABEL_SUBMITTED: unix time, with microseconds. */
void object_submitted (const struct exec_job *job, char ret[OBJECT_SUBMITTED_MAX]);
/* Whether that label value belongs to another job than this one of the same id. "": an
 * old broker made the object without the label, perhaps this broker. */
bool object_is_anothers (const struct exec_job *job, const char *submitted);

json_t *object_labels (const struct object_source *src);
/* Metadata of an object that belongs to the owner with this uid; NULL: of the owner
 * itself. */
json_t *object_metadata (const struct object_source *src, const char *uid);
/* The first owner in ownerReferences; borrowed, or NULL. */
json_t *object_owner_of (const json_t *object);
/* A value of binaryData, or of a Secret: base64. */
json_t *object_bytes (const void *data, size_t len);
/* Metadata and spec of the pods of the job's Job. */
json_t *object_template (const struct object_source *src);
/* Whether the ranks have names: the job has several ranks, or may have. */
bool object_has_names (const struct exec_job *job);
json_t *object_job (const struct object_source *src);
/* uid: the owner's, whose deletion deletes these. Text and script may hold any bytes
 * (base64). */
json_t *object_configmap (const struct object_source *src, const char *uid,
                          const char *launch, size_t launch_len);
json_t *object_secret (const struct object_source *src, const char *uid,
                       const uint8_t key[AGENT_KEY_SIZE]);
/* Serves only the names of the ranks; their addresses: endpointslice.h. */
json_t *object_user_policy (const struct object_source *src);
/* Serves only the names of the ranks; their addresses: endpointslice.h. */
json_t *object_service (const struct object_source *src, const char *uid);
json_t *object_agent (const char *cluster, const char *namespace_, const char *name,
                      const void *program, size_t len);
json_t *object_binding (const char *namespace_, const char *pod, const char *node);

/* Request of each pod: the amounts of a rank if they are equal, else the smallest (all
 * pods have one template). */
struct pod_request {
    int64_t cpu_milli; /* 0: not requested */
    uint32_t gpus;
    int64_t memory_mib; /* 0: not requested */
    /* of the rank, borrowed; NULL: as the template has it */
    const struct gres_list *gres;
};
struct pod_request object_request (const struct rset *r);
/* A quantity of CPUs: "2", "500m". */
#define OBJECT_CPU_MAX 24
const char *object_cpu (int64_t milli, char buf[OBJECT_CPU_MAX]);
/* The amounts allocated to that rank. */
struct pod_request object_rank_request (const struct rset *r, uint32_t rank);

#endif
