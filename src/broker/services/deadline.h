/* deadline.h - jobs that cannot end by their deadline any more are not started
 */
#pragma once

#include "broker/core/broker.h"

/* Whether a new job can end by its deadline. -EINVAL and the reason. */
int deadline_check (const struct jobspec *js, double now, struct error *err);
/* The time limit (seconds, 0: none) of a job that starts now: `limit`, or with --time-min
 * a shorter one that ends by the deadline, but at least --time-min. */
double deadline_time_limit (const struct entry *e, double now, double limit);
/* Call whenever the job's state changed, and before the entry is freed. */
void deadline_watch (struct broker *b, struct entry *e, bool waits);
