/* correspond.h - aftercorr between arrays: a task waits for the task of the same number
 */
#pragma once

#include "broker/core/broker.h"

struct antecedents;

/* The waiting tasks of an array that may start; borrowed. NULL: not known yet. */
const struct idset *correspond_ready (const struct entry *e);
/* After a restart: the other arrays are still being looked up. */
bool correspond_is_unknown (const struct entry *e);
/* An array begins to wait, or waits again: takes its aftercorr dependencies on other
 * arrays out of the list. */
void correspond_begin (struct broker *b, struct entry *e, struct dependencies *list,
                       const struct antecedents *found);
/* The task of array `of` has ended; IDSET_END: some of its tasks will never start. */
void correspond_event (struct broker *b, const struct entry *of, uint32_t task);
