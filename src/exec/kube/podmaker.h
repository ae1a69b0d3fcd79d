/* podmaker.h - who makes the pods of a Job, and keeps its status
 *
 *     podmaker_choose (x)          which one the next Job is made for; NULL: not known yet
 *     podmaker_of (object)         which one a Job in the cluster was made for
 *     k->maker->place (k)          ... and so on
 *
 * There are three, each a file that ends in its descriptor. Of pods_controller the Job
 * controller makes the pods from the Job's template, and the broker binds them: two writes a
 * pod, and the controller's own limit of requests. Of pods_broker the Job says with
 * spec.managedBy that the controller shall leave it alone; the broker makes the pods itself,
 * each with its node, and writes the Job's status: one write a pod. Of pods_minicluster the Flux
 * operator makes a Job of a MiniCluster, if the job or its queue says so; then it is as with the
 * first.
 * Source: kubernetes.io, "Jobs", delegation of managing a Job object.
 */
#ifndef FLUXQ_EXEC_KUBE_PODMAKER_H
#define FLUXQ_EXEC_KUBE_PODMAKER_H

#include "exec/kube/private.h"

struct podmaker {
    const char *name;
    const struct object_owner *owner; /* what is made for a job */
    const char *managed_by; /* of its Jobs, spec.managedBy; NULL: they have none */
    /* The broker gives the names of the ranks their addresses; else somebody does who makes
     * a Service of the job's name. */
    bool names_ranks;
    /* Others make the pods: as long as the owner is there, more may come. */
    bool others_make;
    const char *silence; /* who said nothing when no pods were made */
    /* When a pod fails or goes, somebody ends the others. */
    bool ends_others;
    /* The owner. A new reference, NULL: no memory. */
    json_t *(*object) (const struct object_source *src);
    /* What the pod of a rank asks of its node. */
    struct pod_request (*request) (const struct rset *r, uint32_t rank);
    /* All that pods mount is there: ask for the pods, or for their places, that nobody asked
     * for yet. Called whenever something has changed. */
    void (*place) (struct kjob *k);
    /* The answer to what place() asked for this rank. */
    void (*placed) (struct kjob *k, uint32_t rank, const struct kube_result *res);
    /* Not all pods are there after that time (a text): job_start_failed(), perhaps later. */
    void (*missing) (struct kjob *k, const char *limit);
    /* All ranks are ready; the job is over, as k->fin says. May be NULL. */
    void (*ready) (struct kjob *k);
    void (*resized) (struct kjob *k); /* it has other ranks now; may be NULL */
    void (*ended) (struct kjob *k);
    /* The Job will be deleted when this was answered: what takes its pods away, or goes
     * before it. May be NULL. */
    void (*remove) (struct kjob *k);
};

extern const struct podmaker pods_controller, pods_broker, pods_minicluster;

/* NULL: the API server is being asked what the broker may do, and jobs are poked when it has
 * answered; or the job cannot start (job_start_failed() was called). */
const struct podmaker *podmaker_choose (struct kjob *k);
/* The Job as the API server has it, or the MiniCluster. */
const struct podmaker *podmaker_of (const json_t *job);
/* A Job was made for `asked` and has become one for `got`: true if that will do. Else
 * job_start_failed() was called. */
bool podmaker_accept (struct kjob *k, const struct podmaker *asked,
                      const struct podmaker *got);
/* The broker has all rights that making pods there needs, as far as it is known. */
bool podmaker_may (const struct kspace *s);
/* Of pods that another makes without a node: bind them, rank 0 first (place(), placed()). */
void podmaker_bind (struct kjob *k);
void podmaker_bound (struct kjob *k, uint32_t rank, const struct kube_result *res);
/* The answer to CALL_LOG: what a container said that has ended. */
void pods_minicluster_log (struct kjob *k, const struct kcall *c,
                           const struct kube_result *res);
/* At the start: find out for kube.namespace. */
void podmaker_look (struct exec *x);
/* A request was refused that the broker was thought to be allowed: look again. */
void podmaker_doubt (struct kspace *s);
void podmaker_cancel (struct exec *x);

#endif
