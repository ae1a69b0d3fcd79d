/* agent_file.c - makes the paths of the agent's files beside the spool */
#include "shell/io/agent_file.h"

char *agent_file (const struct launch *launch, const char *name)
{
    const char *slash = launch->spool ? strrchr (launch->spool, '/') : NULL;
    int dir = slash ? (int)(slash - launch->spool) : 0;
    char *path;
    if (asprintf (&path, "%.*s/%s", dir, slash ? launch->spool : "", name) < 0)
        return NULL;
    return path;
}

char *client_socket_path (const struct launch *launch, uint32_t rank)
{
    char name[32];
    snprintf (name, sizeof (name), "clients-%u", rank);
    return agent_file (launch, name);
}
