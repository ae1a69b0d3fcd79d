/* send.h - submits that make exactly one job, and waiting for the result
 *
 * Every submit carries a random Idempotency-Key. When the connection breaks before the
 * answer (the broker restarted), the request is sent again with the same key, and the
 * broker answers with the id that it gave the first time, or makes the job now. So a call
 * makes one job, or none and an error.
 */
#pragma once

#include <stdint.h>

#include "cmd/client/command.h"
#include "jobspec/options/submit_options.h"

/* POSTs the jobspec; tries again for the time of cmd_broker_wait() while the broker is
 * away or busy, or the connection breaks. 0 and the id, or the status after a message. */
int send_job (struct cmd *c, const char *target, const char *body, size_t len,
              const struct submit_options *so, uint64_t *ret_id);
/* One request without a key, such as a test: 0 and a 2xx answer, which the caller
 * releases, or the status after a message. In both functions so gives the options that
 * the body was made from, for messages. */
int send_request (struct cmd *c, const char *target, const char *body, size_t len,
                  const struct submit_options *so, struct http_response *ret);
/* Waits for the job's result and appends its JSON to result. Continues after restarts of
 * the broker, each of them up to the time of cmd_broker_wait(). On SIGINT tells the user
 * that the job goes on: CMD_INTERRUPTED. */
int send_wait (struct cmd *c, uint64_t id, struct strbuf *result);
