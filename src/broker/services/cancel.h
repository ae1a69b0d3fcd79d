/* cancel.h - POST /v1/cancel: cancels jobs, or signals jobs or steps
 */
#ifndef FLUXQ_BROKER_SERVICES_CANCEL_H
#define FLUXQ_BROKER_SERVICES_CANCEL_H

#include "broker/core/broker.h"

/* Answers the requests that wait for agents. */
void broker_cancels_close (struct broker *b);

#endif
