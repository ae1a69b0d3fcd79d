/* nodes.h - the nodes of the machine: reports of executors, drains by operators
 */
#pragma once

#include "broker/core/broker.h"

/* Applies the node changes that waited for the matchers, until `has_time` returns false.
 * false: some are left. */
bool nodes_move (struct broker *b, bool (*has_time) (double begin), double begin);
/* The matchers are prepared and have been used (done: for a whole pass), so waiting node
 * changes may be applied. now: clock_mono(). */
void nodes_may_move (struct broker *b, bool done, double now);
/* Both change the plan at once and return the transaction that makes the change
 * permanent; the caller commits it. */
int nodes_drain (struct broker *b, const char *name, const char *reason,
                 struct journal_txn **ret, struct error *err);
int nodes_resume (struct broker *b, const char *name, struct journal_txn **ret,
                  struct error *err);
