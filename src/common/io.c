/* io.c - see io.h */
#include "common/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "common/clock.h"

#define READ_CHUNK 65536
#define TREE_DEPTH_MAX 64 /* directories that io_remove_tree() holds open at a time */
#define TREE_OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Wait for a non-blocking descriptor. */
static int wait_for (int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };

    if (poll (&p, 1, -1) < 0 && errno != EINTR)
        return -errno;
    return 0;
}

/* Wait to write for as long as *ms allows; ms NULL: forever. */
static int wait_within (int fd, int *ms)
{
    if (!ms)
        return wait_for (fd, POLLOUT);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    double start = clock_mono ();
    int n = *ms > 0 ? poll (&p, 1, *ms) : 0;

    if (n < 0 && errno != EINTR)
        return -errno;
    *ms -= (int)((clock_mono () - start) * 1000.0);
    if (n == 0)
        *ms = 0;
    return n == 0 ? -ETIMEDOUT : 0;
}

int io_write_within (int fd, const void *data, size_t len, int *ms)
{
    const char *p = data;
    int rc = 0;

    while (len > 0 && rc == 0) {
        ssize_t n = write (fd, p, len);
        if (n >= 0) {
            p += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            rc = wait_within (fd, ms);
        } else if (errno != EINTR) {
            rc = -errno;
        }
    }
    return rc;
}

int io_write_all (int fd, const void *data, size_t len)
{
    return io_write_within (fd, data, len, NULL);
}

/* read(2) through EINTR and EAGAIN. */
static ssize_t read_some (int fd, void *data, size_t len)
{
    for (;;) {
        ssize_t n = read (fd, data, len);
        if (n >= 0)
            return n;
        if (errno == EAGAIN) {
            int rc = wait_for (fd, POLLIN);
            if (rc < 0)
                return rc;
        } else if (errno != EINTR)
            return -errno;
    }
}

ssize_t io_read_all (int fd, void *data, size_t len)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = read_some (fd, (char *)data + got, len - got);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

int io_read_fd (int fd, struct strbuf *sb, size_t max)
{
    size_t got = 0;

    if (sb->err)
        return sb->err;
    for (;;) {
        size_t room = MIN (max - got, sb->max - sb->len);
        char extra;
        ssize_t n;

        if (room == 0) { /* full: it must end here */
            n = read_some (fd, &extra, 1);
            return n > 0 ? -EFBIG : (int)n;
        }
        room = MIN (room, (size_t)READ_CHUNK);
        if (strbuf_reserve (sb, room) < 0)
            return sb->err;
        n = read_some (fd, sb->buf + sb->len, room);
        if (n <= 0) {
            sb->buf[sb->len] = '\0';
            return (int)n;
        }
        strbuf_advance (sb, (size_t)n);
        got += (size_t)n;
    }
}

static io_reader_fn reader;

void io_set_reader (io_reader_fn fn)
{
    reader = fn;
}

bool io_has_reader (void)
{
    return reader != NULL;
}

int io_read_file (const char *path, struct strbuf *sb, size_t max, struct error *err)
{
    if (reader)
        return reader (path, sb, max, err);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_errno (err, errno, "%s", path);
    int rc = io_read_fd (fd, sb, max);
    if (rc == -EFBIG)
        return error_set (err, EFBIG, "%s: larger than %zu bytes", path, max);
    if (rc < 0)
        return error_errno (err, -rc, "%s", path);
    return 0;
}

/* Create a new file beside path; temp gets its name. A descriptor or negative errno. */
static int create_temporary (const char *path, char temp[PATH_MAX])
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t number;

        if (getrandom (&number, sizeof (number), 0) != (ssize_t)sizeof (number))
            return -EIO;
        if (snprintf (temp, PATH_MAX, "%s.%016jx", path, (uintmax_t)number) >= PATH_MAX)
            return -ENAMETOOLONG;
        int fd = open (temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd >= 0 ? fd : -errno;
    }
    return -EEXIST;
}

