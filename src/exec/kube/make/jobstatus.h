/* jobstatus.h - the status that the broker writes for a Job whose pods it makes itself
 *
 *     patch = jobstatus_running (made_at, 3);            // all ranks are ready
 *     patch = jobstatus_ended (made_at, now, &end);      // and nothing after that
 *
 * Values for `status` of a batch/v1 Job, new references, NULL without memory. The API server
 * checks them: a finished Job has a startTime and no active pods; Complete comes with
 * SuccessCriteriaMet and a completionTime that is not before startTime, Failed with
 * FailureTarget and without completionTime.
 * Source: Kubernetes 1.35, pkg/apis/batch/validation, validateJobStatus().
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct jobstatus_end {
    uint32_t ranks;
    uint32_t made;     /* number of pods made */
    bool start_failed; /* not all ranks were ready; status and reason mean nothing then */
    int status;        /* wait status */
    const char *reason, *text; /* as in frame.h's FINISH; text may be "" */
};

/* made_at: the Job's creationTimestamp. */
json_t *jobstatus_running (const char *made_at, uint32_t ranks);
/* now: unix time. */
json_t *jobstatus_ended (const char *made_at, double now,
                         const struct jobstatus_end *end);
