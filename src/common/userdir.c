/* userdir.c - see userdir.h */
#include "common/userdir.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/io.h"

#define NEVER_WAIT (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define TRIES 100 /* to find a free name */

uid_t userdir_owner (uid_t user)
{
    return geteuid () == 0 ? user : geteuid ();
}

static int open_at (int dirfd, const char *name, int flags, mode_t mode, uint64_t resolve)
{
    static atomic_bool missing; /* Linux before 5.6, or a sandbox without openat2(2) */
    const struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = resolve,
    };
    int fd = -1;

    if (!atomic_load (&missing)) {
        fd = (int)syscall (SYS_openat2, dirfd, name, &how, sizeof (how));
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return fd >= 0 ? fd : -errno;
        if (errno == ENOSYS)
            atomic_store (&missing, true);
    }
    fd = openat (dirfd, name, flags, mode);
    return fd >= 0 ? fd : -errno;
}

int userdir_openat (int dirfd, const char *name, int flags, mode_t mode)
{
    return open_at (dirfd, name, flags, mode, RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
}

int userdir_open_named (int dirfd, const char *path, int flags)
{
    return open_at (dirfd, path, flags, 0, RESOLVE_NO_MAGICLINKS);
}

/* -- the directory -- */

int userdir_open (const char *path, uid_t owner, struct error *err)
{
    const char *slash = strrchr (path, '/');
    char parent[PATH_MAX];
    struct stat st;

    if (path[0] != '/' || slash - path >= PATH_MAX)
        return error_set (err, EINVAL, "%.200s: not the path of a directory", path);
    snprintf (parent, sizeof (parent), "%.*s/", (int)(slash - path), path);
    autoclose int above = open (parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return error_errno (err, errno, "%s", parent);
    int fd = userdir_openat (above, slash + 1, O_RDONLY | O_DIRECTORY | NEVER_WAIT, 0);
    if (fd < 0)
        return error_errno (err, -fd, "%s", path);
    if (fstat (fd, &st) == 0 && st.st_uid == owner)
        return fd;
    close (fd);
    return error_set (err, EPERM, "%s belongs to uid %u, not to uid %u", path,
                      (unsigned)st.st_uid, (unsigned)owner);
}

bool userdir_has (int dir, const char *name)
{
    struct stat st;

    return fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

int userdir_remove (int dir, const char *name)
{
    return unlinkat (dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* -- a file -- */

static int check_file (int fd, const char *name, uid_t owner, struct error *err)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return error_errno (err, errno, "%s", name);
    if (!S_ISREG (st.st_mode))
        return error_set (err, EPERM, "%s is not a regular file", name);
    if (st.st_uid != owner)
        return error_set (err, EPERM, "%s belongs to uid %u, not to uid %u", name,
                          (unsigned)st.st_uid, (unsigned)owner);
    if (st.st_nlink > 1)
        return error_set (err, EPERM, "%s has a second name (a hard link)", name);
    return 0;
}

static bool is_name (const char *name)
{
    return name[0] != '\0' && !strchr (name, '/') && strcmp (name, ".") != 0
           && strcmp (name, "..") != 0;
}

int userdir_open_file (int dir, const char *name, int flags, uid_t owner,
                       struct error *err)
{
    if (!is_name (name))
        return error_set (err, EINVAL, "%.200s: not the name of a file", name);
    int fd = userdir_openat (dir, name, flags | NEVER_WAIT, 0600);
    if (fd == -ELOOP)
        return error_set (err, EPERM, "%s is a link", name);
    if (fd < 0)
        return error_errno (err, -fd, "%s", name);
    int rc = check_file (fd, name, owner, err);
    if (rc == 0)
        return fd;
    close (fd);
    return rc;
}

int userdir_read (int dir, const char *name, uid_t owner, struct strbuf *sb, size_t max,
                  struct error *err)
{
    autoclose int fd = userdir_open_file (dir, name, O_RDONLY, owner, err);

    if (fd < 0)
        return fd;
    int rc = io_read_fd (fd, sb, max);
    if (rc == -EFBIG)
        return error_set (err, EFBIG, "%s: larger than %zu bytes", name, max);
    return rc < 0 ? error_errno (err, -rc, "%s", name) : 0;
}

/* Create a new file beside name; temp is its name. */
static int create_beside (int dir, const char *name, char *temp, size_t size)
{
    int fd = -EEXIST;

    for (int tries = 0; tries < TRIES && fd == -EEXIST; tries++) {
        uint64_t number;
        if (getrandom (&number, sizeof (number), 0) != (ssize_t)sizeof (number))
            return -EIO;
        if (snprintf (temp, size, "%s.%016jx", name, (uintmax_t)number) >= (int)size)
            return -ENAMETOOLONG;
        fd = userdir_openat (dir, temp, O_WRONLY | O_CREAT | O_EXCL | NEVER_WAIT, 0600);
    }
    return fd;
}

static int fill (int fd, const void *data, size_t len, mode_t mode, uid_t uid, gid_t gid,
                 int flags)
{
    struct stat st;
    int rc = io_write_all (fd, data, len);

    if (rc < 0)
        return rc;
    if (fstat (fd, &st) < 0)
        return -errno;
    if (geteuid () == 0 && st.st_uid != uid && fchown (fd, uid, gid) < 0)
        return -errno;
    if (fchmod (fd, mode) < 0 || (flags & USERDIR_DURABLE && fsync (fd) < 0))
        return -errno;
    return 0;
}

int userdir_write (int dir, const char *name, const void *data, size_t len, mode_t mode,
                   uid_t uid, gid_t gid, int flags, struct error *err)
{
    char temp[NAME_MAX + 1];
    int fd = is_name (name) ? create_beside (dir, name, temp, sizeof (temp)) : -EINVAL;

    if (fd < 0)
        return error_errno (err, -fd, "%s", name);
    int rc = fill (fd, data, len, mode, uid, gid, flags);
    if (close (fd) < 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && renameat (dir, temp, dir, name) < 0)
        rc = -errno;
    if (rc < 0)
        unlinkat (dir, temp, 0);
    else if (flags & USERDIR_DURABLE && fsync (dir) < 0 && errno != EINVAL)
        rc = -errno;
    return rc < 0 ? error_errno (err, -rc, "%s", name) : 0;
}
