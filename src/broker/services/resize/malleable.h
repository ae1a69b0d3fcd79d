/* malleable.h - offers malleable jobs nodes that no job waits for, and asks for them back
 */
#ifndef FLUXQ_BROKER_SERVICES_RESIZE_MALLEABLE_H
#define FLUXQ_BROKER_SERVICES_RESIZE_MALLEABLE_H

#include "broker/core/broker.h"

/* For the job for which nodes were asked back: appends which jobs give them. */
void malleable_add_reason (const struct broker *b, const struct entry *e,
                           struct strbuf *sb);

#endif
