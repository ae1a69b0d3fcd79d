/* limit.h - changes the time limit of a waiting or running job
 */
#ifndef FLUXQ_BROKER_SERVICES_LIMIT_H
#define FLUXQ_BROKER_SERVICES_LIMIT_H

#include "broker/core/broker.h"

/* Tells the agent of the new time limit. */
void broker_limit_changed (struct broker *b, struct entry *e);

#endif
