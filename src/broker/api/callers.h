/* callers.h - users of the HTTP server: privileges, and accounts of subordinate uids
 */
#ifndef FLUXQ_BROKER_API_CALLERS_H
#define FLUXQ_BROKER_API_CALLERS_H

#include "broker/core/broker.h"

/* init: once the server exists; configure: when the configuration or operators
 * changed. */
void broker_callers_init (struct broker *b);
void broker_callers_configure (struct broker *b);

#endif
