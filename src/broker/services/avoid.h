/* avoid.h - a job that failed to start is tried on other nodes next
 */
#ifndef FLUXQ_BROKER_SERVICES_AVOID_H
#define FLUXQ_BROKER_SERVICES_AVOID_H

#include "broker/core/broker.h"

/* The nodes that the job avoids from now on: its earlier ones and `nodes` (hostlist, or
 * NULL). NULL: none. The caller frees. */
char *broker_avoid_more (const struct job *job, const char *nodes);
/* Makes e->avoiding anew from e->js, or drops it. The job must not be queued. */
void broker_avoid_prepare (struct broker *b, struct entry *e);
/* The request to queue the job with: e->avoiding where the job can run without those
 * nodes as things are, otherwise its usual one. */
const struct match_request *broker_avoid_choose (struct broker *b, struct entry *e);
/* Before each pass: queues jobs again if their choice has changed. */
void broker_avoid_recheck (struct broker *b);

#endif
