/* userfile.c - see userfile.h
 *
 * The walk keeps a descriptor of the current directory, and the rest of the path. Each
 * step opens one name with O_PATH | O_NOFOLLOW, checks its type, and only then goes on:
 *
 *     directory            becomes the current directory
 *     link of root or own  put its target before the rest; absolute: start from "/"
 *     other link           refuse
 *     last name            open_target()
 */
#include "common/userfile.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "common/strbuf.h"
#include "common/userdir.h"

#define LINKS_MAX 40 /* as the kernel's */
#define PROC_SUPER_MAGIC 0x9fa0 /* as in linux/magic.h, which the agent's build lacks */
#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

struct walk {
    int dir;            /* the current directory */
    struct strbuf at;   /* the path of dir for messages, "" is the root */
    struct strbuf todo; /* the rest of the path */
    int links;
    uid_t uid; /* links of this user, and of root, are followed */
    enum userfile_mode mode;
    bool only_check; /* create nothing */
    struct error *err;
};

/* The file system uid of this thread; setting an invalid uid only returns the current
 * one. */
static uid_t current_fsuid (void)
{
    return (uid_t)setfsuid ((uid_t)-1);
}

static int walk_fail (struct walk *w, int errnum, const char *name, const char *problem)
{
    if (!problem)
        return error_errno (w->err, errnum, "%s/%s", w->at.buf, name);
    return error_set (w->err, errnum, "%s/%s %s", w->at.buf, name, problem);
}

/* -- the last name -- */

