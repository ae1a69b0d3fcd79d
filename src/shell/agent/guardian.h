/* guardian.h - a small process that outlives the worker
 *
 * The agent is two processes. The guardian has the process id that the executor knows
 * (PID 1 in a pod) and only waits; its child, the worker, does all the work. Both are
 * subreapers:
 *
 *     guardian ---- worker ---- task ---- processes of the task, including orphans
 *
 * If the worker dies (kill -9, a bug), its descendants become the guardian's, which kills
 * them and exits 1. If the guardian dies, the worker sees the end of a pipe, ends the job
 * on all ranks and kills its descendants. If both are killed at the same instant with -9,
 * only the parent-death signal ends the tasks.
 */
#pragma once

/* Forks; the child exits with the result of work (arg, fd). Returns the agent's exit
 * status. */
int guardian_run (int (*work) (void *arg, int guardian_fd), void *arg);
