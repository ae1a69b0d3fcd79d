/* run_dir.h - the directories in which a broker listens by default
 *
 *     char dir[RUN_DIR_MAX];
 *     for (size_t i = 0; run_dir_default (i, dir, sizeof (dir)); i++)
 *         ... look for dir/fluxqd.sock
 *
 * In this order:
 *
 *     $XDG_RUNTIME_DIR/fluxq
 *     /run/user/UID/fluxq                                     not for root
 *     ($XDG_STATE_HOME or ~/.local/state)/fluxq/run-HOSTNAME  not for root
 *     /run/fluxq                                              the broker of the machine
 *
 * Only its owner or root can create each of these directories. The third is on a disk
 * that several machines can share, so its name has the host's name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RUN_DIR_MAX 1024
#define RUN_DIR_SYSTEM "/run/fluxq"
#define RUN_DIR_SOCKET "fluxqd.sock"

/* The i-th directory that a client tries; false: there are no more. */
bool run_dir_default (size_t i, char *ret, size_t size);
/* The directory of a broker that the caller starts for itself: the first one whose parent
 * exists and belongs to the caller alone, else the one with the host's name (root:
 * RUN_DIR_SYSTEM). False: none, because HOME is not set. */
bool run_dir_choose (char *ret, size_t size);
