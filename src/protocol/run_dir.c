/* run_dir.c - see run_dir.h */
#include "protocol/run_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { XDG, RUN_USER, STATE, SYSTEM, KINDS };

/* A value that is empty or no absolute path counts as unset. */
static const char *directory_of (const char *variable)
{
    const char *dir = getenv (variable);

    return dir && dir[0] == '/' ? dir : NULL;
}

static bool fits (int n, size_t size)
{
    return n > 0 && (size_t)n < size;
}

static bool in_state (char *ret, size_t size)
{
    const char *state = directory_of ("XDG_STATE_HOME");
    const char *home = directory_of ("HOME");
    char host[256] = "";

    if ((!state && !home) || gethostname (host, sizeof (host) - 1) < 0)
        return false;
    return fits (snprintf (ret, size, "%s%s/fluxq/run-%s", state ? state : home,
                           state ? "" : "/.local/state", host),
                 size);
}

static bool print_dir (enum kind kind, char *ret, size_t size)
{
    uid_t uid = geteuid ();
    const char *runtime;

    switch (kind) {
    case XDG:
        runtime = directory_of ("XDG_RUNTIME_DIR");
        return runtime && fits (snprintf (ret, size, "%s/fluxq", runtime), size);
    case RUN_USER:
        return uid != 0
               && fits (snprintf (ret, size, "/run/user/%u/fluxq", (unsigned)uid), size);
    case STATE:
        return uid != 0 && in_state (ret, size);
    default:
        return fits (snprintf (ret, size, "%s", RUN_DIR_SYSTEM), size);
    }
}

bool run_dir_default (size_t i, char *ret, size_t size)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (print_dir ((enum kind)kind, ret, size) && i-- == 0)
            return true;
    }
    return false;
}

/* Whether the parent of dir belongs to the caller and no other user can write it. */
static bool parent_is_private (const char *dir)
{
    char parent[RUN_DIR_MAX];
    struct stat st;

    snprintf (parent, sizeof (parent), "%s", dir);
    *strrchr (parent, '/') = '\0';
    return lstat (parent, &st) == 0 && S_ISDIR (st.st_mode) && st.st_uid == geteuid ()
           && (st.st_mode & 022) == 0;
}

bool run_dir_choose (char *ret, size_t size)
{
    for (int kind = XDG; kind <= RUN_USER; kind++) {
        if (print_dir ((enum kind)kind, ret, size) && parent_is_private (ret))
            return true;
    }
    return print_dir (geteuid () == 0 ? SYSTEM : STATE, ret, size);
}
