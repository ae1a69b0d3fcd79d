/* agent_file.h - paths of the files that an agent has beside the spool
 *
 *     autofree char *path = client_socket_path (&launch, rank);
 */
#pragma once

#include <stdint.h>

#include "protocol/launch.h"

#define CLIENT_SOCKET_VARIABLE "FLUXQ_AGENT_SOCKET" /* the socket's path, for tasks */

/* The path of an agent's file: NAME in the spool's directory. The caller frees it; NULL:
 * no memory. */
char *agent_file (const struct launch *launch, const char *name);
/* The path of the socket on which a rank's agent listens for clients of steps; the caller
 * frees it. NULL: no memory. */
char *client_socket_path (const struct launch *launch, uint32_t rank);
