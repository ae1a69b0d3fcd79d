/* keepalive.h - how a program on the login node holds an allocation
 *
 *     uint8_t msg[HOLD_SIZE];
 *     hold_encode (HOLD_KEEP, 30, msg);    // over POST /v1/jobs/ID/connect: from now on the
 *     send (fd, msg, sizeof (msg), 0);     // job lives as long as fd, and 30 s more
 *     ...
 *     hold_encode (HOLD_END, 0, msg);      // the job ends now, with status 0
 *
 * The job's own task (HOLD_SCRIPT) sends HOLD_WAIT to the agent of its rank and waits
 * until rank 0 tells it to end: when the client sends HOLD_END, when the client's
 * connection has been gone for longer than HOLD_KEEP said, or when no client has come for
 * HOLD_FIRST seconds. So no allocation stays because a terminal died. The client that
 * sent HOLD_KEEP last holds the job, so a client can come back after a restart of the
 * broker.
 */
#ifndef FLUXQ_PROTOCOL_KEEPALIVE_H
#define FLUXQ_PROTOCOL_KEEPALIVE_H

#include <stdint.h>

#include "protocol/frame.h"

#define HOLD_TYPE 94 /* type of the frame; WIRE_RUN_HOLD of the agents */
#define HOLD_SIZE (FRAME_HEAD + 4)
#define HOLD_GRACE_MAX 600 /* seconds, the most of HOLD_KEEP */
#define HOLD_FIRST 60      /* seconds */
#define HOLD_OPTION "--hold"
#define HOLD_SCRIPT "#!/bin/sh\nexec fluxq-run " HOLD_OPTION "\n"

enum hold_kind { /* the frame's stream; its data is a u32 */
                 HOLD_KEEP, /* seconds that the job outlives the connection */
                 HOLD_END,  /* wait status of the job, 0 to 65535 */
                 HOLD_WAIT, /* 0 */
};

void hold_encode (enum hold_kind kind, uint32_t value, uint8_t ret[HOLD_SIZE]);

#endif
