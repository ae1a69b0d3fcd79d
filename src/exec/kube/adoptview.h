/* adoptview.h - what a Job of others (batch/v1) says of itself
 *
 *     struct adoptview v;
 *     adoptview_read (job, &v);
 *     if (v.suspended && !v.over) ...
 *
 * Pure; takes any JSON: what is missing or of another kind counts as if it were not there.
 */
#ifndef FLUXQ_EXEC_KUBE_ADOPTVIEW_H
#define FLUXQ_EXEC_KUBE_ADOPTVIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* On what others make; its names and values are theirs, and say nothing that is believed but
 * where it says so. */
#define ADOPT_QUEUE "fluxq.io/queue" /* label; of pods a scheduling gate, too */
#define ADOPT_OWNER "fluxq.io/owner" /* annotations from here */
#define ADOPT_MIN "fluxq.io/min-parallelism"
#define ADOPT_PER_NODE "fluxq.io/one-pod-per-node"
#define ADOPT_GROUP "fluxq.io/group"
#define ADOPT_GROUP_SIZE "fluxq.io/group-size"
#define ADOPT_JOB_ID "fluxq.io/job-id" /* written by the broker */
#define ADOPT_STATUS "fluxq.io/status" /* the same */
#define ADOPT_STATUS_OF "fluxq.io/status-of" /* uid of the object of which these tell */
#define ADOPT_STATE "fluxq.io/state"   /* a label, for columns: PENDING.Resources */
#define ADOPT_SCHEDULER "fluxq"        /* pods with this schedulerName are bound by us */

#define ADOPT_STATUS_MAX 96
#define ADOPT_VERSION_MAX 64

struct adoptview {
    bool suspended;
    bool at_rest; /* the Job controller has seen that: its pods go, and no more come */
    bool deleting;
    bool over, failed; /* Complete or Failed */
    bool ending;       /* it will be, once the Job controller has counted all pods */
    bool deadline;     /* ... for its activeDeadlineSeconds */
    char text[256];    /* of a failed one: "BackoffLimitExceeded: Job has ..."; else "" */
    int64_t parallelism, completions; /* completions -1: any pod's success is enough */
    int64_t succeeded;
    int64_t active, terminating; /* pods, as the Job controller counts them */
    bool counting;               /* of some pods it has not told yet how they ended */
    double started;              /* unix time of its last release; 0: none */
    bool binds;     /* its pods are for us to bind; else for a scheduler */
    bool gated;     /* their template has our scheduling gate */
    int64_t generation;
    char version[ADOPT_VERSION_MAX];
    char status[ADOPT_STATUS_MAX]; /* as the broker said last; or "" */
};

void adoptview_read (const json_t *job, struct adoptview *ret);
/* meta: of a Job or pod. What the broker has written there as its status; "": nothing, or it was
 * about the object that this one is a copy of. Borrowed. */
const char *adoptview_status (const json_t *meta);
/* A pod of this spec has our scheduling gate. */
bool adoptview_is_gated (const json_t *spec);
/* So many of its pods should run at once, if `parallelism` may: some have succeeded. */
int64_t adoptview_wanted (const struct adoptview *v, int64_t parallelism,
                          int64_t succeeded);
/* A status (the value of ADOPT_STATUS) after which nothing more comes. */
bool adoptview_is_end (const char *status);

#endif
