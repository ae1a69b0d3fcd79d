/* descend.h - all processes below this one: signal them, end them
 *
 * The caller is a child subreaper (prctl PR_SET_CHILD_SUBREAPER): whatever a task starts,
 * also by a double fork and setsid, stays a descendant, because orphans become the
 * caller's children. So "waitpid says that there are no children" means that there are no
 * descendants.
 *
 *     while (!descend_kill ()) ...wait 10 ms...
 */
#ifndef FLUXQ_SHELL_DESCEND_H
#define FLUXQ_SHELL_DESCEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "shell/reap.h"

/* Whether this process's parent (or itself) is the init of a pid namespace that is the
 * job's alone (a pod): then kill(-1) reaches everything. To be called once, before fork.
 */
void descend_note_init (void);
/* Whether that is so. */
bool descend_owns_namespace (void);
/* Send sig to every descendant; their number (zombies are not counted). */
int descend_signal (int sig);
/* SIGKILL to every descendant, and reap what is dead; reaped (may be NULL) hears of each.
 * True when none is left. */
bool descend_kill (void (*reaped) (void *arg, const struct reaped *dead), void *arg);

#endif
