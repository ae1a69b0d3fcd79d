/* door.h - where the job's own processes reach the agent of their rank: fluxq-run
 *
 *     struct door *door = door_create (&loop, &launch, rank, up, ctx, &err);
 *     door_message (door, &msg);        // WIRE_RUN_... downwards, task: the client's number
 *
 * A unix socket beside the spool, for the job's user only. What a client says goes to rank 0
 * as it is, with its rank and number in the head (WIRE_RUN_...).
 */
#ifndef FLUXQ_SHELL_DOOR_H
#define FLUXQ_SHELL_DOOR_H

#include "common/error.h"
#include "common/launch.h"
#include "shell/loop.h"
#include "shell/wire.h"

#define DOOR_VARIABLE "FLUXQ_AGENT_SOCKET" /* its path, in the environment of tasks */
#define DOOR_CLIENTS_MAX 4096

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

#endif
