/* malleable.h - offers malleable jobs nodes that no job waits for, and asks for them back
 */
#pragma once

#include "broker/core/broker.h"

/* For the job for which nodes were asked back: appends which jobs give them. */
void malleable_add_reason (const struct broker *b, const struct entry *e,
                           struct strbuf *sb);
