/* avoid.h - a job that failed to start is tried on other nodes next
 */
#ifndef FLUXQ_BROKER_SERVICES_AVOID_H
#define FLUXQ_BROKER_SERVICES_AVOID_H

#include "broker/core/broker.h"

/* The request to queue the job with: e->avoiding where the job can run without those
 * nodes as things are, otherwise its usual one. */
const struct match_request *broker_avoid_choose (struct broker *b, struct entry *e);

#endif
