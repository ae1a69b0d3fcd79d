/* jobuse.h - usage of a job's steps, from the agents' reports to the job's record
 */
#ifndef FLUXQ_BROKER_SERVICES_JOBUSE_H
#define FLUXQ_BROKER_SERVICES_JOBUSE_H

#include "broker/core/broker.h"

/* The context of the event "usage", with what is known so far; NULL: nothing is. */
json_t *jobuse_json (const struct entry *e);

#endif
