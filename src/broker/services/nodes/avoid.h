/* avoid.h - a job that failed to start is tried on other nodes next
 */
#pragma once

#include "broker/core/broker.h"

/* The request to queue the job with: where the job can run without those nodes as things
 * are, a request without them; otherwise its usual one. */
const struct match_request *avoid_choose (struct broker *b, struct entry *e);
/* Nodes have changed: chooses again for all waiting jobs, when the next pass begins. */
void avoid_check_again (struct broker *b);
