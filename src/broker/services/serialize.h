/* serialize.h - starts of large jobs, one at a time (start-serialize)
 */
#ifndef FLUXQ_BROKER_SERVICES_SERIALIZE_H
#define FLUXQ_BROKER_SERVICES_SERIALIZE_H

#include "broker/core/broker.h"

/* Whether the job may not go to the executor yet. broker_starts_due() asks again. */
bool broker_start_waits (struct broker *b, struct entry *e);

#endif
