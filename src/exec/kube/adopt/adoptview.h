/* adoptview.h - reads the status of a Job that others made (batch/v1)
 *
 *     struct adoptview v;
 *     adoptview_read (job, &v);
 *     if (v.suspended && !v.over) ...
 *
 * Pure; takes any JSON: a missing field and a field of another type count the same.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Labels and annotations of others' objects. Others write their values, so the broker
 * believes them only where a comment says so. */
#define ADOPT_QUEUE "fluxq.io/queue" /* label; of pods also a scheduling gate */
#define ADOPT_OWNER "fluxq.io/owner" /* annotations from here */
#define ADOPT_MIN "fluxq.io/min-parallelism"
#define ADOPT_PER_NODE "fluxq.io/one-pod-per-node"
#define ADOPT_GROUP "fluxq.io/group"
#define ADOPT_GROUP_SIZE "fluxq.io/group-size"
#define ADOPT_JOB_ID "fluxq.io/job-id" /* written by the broker */
#define ADOPT_STATUS "fluxq.io/status" /* written by the broker */
/* uid of the object that these describe */
#define ADOPT_STATUS_OF "fluxq.io/status-of"
#define ADOPT_STATE "fluxq.io/state"   /* label, for columns: PENDING.Resources */
/* the broker binds pods with this schedulerName */
#define ADOPT_SCHEDULER "fluxq"

#define ADOPT_STATUS_MAX 96
#define ADOPT_VERSION_MAX 64

struct adoptview {
    bool suspended;
    /* the Job controller has seen the suspension: it deletes pods and makes no more */
    bool at_rest;
    bool deleting;
    bool over, failed; /* Complete or Failed */
    bool ending;       /* will be, once the Job controller has counted all pods */
    bool deadline;     /* ... for its activeDeadlineSeconds */
    char text[256];    /* of a failed Job: "BackoffLimitExceeded: Job has ..."; else "" */
    /* completions -1: the success of any pod is enough */
    int64_t parallelism, completions;
    int64_t succeeded;
    int64_t active, terminating; /* pods, as the Job controller counts them */
    bool counting;               /* the Job controller has not reported yet how all pods
                                  * ended */
    double started;              /* unix time of its last release; 0: none */
    bool binds;     /* we bind its pods; else a scheduler does */
    bool gated;     /* the pod template has our scheduling gate */
    int64_t generation;
    char version[ADOPT_VERSION_MAX];
    char status[ADOPT_STATUS_MAX]; /* written last by the broker; or "" */
};

void adoptview_read (const json_t *job, struct adoptview *ret);
/* meta: of a Job or pod. Returns the status that the broker has written there; "": none,
 * or it described the object that this one is a copy of. Borrowed. */
const char *adoptview_status (const json_t *meta);
/* Whether a pod of this spec has our scheduling gate. */
bool adoptview_is_gated (const json_t *spec);
/* Returns the number of pods that should run at once if `parallelism` may, since some
 * have succeeded. */
int64_t adoptview_wanted (const struct adoptview *v, int64_t parallelism,
                          int64_t succeeded);
/* Whether a status (the value of ADOPT_STATUS) is final. */
bool adoptview_is_end (const char *status);
