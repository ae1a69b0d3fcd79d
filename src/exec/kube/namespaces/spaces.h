/* spaces.h - the namespaces of jobs, and what each needs before a job starts there
 *
 * A job that is about to start comes in, and is poked when its namespace is ready: the
 * namespace itself with quota, policies and roles (spacemaker.c, spaceobjects.h), the
 * NetworkPolicy of its user (userpolicy.c), the ConfigMap with the agent (agentmap.c). A
 * refusal in a namespace comes in by space_doubt(). Requests to the API server go out;
 * nothing goes to the broker.
 */
#pragma once

#include "exec/kube/core/state.h"

/* spaces.c */
/* The result lives as long as x. NULL: no memory. */
struct kspace *spaces_get (struct exec *x, const char *name);
/* The namespace of the job, as of its allocation; NULL and an error. */
struct kspace *spaces_of_job (struct exec *x, const struct exec_job *job,
                              struct error *err);
/* Whether a job of ours can be in that namespace, with the present queues. len: of the
 * name. */
bool spaces_may_have (const struct exec *x, const char *name, size_t len);
/* Some queue has a template: its namespaces are found by their labels. */
bool spaces_are_listed (const struct exec *x);
void spaces_free (struct exec *x);   /* cancels all requests under way */

/* spacemaker.c */
/* true: the Job can be made in its namespace. false: the job is poked when that may be
 * so, or job_start_failed() was called. */
bool space_ensure (struct kjob *k);
/* true: it is known whether the namespace exists (k->space->state), or nobody can tell.
 * false: the job is poked then. */
bool space_look (struct kjob *k);
/* A request in the namespace was refused: the namespace may have gone. */
void space_doubt (struct kspace *s, const struct kube_result *res);
void space_tick (struct exec *x);
void space_cancel (struct kspace *s);

/* agentmap.c */
int agentmap_load (struct exec *x, struct error *err);
/* true: the ConfigMap exists. false: the jobs are poked once it does, or once agent_err
 * is set. always: also if an image has the agent. */
bool agentmap_ensure (struct kspace *s, bool always);
void agentmap_there (struct kspace *s); /* it was seen, and is watched from now on */
void agentmap_unwatch (struct kspace *s);
void agentmap_tick (struct exec *x, double now);
/* Deletes the ConfigMap, which is watched no more. NULL: no memory. */
struct kube_request *agentmap_delete (struct kspace *s, kube_done_f *done);

/* userpolicy.c */
/* true: the NetworkPolicy of the job's user exists, or none is wanted. false: the job is
 * poked once it exists, or job_start_failed() was called. */
bool userpolicy_ensure (struct kjob *k);
void userpolicies_drop (struct kspace *s);
