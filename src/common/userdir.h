/* userdir.h - files in a directory that a user can write, for a process with more rights
 *
 *     autoclose int dir = userdir_open ("/var/lib/fluxq/jobs/7", uid, &err);
 *     strbuf_init (&text, 4096);
 *     rc = userdir_read (dir, "key-0", uid, &text, 4096, &err);
 *     rc = userdir_write (dir, "launch-0", data, len, 0400, uid, gid, 0, &err);
 *
 * At any moment the user can replace any name in the directory by a FIFO, a device, a
 * link or a mount. Therefore each name is opened relative to a descriptor of the
 * directory, without following a link, without waiting (O_NONBLOCK), without leaving the
 * mount, and the opened file is checked before it is used: a regular file of that user,
 * with one name. The file system can still be slow: call these functions on a worker
 * thread, never on the loop.
 *
 * src/exec and src/broker open files only by these functions, except in the few places
 * that contrib/include-law lists. (For output files, which a user names, see userfile.h.)
 *
 * A name is one path component. Functions return 0, a descriptor or negative errno;
 * -EPERM: the file failed the check, and err says why.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "common/strbuf.h"

/* The owner of the files of this user: the user if the broker runs as root, else the
 * broker's own user. */
uid_t userdir_owner (uid_t user);

/* Open the directory. It must belong to owner, and only trusted users can write its
 * parent. */
int userdir_open (const char *path, uid_t owner, struct error *err);

/* flags: O_RDONLY or O_RDWR, O_CREAT (mode 0600). The descriptor is non-blocking, which
 * has no effect on a regular file. */
int userdir_open_file (int dir, const char *name, int flags, uid_t owner,
                       struct error *err);

/* Append the file's bytes to sb; -EFBIG past max. */
int userdir_read (int dir, const char *name, uid_t owner, struct strbuf *sb, size_t max,
                  struct error *err);

/* Whether the name exists, as a file of any type; true also when this is unknown. */
bool userdir_has (int dir, const char *name);

/* Replace the name atomically by a new file, which belongs to uid and gid. */
#define USERDIR_DURABLE 1 /* the file survives a crash of the machine */
int userdir_write (int dir, const char *name, const void *data, size_t len, mode_t mode,
                   uid_t uid, gid_t gid, int flags, struct error *err);

/* 0 also when the name does not exist. */
int userdir_remove (int dir, const char *name);

/* openat(2) that does not leave the mount of dirfd: the call never waits for the server
 * of a file system that a user has mounted below. -EXDEV, or the errno of openat. */
int userdir_openat (int dirfd, const char *name, int flags, mode_t mode);

/* As userfile_open_named(), with the rights that this thread has. */
int userdir_open_named (int dirfd, const char *path, int flags);
