/* program_path.c - see program_path.h */
#include <config.h>

#include "common/program_path.h"

int program_path (const char *room, const char *name, char ret[PATH_MAX],
                  struct error *err)
{
    char exe[PATH_MAX];
    ssize_t n = readlink ("/proc/self/exe", exe, sizeof (exe) - 1);

    exe[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr (exe, '/');
    if (slash
        && snprintf (ret, PATH_MAX, "%.*s/../%s/%s", (int)(slash - exe), exe, room, name)
               < PATH_MAX
        && access (ret, X_OK) == 0)
        return 0;
    snprintf (ret, PATH_MAX, "%s/%s", FLUXQ_LIBEXECDIR, name);
    return access (ret, X_OK) == 0
               ? 0
               : error_errno (err, errno, "%s: 'make install' installs it", ret);
}
