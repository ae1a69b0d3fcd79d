/* podmaker.h - the makers of a Job's pods, which also keep its status
 *
 * The room make has all that is made in the cluster for one job. A job, its settings and
 * its nodes come in; JSON goes out: objects.h builds a Job and what it owns, podobject.h
 * and podspec.h its pods, endpointslice.h the addresses of its ranks, minicluster.h a
 * MiniCluster. calls.h sends them, and the answers go to hooks->answered(). What the
 * broker may make, and what the cluster knows: podrights.h, miniclusters.h.
 *
 *     podmaker_choose (x)          the maker of the next Job; NULL: not known yet
 *     podmaker_of (object)         the maker of a Job in the cluster
 *     k->maker->place (k)          ... and so on
 *
 * There are three, each in a file that ends with its descriptor:
 *
 *   pods_controller   The Job controller makes the pods from the Job's template, and the
 *                     broker binds them. Two writes a pod, and the controller's own limit
 *                     of requests.
 *   pods_broker       spec.managedBy tells the controller to leave the Job alone. The
 *                     broker makes the pods, each with its node, and writes the Job's
 *                     status. One write a pod.
 *   pods_minicluster  The Flux operator makes a Job from a MiniCluster, if the job or its
 *                     queue asks for one. The rest is as with pods_controller.
 *
 * Source: kubernetes.io, "Jobs", delegation of managing a Job object.
 */
#pragma once

#include "exec/kube/core/state.h"
#include "exec/kube/make/objects.h"

struct podmaker {
    const char *name;
    const struct object_owner *owner; /* the object made for a job */
    const char *managed_by; /* spec.managedBy of its Jobs; NULL: none */
    /* The broker gives the ranks' names their addresses; otherwise another program does,
     * which makes a Service of the job's name. */
    bool names_ranks;
    /* Others make the pods: more may come while the owner exists. */
    bool others_make;
    const char *silence; /* the silent party if no pods were made */
    /* If a pod fails or goes, the maker ends the others. */
    bool ends_others;
    /* Makes the owner. A new reference, NULL: no memory. */
    json_t *(*object) (const struct object_source *src);
    /* A pod requests the amounts of its rank; otherwise all the smallest of the ranks'. */
    bool asks_for_rank;
    /* All objects that pods mount exist: sends the missing requests for pods, or for
     * their places. Called after each change. */
    void (*place) (struct kjob *k);
    /* The answer to the request of place() for this rank. */
    void (*placed) (struct kjob *k, uint32_t rank, const struct kube_result *res);
    /* Some pods do not exist after that time (a text): calls job_start_failed(), perhaps
     * later. */
    void (*missing) (struct kjob *k, const char *limit);
    /* All ranks are ready; the job is over, as k->fin says. Each may be NULL. */
    void (*ready) (struct kjob *k);
    void (*resized) (struct kjob *k); /* its ranks have changed; may be NULL */
    void (*ended) (struct kjob *k);
    /* Removes the pods, or objects that must go before the Job; the answer leads to the
     * deletion of the Job. May be NULL. */
    void (*remove) (struct kjob *k);
};

extern const struct podmaker pods_controller, pods_broker, pods_minicluster;

/* NULL: a request for the broker's rights is under way, and jobs are poked after the
 * answer; or the job cannot start (job_start_failed() was called). */
const struct podmaker *podmaker_choose (struct kjob *k);
/* The maker of a Job, or of a MiniCluster, as read from the API server. */
const struct podmaker *podmaker_of (const json_t *job);
/* A Job was made for `asked` and has become one for `got`. true: that is acceptable.
 * false: job_start_failed() was called. */
bool podmaker_accept (struct kjob *k, const struct podmaker *asked,
                      const struct podmaker *got);
/* For pods that another program makes without a node: binds them, rank 0 first (place(),
 * placed()). */
void podmaker_bind (struct kjob *k);
void podmaker_bound (struct kjob *k, uint32_t rank, const struct kube_result *res);
/* The answer to CALL_LOG: the log of a container that has ended. */
void pods_minicluster_log (struct kjob *k, const struct kcall *c,
                           const struct kube_result *res);
