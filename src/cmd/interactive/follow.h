/* follow.h - copies a job's output to standard output, across restarts of the broker
 *
 *     struct follow f = { .target = "/v1/jobs/7/output?follow=1" };
 *     if (follow_output (c, &f) == CMD_OK && f.written == 0) ...
 *
 * Each piece arrives with its position in the job's spools. When the connection breaks,
 * the stream is requested again from the last position, so nothing is lost or repeated.
 */
#pragma once

#include <stdint.h>

#include "cmd/client/command.h"

struct follow {
    const char *target; /* of GET /v1/jobs/ID/output, with a query */
    uint64_t written;   /* bytes */
};

/* CMD_OK at the end of the output (with follow=1: of the job); CMD_FAILED, silently, when
 * stdout cannot be written, which command_execute() reports; CMD_INTERRUPTED, or another
 * status after a message. */
int follow_output (struct cmd *c, struct follow *f);
