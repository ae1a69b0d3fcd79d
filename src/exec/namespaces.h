/* namespaces.h - the namespace of a queue's jobs, as its administrator names it
 *
 *     pods: {namespace: jobs}             # this one
 *     pods: {namespace: jobs-%u}          # one for each user: a template
 *
 * %u is the user's name, %U the uid, %q the queue. A template begins with a literal text
 * that ends in '-', so no user's name makes it `default` or `kube-system`.
 *
 *     namespace_check ("jobs-%u", &err);                            // while reading
 *     namespace_expand ("jobs-%u", "batch", "alice", 1000, name, &err);
 *
 * Names are DNS labels. Values are inserted as they are if possible: jobs-alice.
 * Otherwise (other characters, too long, or two lists of values would look the same) the
 * usable part of the values is followed by '-' and 16 digits of their SHA-256; no name
 * of the first kind ends like that. So with one template two users never have the same
 * name. With two templates they may ("jobs-%u" and "jobs-a-%u"): a namespace's labels
 * say whose it is.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"

#define NAMESPACE_SIZE 64 /* with the final NUL */

/* 0, or -EINVAL and the error in the name or template. */
int namespace_check (const char *text, struct error *err);
bool namespace_is_template (const char *text);
/* Whether it expands to another name for another user. */
bool namespace_is_users (const char *text);
/* text: has passed the check. 0, or -EINVAL: this job has no such value. */
int namespace_expand (const char *text, const char *queue, const char *user, uid_t uid,
                      char ret[NAMESPACE_SIZE], struct error *err);
/* Whether the template can expand to the name, or is the name. */
bool namespace_fits (const char *text, const char *name);
