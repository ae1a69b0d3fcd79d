/* users.h - who a uid is: passwd and group look-ups on worker threads, kept for a minute
 *
 *     users_find (users, uid, done, arg);      // done (rc, user, arg): at once when known
 *
 * rc 0: `user` is valid during the callback; users_copy() to keep it. -ENOENT: there is no
 * such user; else the look-up failed (a directory service is away) and is worth another
 * try. A broker that is not root takes the numbers for an own uid without an entry, as
 * containers have it.
 */
#ifndef FLUXQ_BROKER_USERS_H
#define FLUXQ_BROKER_USERS_H

#include "exec/exec.h"

struct users;
typedef void (*users_f) (int rc, const struct exec_user *user, void *arg);

struct users *users_create (uv_loop_t *loop);
void users_destroy (struct users *u);
void users_find (struct users *u, uid_t uid, users_f done, void *arg);
/* The same of a name; numbers are no names. */
void users_find_named (struct users *u, const char *name, users_f done, void *arg);
int users_copy (struct exec_user *to, const struct exec_user *from);
void users_release (struct exec_user *user);

#endif
