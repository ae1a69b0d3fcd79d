/* agentkey.h - reads the key of a job's agents from the job's directory */
#pragma once

#include "common/error.h"
#include "protocol/agent_api.h"

/* Reads the file `name` of the user, in the directory (userdir.h); on a worker thread. 0,
 * -ENOENT, -EINVAL: it is no key; or the errors of userdir_read(). */
int agentkey_read (int dir, const char *name, uid_t owner, uint8_t ret[AGENT_KEY_SIZE],
                   struct error *err);
