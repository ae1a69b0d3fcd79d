/* run.h - a job's run: from start() or recover() to cleaned()
 *
 * The verbs of kube.c come in, with a record for each job (kjob.c). job.c has one
 * function a phase, called after each change:
 *
 *   OPEN -> CREATE -> BIND --READY--> RUN --FINISH or lost--> DRAIN -> ENDED
 *    | |       |        |                                       ^        |
 *    +-|-------+--------+------- start failed ------------------|--------+-cleanup()->
 *      +---- found again after a restart, FINISH is in the spool         REMOVE
 *
 * Namespaces, makers and files are asked to do their part; ready(), start_failed(),
 * finished(), released() and cleaned() go to the broker.
 *
 *     check.c      refuses at submit what cannot start
 *     create.c     sends the job's objects, and handles all answers of the job
 *     starting.c   until all ranks are ready: stages, clocks, nodes at fault
 *     pulls.c      pods that pull an image, and warnings about late pods
 *     agentio.c    the connection to rank 0's agent, and output to disk
 *     lost_nodes.c     a rank of a running job is lost: finds the reason
 *     resize.c     changes the size of a running job
 *     jobevents.c  reports a job's story as Events
 *     remove.c     removes the job's objects
 */
#pragma once

#include "exec/kube/core/kjob.h"
#include "exec/kube/core/state.h"

/* check.c: see exec_ops.check */
int run_check (struct exec *x, const struct jobspec *js, const char *queue,
               const json_t *mounts, uid_t uid, struct error *err);

/* kjob.c */
struct kjob *kjob_create (struct exec *x, struct exec_job *job, bool recovering);
/* Called when no worker is at work. */
void kjob_free (struct kjob *k);

/* job.c */
void job_run_poked (struct exec *x);

/* create.c */
/* Sends the Job once the maker of its pods is known; until then does nothing. */
void create_job (struct kjob *k);
void create_get_job (struct kjob *k);
/* Asks whether the Job still exists, unedited. Sets looked, job_deleted, edited_text. */
void create_look (struct kjob *k);
void create_rest (struct kjob *k); /* ConfigMap, Secret, Service */
bool create_rest_done (const struct kjob *k);
/* Handles the answer to any request of the job. */
void create_answered (struct kjob *k, const struct kcall *c,
                      const struct kube_result *res);

/* starting.c */
void start_tick (struct kjob *k); /* advances the clocks and finds the stages again */
void start_look_at_pods (struct kjob *k);
/* Calls job_start_failed() if the pod shows that it will not start. */
void start_look_at_pod (struct kjob *k, uint32_t rank, const struct kpod *p);
void start_judge (struct kjob *k); /* job_start_failed() if the start takes too long */

/* pulls.c */
void pulls_look (struct exec *x); /* soon; pokes the jobs once the answer is there */
void pulls_cancel (struct exec *x);

/* agentio.c */
void agentio_open_output (struct kjob *k);
void agentio_open_link (struct kjob *k);
/* Starts a worker if there is something to write. */
void agentio_write (struct kjob *k, bool final);
bool agentio_is_written (const struct kjob *k);

/* lost_nodes.c: while the job runs (K_RUN) */
/* A pod of the job has changed, or has gone (NULL). Remembers the first pod that is
 * evicted or deleted, because the Job controller then deletes the others. */
void losses_see (struct kjob *k, const struct kpod *pod);
/* Sets the job's finish if a node or pod of the job is lost. */
void losses_look (struct kjob *k, double now);
/* Adds the reason to the finish of a job that was lost or ended from outside. true: the
 * finish is final; false: the cluster has not told the reason yet, call again. */
bool losses_explain (struct kjob *k, double now);
/* Changes the finish to "oom" if the kubelet says so: an agent cannot tell why its task
 * was killed. */
void losses_amend (struct kjob *k);

/* resize.c */
/* The number of ranks that the job cannot be without now. */
uint32_t resize_least (const struct exec_job *job);
void resize_step (struct kjob *k); /* in K_RUN */
void resize_frame (struct kjob *k, const struct frame *f);
/* The new pods do not come. */
void resize_failed (struct kjob *k, const char *text);
void resize_job_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);
void resize_pod_answer (struct kjob *k, const struct kcall *c,
                        const struct kube_result *res);

/* jobevents.c */
void jobevents_started (struct kjob *k); /* all ranks are ready */
void jobevents_ended (struct kjob *k);   /* k->fin, or k->start_lost, has the outcome */

/* remove.c */
void remove_step (struct kjob *k);
void remove_answer (struct kjob *k, const struct kcall *c, const struct kube_result *res);
