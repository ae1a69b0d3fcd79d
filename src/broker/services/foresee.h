/* foresee.h - POST /v1/jobs?test-only=1: when and where the job would start
 */
#pragma once

#include "broker/core/broker.h"

/* {"start", "now", "nodelist", ..., "pending"} for a job that was checked and is not in
 * the table; "reason" where no start can be predicted. NULL: no memory. */
json_t *broker_foresee (struct broker *b, struct entry *e);
