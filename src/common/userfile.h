/* userfile.h - open a user's output file without being led astray
 *
 *     int fd = userfile_open ("/home/ann/run", "hello-1.out", USERFILE_APPEND, &err);
 *
 * The caller runs with the user's own file system identity (the agent runs as the user,
 * the broker's worker calls userfile_become() first), so permissions are the kernel's to
 * check. What is added here:
 * - The path is walked name by name, relative to directory descriptors. A symbolic link
 *   is followed when it belongs to root or to the user, refused otherwise ("/tmp/x is a
 *   link that belongs to uid 1001").
 * - The last name must be new, a regular file, /dev/null, or a character device or FIFO
 *   of the user. A regular file of someone else in a shared (sticky, world-writable)
 *   directory is refused unless it is that of the directory's owner, as with
 *   fs.protected_regular.
 * - A missing directory is an error that names it (never made, as a typo would make a
 *   mess). A new file has mode 0666 under the process's umask. Never blocks on a FIFO:
 *   without a reader it is refused. Any thread.
 */
#ifndef FLUXQ_COMMON_USERFILE_H
#define FLUXQ_COMMON_USERFILE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

enum userfile_mode { USERFILE_TRUNCATE, USERFILE_APPEND };

/* cwd: absolute; path: relative to it or absolute. Returns a descriptor (write only,
 * O_CLOEXEC, O_APPEND, O_NONBLOCK: who reads a FIFO or a terminal may stop) or negative
 * errno: -EPERM refused as above, else the kernel's. */
int userfile_open (const char *cwd, const char *path, enum userfile_mode mode,
                   struct error *err);

/* Whether userfile_open() would do now: 0, or its error. Nothing is made or changed. */
int userfile_check (const char *cwd, const char *path, struct error *err);

/* The calling *thread* takes the user's file system uid, gid and groups (setfsuid(2),
 * setgroups by raw system call, which Linux keeps per thread). Only for root; for anyone
 * else 0 when uid is already theirs, -EPERM otherwise. After an error the thread is what
 * it was. userfile_restore() goes back to root's, once a thread's last work as a user is
 * done; when it fails the thread must not go on. */
int userfile_become (uid_t uid, gid_t gid, const gid_t *groups, size_t ngroups,
                     struct error *err);
int userfile_restore (struct error *err);

#endif
