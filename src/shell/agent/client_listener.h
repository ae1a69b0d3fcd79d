/* client_listener.h - listens on each rank for clients of steps (fluxq-run) in the job
 *
 *     struct client_listener *listener =
 *         client_listener_create (&loop, &launch, rank, up, ctx, &err);
 *     client_listener_message (listener, &msg); // WIRE_RUN_... downwards, task: the
 *                                               // client's number
 *
 * The listener is a unix socket beside the spool, for the job's user only. Messages of a
 * client (WIRE_RUN_...) go to rank 0 unchanged, with the rank and the client's number in
 * the head. The listener of rank 0 also has the clients that come through the broker
 * (agent_api.h, /v1/client): client_listener_adopt().
 *
 * A client from the broker may open a session (protocol/session.h). It is then kept for a
 * while when its connection breaks, and continues on a new connection. For rank 0 it is
 * the same client.
 *
 * The flow of a step (steps.h) bounds the bytes that wait for a client that does not
 * read. A client that returns credit for bytes that it has not read is disconnected at
 * CLIENT_UNSENT_MAX bytes.
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"
#include "shell/io/loop.h"
#include "shell/io/wire.h"

#define CLIENTS_MAX 4096
#define CLIENTS_ADOPTED_MAX 256        /* clients from outside the job */
#define CLIENT_UNSENT_MAX (256u << 20) /* of one client: credit, and exits of all tasks */

struct client_listener;

typedef void (*client_listener_up_fn) (void *ctx, const struct frame *msg);

/* NULL with the reason. */
struct client_listener *client_listener_create (struct loop *loop,
                                                const struct launch *launch,
                                                uint32_t rank, client_listener_up_fn up,
                                                void *ctx, struct error *err);
void client_listener_destroy (struct client_listener *listener);
void client_listener_message (struct client_listener *listener, const struct frame *msg);
/* Adds a client on a connected, non-blocking stream socket, which the listener owns in
 * any case. out: bytes to send first, taken over; data: bytes that the client has sent
 * already. The caller has checked who the client is and that there is room. */
void client_listener_adopt (struct client_listener *listener, int fd, struct outbuf *out,
                            const char *data, size_t len);
uint32_t client_listener_adopted (const struct client_listener *listener);
