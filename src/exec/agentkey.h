/* agentkey.h - the key of a job's agents, as the broker reads it from the job's directory
 */
#ifndef FLUXQ_EXEC_AGENTKEY_H
#define FLUXQ_EXEC_AGENTKEY_H

#include "common/agent_api.h"
#include "common/error.h"

/* The file `name` of the user, in the directory (userdir.h); on a worker thread. 0, -ENOENT,
 * -EINVAL: it is no key; or what userdir_read() says. */
int agentkey_read (int dir, const char *name, uid_t owner, uint8_t ret[AGENT_KEY_SIZE],
                   struct error *err);

#endif
