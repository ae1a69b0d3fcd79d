/* namespaces.h - the namespace of a queue's jobs, as its administrator names it
 *
 *     pods: {namespace: jobs}             # this one
 *     pods: {namespace: jobs-%u}          # one for each user: a template
 *
 * %u is the user's name, %U the uid, %q the queue. A template begins with a text of its own
 * that ends in '-', so no user's name makes it `default` or `kube-system`.
 *
 *     namespace_check ("jobs-%u", &err);                            // while reading
 *     namespace_expand ("jobs-%u", "batch", "alice", 1000, name, &err);
 *
 * Names are DNS labels. Where the values can stand as they are they do: jobs-alice. Where they
 * cannot (other characters, too long), or where two lists of values would look the same, what can be
 * kept of them is followed by '-' and 16 digits of their SHA-256; no name of the first kind
 * ends like that. So for one template two users never have the same name. For two templates
 * they may ("jobs-%u" and "jobs-a-%u"): whose a namespace is stands in its labels.
 */
#ifndef FLUXQ_EXEC_NAMESPACES_H
#define FLUXQ_EXEC_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

#define NAMESPACE_SIZE 64 /* with the final NUL */

/* 0, or -EINVAL and what is wrong with the name or template. */
int namespace_check (const char *text, struct error *err);
bool namespace_is_template (const char *text);
/* It has another name for another user. */
bool namespace_is_users (const char *text);
/* text: has passed the check. 0, or -EINVAL: there is no such value for this job. */
int namespace_expand (const char *text, const char *queue, const char *user, uid_t uid,
                      char ret[NAMESPACE_SIZE], struct error *err);
/* Whether the name may be one of the template's, or is the text. */
bool namespace_fits (const char *text, const char *name);

#endif
