/* remains.h - processes of a job that outlived its agents
 *
 *     r = remains_create ("auto", state_dir);
 *     path = remains_make_group (r, id, attempt);      // its agents join it
 *     while (remains_kill (r, job)) nanosleep (...);   // on a worker thread
 *     remains_remove_group (r, id, attempt);
 *
 * An agent ends its job's processes, and what a killed agent leaves comes to the broker, their
 * subreaper. When broker and agents are killed at one moment only the kernel knows whose these
 * processes were: each job has a cgroup of its own, where the broker may make one (as root, or in
 * a cgroup that was delegated to it; version 2, or the freezer of version 1). Elsewhere they are
 * found by FLUXQ_AGENT_SOCKET in their environment, and with them their sessions and what
 * descends from them; whoever has left his session and changed his environment is not found.
 *
 * remains_kill() may be called on any thread; it reads all of /proc where there is no cgroup.
 * Sources: cgroups(7), and cgroup-v2.rst of the kernel.
 */
#ifndef FLUXQ_EXEC_LOCAL_REMAINS_H
#define FLUXQ_EXEC_LOCAL_REMAINS_H

#include "exec/exec.h"

struct remains;

/* setting: "auto": below the cgroup of the broker, where it may; "none"; or an absolute path:
 * below that. NULL: no memory. */
struct remains *remains_create (const char *setting, const char *state_dir);
void remains_destroy (struct remains *r);
/* The cgroup that the agents of this attempt are to join, made; NULL: there is none. The caller
 * frees. */
char *remains_make_group (struct remains *r, uint64_t id, unsigned attempt);
/* SIGKILL to all processes of this attempt that are still there: true when there were any. Not
 * while its agents run. */
bool remains_kill (struct remains *r, const struct exec_job *job);
/* False: its cgroup still has processes. */
bool remains_remove_group (struct remains *r, uint64_t id, unsigned attempt);
/* The same, with its processes, of all jobs but these (sorted ids). */
void remains_sweep (struct remains *r, const uint64_t *live, size_t nlive);

#endif
