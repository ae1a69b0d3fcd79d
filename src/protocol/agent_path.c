/* agent_path.c - finds the agent's program, fluxq-shell, on this machine */
#include <config.h>

#include "protocol/agent_path.h"

#include <limits.h>

/* The agent in the build tree of this program, or NULL. */
static char *find_built (void)
{
    char exe[PATH_MAX];
    autofree char *path = NULL;
    ssize_t n = readlink ("/proc/self/exe", exe, sizeof (exe) - 1);

    exe[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr (exe, '/');
    if (!slash
        || asprintf (&path, "%.*s/../shell/fluxq-shell", (int)(slash - exe), exe) < 0) {
        path = NULL;
        return NULL;
    }
    return access (path, X_OK) == 0 ? realpath (path, NULL) : NULL;
}

char *agent_path_find (const char *configured, struct error *err)
{
    const char *known = configured ? configured : getenv ("FLUXQ_SHELL");
    char *path = known ? strdup (known) : find_built ();

    if (!path && !known)
        path = strdup (FLUXQ_LIBEXECDIR "/fluxq-shell");
    if (path && access (path, X_OK) == 0)
        return path;
    error_set (err, ENOENT, "the agent %s is missing; 'make install' installs it",
               path ? path : "fluxq-shell");
    free (path);
    return NULL;
}