/* The new name survives a crash of the machine only if its directory is synced too. */
static int sync_directory_of (const char *path)
{
    const char *slash = strrchr (path, '/');
    autofree char *dir = NULL;

    if (!slash)
        dir = strdup (".");
    else
        dir = strndup (path, slash == path ? 1 : (size_t)(slash - path));
    if (!dir)
        return -ENOMEM;
    autoclose int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : -errno; /* writable, but not readable */
    if (fsync (fd) < 0 && errno != EINVAL)
        return -errno;
    return 0;
}

int io_write_file_atomic (const char *path, const void *data, size_t len, mode_t mode,
                          struct error *err)
{
    char temp[PATH_MAX];
    int fd = create_temporary (path, temp);

    if (fd < 0)
        return error_errno (err, -fd, "%s", path);
    int rc = io_write_all (fd, data, len);
    if (rc == 0 && (fchmod (fd, mode) < 0 || fsync (fd) < 0))
        rc = -errno;
    if (close (fd) < 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename (temp, path) < 0)
        rc = -errno;
    if (rc < 0) {
        unlink (temp);
        return error_errno (err, -rc, "%s", path);
    }
    rc = sync_directory_of (path);
    return rc < 0 ? error_errno (err, -rc, "%s: directory", path) : 0;
}

int io_mkdir_p (const char *path, mode_t mode, struct error *err)
{
    struct stat st;

    if (path[0] == '\0')
        return error_errno (err, ENOENT, "''");
    autofree char *copy = strdup (path);
    if (!copy)
        return error_errno (err, ENOMEM, "%s", path);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/' || p[-1] == '/')
            continue;
        *p = '\0'; /* directories on the way need u+wx */
        int errnum = mkdir (copy, mode | 0300) < 0 ? errno : 0;
        if (errnum && errnum != EEXIST && stat (copy, &st) < 0)
            return error_errno (err, errnum, "%s", copy);
        *p = '/';
    }
    if (mkdir (copy, mode) < 0) {
        int errnum = errno;
        if (stat (copy, &st) < 0)
            return error_errno (err, errnum, "%s", path);
        if (!S_ISDIR (st.st_mode))
            return error_errno (err, ENOTDIR, "%s", path);
    }
    return 0;
}

