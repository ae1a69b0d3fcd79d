/* priority.h - priorities of waiting jobs: computed and shown
 */
#pragma once

#include "broker/core/broker.h"
#include "sched/priority.h"

/* The present priority of a waiting job; ret may be NULL. */
int64_t priority_of (const struct broker *b, const struct entry *e, struct priority *ret);
/* Sets job->priority to the rank by which the queue is ordered. */
void priority_set_rank (const struct broker *b, struct entry *e);
