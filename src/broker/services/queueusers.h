/* queueusers.h - which users and groups may submit to a queue
 *
 *     if (!broker_operates (b, user->uid, queue) && queueusers_check (q, user, &err) < 0)
 *         refuse (s, 403, "not-in-queue", err.text);
 *
 * The check is the same for a client's submit and an adopted Job. A pure function.
 */
#pragma once

#include "broker/config/config.h"
#include "common/error.h"
#include "exec/exec.h"

/* 0: the queue names nobody, or this user or a group of the user. -EPERM: err tells who
 * may submit. */
int queueusers_check (const struct config_queue *q, const struct exec_user *user,
                      struct error *err);
