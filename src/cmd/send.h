/* send.h - a submission that arrives once, and the wait for its end
 *
 * Every submission carries a random Idempotency-Key: when the connection breaks before
 * the answer (the broker was restarted), it is sent again with the same key, and the
 * broker answers with the id that it gave the first time, or makes the job now. So one
 * call is one job, or none and an error.
 */
#ifndef FLUXQ_CMD_SEND_H
#define FLUXQ_CMD_SEND_H

#include <stdint.h>

#include "cmd/command.h"
#include "jobspec/submit_options.h"

/* POST the jobspec; tries again for as long as cmd_broker_wait() says when the broker is away,
 * the connection breaks, or the broker is busy. 0 and the id, or the status after a message. */
int send_job (struct cmd *c, const char *target, const char *body, size_t len,
              const struct submit_options *so, uint64_t *ret_id);
/* One request without a key, such as a test: 0 and an answer with 2xx to release, or the status
 * after a message. In messages of both so names the options of which the body was made. */
int send_request (struct cmd *c, const char *target, const char *body, size_t len,
                  const struct submit_options *so, struct http_response *ret);
/* Wait for the job's result and append its JSON to result, through restarts of the
 * broker, each as long as cmd_broker_wait() says. On SIGINT says that the job goes on:
 * CMD_INTERRUPTED. */
int send_wait (struct cmd *c, uint64_t id, struct strbuf *result);

#endif
