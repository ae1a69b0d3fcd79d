/* descendants.h - signals and kills all descendants of this process
 *
 * The caller is a child subreaper (prctl PR_SET_CHILD_SUBREAPER): a process that a task
 * starts stays a descendant even after a double fork and setsid, because orphans become
 * children of the caller. So no children (waitpid) means no descendants.
 *
 *     while (!descendants_kill (NULL, NULL)) ...wait 10 ms...
 */
#pragma once

#include <stdbool.h>

#include "shell/step/reap.h"

/* Notes whether this process is the init of a pid namespace that is the job's alone (a
 * pod): then kill(-1) reaches all processes of the job. Call once, before fork. */
void descendants_note_init (void);
/* Returns what descendants_note_init() noted. */
bool descendants_own_namespace (void);
/* Sends sig to every descendant. Returns their number, without zombies. */
int descendants_signal (int sig);
/* Sends SIGKILL to every descendant and reaps the dead ones; calls reaped (may be NULL)
 * for each. True: no descendant is left. */
bool descendants_kill (void (*reaped) (void *arg, const struct reaped *dead), void *arg);
