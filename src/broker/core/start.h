/* start.h - from an allocation to the executor, and back
 */
#ifndef FLUXQ_BROKER_CORE_START_H
#define FLUXQ_BROKER_CORE_START_H

#include "broker/core/broker.h"

void broker_start (struct broker *b, struct entry *e);

#endif
