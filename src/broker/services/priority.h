/* priority.h - priorities of waiting jobs: computed and shown
 */
#pragma once

#include "broker/core/broker.h"

/* Sets job->priority to the rank by which the queue is ordered. */
void priority_set_rank (const struct broker *b, struct entry *e);
/* -EPERM with the reason if a fixed priority is more than the computed one, which is as much
 * as a job's user may ask for: of a waiting job, and of a new one. */
int priority_check (const struct broker *b, const struct entry *e, int64_t fixed,
                    struct error *err);
int priority_check_submit (const struct broker *b, const struct jobspec *js,
                           const struct config_queue *queue, uid_t uid,
                           struct error *err);
