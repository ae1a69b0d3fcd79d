/* remains.h - processes of a job that outlived its agents
 *
 *     r = remains_create ("auto", state_dir);
 *     path = remains_make_group (r, id, attempt);      // its agents join it
 *     while (remains_kill (r, job)) nanosleep (...);   // on a worker thread
 *     remains_remove_group (r, id, attempt);
 *
 * An agent ends its job's processes; the broker, as subreaper, inherits the orphans of a
 * killed agent. If broker and agents are killed at one moment, only the kernel knows the
 * job of these processes: each job has a cgroup of its own, if the broker may make one
 * (as root, or in a cgroup delegated to it; version 2, or the freezer of version 1).
 * Without cgroups they are found by FLUXQ_AGENT_SOCKET in their environment, and with
 * them their sessions and descendants. A process that left its session and changed its
 * environment is not found.
 *
 * remains_kill() may be called on any thread; without a cgroup it reads all of /proc.
 * Sources: cgroups(7), and cgroup-v2.rst of the kernel.
 */
#pragma once

#include "exec/exec.h"

struct remains;

/* setting: "auto": below the broker's own cgroup, if permitted; "none"; or an absolute
 * path: below that. NULL: no memory. */
struct remains *remains_create (const char *setting, const char *state_dir);
/* Makes the parent of the jobs' cgroups as root, for a broker that becomes another user
 * and calls remains_create() then. */
void remains_separate (const char *setting, const struct exec_separation *by);
void remains_destroy (struct remains *r);
/* Makes the cgroup that the agents of this attempt join; NULL: there is none. The caller
 * frees. */
char *remains_make_group (struct remains *r, uint64_t id, unsigned attempt);
/* Sends SIGKILL to all processes left of this attempt: true if there were any. Not while
 * its agents run. */
bool remains_kill (struct remains *r, const struct exec_job *job);
/* False: the cgroup still has processes. */
bool remains_remove_group (struct remains *r, uint64_t id, unsigned attempt);
/* Kills the processes and removes the cgroups of all jobs but these (sorted ids). */
void remains_sweep (struct remains *r, const uint64_t *live, size_t nlive);
