/* podview.h - the state of one of our pods, and what it means for the job
 *
 *     struct podview v;
 *     podview_read (pod, &v);
 *     if (v.trouble == POD_RETRY) ... v.text
 *
 * One table has the reasons; it tells a lost race (another attempt may succeed) from a
 * start that can never succeed.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* The Job controller's finalizer, on each pod of a Job until it has counted the pod. */
#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"

enum pod_trouble {
    POD_FINE,
    /* may still start: text has the reason for the wait, to be reported at the time
     * limit */
    POD_WAITING,
    POD_RETRY,   /* this start has failed, another attempt may succeed */
    POD_FATAL,   /* no attempt can succeed */
};

/* The cause of a failure. */
enum pod_blame {
    POD_BLAME_NODE,   /* the node, as far as one can see */
    POD_BLAME_CHANCE, /* nobody, but the node should be avoided for a while */
    POD_BLAME_NOBODY, /* the job itself (its image, its memory), the cluster, or a lost
                       * race for a healthy node */
};

struct podview {
    int index;         /* completion index of the Indexed Job, -1: not known */
    int component;     /* of a heterogeneous job, else 0; -1: not known */
    char phase[16];    /* "Pending" ... */
    bool started;      /* the container runs or ran */
    bool terminal;     /* Succeeded or Failed: uses nothing of its node any more */
    bool deleting;     /* has a deletionTimestamp */
    bool oom;          /* the container was killed for lack of memory */
    bool pull_trouble; /* the image cannot be pulled */
    bool tracked;      /* has the Job controller's finalizer: not counted yet */
    bool creating;     /* the kubelet prepares it: volumes, network, image, container */
    int exit_code;     /* of the container when it has ended, else -1 */
    enum pod_trouble trouble;
    enum pod_blame blame; /* for trouble, or for a missing sign of life */
    char text[256];       /* one line; "" when fine */
    /* the evictor and the reason (DisruptionTarget, or the kubelet's reason); or "" */
    char evicted[200];
    /* the first one that is not the Job controller's, else the Job controller's, else "" */
    char finalizer[128];
    char address[46]; /* of the pod: IPv4 or IPv6; "": it has none yet */
    bool prolog_failed; /* the administrator's prolog, and the reason: */
    bool epilog_failed;
    char admin_text[200];
};

void podview_read (const json_t *pod, struct podview *ret);
