/* shared.c - see shared.h */
#include "shell/io/shared.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>

mode_t shared_bits (const char *path)
{
    const char *slash = strrchr (path, '/');
    char dir[PATH_MAX];
    struct stat st;

    if (!slash || slash - path >= PATH_MAX)
        return 0;
    snprintf (dir, sizeof (dir), "%.*s", (int)(slash - path), path);
    return stat (dir, &st) == 0 && st.st_uid != geteuid ()
                   && getxattr (dir, "system.posix_acl_default", NULL, 0) > 0
               ? 0060
               : 0;
}
