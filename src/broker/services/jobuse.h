/* jobuse.h - usage of a job's steps, from the agents' reports to the job's record
 */
#ifndef FLUXQ_BROKER_SERVICES_JOBUSE_H
#define FLUXQ_BROKER_SERVICES_JOBUSE_H

#include "broker/core/broker.h"

void jobuse_host_init (struct broker *b);
/* The context of the event "usage", with what is known so far; NULL: nothing is. */
json_t *jobuse_json (const struct entry *e);
/* Emits the usage of an attempt that is over, and drops it. */
void jobuse_emit (struct broker *b, struct entry *e);
void jobuse_drop (struct entry *e);

#endif
