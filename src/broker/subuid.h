/* subuid.h - subordinate uids: which user a range of them was given to
 *
 *     struct subuids *t = subuids_read ("/etc/subuid", &err);      // blocks
 *     uid_t owner = subuids_owner (t, 100000);                     // uid itself: nobody else's
 *     subuids_destroy (t);
 *
 * The file is as subuid(5) has it: lines OWNER:FIRST:COUNT, where OWNER is a name or a uid. A line
 * that is none, whose owner is not known, or whose range has uid 0 or belongs to root counts
 * for nothing: root's ranges are of containers, whose users are not root. Of ranges that overlap
 * the one that begins last counts. A look-up takes O(log ranges).
 */
#ifndef FLUXQ_BROKER_SUBUID_H
#define FLUXQ_BROKER_SUBUID_H

#include <sys/types.h>

#include "common/error.h"

struct subuids;

/* Look-ups of names block: a worker thread only. NULL and -ENOENT when there is no such file,
 * else what went wrong; a file beyond 4 MiB is refused. */
struct subuids *subuids_read (const char *path, struct error *err);
void subuids_destroy (struct subuids *t);
/* t NULL: there are none. */
size_t subuids_count (const struct subuids *t);
uid_t subuids_owner (const struct subuids *t, uid_t uid);

#endif
