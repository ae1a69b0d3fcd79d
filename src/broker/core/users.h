/* users.h - user look-ups by uid: passwd and group on worker threads, cached for a minute
 *
 *     users_find (users, uid, done, arg);    // done (rc, user, arg): at once when known
 *
 * rc 0: `user` is valid during the callback; users_copy() to keep it. -ENOENT: no such
 * user; other errors: the look-up failed (a directory service is away), try again later.
 * A broker that is not root, and has no entry for its own uid, as in containers, uses the
 * numbers.
 */
#pragma once

#include "exec/exec.h"

struct users;
typedef void (*users_f) (int rc, const struct exec_user *user, void *arg);

struct users *users_create (uv_loop_t *loop);
void users_destroy (struct users *u);
void users_find (struct users *u, uid_t uid, users_f done, void *arg);
/* The name that the last look-up of the uid has found, "" when it found no user; NULL:
 * there was none. A look-up begins when the last one is too old. Valid until the loop
 * goes on. */
const char *users_recall (struct users *u, uid_t uid);
/* Whether users_find() would not wait: the last look-up of the uid is recent, or it has
 * failed just now and there is an older one. */
bool users_is_fresh (const struct users *u, uid_t uid);
/* Whether the user is in one of the groups, as of the last look-up; as users_recall(). false
 * when there was none. */
bool users_in_groups (struct users *u, uid_t uid, const gid_t *gids, size_t n);
/* users_find() by name; numbers are not names. */
void users_find_named (struct users *u, const char *name, users_f done, void *arg);
/* On a worker thread, as the look-up blocks. -ENOENT, and other errors as above. */
int users_uid_of (const char *name, uid_t *ret);
int users_copy (struct exec_user *to, const struct exec_user *from);
void users_release (struct exec_user *user);
