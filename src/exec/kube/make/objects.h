/* objects.h - the Kubernetes objects of a job, as JSON
 *
 * All are pure functions of their arguments; new references, NULL without memory. Their
 * names derive from the job's id and attempt, so that creating one twice is harmless:
 *
 *     fluxq-CLUSTER-ID-ATTEMPT           Job or MiniCluster, ConfigMap (script, launch file),
 *                                        Secret (key); Service and EndpointSlice (ranks > 1)
 *     fluxq-CLUSTER-ID-ATTEMPT-cN        Job of component N >= 1 of a heterogeneous job
 *     fluxq-CLUSTER-ID-ATTEMPT-RANK      pods (podobject.h); the Job controller takes the
 *                                        Job's name, the index and a random suffix
 *     fluxq-agent-CLUSTER-HASH           ConfigMap with the agent, shared by all jobs
 */
#pragma once

#include "common/strbuf.h"
#include "exec/exec.h"
#include "exec/kube/core/config.h"
#include "exec/kube/core/names.h"
#include "exec/kube/files/inputfiles.h"
#include "exec/kube/make/podrequest.h"
#include "protocol/agent_api.h"

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
    bool short_names;                 /* of the ranks, see rankname.h */
    uint32_t component;               /* whose Job and pods are made */
    const char *first_uid; /* of the first Job, which owns the others; or NULL */
    const char *script;               /* replaces the job's own; or NULL */
};

/* The directory in the pods from which the job's script and the administrator's programs
 * run: the mount of the ConfigMap, or the agent's directory if execution is not allowed
 * there. */
const char *object_programs (const struct kube_config *cfg);

json_t *object_labels (const struct object_source *src);
/* Metadata of an object that belongs to the owner with this uid; NULL: of the owner
 * itself. */
json_t *object_metadata (const struct object_source *src, const char *uid);
/* The first owner in ownerReferences; borrowed, or NULL. */
json_t *object_owner_of (const json_t *object);
/* Metadata and spec of the pods of the job's Job. */
json_t *object_template (const struct object_source *src);
/* The Job of the component. */
json_t *object_job (const struct object_source *src);
/* uid: the owner's, whose deletion deletes these. Text and script may hold any bytes
 * (base64). */
json_t *object_configmap (const struct object_source *src, const char *uid,
                          const char *launch, size_t launch_len);
json_t *object_secret (const struct object_source *src, const char *uid,
                       const uint8_t key[AGENT_KEY_SIZE]);
/* A NetworkPolicy: only pods of the job's user reach the agents of that user. */
json_t *object_user_policy (const struct object_source *src);
/* Serves only the names of the ranks; their addresses: endpointslice.h. */
json_t *object_service (const struct object_source *src, const char *uid);
json_t *object_agent (const char *cluster, const char *namespace_, const char *name,
                      const void *program, size_t len);
json_t *object_binding (const char *namespace_, const char *pod, const char *node);
