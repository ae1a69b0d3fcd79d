/* jobuse.h - usage of a job's steps, from the agents' reports to the job's record
 */
#pragma once

#include "broker/core/broker.h"

/* The context of the event "usage", with what is known so far; NULL: nothing is. */
json_t *jobuse_json (const struct entry *e);
