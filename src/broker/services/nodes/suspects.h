/* suspects.h - drains nodes on which several jobs in a row failed to start
 */
#pragma once

#include "broker/core/broker.h"

/* Drains a node that is up, as an operator would; why: the reason. */
void suspects_drain (struct broker *b, const char *node, const char *why);
void suspects_forget (struct broker *b, const char *node);