bool io_is_empty (int dir)
{
    int copy = openat (dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir (copy);
    bool empty = d != NULL;
    struct dirent *e;

    while (empty && (e = readdir (d)))
        empty = !strcmp (e->d_name, ".") || !strcmp (e->d_name, "..");
    if (d)
        closedir (d);
    else if (copy >= 0)
        close (copy);
    return empty;
}

/* The state of io_remove_tree(). */
struct removal {
    int top;            /* the tree's own directory */
    dev_t dev;          /* never leave this device */
    unsigned int moved; /* deep directories that were moved to the top */
    bool again;         /* the top must be read once more */
    int rc;             /* first failure; the other entries are still removed */
    char name[NAME_MAX + 1];
};

static void removal_failed (struct removal *r, int errnum, const char *name)
{
    if (r->rc)
        return;
    r->rc = -errnum;
    snprintf (r->name, sizeof (r->name), "%s", name);
}

/* The directory is too deep to hold a descriptor for each level: move it to the top,
 * which is then read again. */
static void move_to_top (struct removal *r, int dirfd, const char *name)
{
    char temp[64];

    for (int tries = 0; tries < 1000; tries++) {
        snprintf (temp, sizeof (temp), ".fluxq-removing-%u", r->moved++);
        struct stat st;
        if (fstatat (r->top, temp, &st, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (renameat (dirfd, name, r->top, temp) < 0)
            removal_failed (r, errno, name);
        else
            r->again = true;
        return;
    }
    removal_failed (r, EEXIST, name);
}

/* Make a write-protected directory of this user (such as a module cache) removable. */
static void open_up (int fd, const struct stat *st)
{
    if ((st->st_mode & 0700) == 0700 || st->st_uid != geteuid ())
        return;
    if (fchmod (fd, 0700) < 0)
        return; /* unlinkat() then fails, with the entry's name */
}

static void remove_entries (struct removal *r, int dirfd, int depth);

static void remove_directory (struct removal *r, int dirfd, const char *name, int depth)
{
    struct stat st;

    if (depth >= TREE_DEPTH_MAX) {
        move_to_top (r, dirfd, name);
        return;
    }
    int fd = openat (dirfd, name, TREE_OPEN);
    if (fd < 0 && errno == EACCES
        && fchmodat (dirfd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        fd = openat (dirfd, name, TREE_OPEN);
    if (fd < 0 || fstat (fd, &st) < 0) {
        removal_failed (r, errno, name);
        if (fd >= 0)
            close (fd);
        return;
    }
    if (st.st_dev != r->dev) {
        removal_failed (r, EXDEV, name);
        close (fd);
        return;
    }
    open_up (fd, &st);
    remove_entries (r, fd, depth + 1);
    if (unlinkat (dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        removal_failed (r, errno, name);
}

/* Remove everything below dirfd, and close dirfd. */
static void remove_entries (struct removal *r, int dirfd, int depth)
{
    DIR *dir = fdopendir (dirfd);
    struct dirent *e;

    if (!dir) {
        removal_failed (r, errno, "");
        close (dirfd);
        return;
    }
    while ((e = readdir (dir))) {
        if (!strcmp (e->d_name, ".") || !strcmp (e->d_name, ".."))
            continue;
        if (unlinkat (dirfd, e->d_name, 0) == 0 || errno == ENOENT)
            continue;
        if (errno == EISDIR)
            remove_directory (r, dirfd, e->d_name, depth);
        else
            removal_failed (r, errno, e->d_name);
    }
    closedir (dir);
}

/* The path without trailing slashes, with which the kernel would follow a link. */
static char *trim_slashes (const char *path)
{
    size_t len = strlen (path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    return strndup (path, len);
}

static int open_tree (const char *path, struct removal *r)
{
    struct stat st;

    r->top = open (path, TREE_OPEN);
    if (r->top < 0 && errno == EACCES
        && fchmodat (AT_FDCWD, path, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        r->top = open (path, TREE_OPEN);
    if (r->top < 0 || fstat (r->top, &st) < 0)
        return -errno;
    open_up (r->top, &st);
    r->dev = st.st_dev;
    return 0;
}

static int remove_tree (const char *path, struct removal *r)
{
    int rc = open_tree (path, r);

    if (rc == -ENOTDIR || rc == -ELOOP)
        return unlink (path) < 0 ? -errno : 0;
    if (rc < 0)
        return rc;
    do {
        r->again = false;
        int fd = openat (r->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        remove_entries (r, fd, 0);
    } while (r->again && !r->rc);
    if (r->rc)
        return 0; /* reported with the entry's name */
    return rmdir (path) < 0 ? -errno : 0;
}

int io_remove_tree (const char *path, struct error *err)
{
    struct removal r = { .top = -1 };
    autofree char *trimmed = trim_slashes (path);

    if (!trimmed)
        return error_errno (err, ENOMEM, "%s", path);
    if (trimmed[0] == '\0')
        return error_set (err, EINVAL, "'%s': refused to remove this", path);
    int rc = remove_tree (trimmed, &r);
    if (r.top >= 0)
        close (r.top);
    if (rc < 0 && rc != -ENOENT)
        return error_errno (err, -rc, "%s", path);
    if (r.rc)
        return error_errno (err, -r.rc, "%s: cannot remove '%s' in it", path, r.name);
    return 0;
}

int io_set_nonblock (int fd)
{
    int flags = fcntl (fd, F_GETFL);

    if (flags < 0 || fcntl (fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}
