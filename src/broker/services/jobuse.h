/* jobuse.h - usage of a job's steps as JSON
 */
#pragma once

#include "broker/core/broker.h"
#include "protocol/stepuse.h"

#define JOBUSE_STEPS_MAX 256 /* of a job; further steps are only counted */

/* {step, name, begin, end, ...}, a new reference; detailed: with the figures of each rank.
 * NULL: no memory. */
json_t *jobuse_step_json (const struct entry *e, const struct stepuse *s, bool detailed);
