/* relay.h - POST /v1/jobs/ID/connect: a program becomes a client of a job's agents
 */
#ifndef FLUXQ_BROKER_SERVICES_RELAY_H
#define FLUXQ_BROKER_SERVICES_RELAY_H

#include "broker/core/broker.h"

/* The agents of this attempt are gone. */
void relay_job_over (struct broker *b, uint64_t id);
void relay_close_all (struct broker *b);

#endif
