/* podview.h - what a pod of ours is doing, and what it means for the job
 *
 *     struct podview v;
 *     podview_read (pod, &v);
 *     if (v.trouble == POD_RETRY) ... v.text
 *
 * The reasons that tell a lost race (worth another try) from what can never succeed stand
 * in one table.
 */
#ifndef FLUXQ_EXEC_KUBE_PODVIEW_H
#define FLUXQ_EXEC_KUBE_PODVIEW_H

#include <jansson.h>
#include <stdbool.h>

/* The Job controller's own, on each pod of a Job until it has counted it. */
#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"

enum pod_trouble {
    POD_FINE,
    POD_WAITING, /* may still get better: text says what it waits for, worth telling at
                    the time limit */
    POD_RETRY,   /* this start is lost, another one may succeed */
    POD_FATAL,   /* no start can succeed */
};

/* Whose doing a failure is. */
enum pod_blame {
    POD_BLAME_NODE,   /* the node's, as far as one can see */
    POD_BLAME_CHANCE, /* nobody's, but this node is better left alone for a while */
    POD_BLAME_NOBODY, /* the job's own (its image, its memory), the cluster's, or a lost
                       * race for a node with which nothing is wrong */
};

struct podview {
    int index;         /* of the Indexed Job, -1: not known */
    char phase[16];    /* "Pending" ... */
    bool started;      /* the container runs or ran */
    bool terminal;     /* Succeeded or Failed: holds nothing of its node any more */
    bool deleting;     /* has a deletionTimestamp */
    bool oom;          /* the container was killed for its memory */
    bool pull_trouble; /* its image does not come */
    bool tracked;      /* has the Job controller's finalizer: it was not counted yet */
    bool creating;     /* the kubelet has taken it: volumes, network, image, container */
    int exit_code;     /* of the container when it has ended, else -1 */
    enum pod_trouble trouble;
    enum pod_blame blame; /* of trouble, or of having no sign of life */
    char text[256];       /* one line; "" when fine */
    char evicted
        [200]; /* who takes it away from its node, and why (DisruptionTarget, or the
                        * kubelet's reason); "" */
    char finalizer
        [128];        /* the first that is not the Job controller's, else its, else "" */
    char address[46]; /* of the pod: IPv4 or IPv6; "": it has none yet */
    bool prolog_failed; /* the administrator's, and why: */
    bool epilog_failed;
    char admin_text[200];
};

void podview_read (const json_t *pod, struct podview *ret);

/* The table's answer for a reason of a pod's or a waiting container's status, and its
 * message. */
enum pod_trouble podview_classify (const char *reason, const char *message);

#endif
