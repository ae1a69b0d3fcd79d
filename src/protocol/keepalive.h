/* keepalive.h - how a program on the login node keeps an allocation alive
 *
 *     uint8_t msg[KEEPALIVE_SIZE];
 *     keepalive_encode (KEEPALIVE_KEEP, 30, msg); // over POST /v1/jobs/ID/connect: now the
 *     send (fd, msg, sizeof (msg), 0);            // job lives as long as fd, and 30 s more
 *     ...
 *     keepalive_encode (KEEPALIVE_END, 0, msg);   // the job ends now, with status 0
 *
 * The job's own task (KEEPALIVE_SCRIPT) sends KEEPALIVE_WAIT to the agent of its rank and
 * waits until rank 0 tells it to end: when the client sends KEEPALIVE_END, when the
 * client's connection has been gone for longer than KEEPALIVE_KEEP said, or when no
 * client has come for KEEPALIVE_FIRST seconds. So no allocation stays because a terminal
 * died. The client that sent KEEPALIVE_KEEP last keeps the job, so a client can come back
 * after a restart of the broker. libc only (the agent links it).
 */
#pragma once

#include <stdint.h>

#include "protocol/frame.h"

#define KEEPALIVE_TYPE 94 /* type of the frame; WIRE_RUN_KEEPALIVE of the agents */
#define KEEPALIVE_SIZE (FRAME_HEAD + 4)
#define KEEPALIVE_GRACE_MAX 600 /* seconds, the most of KEEPALIVE_KEEP */
#define KEEPALIVE_FIRST 60      /* seconds */
#define KEEPALIVE_OPTION "--hold"
#define KEEPALIVE_SCRIPT "#!/bin/sh\nexec fluxq-run " KEEPALIVE_OPTION "\n"
/* The task of an allocation that nobody keeps waits until the job is cancelled or its time
 * is over. */
#define KEEPALIVE_STAY_OPTION "--stay"
#define KEEPALIVE_STAY_SCRIPT "#!/bin/sh\nexec fluxq-run " KEEPALIVE_STAY_OPTION "\n"

/* The frame's stream; the frame's data is a u32. */
enum keepalive_kind {
    KEEPALIVE_KEEP, /* seconds that the job outlives the connection */
    KEEPALIVE_END,  /* wait status of the job, 0 to 65535 */
    KEEPALIVE_WAIT, /* 0 */
};

void keepalive_encode (enum keepalive_kind kind, uint32_t value,
                       uint8_t ret[KEEPALIVE_SIZE]);
