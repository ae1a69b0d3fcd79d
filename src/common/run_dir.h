/* run_dir.h - where a broker listens when nobody names a directory
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
 * No directory among them can be made by another user than its owner or root. The last but
 * one is on a disk that several machines may share, hence the host's name.
 */
#ifndef FLUXQ_COMMON_RUN_DIR_H
#define FLUXQ_COMMON_RUN_DIR_H

#include <stdbool.h>
#include <stddef.h>

#define RUN_DIR_MAX 1024
#define RUN_DIR_SYSTEM "/run/fluxq"

/* The i-th directory that a client looks into; false: there are no more. */
bool run_dir_default (size_t i, char *ret, size_t size);
/* The directory of a broker that the caller starts for itself: the first one whose parent
 * exists and belongs to the caller alone, else the one with the host's name; for root, else
 * RUN_DIR_SYSTEM. False: there is none, as HOME is not set. */
bool run_dir_choose (char *ret, size_t size);

#endif
