/* userdir.h - files in a directory that its user can write, for a process with more rights
 *
 *     autoclose int dir = userdir_open ("/var/lib/fluxq/jobs/7", uid, &err);
 *     strbuf_init (&text, 4096);
 *     rc = userdir_read (dir, "key-0", uid, &text, 4096, &err);
 *     rc = userdir_write (dir, "launch-0", data, len, 0400, uid, gid, 0, &err);
 *
 * The user can put a FIFO, a device, a link or a mount in the place of any name in it, at any
 * moment. So every name is opened relative to a descriptor of the directory, without
 * following a link, without waiting (O_NONBLOCK), without leaving the mount, and what was
 * opened is looked at before it is used: a regular file of that user, with one name. All the
 * same a file system may be slow: call these on a worker thread, never on the loop.
 *
 * src/exec and src/broker open nothing by other functions, but for the few places that
 * contrib/include-law lists. (For output files, which a user names, see userfile.h.)
 *
 * A name is one path component. Functions return 0, a descriptor or negative errno; -EPERM:
 * it is not what it should be, and err says why.
 */
#ifndef FLUXQ_COMMON_USERDIR_H
#define FLUXQ_COMMON_USERDIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/strbuf.h"

/* The owner that files of this user have: the user with a broker that is root, else the broker's. */
uid_t userdir_owner (uid_t user);

/* The directory itself, whose parent only trusted users can write. It must belong to owner. */
int userdir_open (const char *path, uid_t owner, struct error *err);

/* flags: O_RDONLY or O_RDWR, O_CREAT (mode 0600). The descriptor is non-blocking, which a
 * regular file takes no notice of. */
int userdir_open_file (int dir, const char *name, int flags, uid_t owner,
                       struct error *err);

/* Append the file's bytes to sb; -EFBIG past max. */
int userdir_read (int dir, const char *name, uid_t owner, struct strbuf *sb, size_t max,
                  struct error *err);

/* Whether there is something of that name, whatever it is; also when that cannot be told. */
bool userdir_has (int dir, const char *name);

/* A new file takes the name's place at once, and belongs to uid and gid. */
#define USERDIR_DURABLE 1 /* it survives a crash of the machine */
int userdir_write (int dir, const char *name, const void *data, size_t len, mode_t mode,
                   uid_t uid, gid_t gid, int flags, struct error *err);

/* 0 also when there is none. */
int userdir_remove (int dir, const char *name);

/* openat(2) that does not leave the mount which dirfd is on: nothing asks the server of a
 * file system that a user has mounted there. -EXDEV, or what openat says. */
int userdir_openat (int dirfd, const char *name, int flags, mode_t mode);

/* A path that a user has named, for a thread that acts as this user: openat(2) that follows no
 * link to what a process has open (/proc/self/fd/7), for that is this process, and behind
 * such a link nobody asks whether the user may enter the directories. -ELOOP, or what openat
 * says. */
int userdir_open_named (int dirfd, const char *path, int flags);

#endif
