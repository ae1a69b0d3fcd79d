/* nodes.h - the nodes of the machine: reports of executors, drains by operators
 */
#pragma once

#include "broker/core/broker.h"

/* Changes the plan at once and returns the transaction that makes the change permanent; the
 * caller commits it. */
int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err);
