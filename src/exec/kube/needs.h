/* needs.h - nodes that waiting jobs lack: those who make nodes are asked for them
 *
 *     broker --- needs_told() ---> a need for each job and group
 *                                     | create
 *                    ProvisioningRequest and PodTemplate, or pods that find no node
 *                                     | watched: conditions; what is there
 *                                  need_state() ---> the job's reason
 *
 * What is there and no need wants goes: so it is when a job has got its nodes or was cancelled,
 * when a request was refused and is made anew (with a back-off), and after a restart of the
 * broker, which adopts what it finds and still wants.
 */
#ifndef FLUXQ_EXEC_KUBE_NEEDS_H
#define FLUXQ_EXEC_KUBE_NEEDS_H

#include "exec/kube/needobject.h"
#include "exec/kube/private.h"

int needs_start (struct exec *x, struct error *err); /* -ENOMEM */
void needs_stop (struct exec *x);
/* See exec.h. */
void needs_told (struct exec *x, const struct exec_need *list, size_t n);
void needs_state (const struct exec *x, uint64_t job, size_t group,
                  struct exec_need_state *ret);
/* The job is started: its pods that find no node go, requests stay until it runs. */
void needs_started (struct exec *x, uint64_t job);
/* These pods are gone: the job's own may come. Else it is poked when they are. */
bool needs_settled (const struct exec *x, uint64_t job);
/* Name and class of the request that its pods may use up, or NULL. */
const struct groupconfig *needs_request (const struct exec *x, uint64_t job,
                                         char name[NEED_NAME_MAX]);
void needs_see_pod (struct exec *x, const json_t *pod);
void needs_lose_pod (struct exec *x, const char *ns, const char *name);
void needs_tick (struct exec *x);
/* PodTemplates, which are not watched, that belong to no need. */
void needs_sweep (struct exec *x);

#endif
