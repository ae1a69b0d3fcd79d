/* nodes.h - the nodes of the machine: reports of executors, drains by operators
 */
#pragma once

#include "broker/core/broker.h"

/* Both change the plan at once and return the transaction that makes the change
 * permanent; the caller commits it. */
int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err);
int nodes_resume (struct broker *b, const char *name, struct journal_txn **ret,
                  struct error *err);
