/* subuid.h - subordinate uids: the user that owns a range of them
 *
 *     struct subuids *t = subuids_read ("/etc/subuid", &err);      // blocks
 *     uid_t owner = subuids_owner (t, 100000);           // uid itself: not subordinate
 *     subuids_destroy (t);
 *
 * The format is that of subuid(5): lines OWNER:FIRST:COUNT, where OWNER is a name or a
 * uid. Ignored are malformed lines, lines with an unknown owner, ranges with uid 0, and
 * ranges of root: these are for containers, whose users are not root. Where ranges
 * overlap, the one that begins last counts. A look-up takes O(log ranges).
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"

struct subuids;

/* Name look-ups block: call on a worker thread only. NULL and -ENOENT: no such file;
 * other errors as they occur; a file beyond 4 MiB is refused. */
struct subuids *subuids_read (const char *path, struct error *err);
void subuids_destroy (struct subuids *t);
/* t NULL: none. */
size_t subuids_count (const struct subuids *t);
uid_t subuids_owner (const struct subuids *t, uid_t uid);
