/* needs.h - asks for nodes that pending jobs lack
 *
 * The broker's list of needs comes in, and the state of the objects that exist; requests
 * for an autoscaler go out (needobject.h), and the state of each need to the broker.
 *
 *     broker --- needs_told() ---> a need for each job and group
 *                                     | create
 *                    ProvisioningRequest and PodTemplate, or pods that find no node
 *                                     | watched: conditions; existing objects
 *                                  need_state() ---> the job's reason
 *
 * Objects that no need wants are deleted: when a job has got its nodes or was cancelled,
 * when a request was refused and is made again (with a back-off), and after a restart of
 * the broker, which adopts the objects that it still wants.
 */
#pragma once

#include "exec/kube/core/state.h"
#include "exec/kube/needs/needobject.h"

int needs_start (struct exec *x, struct error *err); /* -ENOMEM */
void needs_stop (struct exec *x);
/* See exec.h. */
void needs_told (struct exec *x, const struct exec_need *list, size_t n);
void needs_state (struct exec *x, uint64_t job, size_t group,
                  struct exec_need_state *ret);
/* The job starts: deletes its pods that find no node; requests stay until the job
 * runs. */
void needs_started (struct exec *x, uint64_t job);
/* true: these pods are gone, and the job's own may come. false: the job is poked when
 * they are. */
bool needs_settled (const struct exec *x, uint64_t job);
/* Name and class of the request whose nodes its pods may use, or NULL. */
const struct groupconfig *needs_request (const struct exec *x, uint64_t job,
                                         char name[NEED_NAME_MAX]);
void needs_see_pod (struct exec *x, const json_t *pod);
void needs_lose_pod (struct exec *x, const char *ns, const char *name);
void needs_tick (struct exec *x);
/* Deletes PodTemplates, which are not watched, that belong to no need. */
void needs_sweep (struct exec *x);
