/* door.h - where the job's own processes reach the agent of their rank: fluxq-run
 *
 *     struct door *door = door_create (&loop, &launch, rank, up, ctx, &err);
 *     door_message (door, &msg);        // WIRE_RUN_... downwards, task: the client's number
 *
 * A unix socket beside the spool, for the job's user only. What a client says goes to rank 0
 * as it is, with its rank and number in the head (WIRE_RUN_...). Rank 0's also has the clients
 * that come through the broker (agent_api.h, /v1/client): door_adopt().
 *
 * One of those may open a session (common/session.h): then it is kept for a while when its
 * connection breaks, and goes on with another one. For rank 0 it is the same client.
 *
 * What waits for a client that does not read is bounded by the flow of its step (steps.h);
 * who gives credit for what it has not read is thrown out at DOOR_UNSENT_MAX bytes.
 */
#ifndef FLUXQ_SHELL_DOOR_H
#define FLUXQ_SHELL_DOOR_H

#include "common/error.h"
#include "common/launch.h"
#include "shell/loop.h"
#include "shell/wire.h"

#define DOOR_VARIABLE "FLUXQ_AGENT_SOCKET" /* its path, in the environment of tasks */
#define DOOR_CLIENTS_MAX 4096
#define DOOR_ADOPTED_MAX 256         /* of them from outside */
#define DOOR_UNSENT_MAX (256u << 20) /* of one: credit, and the exits of all tasks */

struct door;

typedef void (*door_up_fn) (void *ctx, const struct frame *msg);

/* A file of the agent's: DIR/NAME, with the spool's directory. The caller frees; NULL: no
 * memory. */
char *agent_file (const struct launch *launch, const char *name);
/* The path of a rank's door; the caller frees. NULL: no memory. */
char *door_path (const struct launch *launch, uint32_t rank);
/* NULL with the reason. */
struct door *door_create (struct loop *loop, const struct launch *launch, uint32_t rank,
                          door_up_fn up, void *ctx, struct error *err);
void door_destroy (struct door *door);
void door_message (struct door *door, const struct frame *msg);
/* One more client, on a connected, non-blocking stream socket that is the door's from now
 * on, whatever becomes of it. out: what it is told first, taken over; data: what it has
 * said already. Who it is was the caller's to find out, and whether there is room. */
void door_adopt (struct door *door, int fd, struct outbuf *out, const char *data,
                 size_t len);
uint32_t door_adopted (const struct door *door);

#endif
