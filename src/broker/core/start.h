/* start.h - from an allocation to the executor; reports.c has the way back
 */
#pragma once

#include "broker/core/broker.h"

/* The next step of the job's start, unless a step is under way. */
void broker_start (struct broker *b, struct entry *e);
/* Nothing of the attempt is left, or ever existed: frees the resources, and ends or
 * requeues the job. */
void start_close_attempt (struct broker *b, struct entry *e);
/* No process of the job runs any more. */
void start_release (struct broker *b, struct entry *e);
/* The failed start waits for pause_examine(): the job does not start meanwhile. */
void start_set_examined (struct entry *e, bool examined);
bool start_is_examined (const struct entry *e);
