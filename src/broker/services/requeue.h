/* requeue.h - jobs that are queued again, see requeue.c */
#pragma once

#include "broker/core/broker.h"

/* -EINVAL with the way out: the job asks for an expedited requeue, which is not allowed. */
int requeue_check (const struct broker *b, const struct jobspec *js, struct error *err);
