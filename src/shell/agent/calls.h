/* calls.h - rank 0: commands in the job that need the broker, and their servers there
 *
 *     client --ASK--> WAITING --a server says TAKE--> PAIRED --one of them goes--> gone
 *                        +--the client goes--> gone
 *
 *     struct calls *calls = calls_create (send, wake, ctx);
 *     calls_message (calls, rank, &msg);       // WIRE_RUN_CALL, WIRE_RUN_GONE
 *
 * Both are clients of the agents' listeners (client_listener.h): the command in the job, of
 * any rank; its server on the broker's host, of rank 0. All messages but those that make
 * the pair are passed on between the two unchanged (protocol/inside.h).
 */
#pragma once

#include <stdint.h>

#include "shell/io/wire.h"
#include "shell/step/steps.h"

#define CALLS_MAX 256 /* of one job, in any state */

struct calls;

/* A client waits: the broker has to start a server. 0 or negative errno. */
typedef int (*calls_wake_fn) (void *ctx);

/* NULL: no memory. */
struct calls *calls_create (steps_send_fn send, calls_wake_fn wake, void *ctx);
void calls_destroy (struct calls *calls);
/* Handles a message from a client at this rank. Messages that make no sense are
 * ignored. */
void calls_message (struct calls *calls, uint32_t rank, const struct frame *msg);
