/* reload.h - reads fluxq.yaml again: queues, operators and limits change at once
 */
#pragma once

#include "broker/core/broker.h"

/* Reads the configuration file again and appends the names of changed keys to applied. On
 * error nothing changes. */
int broker_reload (struct broker *b, json_t *applied, struct error *err);
