/* agent_path.c - finds the agent's program, fluxq-shell, on this machine */
#include "protocol/agent_path.h"

#include "common/program_path.h"

char *agent_path_find (const char *configured, struct error *err)
{
    const char *known = configured ? configured : getenv ("FLUXQ_SHELL");
    char path[PATH_MAX];

    if (!known)
        return program_path ("shell", "fluxq-shell", path, err) == 0
                   ? realpath (path, NULL)
                   : NULL;
    if (access (known, X_OK) == 0)
        return strdup (known);
    error_set (err, ENOENT, "the agent %s is missing; 'make install' installs it", known);
    return NULL;
}
