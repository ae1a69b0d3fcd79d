/* reserve_job.h - jobs that name a reservation: admission, and why they wait
 */
#pragma once

#include "broker/core/broker.h"

/* Whether a new job of the user could run in the reservation that it names. -EINVAL,
 * -ENOENT, with a code for the client. */
int reserve_check (struct broker *b, const struct entry *e, uid_t uid,
                   bool allow_infeasible, const char **code, struct error *err);
/* For any waiting job, as sched_reason_name() and sched_reason(). NULL, false: the job is
 * not queued. The text is appended. */
const char *reserve_reason_name (struct broker *b, const struct entry *e);
bool reserve_reason_text (struct broker *b, const struct entry *e, struct strbuf *text);
