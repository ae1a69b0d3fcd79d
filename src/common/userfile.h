/* userfile.h - opens a user's output file safely
 *
 *     int fd = userfile_open ("/home/ann/run", "hello-1.out", USERFILE_APPEND, &err);
 *
 * The caller runs with the user's own file system identity (the agent runs as the user,
 * the broker's worker calls userfile_become() first), so the kernel checks permissions.
 * This file adds:
 * - The path is walked name by name, relative to directory descriptors. A symbolic link
 *   is followed if it belongs to root or to the user, else it is refused ("/tmp/x is a
 *   link that belongs to uid 1001").
 * - The last name must be new, a regular file, /dev/null, or a character device or FIFO
 *   of the user. A regular file of another user in a shared (sticky, world-writable)
 *   directory is refused unless that user owns the directory, as with
 *   fs.protected_regular.
 * - A missing directory is an error that names the directory; no directory is ever
 *   created, since a typo would create wrong ones. A new file has mode 0666 under the
 *   process's umask. A FIFO without a reader is refused, so opening never blocks. Any
 *   thread.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"

enum userfile_mode { USERFILE_TRUNCATE, USERFILE_APPEND };

/* cwd: absolute; path: relative to cwd, or absolute. Returns a descriptor (write only,
 * O_CLOEXEC, O_APPEND, O_NONBLOCK, because the reader of a FIFO or a terminal can stop)
 * or negative errno: -EPERM: refused as above, else the kernel's. */
int userfile_open (const char *cwd, const char *path, enum userfile_mode mode,
                   struct error *err);

/* Whether userfile_open() would succeed now: 0, or its error. Nothing is created or
 * changed. */
int userfile_check (const char *cwd, const char *path, struct error *err);

/* The calling *thread* takes the user's file system uid, gid and groups (setfsuid(2), and
 * setgroups by raw system call; Linux keeps both per thread). Only root can do this; for
 * other callers 0 if uid is their own, else -EPERM. After an error the thread's identity
 * is unchanged. userfile_restore() returns to root's identity after the thread's last
 * work as a user; if it fails, the thread must not go on. */
int userfile_become (uid_t uid, gid_t gid, const gid_t *groups, size_t ngroups,
                     struct error *err);
int userfile_restore (struct error *err);

/* Another way to act as a user, for a process that is not root: the functions do what those
 * above do, in a process that has become the user. */
struct userfile_ways {
    /* *ret: handle of this thread until release */
    int (*become) (uid_t uid, gid_t gid, const gid_t *groups, size_t ngroups, void **ret,
                   struct error *err);
    void (*release) (void *handle);
    int (*open) (void *handle, const char *cwd, const char *path, enum userfile_mode mode,
                 struct error *err);
    int (*check) (void *handle, const char *cwd, const char *path, struct error *err);
    int (*open_named) (void *handle, int dirfd, const char *path, int flags);
    int (*chmod) (void *handle, int fd, mode_t mode);
};
/* Call before the first userfile_become(); w is borrowed. */
void userfile_set_ways (const struct userfile_ways *w);
/* Whether userfile_become() can act as this user. */
bool userfile_may_become (uid_t uid);
/* fchmod(2), on a thread that acts as a user. 0 or negative errno. */
int userfile_chmod (int fd, mode_t mode);
/* openat(2) for a path that a user has named, on a thread that acts as this user. It does
 * not follow links to open files (/proc/self/fd/7): they are files of this process, and
 * such a link bypasses the permissions of the directories. -ELOOP, or the errno of
 * openat. */
int userfile_open_named (int dirfd, const char *path, int flags);