/* Refuse files that a user cannot mean as an output file. */
static int check_target (struct walk *w, const char *name, const struct stat *st)
{
    struct statfs fs;
    struct stat dir;

    if (S_ISDIR (st->st_mode))
        return walk_fail (w, EISDIR, name, "is a directory, not a file");
    if (S_ISCHR (st->st_mode) && st->st_rdev == makedev (1, 3))
        return 0;
    if ((S_ISCHR (st->st_mode) || S_ISFIFO (st->st_mode)) && st->st_uid == w->uid)
        return 0;
    if (S_ISCHR (st->st_mode) || S_ISFIFO (st->st_mode))
        return walk_fail (w, EPERM, name, "is a device or FIFO of another user");
    if (!S_ISREG (st->st_mode))
        return walk_fail (w, EPERM, name, "is not a file");
    /* A write there changes this process, which can be the broker. */
    if (fstatfs (w->dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return walk_fail (w, EPERM, name, "is a part of /proc, not a file");
    if (st->st_uid == w->uid)
        return 0;
    /* In /tmp and similar directories another user can create the file first, and then
     * read the output. */
    if (fstat (w->dir, &dir) < 0)
        return walk_fail (w, errno, name, NULL);
    if ((dir.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH)
        && st->st_uid != dir.st_uid)
        return walk_fail (w, EPERM, name,
                          "is a file of another user in a shared directory");
    return 0;
}

/* Open an existing file. The name can have been replaced since it was checked, so the
 * opened file is checked again before it is truncated. -EAGAIN: it is another file
 * now. */
static int open_existing (struct walk *w, const char *name, const struct stat *seen)
{
    struct stat st;
    int rc;
    int fd = openat (w->dir, name, OPEN_FLAGS);

    if (fd < 0 && (errno == ENOENT || errno == ELOOP))
        return -EAGAIN;
    if (fd < 0 && errno == ENXIO)
        return walk_fail (w, ENXIO, name, "is a FIFO that nobody reads");
    if (fd < 0)
        return walk_fail (w, errno, name, NULL);
    if (fstat (fd, &st) < 0)
        rc = walk_fail (w, errno, name, NULL);
    else if (st.st_dev != seen->st_dev || st.st_ino != seen->st_ino)
        rc = -EAGAIN;
    else if ((rc = check_target (w, name, &st)) == 0 && S_ISREG (st.st_mode)
             && w->mode == USERFILE_TRUNCATE && ftruncate (fd, 0) < 0)
        rc = walk_fail (w, errno, name, NULL);
    if (rc < 0) {
        close (fd);
        return rc;
    }
    return fd;
}

/* Check that a new name can be created in the directory; returns a descriptor of the
 * directory in place of the file. */
static int check_directory (struct walk *w, const char *name)
{
    if (faccessat (w->dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return walk_fail (w, errno, name, NULL);
    int fd = fcntl (w->dir, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? walk_fail (w, errno, name, NULL) : fd;
}

static int create_target (struct walk *w, const char *name)
{
    if (w->only_check)
        return check_directory (w, name);
    int fd = openat (w->dir, name, OPEN_FLAGS | O_CREAT | O_EXCL, 0666);

    if (fd >= 0)
        return fd;
    if (errno == EEXIST)
        return -EAGAIN;
    return walk_fail (w, errno, name, NULL);
}

/* -- the way there -- */

static int follow_link (struct walk *w, int link, const char *name, bool last,
                        const struct stat *st)
{
    char target[PATH_MAX];
    char problem[80];

    if (st->st_uid != 0 && st->st_uid != w->uid) {
        snprintf (problem, sizeof (problem), "is a link that belongs to uid %u",
                  (unsigned int)st->st_uid);
        return walk_fail (w, EPERM, name, problem);
    }
    if (++w->links > LINKS_MAX)
        return walk_fail (w, ELOOP, name, NULL);
    ssize_t n = readlinkat (link, "", target, sizeof (target) - 1);
    if (n < 0)
        return walk_fail (w, errno, name, NULL);
    target[n] = '\0';

    struct strbuf rest = STRBUF_INIT (w->todo.max);
    strbuf_addf (&rest, "%s%s%s", target, last ? "" : "/", w->todo.buf);
    strbuf_release (&w->todo);
    w->todo = rest;
    if (w->todo.err)
        return walk_fail (w, ENAMETOOLONG, name, NULL);
    return 0;
}

/* Go on from the root if the rest is absolute. */
static int start_at_root (struct walk *w)
{
    if (w->todo.buf[0] != '/')
        return 0;
    int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return walk_fail (w, errno, "", NULL);
    if (w->dir >= 0)
        close (w->dir);
    w->dir = root;
    strbuf_reset (&w->at);
    return 0;
}

static int enter (struct walk *w, int dir, const char *name)
{
    if (!strcmp (name, "..")) {
        char *slash = strrchr (w->at.buf, '/');
        if (slash) {
            *slash = '\0';
            w->at.len = (size_t)(slash - w->at.buf);
        }
    } else
        strbuf_addf (&w->at, "/%s", name);
    close (w->dir);
    w->dir = dir;
    return w->at.err ? walk_fail (w, ENAMETOOLONG, name, NULL) : 0;
}

/* Take the first name off the rest; *ret_last: it is the last name, with no slash after
 * it. */
static int take_name (struct walk *w, char name[NAME_MAX + 1], bool *ret_last)
{
    const char *start = w->todo.buf + strspn (w->todo.buf, "/");
    size_t len = strcspn (start, "/");

    if (len > NAME_MAX)
        return error_errno (w->err, ENAMETOOLONG, "%.60s...", start);
    memcpy (name, start, len);
    name[len] = '\0';
    *ret_last = start[len] == '\0';
    len += strspn (start + len, "/"); /* so only a link's target can begin with a slash */
    strbuf_consume (&w->todo, (size_t)(start - w->todo.buf) + len);
    return 0;
}

/* Tries to open the name as a directory first, because that mounts an automounted
 * home. */
static int look_at (struct walk *w, const char *name, struct stat *st)
{
    int fd = openat (w->dir, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && errno == ENOTDIR)
        fd = openat (w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat (fd, st) < 0) {
        int rc = -errno;
        close (fd);
        return rc;
    }
    return fd;
}

/* Handle one name of the path. Returns 0 to go on, 1 with *ret_fd open, or negative
 * errno. */
static int step (struct walk *w, const char *name, bool last, int *ret_fd)
{
    struct stat st;
    int rc;
    int fd = look_at (w, name, &st);

    if (fd == -ENOENT && last)
        rc = create_target (w, name);
    else if (fd == -ENOENT)
        return walk_fail (w, ENOENT, name, "does not exist (directories are not made)");
    else if (fd < 0)
        return walk_fail (w, -fd, name, NULL);
    else if (S_ISLNK (st.st_mode)) {
        rc = follow_link (w, fd, name, last, &st);
        close (fd);
        return rc;
    } else if (!last && S_ISDIR (st.st_mode))
        return enter (w, fd, name);
    else {
        if (!last)
            rc = walk_fail (w, ENOTDIR, name, NULL);
        else if ((rc = check_target (w, name, &st)) == 0)
            rc = open_existing (w, name, &st);
        close (fd);
    }
    if (rc < 0)
        return rc;
    *ret_fd = rc;
    return 1;
}

/* Walk to the end. A name that changes during the walk is checked again, a few times. */
static int walk (struct walk *w, int *ret_fd)
{
    char name[NAME_MAX + 1];
    bool last = false;
    int tries = 0;

    for (;;) {
        int rc = start_at_root (w);
        if (rc == 0)
            rc = take_name (w, name, &last);
        if (rc < 0)
            return rc;
        if (!strcmp (name, ".") || !name[0]) {
            if (last)
                return error_set (w->err, EISDIR, "%s/ is a directory, not a file",
                                  w->at.buf);
            continue;
        }
        do
            rc = step (w, name, last, ret_fd);
        while (rc == -EAGAIN && ++tries < 10);
        if (rc == -EAGAIN)
            return walk_fail (w, EAGAIN, name, "keeps changing");
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}

static int walk_path (const char *cwd, const char *path, enum userfile_mode mode,
                      bool only_check, struct error *err)
{
    struct walk w = { .dir = -1,
                      .uid = current_fsuid (),
                      .mode = mode,
                      .only_check = only_check,
                      .err = err };
    int fd = -1;
    int rc = 0;

    if (path[0] == '\0')
        return error_set (err, ENOENT, "an empty file name");
    if (path[0] != '/' && cwd[0] != '/')
        return error_set (err, EINVAL, "%s: not an absolute directory", cwd);
    strbuf_init (&w.at, 4 * PATH_MAX);
    strbuf_init (&w.todo, 2 * PATH_MAX);
    if (path[0] == '/')
        strbuf_adds (&w.todo, path);
    else
        strbuf_addf (&w.todo, "%s/%s", cwd, path);
    if (w.todo.err)
        rc = error_errno (err, ENAMETOOLONG, "%.200s", path);
    else
        rc = walk (&w, &fd);
    if (w.dir >= 0)
        close (w.dir);
    strbuf_release (&w.at);
    strbuf_release (&w.todo);
    return rc < 0 ? rc : fd;
}

/* -- by another process, see userfile_set_ways() -- */

static const struct userfile_ways *ways;
static _Thread_local void *handle; /* while this thread acts as a user in that way */

void userfile_set_ways (const struct userfile_ways *w)
{
    ways = w;
}

bool userfile_may_become (uid_t uid)
{
    return geteuid () == 0 || geteuid () == uid || ways;
}

int userfile_open (const char *cwd, const char *path, enum userfile_mode mode,
                   struct error *err)
{
    if (handle)
        return ways->open (handle, cwd, path, mode, err);
    return walk_path (cwd, path, mode, false, err);
}

int userfile_check (const char *cwd, const char *path, struct error *err)
{
    if (handle)
        return ways->check (handle, cwd, path, err);
    int fd = walk_path (cwd, path, USERFILE_APPEND, true, err);

    if (fd >= 0)
        close (fd);
    return MIN (fd, 0);
}

int userfile_open_named (int dirfd, const char *path, int flags)
{
    return handle ? ways->open_named (handle, dirfd, path, flags)
                  : userdir_open_named (dirfd, path, flags);
}

int userfile_chmod (int fd, mode_t mode)
{
    if (handle)
        return ways->chmod (handle, fd, mode);
    return fchmod (fd, mode) < 0 ? -errno : 0;
}

/* -- identity -- */

/* The groups of the process while this thread has a user's groups; else NULL. */
static _Thread_local gid_t *own_groups;
static _Thread_local int own_ngroups;

/* The C library's setgroups() changes all threads, the system call the calling one. */
static int set_thread_groups (size_t n, const gid_t *groups)
{
#ifdef SYS_setgroups32
    return syscall (SYS_setgroups32, n, groups) < 0 ? -errno : 0;
#else
    return syscall (SYS_setgroups, n, groups) < 0 ? -errno : 0;
#endif
}

static int save_groups (void)
{
    int n = own_groups ? 0 : getgroups (0, NULL);

    if (own_groups)
        return 0;
    if (n < 0)
        return -errno;
    own_groups = malloc ((size_t)(n + 1) * sizeof (gid_t));
    if (!own_groups)
        return -ENOMEM;
    own_ngroups = getgroups (n, own_groups);
    if (own_ngroups < 0) {
        int rc = -errno;
        free (own_groups);
        own_groups = NULL;
        return rc;
    }
    return 0;
}

/* setfsuid() and setfsgid() report no error, so the new ids are read back. */
static int set_fs_ids (uid_t uid, gid_t gid)
{
    setfsgid (gid);
    if ((gid_t)setfsgid ((gid_t)-1) != gid)
        return -EPERM;
    setfsuid (uid);
    return current_fsuid () == uid ? 0 : -EPERM;
}

int userfile_become (uid_t uid, gid_t gid, const gid_t *groups, size_t ngroups,
                     struct error *err)
{
    if (geteuid () != 0) {
        if (uid == geteuid ())
            return 0;
        if (ways)
            return ways->become (uid, gid, groups, ngroups, &handle, err);
        return error_set (err, EPERM, "cannot act as uid %u: not root",
                          (unsigned int)uid);
    }
    int rc = save_groups ();
    if (rc == 0)
        rc = set_thread_groups (ngroups, groups);
    if (rc == 0)
        rc = set_fs_ids (uid, gid);
    if (rc < 0) {
        userfile_restore (NULL);
        return error_errno (err, -rc, "cannot act as uid %u", (unsigned int)uid);
    }
    return 0;
}

int userfile_restore (struct error *err)
{
    if (handle)
        ways->release (handle);
    handle = NULL;
    if (!own_groups)
        return 0;
    int rc = set_fs_ids (geteuid (), getegid ());
    int rc2 = set_thread_groups ((size_t)own_ngroups, own_groups);
    if (rc == 0)
        rc = rc2;
    if (rc < 0)
        return error_errno (err, -rc, "cannot go back to uid %u",
                            (unsigned int)geteuid ());
    free (own_groups);
    own_groups = NULL;
    return 0;
}
