/* priority.h - priorities of waiting jobs: computed and shown
 */
#pragma once

#include "broker/core/broker.h"

/* Sets job->priority to the rank by which the queue is ordered. */
void priority_set_rank (const struct broker *b, struct entry *e);
