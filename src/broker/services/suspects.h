/* suspects.h - drains nodes on which several jobs in a row failed to start
 */
#ifndef FLUXQ_BROKER_SERVICES_SUSPECTS_H
#define FLUXQ_BROKER_SERVICES_SUSPECTS_H

#include "broker/core/broker.h"

void suspects_failed (struct broker *b, const struct entry *e, const char *nodes,
                      const char *text);
/* All ranks are ready. Call while job->avoid is still set. */
void suspects_started (struct broker *b, const struct entry *e);
/* Drains a node that is up, as an operator would; why: the reason. */
void suspects_drain (struct broker *b, const char *node, const char *why);
void suspects_forget (struct broker *b, const char *node);
void suspects_release (struct broker *b);

#endif
