/* queueusers.h - users and groups of a queue: who may submit to it
 *
 *     if (!broker_is_operator (b, user->uid) && queueusers_check (q, user, &err) < 0)
 *         refuse (s, 403, "not-in-queue", err.text);
 *
 * A user is asked for in the same way whether a client submits or a Job is adopted. Pure. */
#ifndef FLUXQ_BROKER_QUEUEUSERS_H
#define FLUXQ_BROKER_QUEUEUSERS_H

#include "broker/config.h"
#include "common/error.h"
#include "exec/exec.h"

/* 0: the queue names nobody, or that user or a group of the user. -EPERM: err tells who may. */
int queueusers_check (const struct config_queue *q, const struct exec_user *user,
                      struct error *err);

#endif
