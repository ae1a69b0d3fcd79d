/* guardian.h - the small process that outlives the worker
 *
 * The agent is two processes. The guardian keeps the process id that the executor knows
 * (PID 1 in a pod) and only waits; the worker, its child, does everything. Both are
 * subreapers:
 *
 *     guardian ---- worker ---- task ---- whatever it starts, orphans included
 *
 * If the worker dies (kill -9, a bug), what it started becomes the guardian's, which
 * kills it and exits 1. If the guardian dies, the worker sees the end of a pipe, ends the
 * job everywhere and kills what it started. Only killing both at one instant with -9
 * leaves the tasks to their parent-death signal alone.
 */
#ifndef FLUXQ_SHELL_GUARDIAN_H
#define FLUXQ_SHELL_GUARDIAN_H

/* Forks; in the child returns work (arg, fd) through exit. Returns the agent's exit
 * status. */
int guardian_run (int (*work) (void *arg, int guardian_fd), void *arg);

#endif
